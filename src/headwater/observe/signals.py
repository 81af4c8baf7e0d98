"""SIGTERM kills a Python program at once; this handler lets its open runs emit their terminal events first.

One handler serves all runs of the process, in whatever thread they are.

A forked child owns none of the runs; their ends belong to the parent. In the child the handling of SIGTERM from before
the first run is restored. Until then SIGTERM is blocked, since our handler would swallow it.
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
"""The open runs of this process, oldest first. Without a lock, since a signal handler cannot wait for one."""
_forking: Final = threading.local()


def stop_signals() -> tuple[signal.Signals, ...]:
    """The signals that stop a program; without SIGHUP if that is ignored, as under `nohup`."""
    is_hup_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGTERM, signal.SIGINT, *(() if is_hup_ignored else (signal.SIGHUP,)))


class SignalCallbacks(NamedTuple):
    """A run's callbacks for a signal; none may wait for a lock of the interrupted thread.

    Attributes:
        on_signal: called with the signal's name; work cancelled from then on counts as stopped.
        on_end: called with the signal's name, to emit the terminal event, since the program is about to end.
        wait_delivered: returns once that event is safe.
    """

    on_signal: Callable[[str], None]
    on_end: Callable[[str], None]
    wait_delivered: Callable[[], None]


class Signals:
    """An open run that emits its terminal event on SIGTERM; then the program ends of the signal.

    Of nested runs the inner ones go first. If the program has a handler of its own, that is called and decides. If it
    ignores the signal, nothing happens.

    Attributes:
        reason: the signal's name, once it arrived.
    """

    def __init__(self, callbacks: SignalCallbacks) -> None:
        self.reason: str | None = None
        self._callbacks = callbacks
        _open.append(self)
        _install_handler()

    def restore(self) -> None:
        """Deregister the ended run; the last one restores the old handler, unless the program has set another."""
        if self in _open:
            _open.remove(self)
        if not _open:
            _restore_handler()

    def mark_signalled(self, reason: str) -> None:
        """Note that the signal arrived."""
        self.reason = reason
        _attempt(lambda: self._callbacks.on_signal(reason))

    def emit_end(self, reason: str) -> None:
        """Emit the terminal event, since the program ends."""
        _attempt(lambda: self._callbacks.on_end(reason))

    def wait_delivered(self) -> None:
        """Wait until the terminal event is safe."""
        _attempt(self._callbacks.wait_delivered)


class _Handler:
    """Replaces the previous handler, and finally calls it or does its default action."""

    def __init__(self, before: object) -> None:
        self.before = before

    def __call__(self, number: int, frame: FrameType | None) -> None:
        reason = signal.Signals(number).name
        runs = _open[::-1]
        for run in runs:
            run.mark_signalled(reason)
        if callable(self.before):
            self.before(number, frame)
        elif self.before == signal.SIG_DFL:
            _end(runs, reason)
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)


def _end(runs: Sequence[Signals], reason: str) -> None:
    for run in runs:
        run.emit_end(reason)
    # In parallel: each may wait for an unreachable service, and SIGKILL follows a SIGTERM soon.
    waiting = [(run, ObserverThread(run.wait_delivered, "headwater-end")) for run in runs]
    alone = [run for run, thread in waiting if not thread.start()]
    for run in alone:
        run.wait_delivered()
    for _, thread in waiting:
        thread.join()


def _install_handler() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.getsignal(signal.SIGTERM)
    # None: a handler from outside Python, which could not be restored. SIG_IGN stays, since child processes inherit it.
    if before not in (None, signal.SIG_IGN) and not isinstance(before, _Handler):
        signal.signal(signal.SIGTERM, _Handler(before))


def _restore_handler() -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    while isinstance(ours := signal.getsignal(signal.SIGTERM), _Handler):
        signal.signal(signal.SIGTERM, ours.before)  # type: ignore[arg-type]  # what `getsignal` gave


def _attempt(act: Callable[[], None]) -> None:
    """Call `act`; an exception must not keep the other runs from emitting their ends."""
    try:
        act()
    except Exception:
        log.exception("unexpected error in a callback at the end of a run")


def _before_fork() -> None:
    """Block SIGTERM: one that Python's handler notes between the fork and the child's first step would be lost."""
    if isinstance(signal.getsignal(signal.SIGTERM), _Handler):
        _forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _after_fork() -> None:
    if (mask := getattr(_forking, "mask", None)) is not None:
        _forking.mask = None
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _in_child() -> None:
    _open.clear()
    _restore_handler()
    _after_fork()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
