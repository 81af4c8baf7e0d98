"""Files for the output of pipelines and Spark, readable only by their owner, since a pipeline may print records."""

import os
from pathlib import Path
from typing import IO, Final

_FOLDER: Final = 0o700
_FILE: Final = 0o600


def appended(path: Path) -> IO[bytes]:
    """The file, opened for appending; it and its folder are made private to the owner.

    Raises:
        OSError: the disk is full, or the folder or the file belongs to another user.
    """
    path.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    path.parent.chmod(_FOLDER)
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _FILE), "ab")
    try:
        os.fchmod(file.fileno(), _FILE)  # an existing file may be readable by others
    except OSError:
        file.close()
        raise
    return file
