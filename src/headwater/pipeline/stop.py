"""Stops a run from outside: from a signal handler or another thread."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EndReason:
    """Why a run ended.

    Attributes:
        reason: one word for each cause: `completed`, `failed`, `SIGTERM`, `superseded`, …
        by: who stopped it, if a person did.
        note: the reason that this person gave.
    """

    reason: str
    by: str | None = None
    note: str | None = None


class Stopped(Exception):
    """Raised in the work of a run between two steps, after a request to stop."""


class StopSignal:
    """A request to stop a run; of several requests the first reason counts.

    `request` only sets an attribute and calls the listeners, which put into a `SimpleQueue`. That is safe in a signal
    handler, where a lock (as in `threading.Event`) could be held by the interrupted code.
    """

    def __init__(self) -> None:
        self.why: EndReason | None = None
        self._listeners: list[Callable[[], None]] = []

    @property
    def reason(self) -> str | None:
        """The reason, once a stop was requested."""
        return None if self.why is None else self.why.reason

    def request(self, reason: str, by: str | None = None, note: str | None = None) -> None:
        """Ask the run to stop; its ABORT event has these values, `reason` for example `SIGTERM`."""
        if self.why is None:
            self.why = EndReason(reason, by, note)
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every future request, and now if there was one already."""
        self._listeners.append(listener)
        if self.why is not None:
            listener()

    def check(self) -> None:
        """Raise `Stopped` once a stop was requested."""
        if self.why is not None:
            raise Stopped(self.why.reason)
