"""Stopping a run from outside: from a signal handler, another thread, a page."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Why:
    """Why a run ended.

    Attributes:
        reason: one word, the same for the same cause: `completed`, `failed`, `SIGTERM`, `superseded`, …
        by: who stopped it, where a person did.
        note: why they did, in their words.
    """

    reason: str
    by: str | None = None
    note: str | None = None


class Stopped(Exception):
    """Raised inside the work of a run between two steps, once it was asked to stop."""


class StopSignal:
    """A request to stop a run; asked once or often, the first reason counts.

    `request` only sets an attribute and calls what listens, which puts into a `SimpleQueue`: all of it is safe inside a
    signal handler, where a lock (as in `threading.Event`) could be one that the interrupted code holds.
    """

    def __init__(self) -> None:
        self.why: Why | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def reason(self) -> str | None:
        """The reason, once a stop was requested."""
        return None if self.why is None else self.why.reason

    def request(self, reason: str, by: str | None = None, note: str | None = None) -> None:
        """Ask the run to stop; all of it is told in its ABORT event, `reason` for example `SIGTERM`."""
        if self.why is None:
            self.why = Why(reason, by, note)
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every request from now on, and now if there was one already."""
        self._listeners.append(listener)
        if self.why is not None:
            listener()

    def check(self) -> None:
        """Raise `Stopped` once a stop was requested."""
        if self.why is not None:
            raise Stopped(self.why.reason)
