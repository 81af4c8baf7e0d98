"""Observer threads: if the machine cannot start one, the program goes on without it."""

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class ObserverThread:
    """A daemon thread whose start may fail and be tried again."""

    def __init__(self, work: Callable[[], None], name: str) -> None:
        """Does not start the thread yet."""
        self._work = work
        self._name = name
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._is_warned = False

    def start(self) -> bool:
        """Start unless started; False if no thread can be created, or another thread is just starting it."""
        if self._thread is not None:
            return True
        if not self._starting.acquire(blocking=False):
            return False
        try:
            if self._thread is None:
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                thread.start()
                self._thread = thread
        except (RuntimeError, MemoryError) as none_left:
            self._warn(str(none_left))
        finally:
            self._starting.release()
        return self._thread is not None

    @property
    def is_alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._thread is not None and self._thread.is_alive()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for its end; returns at once if it was never started."""
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _warn(self, why: str) -> None:
        if not self._is_warned:
            self._is_warned = True
            details = {"which": self._name, "why": why}
            log.warning(
                "cannot start a lineage thread (%(which)s): %(why)s; the program goes on without it",
                details,
                extra=details,
            )
