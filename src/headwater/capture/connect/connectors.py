"""The state of a connector and its run, and the updates to report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from headwater.capture.connect.records import Properties

State = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"]


@dataclass(slots=True)
class Task:
    """The last known state of a task."""

    state: str
    trace: str | None = None
    worker: str | None = None
    is_told: bool = False
    """Whether its failure was reported as the failure of a run."""


@dataclass(slots=True)
class Commit:
    """An Iceberg sink's last commit to a table, and the offsets up to which it had written."""

    id: str
    time_ms: int
    snapshot: str
    offsets: dict[str, int]


@dataclass(slots=True)
class Run:
    """An open run, or one whose end was inferred."""

    id: str
    started_ms: int
    told_ms: int
    """When it was last reported, by the clock."""
    had_tasks: bool = False
    without_tasks_told: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    """By table."""
    newest_ms: int = 0
    """The time of its newest event; later than the clock if that was set back."""
    heard_ms: int | None = None
    """When a task's status was first seen after the end was inferred."""


@dataclass(slots=True)
class Connector:
    """The state of a connector."""

    name: str
    properties: Properties | None = None
    """The properties that decide which datasets it reads and writes."""
    wanted: str = "STARTED"
    state: str | None = None
    state_ms: int = 0
    trace: str | None = None
    planned_tasks: int | None = None
    planned_ms: int = 0
    tasks: dict[int, Task] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    """Observed topics, with the time."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Observed topics that the properties now exclude; kept, since Connect does not report a topic a second time."""
    delivered: dict[str, int] = field(default_factory=dict)
    """By `TOPIC/PARTITION`, the offset after the last record that an Iceberg sink has written."""
    run: Run | None = None
    began_ms: int = 0
    """When the last run began. The next one must begin later, since its id is derived from that time."""
    lost: Run | None = None
    """The last run, if its end was inferred and may be retracted."""


class RunUpdate(NamedTuple):
    """A transition of a run."""

    run_id: str
    connector: str
    state: State
    time_ms: int
    started_ms: int
    condition: str
    """The connector's own state: RUNNING, PAUSED, FAILED, …"""
    properties: Properties
    topics: tuple[str, ...]
    tasks: dict[int, Task]
    planned_tasks: int | None
    trace: str | None = None
    stop_reason: str | None = None
    is_inferred: bool = False
    is_retraction: bool = False
    """Whether an inferred end is retracted."""
    commits: Mapping[str, Commit] = MappingProxyType({})
    """The newest commit by table."""


class Workers(NamedTuple):
    """Whether any worker is alive, when one was last seen, and since when this has been so."""

    are_there: bool
    seen_ms: int
    since_ms: int = 0
