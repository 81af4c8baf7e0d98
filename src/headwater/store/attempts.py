"""What failed is not tried again at once: whoever waits for it keeps others waiting."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from headwater.errors import UnavailableError

OutcomeT = TypeVar("OutcomeT")


class Attempts(Generic[OutcomeT]):
    """Tries to do something, on any thread; after a failure nobody does for a while, and all are told of it."""

    def __init__(self, attempt: Callable[[], OutcomeT], pause_s: float) -> None:
        """`pause_s` is how long nobody tries again at least; where to fail took long, it is twice that time."""
        self._attempt = attempt
        self._pause_s = pause_s
        self._failed: tuple[str, float] | None = None
        """How it failed last, and until when nobody tries again."""

    @property
    def fault(self) -> str | None:
        """Why it failed last; None where it was done since."""
        return None if self._failed is None else self._failed[0]

    def make(self) -> OutcomeT:
        """Do it.

        Raises:
            UnavailableError: it fails now, or did a moment ago.
        """
        begin_s = time.monotonic()
        if (failed := self._failed) is not None and begin_s < failed[1]:
            raise UnavailableError(failed[0])
        try:
            outcome = self._attempt()
        except UnavailableError as fault:
            end_s = time.monotonic()
            self._failed = str(fault), end_s + max(self._pause_s, 2 * (end_s - begin_s))
            raise
        self._failed = None
        return outcome
