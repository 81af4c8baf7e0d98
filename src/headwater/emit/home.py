"""The directory of this machine's keys, database, spool and lake."""

import os
from pathlib import Path

from headwater.errors import SetupError


def headwater_home() -> Path:
    """Return `$HEADWATER_HOME`, or `~/.headwater` if that is unset or empty; it may not exist yet.

    Raises:
        SetupError: the user has no home directory, as in a container that runs as any user.
    """
    home = os.environ.get("HEADWATER_HOME") or "~/.headwater"
    try:
        return Path(home).expanduser().absolute()
    except RuntimeError as fault:
        raise SetupError(f"there is no home directory for {home}: set HEADWATER_HOME to a folder") from fault
