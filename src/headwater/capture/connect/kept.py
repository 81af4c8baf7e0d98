"""What the watcher knows, on disk: how far it has read, and the lives that go on."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from headwater.capture.connect.life import Connector
from headwater.capture.schemas import TopicSchema


@dataclass(slots=True)
class Kept:
    """How far the watcher has read, and what it knew then."""

    connectors: list[Connector] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    """The next offset, by `TOPIC/PARTITION`."""
    schemas: dict[str, TopicSchema] = field(default_factory=dict)
    """Of topics, as a transform saw them."""
    workers_seen_ms: int = 0
    """When a worker was in the group last."""


KEPT: Final = TypeAdapter(Kept)
