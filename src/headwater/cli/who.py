"""Who sits at the command line."""

import os
from getpass import getuser


def who() -> str:
    """The user's name; the number of one who has none, as in many containers."""
    try:
        return getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
