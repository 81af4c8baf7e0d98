"""The directory of this machine's keys, database, spool and lake."""

import os
from pathlib import Path

from headwater.errors import SetupError
from headwater.model.words import ELSEWHERE


def headwater_home() -> Path:
    """Return `$HEADWATER_HOME`, or `~/.headwater` if that is unset or empty; it may not exist yet.

    Raises:
        SetupError: the user has no home directory, as in a container that runs as any user, or may not enter this one.
    """
    named = os.environ.get("HEADWATER_HOME") or "~/.headwater"
    try:
        home = Path(named).expanduser().absolute()
    except RuntimeError as fault:
        raise SetupError(f"there is no home directory for {named}: set HEADWATER_HOME to a folder") from fault
    for folder in (home, home / "keys"):
        try:
            os.stat(f"{folder}/.")  # pathlib's own tests of files, such as `exists`, raise where a folder is closed
        except PermissionError as fault:
            raise SetupError(f"cannot enter {folder}: {fault.strerror}; {ELSEWHERE}") from fault
        except OSError:
            pass  # it does not exist yet, or whoever opens something in it says what is wrong
    return home
