"""Files for what pipelines and Spark print: their owner's alone, since a pipeline may print its records."""

import os
from pathlib import Path
from typing import IO, Final

_FOLDER: Final = 0o700
_FILE: Final = 0o600


def appended(path: Path) -> IO[bytes]:
    """The file, opened to append to it; nobody else may read it from now on, nor look into its folder.

    Raises:
        OSError: the disk is full, or the folder or the file is somebody else's.
    """
    path.parent.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    path.parent.chmod(_FOLDER)
    file = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _FILE), "ab")
    try:
        os.fchmod(file.fileno(), _FILE)  # it may be there already, from when it was open to others
    except OSError:
        file.close()
        raise
    return file
