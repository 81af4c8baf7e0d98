"""SIGTERM, which ends a Python program without letting it say anything."""

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType


class Signals:
    """Has a program that does not handle SIGTERM itself tell its end first; then it ends as it would have.

    A program with a handler of its own keeps it: it is called, and what is cancelled from then on is told as stopped.

    Attributes:
        reason: the signal's name, once it came.
    """

    def __init__(self, noted: Callable[[str], None], stopped: Callable[[str], None]) -> None:
        self.reason: str | None = None
        self._noted = noted
        self._stopped = stopped
        self._before: object = None
        self._is_ours = threading.current_thread() is threading.main_thread()
        if self._is_ours:
            self._before = signal.signal(signal.SIGTERM, self._handle)

    def restore(self) -> None:
        """Give the signal back, unless the program has taken it meanwhile."""
        if self._is_ours and signal.getsignal(signal.SIGTERM) == self._handle:
            self._is_ours = False
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, self._before)  # type: ignore[arg-type]  # what `signal` gave

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.reason = signal.Signals(number).name
        self._noted(self.reason)
        if callable(self._before):
            self._before(number, frame)
        elif self._before == signal.SIG_DFL:
            self._stopped(self.reason)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
