"""The watcher's state on disk: how far it has read, and the connectors with their runs.

Parsed by hand: a generated parser of these types takes 1 MB of memory, and the watcher should stay small.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater.capture.connect.connectors import Commit, Connector, Run, Task
from headwater.capture.fields import Field, TopicSchema

_Run = Mapping[str, Any] | None


@dataclass(slots=True)
class WatcherState:
    """How far the watcher has read, and the state up to there."""

    connectors: list[Connector] = field(default_factory=list)
    offsets: dict[str, int] = field(default_factory=dict)
    """The next offset, by `TOPIC/PARTITION`."""
    waiting: dict[str, set[int]] = field(default_factory=dict)
    """The offsets before it whose records are not in `connectors` yet."""
    schemas: dict[str, TopicSchema] = field(default_factory=dict)
    """Schemas by topic, as our transform observed them."""
    workers_seen_ms: int = 0
    """When a worker was last seen."""
    group: str | None = None
    """The group of that worker."""


def read(saved: Mapping[str, Any]) -> WatcherState:
    """Parse the state from its JSON.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: the JSON does not have the expected shape.
    """
    connectors = [_connector(**each) for each in saved.get("connectors", ())]
    schemas = {topic: _schema(*each) for topic, each in saved.get("schemas", {}).items()}
    offsets = {partition: int(offset) for partition, offset in saved.get("offsets", {}).items()}
    waiting = {partition: {*map(int, left)} for partition, left in saved.get("waiting", {}).items()}
    seen_ms = int(saved.get("workers_seen_ms", 0))
    return WatcherState(connectors, offsets, waiting, schemas, seen_ms, saved.get("group"))


def _connector(tasks: Mapping[str, Any], run: _Run, lost: _Run = None, **more: Any) -> Connector:  # noqa: ANN401  JSON
    known = {int(number): Task(**task) for number, task in tasks.items()}
    going_on, ended = (None if each is None else _run(**each) for each in (run, lost))
    return Connector(**more, tasks=known, run=going_on, lost=ended)


def _run(commits: Mapping[str, Any], **more: Any) -> Run:  # noqa: ANN401  JSON
    return Run(**more, commits={table: Commit(**commit) for table, commit in commits.items()})


def _schema(fields: Iterable[Any], version: int | None) -> TopicSchema:
    return TopicSchema(_fields(fields), version)


def _fields(fields: Iterable[Any]) -> tuple[Field, ...]:
    return tuple(Field(name, kind, _fields(nested)) for name, kind, nested in fields)
