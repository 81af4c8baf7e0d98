"""What the watcher knows of a cluster, on disk."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from headwater.capture.flink.life import Run


@dataclass(slots=True)
class Kept:
    """The runs that go on, and what of the cluster's jobs is done with."""

    runs: list[Run] = field(default_factory=list)
    over: list[str] | None = None
    """None before the first look."""
    namespace: str | None = None
    version: str | None = None


KEPT: Final = TypeAdapter(Kept)
