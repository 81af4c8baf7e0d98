"""Stopping a run from outside: from a signal handler, another thread, a page."""

from collections.abc import Callable


class Stopped(Exception):
    """Raised inside the work of a run between two steps, once it was asked to stop."""


class StopSignal:
    """A request to stop a run; asked once or often, the first reason counts.

    `request` only sets an attribute and calls what listens, which puts into a `SimpleQueue`: all of it is safe inside a
    signal handler, where a lock (as in `threading.Event`) could be one that the interrupted code holds.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self._listeners: list[Callable[[], None]] = []

    def request(self, reason: str) -> None:
        """Ask the run to stop; `reason` is told in its ABORT event, for example `SIGTERM`."""
        if self.reason is None:
            self.reason = reason
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every request from now on, and now if there was one already."""
        self._listeners.append(listener)
        if self.reason is not None:
            listener()

    def check(self) -> None:
        """Raise `Stopped` once a stop was requested."""
        if self.reason is not None:
            raise Stopped(self.reason)
