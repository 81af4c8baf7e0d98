"""The watcher's state of a cluster, on disk."""

from dataclasses import dataclass, field
from typing import Final

from pydantic import TypeAdapter

from headwater.capture.flink.lifecycle import Run


@dataclass(slots=True)
class WatcherState:
    """The open runs, and the cluster's jobs that need no more reports."""

    runs: list[Run] = field(default_factory=list)
    over: list[str] | None = None
    """None before the first look."""
    namespace: str | None = None
    version: str | None = None


STATE_ADAPTER: Final = TypeAdapter(WatcherState)
