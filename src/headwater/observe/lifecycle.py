"""The order of a run's events: START first, one terminal event last, and times that never go back."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from openlineage.client.event_v2 import RunState

TERMINAL: Final = frozenset({RunState.COMPLETE, RunState.FAIL, RunState.ABORT})

Body = Callable[[RunState, datetime], bytes]


class Lifecycle:
    """Lets an event through only where it may stand; called from several threads."""

    def __init__(self, started_at: datetime, now: Callable[[], datetime], put: Callable[[bytes], None]) -> None:
        self._now = now
        self._put = put
        self._last = started_at
        self._states: list[RunState] = []
        # A signal handler may tell the end while the thread that it interrupted is telling something.
        self._lock = threading.RLock()

    @property
    def over(self) -> bool:
        """Whether the terminal event is out."""
        return bool(self._states) and self._states[-1] in TERMINAL

    @property
    def begun(self) -> bool:
        """Whether START is out."""
        return bool(self._states)

    def tell(self, state: RunState, body: Body, at: datetime | None = None) -> bool:
        """Emit the event that `body` writes for the given state and time, or nothing if it may not stand here.

        START has the time at which the run started; every later event a later time, to the microsecond: now, unless
        `at` says when it was. Returns True:
        what went out, or was left out on purpose, is told.
        """
        with self._lock:
            if self.over or self.begun == (state == RunState.START):
                return True
            time = max(at or self._now(), self._last + timedelta(microseconds=1)) if self.begun else self._last
            self._put(body(state, time))
            self._last = time
            self._states.append(state)
            return True
