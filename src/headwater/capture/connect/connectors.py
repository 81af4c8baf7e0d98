"""What is known of a connector and its run, and what is told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, NamedTuple

from headwater.capture.connect.records import Properties

State = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"]


@dataclass(slots=True)
class Task:
    """What was heard of a task last."""

    state: str
    trace: str | None = None
    worker: str | None = None
    is_told: bool = False
    """Whether a run was told to have failed with it."""


@dataclass(slots=True)
class Commit:
    """What an Iceberg sink committed to a table last, and the offsets up to which it had come."""

    id: str
    time_ms: int
    snapshot: str
    offsets: dict[str, int]


@dataclass(slots=True)
class Run:
    """A run that goes on, or whose end was inferred."""

    id: str
    started_ms: int
    told_ms: int
    """When it was told last, by the clock."""
    had_tasks: bool = False
    without_tasks_told: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    """By table."""
    newest_ms: int = 0
    """The time of its newest event: after that of the clock, where that was put back."""
    heard_ms: int | None = None
    """When a task was heard of first since the end was inferred."""


@dataclass(slots=True)
class Connector:
    """What is known of a connector."""

    name: str
    properties: Properties | None = None
    """Those that decide which datasets it touches."""
    wanted: str = "STARTED"
    state: str | None = None
    state_ms: int = 0
    trace: str | None = None
    planned_tasks: int | None = None
    planned_ms: int = 0
    tasks: dict[int, Task] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    """Observed topics, and when."""
    left_out: dict[str, int] = field(default_factory=dict)
    """Those that the properties exclude by now: Connect tells none a second time, should they be named again."""
    delivered: dict[str, int] = field(default_factory=dict)
    """The next offset by `TOPIC/PARTITION`, up to which an Iceberg sink has written."""
    run: Run | None = None
    began_ms: int = 0
    """When the last run began. The next begins later: its id follows from that."""
    lost: Run | None = None
    """The last run, where its end was inferred and may be taken back."""


class Told(NamedTuple):
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
    takes_back: bool = False
    """Whether an end that was inferred is taken back."""
    commits: Mapping[str, Commit] = MappingProxyType({})
    """The newest by table."""


class Workers(NamedTuple):
    """Whether any worker is there, when one was seen last, and since when it has been so."""

    are_there: bool
    seen_ms: int
    since_ms: int = 0
