"""The functions that take a watcher's events."""

from collections.abc import Callable
from typing import NamedTuple


class Outlet(NamedTuple):
    """Takes unsigned events."""

    put: Callable[[bytes], None]
    settle: Callable[[float], bool]
    """Waits up to so many seconds until all events put before are safe; False on timeout."""
