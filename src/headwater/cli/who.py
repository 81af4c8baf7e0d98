"""The user at the command line."""

import os
from getpass import getuser


def who() -> str:
    """The user's name; the user id if there is no name, as in many containers."""
    try:
        return getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
