"""The functions that take a watcher's events."""

from collections.abc import Callable
from typing import NamedTuple


class Outlet(NamedTuple):
    """Takes unsigned events."""

    put: Callable[[bytes], None]
    settle: Callable[[], bool]
    """Waits until all events put before are safe; False if that takes too long."""
