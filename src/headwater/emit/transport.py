"""What a transport promises, and the three ways a delivery ends."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The target has the event; it need not be sent again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The target will never take this event; the ones behind it may be fine. `advice` is what a person can do."""

    why: str
    advice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The target does not take events now; `after_s` is when it asks to be tried again, in seconds.

    `advice` is what a person can do.
    """

    why: str
    after_s: float | None = None
    advice: str = field(default="", compare=False)


Outcome = Acknowledged | Refused | Unavailable


class Transport(Protocol):
    """Carries events to one target. Used by one thread at a time."""

    @property
    def name(self) -> str:
        """The transport's name in metrics and logs."""

    @property
    def target(self) -> str:
        """Where events go, without credentials: two transports with one target share what a dead process left."""

    def send_some(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Deliver signed events, from the first on as many as go together; gives the outcome of each that was sent.

        That is at least one. Whatever the network or the disk does is an outcome, not an exception.
        """

    def close(self) -> None:
        """Let go of connections and files; a later `send_some` opens them again."""
