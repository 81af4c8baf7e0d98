"""The order of a run's events: START first, one terminal event last, and times that never go back."""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from openlineage.client.event_v2 import RunState

TERMINAL: Final = frozenset({RunState.COMPLETE, RunState.FAIL, RunState.ABORT})

Body = Callable[[RunState, datetime], bytes]


class Lifecycle:
    """Emits only events that are valid in their order. Thread-safe."""

    def __init__(self, started_at: datetime, now: Callable[[], datetime], put: Callable[[bytes], None]) -> None:
        self._now = now
        self._put = put
        self._last = started_at
        self._states: list[RunState] = []
        # Reentrant: a signal handler may emit the end while the thread that it interrupted is emitting.
        self._lock = threading.RLock()

    @property
    def over(self) -> bool:
        """Whether the terminal event was emitted."""
        return bool(self._states) and self._states[-1] in TERMINAL

    @property
    def begun(self) -> bool:
        """Whether START was emitted."""
        return bool(self._states)

    def emit(self, state: RunState, body: Body, at: datetime | None = None) -> bool:
        """Emit the event that `body` builds for the given state and time, or nothing if its state is not valid now.

        START has the time at which the run started; every later event a later time, to the microsecond: `at`, or now.
        Always returns True, so that a caller behind a `Guard` can tell it from a failure.
        """
        with self._lock:
            if self.over or self.begun == (state == RunState.START):
                return True
            time = max(at or self._now(), self._last + timedelta(microseconds=1)) if self.begun else self._last
            self._put(body(state, time))
            self._last = time
            self._states.append(state)
            return True
