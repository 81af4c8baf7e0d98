"""Back-off: an operation that failed is not retried at once, since each attempt keeps other callers waiting."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from headwater.errors import UnavailableError

OutcomeT = TypeVar("OutcomeT")


class Backoff(Generic[OutcomeT]):
    """Runs an operation, on any thread; for a while after a failure, every call fails at once with the same message."""

    def __init__(self, do: Callable[[], OutcomeT], pause_s: float) -> None:
        """`pause_s` is the shortest pause; after a slow failure it is twice the time that the failure took."""
        self._do = do
        self._pause_s = pause_s
        self._failed: tuple[str, float] | None = None
        """The last failure, and the time of the next attempt."""

    @property
    def fault(self) -> str | None:
        """The last failure's message; None if it has succeeded since."""
        return None if self._failed is None else self._failed[0]

    def attempt(self) -> OutcomeT:
        """Run the operation.

        Raises:
            UnavailableError: it fails, or failed so recently that it is not retried.
        """
        begin_s = time.monotonic()
        if (failed := self._failed) is not None and begin_s < failed[1]:
            raise UnavailableError(failed[0])
        try:
            outcome = self._do()
        except UnavailableError as fault:
            end_s = time.monotonic()
            self._failed = str(fault), end_s + max(self._pause_s, 2 * (end_s - begin_s))
            raise
        self._failed = None
        return outcome
