"""What goes into the log, and what comes out of it."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from headwater.model.edits import EditEntry
from headwater.model.events import Event
from headwater.model.extract import facts
from headwater.model.facts import Fact
from headwater.store.packing import packed

Verdict = Literal["ok", "tampered", "unknown-key", "unsigned", "malformed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """An event or edits to be stored, with what the signature proved when it came."""

    event: Event | EditEntry
    verdict: Verdict
    key_id: str | None
    received_us: int
    """Microseconds since 1970, UTC."""
    frame: bytes = field(init=False)
    """The raw bytes, packed."""
    facts: tuple[Fact, ...] = field(init=False)
    """What an event says; what edits say depends on their place in the log."""

    def __post_init__(self) -> None:
        """Pack and extract: whoever makes an entry does the work, and not the writer's thread."""
        object.__setattr__(self, "frame", packed(self.event.raw))
        object.__setattr__(self, "facts", () if isinstance(self.event, EditEntry) else facts(self.event))


class Stored(NamedTuple):
    """Where an event stands in the log; `facts` are what it added, none if its bytes were stored before."""

    log_index: int
    is_new: bool
    facts: tuple[Fact, ...]


class LoggedEvent(NamedTuple):
    """An event as the log has it; times in microseconds since 1970, UTC."""

    log_index: int
    digest: bytes
    received_us: int
    event_us: int
    event_type: str
    verdict: Verdict
    key_id: str | None
    raw: bytes
