"""SIGTERM, which ends a Python program without letting it say anything: its open runs tell their ends first.

One handler does it for all of them, in whatever thread they are.

A forked child has none of the runs: they are its parent's to tell. It gets the signal's handling back as it was before
the first of them, and until then SIGTERM waits: a handler of ours would have it be forgotten.
"""

import logging
import os
import signal
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final, NamedTuple

from headwater.observe.threads import ObserverThread

log = logging.getLogger(__name__)

_open: Final[list["Signals"]] = []
"""The runs of this process that have not ended, the oldest first. Without a lock: a handler cannot wait for one."""
_forking: Final = threading.local()


class Ends(NamedTuple):
    """How a run hears of a signal; none may wait for what the thread that it interrupts holds.

    Attributes:
        noted: takes the signal's name: what is cancelled from then on is told as stopped.
        told: takes the signal's name, and tells the run's end, since the program ends now.
        delivered: returns once what was told is safe.
    """

    noted: Callable[[str], None]
    told: Callable[[str], None]
    delivered: Callable[[], None]


class Signals:
    """Has an open run of a program that does not handle SIGTERM itself tell its end; then the program ends of it.

    Of several the inner ones go first. A program with a handler of its own keeps it: it is called, and decides. To one
    that ignores the signal nothing happens.

    Attributes:
        reason: the signal's name, once it came.
    """

    def __init__(self, ends: Ends) -> None:
        self.reason: str | None = None
        self._ends = ends
        _open.append(self)
        _take_signal()

    def restore(self) -> None:
        """The run has ended; with the last one the signal is given back, unless the program has taken it meanwhile."""
        if self in _open:
            _open.remove(self)
        if not _open:
            _give_signal_back()

    def note(self, reason: str) -> None:
        """The signal came."""
        self.reason = reason
        _attempt(lambda: self._ends.noted(reason))

    def tell(self, reason: str) -> None:
        """The program ends."""
        _attempt(lambda: self._ends.told(reason))

    def deliver(self) -> None:
        """Wait until the end is safe."""
        _attempt(self._ends.delivered)


class _Handler:
    """In the place of what was there before, which it calls or does in the end."""

    def __init__(self, before: object) -> None:
        self.before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        reason = signal.Signals(number).name
        runs = _open[::-1]
        for run in runs:
            run.note(reason)
        if callable(self.before):
            self.before(number, frame)
        elif self.before == signal.SIG_DFL:
            _end(runs, reason)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def _end(runs: Sequence[Signals], reason: str) -> None:
    for run in runs:
        run.tell(reason)
    # At the same time: each may wait for a service that is away, and who sends SIGTERM does not wait for long.
    waiting = [(run, ObserverThread(run.deliver, "headwater-end")) for run in runs]
    alone = [run for run, thread in waiting if not thread.start()]
    for run in alone:
        run.deliver()
    for _, thread in waiting:
        thread.join()


def _take_signal() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGTERM)
    # None: it is not Python's, and could not be put back. What is ignored is ignored by what the program starts, too.
    if before not in (None, signal.SIG_IGN) and not isinstance(before, _Handler):
        signal.signal(signal.SIGTERM, _Handler(before))


def _give_signal_back() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    while isinstance(ours := signal.getsignal(signal.SIGTERM), _Handler):
        signal.signal(signal.SIGTERM, ours.before)  # type: ignore[arg-type]  # what `getsignal` gave


def _attempt(act: Callable[[], None]) -> None:
    """Do it; whatever goes wrong, the other runs tell their ends, too."""
    try:
        act()
    except Exception:
        log.exception("fault in the end of a run")


def _before_fork() -> None:
    """Have SIGTERM wait: what a handler of Python's notes between the fork and the child's first step is forgotten."""
    if isinstance(signal.getsignal(signal.SIGTERM), _Handler):
        _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _after_fork() -> None:
    if (mask := getattr(_forking, "mask", None)) is not None:
        _forking.mask = None
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _in_child() -> None:
    _open.clear()
    _give_signal_back()
    _after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
