"""One connector, one run: from its start to its stop, however many tasks it has, whatever is rebalanced between.

What Connect's topics say, and what it means (measured on Kafka Connect 4.3.1):

    connector RUNNING                           the run starts, if none goes on
    task RUNNING, FAILED; PAUSED; new topics    told as RUNNING, with the state of every task
    connector FAILED, or every task             the run failed, with the trace; also where it never got to run
    wanted STOPPED; deleted; other datasets     the run was aborted
    UNASSIGNED, RESTARTING                      nothing: a restart, a rebalance or a shutdown
    no task any more, and nobody stopped it     the run is complete
    no worker in the group                      the run ended without a word: told as inferred
    a table has another snapshot                told as RUNNING, with the offsets that went into it

A pure fold over records, each with the time that Kafka gave it: the same records give the same runs and the same
tellings, so one who reads them again tells nothing new.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from headwater.capture.connect.records import (
    Committed,
    Configured,
    Delivered,
    Flowing,
    Forgotten,
    Planned,
    Properties,
    Record,
    Status,
    Wanted,
)
from headwater.model.credentials import is_address, without_credentials, without_secrets
from headwater.model.run_ids import RANDOM_BITS, run_id

State = Literal["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"]

COMPLETE_AFTER_MS: Final = 5_000
"""How long a connector must have had no task, with nobody stopping it, before it counts as done."""

WITHOUT_TASKS_MS: Final = 10_000
"""How long a running connector may have told no tasks before that is told."""

_DATASETS_BY: Final = ("connector.class", "topics", "topics.regex", "topic", "transforms", "value.converter")
"""The properties that decide which datasets and columns a connector touches, beside those that its class knows."""

_DATASETS_BY_ANY_OF: Final = ("transforms.", "topic.override.")
"""How the names of further ones begin."""


@dataclass(slots=True)
class Task:
    """What was heard of a task last."""

    state: str
    trace: str | None = None
    worker: str | None = None


@dataclass(slots=True)
class Commit:
    """What an Iceberg sink committed to a table last, and the offsets up to which it had come."""

    id: str
    time_ms: int
    snapshot: str
    offsets: dict[str, int]


@dataclass(slots=True)
class Run:
    """A run that goes on."""

    id: str
    started_ms: int
    told_ms: int
    had_tasks: bool = False
    without_tasks_told: bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    """By table."""


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
    delivered: dict[str, int] = field(default_factory=dict)
    """The next offset by `TOPIC/PARTITION`, up to which an Iceberg sink has written."""
    run: Run | None = None


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
    commits: Mapping[str, Commit] = MappingProxyType({})
    """The newest by table."""


class Workers(NamedTuple):
    """Whether any worker is in the group, and when that was last seen to be so."""

    are_there: bool
    seen_ms: int


class Lives:
    """The lives of all connectors of one Connect cluster; `namespace` is that of their jobs."""

    def __init__(self, namespace: str, relevant: Iterable[str] = (), connectors: Iterable[Connector] = ()) -> None:
        self._namespace = namespace
        self._relevant = frozenset((*_DATASETS_BY, *relevant))
        self.connectors = {connector.name: connector for connector in connectors}

    def apply(self, record: Record) -> list[Told]:
        """Take a record; gives what it makes known."""
        if isinstance(record, Delivered | Committed) and record.connector not in self.connectors:
            return []  # a sink of another Connect cluster, with the same control topic
        if _clears_away(record) and record.connector not in self.connectors:
            return []  # behind a connector that was deleted
        connector = self.connectors.setdefault(record.connector, Connector(record.connector))
        match record:
            case Configured():
                told = [*self._configured(connector, record)]
                if record.properties is None:
                    del self.connectors[record.connector]
            case Wanted():
                told = [*self._wanted(connector, record)]
            case Planned():
                told = [*self._planned(connector, record)]
            case Status(task=None):
                told = [*self._connector_status(connector, record)]
            case Status():
                told = [*self._task_status(connector, record)]
            case Flowing():
                told = [*self._flowing(connector, record)]
            case Forgotten():
                connector.topics.pop(record.topic, None)
                told = []
            case Delivered():
                connector.delivered |= record.offsets
                told = []
            case Committed():
                told = [*self._committed(connector, record)]
        return told

    def tick(self, now_ms: int, workers: Workers | None, heartbeat_ms: int, lost_after_ms: int) -> list[Told]:
        """Let time pass; `workers` is None where that is not known."""
        return [
            told
            for connector in self.connectors.values()
            if connector.run is not None
            for told in self._passed(connector, connector.run, now_ms, workers, heartbeat_ms, lost_after_ms)
        ]

    def again(self, topics: Set[str], now_ms: int) -> list[Told]:
        """Tell every run that has to do with any of these topics anew, because more is known of them."""
        touching = [each for each in self.connectors.values() if not topics.isdisjoint(each.topics)]
        return [told for connector in touching for told in self._running(connector, now_ms)]

    def _configured(self, connector: Connector, record: Configured) -> Iterator[Told]:
        before = connector.properties
        if record.properties is None:
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="deleted")
            return
        after = self._deciding(record.properties)
        if before is not None and before != after:
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="superseded")
            connector.state = None
            connector.topics = {topic: seen for topic, seen in connector.topics.items() if _may_touch(after, topic)}
            connector.delivered = {}
        connector.properties = after
        if before is None:  # a status may have been read before it
            yield from self._begin(connector, connector.state_ms or record.time_ms)

    def _deciding(self, properties: Properties) -> Properties:
        """The properties that decide which datasets are touched. No other is kept, and of these no password."""
        return {
            name: without_credentials(value) if is_address(value) else without_secrets(value)
            for name, value in properties.items()
            if name in self._relevant or name.startswith(_DATASETS_BY_ANY_OF)
        }

    def _wanted(self, connector: Connector, record: Wanted) -> Iterator[Told]:
        connector.wanted = record.state
        if record.state == "STOPPED":
            connector.state = "STOPPED"
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="stopped")

    def _planned(self, connector: Connector, record: Planned) -> Iterator[Told]:
        connector.planned_tasks, connector.planned_ms = record.tasks, record.time_ms
        # New settings start every task anew, so one that had failed is heard of again.
        connector.tasks = {
            number: task for number, task in connector.tasks.items() if number < record.tasks and task.state != "FAILED"
        }
        if connector.run is not None and record.tasks:
            connector.run.had_tasks = True
        yield from self._judged(connector, record.time_ms)

    def _connector_status(self, connector: Connector, record: Status) -> Iterator[Told]:
        if record.state in (None, "UNASSIGNED", "RESTARTING", "DESTROYED"):
            if record.state == "UNASSIGNED" and connector.state != "STOPPED":
                connector.state = "UNASSIGNED"
            return
        before, connector.state, connector.state_ms = connector.state, record.state, record.time_ms
        connector.trace = record.trace
        if record.state == "STOPPED":
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="stopped")
        elif record.state == "FAILED":
            yield from self._begin(connector, record.time_ms, even_failed=True)
            yield from self._judged(connector, record.time_ms)
        elif connector.run is None:
            yield from self._begin(connector, record.time_ms)
        elif {before, record.state} & {"PAUSED", "FAILED"} and before != record.state:
            yield from self._running(connector, record.time_ms)

    def _task_status(self, connector: Connector, record: Status) -> Iterator[Told]:
        if record.task is None:
            return
        if record.state in (None, "DESTROYED"):
            connector.tasks.pop(record.task, None)
            return
        if record.state not in ("RUNNING", "FAILED", "PAUSED"):
            return  # on its way: restarted, or moved to another worker
        before = connector.tasks.get(record.task)
        connector.tasks[record.task] = Task(record.state, record.trace, record.worker)
        if record.state == "RUNNING" and connector.run is None and connector.state in ("RUNNING", "FAILED"):
            connector.state = "RUNNING"
            yield from self._begin(connector, record.time_ms)
        elif record.state != "PAUSED" and (before is None or before.state != record.state):
            yield from self._judged(connector, record.time_ms, tell=True)

    def _flowing(self, connector: Connector, record: Flowing) -> Iterator[Told]:
        if record.topic not in connector.topics:
            connector.topics[record.topic] = record.time_ms
            yield from self._running(connector, record.time_ms)

    def _committed(self, connector: Connector, record: Committed) -> Iterator[Told]:
        run = connector.run
        if run is not None and record.time_ms >= run.started_ms:
            offsets = dict(sorted(connector.delivered.items()))
            run.commits[record.table] = Commit(record.commit, record.time_ms, record.snapshot, offsets)
            yield from self._running(connector, record.time_ms)

    def _begin(self, connector: Connector, time_ms: int, *, even_failed: bool = False) -> Iterator[Told]:
        is_to_run = connector.wanted != "STOPPED" and connector.properties is not None
        if connector.run is None and is_to_run and (connector.state == "RUNNING" or even_failed):
            connector.run = Run(self._run_id(connector.name, time_ms), time_ms, time_ms, bool(connector.planned_tasks))
            yield self._told(connector, connector.run, "START", time_ms)

    def _run_id(self, connector: str, time_ms: int) -> str:
        digest = hashlib.sha256(f"{self._namespace}\0{connector}\0{time_ms}".encode()).digest()
        return run_id(time_ms, int.from_bytes(digest) >> (256 - RANDOM_BITS))

    def _judged(self, connector: Connector, time_ms: int, *, tell: bool = False) -> Iterator[Told]:
        failed = [task for _, task in sorted(connector.tasks.items()) if task.state == "FAILED"]
        is_any_alive = any(task.state == "RUNNING" for task in connector.tasks.values())
        planned = connector.planned_tasks
        if connector.state == "FAILED" and not is_any_alive:
            yield from self._end(connector, "FAIL", time_ms, trace=connector.trace)
        elif planned and len(failed) >= planned:
            yield from self._end(connector, "FAIL", time_ms, trace=failed[0].trace)
        elif tell or (connector.state == "FAILED"):
            yield from self._running(connector, time_ms)

    def _running(self, connector: Connector, time_ms: int) -> Iterator[Told]:
        if connector.run is not None and time_ms >= connector.run.started_ms:
            connector.run.told_ms = max(connector.run.told_ms, time_ms)
            yield self._told(connector, connector.run, "RUNNING", time_ms)

    def _end(
        self,
        connector: Connector,
        state: State,
        time_ms: int,
        *,
        trace: str | None = None,
        stop_reason: str | None = None,
        is_inferred: bool = False,
    ) -> Iterator[Told]:
        run, connector.run = connector.run, None
        if run is not None:
            told = self._told(connector, run, state, max(time_ms, run.started_ms))
            yield told._replace(trace=trace, stop_reason=stop_reason, is_inferred=is_inferred)

    def _told(self, connector: Connector, run: Run, state: State, time_ms: int) -> Told:
        return Told(
            run.id,
            connector.name,
            state,
            time_ms,
            run.started_ms,
            connector.state or "UNASSIGNED",
            connector.properties or {},
            tuple(sorted(connector.topics)),
            dict(sorted(connector.tasks.items())),
            connector.planned_tasks,
            commits=dict(sorted(run.commits.items())),
        )

    def _passed(
        self,
        connector: Connector,
        run: Run,
        now_ms: int,
        workers: Workers | None,
        heartbeat_ms: int,
        lost_after_ms: int,
    ) -> Iterator[Told]:
        alive_ms = max(run.started_ms, 0 if workers is None else workers.seen_ms)  # it took a worker to start it
        if workers is not None and not workers.are_there and now_ms - alive_ms >= lost_after_ms:
            is_shut_down = connector.state == "UNASSIGNED"
            state: State = "ABORT" if is_shut_down else "FAIL"
            reason = "workers shut down" if is_shut_down else "workers lost"
            connector.state = None
            yield from self._end(connector, state, alive_ms, stop_reason=reason, is_inferred=True)
        elif run.had_tasks and self._is_done(connector, now_ms):
            yield from self._end(connector, "COMPLETE", connector.planned_ms)
        elif (
            not connector.planned_tasks
            and connector.wanted == "STARTED"
            and not run.without_tasks_told
            and now_ms - run.started_ms >= WITHOUT_TASKS_MS
        ):
            run.without_tasks_told = True
            yield from self._running(connector, run.started_ms + WITHOUT_TASKS_MS)
        elif now_ms - run.told_ms >= heartbeat_ms:
            yield from self._running(connector, now_ms)

    @staticmethod
    def _is_done(connector: Connector, now_ms: int) -> bool:
        return (
            connector.planned_tasks == 0
            and connector.wanted == "STARTED"
            and connector.state == "RUNNING"
            and now_ms - connector.planned_ms >= COMPLETE_AFTER_MS
        )


def _clears_away(record: Record) -> bool:
    return isinstance(record, Forgotten) or (isinstance(record, Status) and record.state is None)


def _may_touch(properties: Properties, topic: str) -> bool:
    """Whether the properties speak of the topic, by name or by a prefix of it."""
    prefixes = [value for name, value in properties.items() if name.endswith("topic.prefix") and value]
    named = {part.strip() for value in properties.values() for part in value.split(",")}
    pattern = properties.get("topics.regex")
    return topic in named or any(topic.startswith(prefix) for prefix in prefixes) or _matches(pattern, topic)


def _matches(pattern: str | None, topic: str) -> bool:
    try:
        return pattern is not None and re.fullmatch(pattern, topic) is not None
    except re.error:  # Java's are a little different; Connect tells the topic again
        return False
