"""Where a watcher's events go."""

from collections.abc import Callable
from typing import NamedTuple


class Outlet(NamedTuple):
    """Takes unsigned events."""

    put: Callable[[bytes], None]
    settle: Callable[[float], bool]
    """Waits until all that was put is safe; False if it is not within the seconds."""
