"""The directory of this machine's keys, database, spool and lake."""

import os
from pathlib import Path


def headwater_home() -> Path:
    """Return `$HEADWATER_HOME`, or `~/.headwater` if that is unset or empty; it may not exist yet."""
    return Path(os.environ.get("HEADWATER_HOME") or "~/.headwater").expanduser().absolute()
