"""The transport protocol, and the three outcomes of a delivery."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The target has the event; it need not be sent again."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The target will never accept this event; later ones may be fine. `advice` is what a person can do."""

    why: str
    advice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The target does not accept events now; `after_s` is the delay that it asks for, in seconds.

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
        """Where events go, without credentials; also identifies the spools of dead processes that may be adopted."""

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Deliver one or more signed events, from the first on; returns the outcome of each event that was sent.

        Failures of the network or the disk are outcomes, not exceptions.
        """

    def close(self) -> None:
        """Close connections and files; a later `send_batch` opens them again."""
