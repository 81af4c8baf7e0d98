"""One run per connector, from its start to its stop, however many tasks it has and however often they are rebalanced.

Records in Connect's topics, and what they mean for the run (measured on Kafka Connect 4.3.1):

    connector RUNNING                           the run starts, unless one is open
    task RUNNING, FAILED; PAUSED; new topics    reported as RUNNING, with the state of every task
    connector FAILED, or every task             the run failed, with the trace; also if it never got to run
    connector RUNNING, every task still failed  nothing: the run has failed, and none starts until a task is started
    target STOPPED; deleted; other datasets     the run was aborted
    UNASSIGNED, RESTARTING                      nothing: a restart, a rebalance or a shutdown
    no tasks any more, and not stopped          the run is complete
    no worker in the group                      the run ended silently: reported as an inferred end
    workers alive that do not restart it        reported as RUNNING, or as its true end: retracts the inferred end
    another status than that it starts          the same
    a table has a new snapshot                  reported as RUNNING, with the offsets that went into it

A pure fold over records, each with the time that Kafka gave it: the same records give the same runs and the same
updates, so reading them again reports nothing new.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import replace
from typing import Final

from headwater.capture.connect.chain import transform_properties
from headwater.capture.connect.connectors import Commit, Connector, Run, RunUpdate, State, Task, Workers
from headwater.capture.connect.debezium import column_changes
from headwater.capture.connect.records import (
    Committed,
    Configured,
    Delivered,
    Properties,
    Record,
    Status,
    TargetState,
    TaskCount,
    TopicActive,
    TopicReset,
)
from headwater.capture.connect.topics import left_out
from headwater.model.credentials import is_address, without_credentials, without_secrets
from headwater.model.run_ids import RANDOM_BITS, run_id

COMPLETE_AFTER_MS: Final = 5_000
"""How long a connector must have had no task, without being stopped, before it counts as complete."""

WITHOUT_TASKS_MS: Final = 10_000
"""How long a running connector may have no known tasks before that is reported."""

UNINTERRUPTED_AFTER_MS: Final = 60_000
"""How long workers must be alive without restarting a connector, before its run counts as never interrupted."""

_DECIDING_PROPERTIES: Final = ("connector.class", "topics", "topics.regex", "topic", "value.converter")
"""The properties of any connector that decide its datasets and columns, besides those of its class and transforms."""

_TRANSITIONAL: Final = ("UNASSIGNED", "RESTARTING")
"""The states during a restart, a move to another worker, or a shutdown."""

_OVERRIDING: Final = re.compile(r"topic\.override\..+\.(?:database|collection)")
"""The names of properties that decide the dataset of a single topic."""


class Lifecycles:
    """The connectors of one Connect cluster and their runs; `namespace` is that of their jobs."""

    def __init__(self, namespace: str, relevant: Iterable[str] = (), connectors: Iterable[Connector] = ()) -> None:
        self._namespace = namespace
        self._relevant = frozenset((*_DECIDING_PROPERTIES, *relevant))
        self.connectors = {connector.name: connector for connector in connectors}
        for connector in self.connectors.values():  # an older version may have saved more properties
            connector.properties = connector.properties and self._relevant_properties(connector.properties)

    def apply(self, record: Record) -> list[RunUpdate]:
        """Apply a record; returns the updates to report."""
        if isinstance(record, Delivered | Committed) and record.connector not in self.connectors:
            return []  # a sink of another Connect cluster, with the same control topic
        if _is_deletion(record) and record.connector not in self.connectors:
            return []  # a late record of a deleted connector
        connector = self.connectors.setdefault(record.connector, Connector(record.connector))
        match record:
            case Configured():
                updates = [*self._configured(connector, record)]
                if record.properties is None:
                    del self.connectors[record.connector]
            case TargetState():
                updates = [*self._target_state(connector, record)]
            case TaskCount():
                updates = [*self._task_count(connector, record)]
            case Status(task=None):
                updates = [*self._connector_status(connector, record)]
            case Status():
                updates = [*self._task_status(connector, record)]
            case TopicActive():
                updates = [*self._topic_active(connector, record)]
            case TopicReset():
                connector.topics.pop(record.topic, None)
                connector.left_out.pop(record.topic, None)
                updates = []
            case Delivered():
                connector.delivered |= record.offsets
                updates = []
            case Committed():
                updates = [*self._committed(connector, record)]
        return updates

    def tick(self, now_ms: int, workers: Workers | None, heartbeat_ms: int, lost_after_ms: int) -> list[RunUpdate]:
        """Advance the time; returns the updates to report. `workers` is None if unknown."""
        return [
            update
            for connector in self.connectors.values()
            for update in (
                *self._awaited(connector, now_ms, workers),
                *self._passed(connector, now_ms, workers, heartbeat_ms, lost_after_ms),
            )
        ]

    def updates_for_topics(self, topics: Set[str], now_ms: int) -> list[RunUpdate]:
        """Updates for every run with any of these topics, because their schemas are better known."""
        touching = [each for each in self.connectors.values() if not topics.isdisjoint(each.topics)]
        return [update for connector in touching for update in self._running(connector, now_ms)]

    def _configured(self, connector: Connector, record: Configured) -> Iterator[RunUpdate]:
        before = connector.properties
        if record.properties is None:
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="deleted")
            return
        after = self._relevant_properties(record.properties)
        if before is not None and before != after:
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="superseded")
            connector.state = None
            connector.delivered = {}
        connector.properties = after
        self._leave_out(connector, before or {})
        if before is None:  # its status may have been read first
            yield from self._begin(connector, connector.state_ms or record.time_ms)

    def _relevant_properties(self, properties: Properties) -> Properties:
        """The properties that decide the datasets, without passwords. No others are stored."""
        of_transforms = transform_properties(properties)
        relevant = {
            name: without_credentials(value) if is_address(value) else without_secrets(value)
            for name, value in properties.items()
            if name in self._relevant or name in of_transforms or _OVERRIDING.fullmatch(name)
        }
        return {**relevant, **column_changes(properties)}

    @staticmethod
    def _leave_out(connector: Connector, before: Properties) -> None:
        """Move topics between counted and excluded ones by the new properties; `before` are the old properties."""
        known = {**connector.topics, **connector.left_out}
        out = left_out(connector.properties or {}, before, {topic: topic in connector.left_out for topic in known})
        connector.topics = {topic: seen for topic, seen in known.items() if topic not in out}
        connector.left_out = {topic: seen for topic, seen in known.items() if topic in out}

    def _target_state(self, connector: Connector, record: TargetState) -> Iterator[RunUpdate]:
        connector.wanted = record.state
        if record.state == "STOPPED":
            connector.state = "STOPPED"
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="stopped")

    def _task_count(self, connector: Connector, record: TaskCount) -> Iterator[RunUpdate]:
        connector.planned_tasks, connector.planned_ms = record.tasks, record.time_ms
        # New settings restart every task, so a failed one will report a new status.
        connector.tasks = {
            number: task for number, task in connector.tasks.items() if number < record.tasks and task.state != "FAILED"
        }
        if connector.run is not None and record.tasks:
            connector.run.had_tasks = True
        yield from self._evaluated(connector, record.time_ms)
        if (
            record.tasks and connector.state == "RUNNING" and connector.lost is None
        ):  # every task had failed, or was gone
            yield from self._begin(connector, record.time_ms)

    def _connector_status(self, connector: Connector, record: Status) -> Iterator[RunUpdate]:
        if record.state in (None, "DESTROYED"):
            return
        if record.state in _TRANSITIONAL:
            yield from self._reopened(connector, record.time_ms)
            if record.state == "UNASSIGNED" and connector.state != "STOPPED":
                connector.state = "UNASSIGNED"
            return
        before, connector.state, connector.state_ms = connector.state, record.state, record.time_ms
        connector.trace = record.trace
        if "PAUSED" in (before, record.state) and before != record.state:  # starting workers report PAUSED again
            yield from self._reopened(connector, record.time_ms)
        if record.state == "STOPPED":
            yield from self._end(connector, "ABORT", record.time_ms, stop_reason="stopped")
        elif connector.run is None:
            yield from self._begin(connector, record.time_ms)
        elif record.state == "FAILED":
            yield from self._evaluated(connector, record.time_ms)
        elif {before, record.state} & {"PAUSED", "FAILED"} and before != record.state:
            yield from self._running(connector, record.time_ms)

    def _task_status(self, connector: Connector, record: Status) -> Iterator[RunUpdate]:
        if record.task is None:
            return
        before = connector.tasks.get(record.task)
        if record.state in (None, "DESTROYED"):
            connector.tasks.pop(record.task, None)
        elif record.state in _TRANSITIONAL:
            yield from self._reopened(connector, record.time_ms)
            if before is not None and before.state == "FAILED":
                connector.tasks[record.task] = Task(record.state, None, record.worker)
        elif record.state in ("RUNNING", "FAILED", "PAUSED"):
            connector.tasks[record.task] = Task(record.state, record.trace, record.worker)
            yield from self._task_changed(connector, record, before)

    def _task_changed(self, connector: Connector, record: Status, before: Task | None) -> Iterator[RunUpdate]:
        has_failed = record.state == "FAILED"
        if connector.lost is not None and not has_failed:  # restarting workers also report this
            connector.lost.heard_ms = connector.lost.heard_ms or record.time_ms
            return
        yield from self._reopened(connector, record.time_ms)
        if connector.run is None and has_failed:
            if connector.state == "RUNNING" and _tasks_if_all_failed(connector):
                yield from self._begin(connector, record.time_ms)
        elif connector.run is None and record.state == "RUNNING" and connector.state in ("RUNNING", "FAILED"):
            connector.state = "RUNNING"
            yield from self._begin(connector, record.time_ms)
        elif has_failed or (record.state == "RUNNING" and (before is None or before.state != "RUNNING")):
            yield from self._evaluated(connector, record.time_ms, report=True)

    def _topic_active(self, connector: Connector, record: TopicActive) -> Iterator[RunUpdate]:
        if record.topic in connector.topics:
            return
        connector.left_out.pop(record.topic, None)
        connector.topics[record.topic] = record.time_ms
        if connector.lost is None:
            yield from self._running(connector, record.time_ms)
        else:
            yield from self._reopened(connector, record.time_ms)

    def _committed(self, connector: Connector, record: Committed) -> Iterator[RunUpdate]:
        yield from self._reopened(connector, record.time_ms)
        run = connector.run
        if run is not None and record.time_ms >= run.started_ms:
            offsets = dict(sorted(connector.delivered.items()))
            run.commits[record.table] = Commit(record.commit, record.time_ms, record.snapshot, offsets)
            yield from self._running(connector, record.time_ms)

    def _begin(self, connector: Connector, time_ms: int) -> Iterator[RunUpdate]:
        """Start a run if none is open and one is due; it ends at once if all its tasks have failed."""
        is_to_run = connector.wanted != "STOPPED" and connector.properties is not None
        is_old = any(task.is_told for task in _tasks_if_all_failed(connector))
        is_up = connector.state == "FAILED" or (connector.state == "RUNNING" and not is_old)
        if connector.run is None and is_to_run and is_up:
            connector.lost = None
            time_ms = connector.began_ms = max(time_ms, connector.began_ms + 1)
            run = Run(self._run_id(connector.name, time_ms), time_ms, time_ms, bool(connector.planned_tasks))
            connector.run, run.newest_ms = run, time_ms
            yield self._update(connector, run, "START", time_ms)
            yield from self._evaluated(connector, time_ms)

    def _run_id(self, connector: str, time_ms: int) -> str:
        digest = hashlib.sha256(f"{self._namespace}\0{connector}\0{time_ms}".encode()).digest()
        return run_id(time_ms, int.from_bytes(digest) >> (256 - RANDOM_BITS))

    def _evaluated(self, connector: Connector, time_ms: int, *, report: bool = False) -> Iterator[RunUpdate]:
        failed = _tasks_if_all_failed(connector)
        is_any_alive = any(task.state == "RUNNING" for task in connector.tasks.values())
        if connector.state == "FAILED" and not is_any_alive:
            yield from self._failed(connector, time_ms, connector.trace)
        elif failed:
            yield from self._failed(connector, time_ms, failed[0].trace)
        elif report or (connector.state == "FAILED"):
            yield from self._running(connector, time_ms)

    def _failed(self, connector: Connector, time_ms: int, trace: str | None) -> Iterator[RunUpdate]:
        if connector.run is not None:
            yield from self._end(connector, "FAIL", time_ms, trace=trace)
            connector.tasks = {
                number: replace(task, is_told=task.state == "FAILED") for number, task in connector.tasks.items()
            }

    def _running(self, connector: Connector, time_ms: int, *, is_retraction: bool = False) -> Iterator[RunUpdate]:
        run = connector.run
        if run is not None and time_ms >= run.started_ms:
            run.told_ms, run.newest_ms = time_ms, max(run.newest_ms, time_ms)
            yield self._update(connector, run, "RUNNING", time_ms)._replace(is_retraction=is_retraction)

    def _reopened(self, connector: Connector, time_ms: int) -> Iterator[RunUpdate]:
        """Reopen the run whose end was inferred: it has gone on."""
        lost = connector.lost
        if lost is not None:
            connector.run, connector.lost, lost.heard_ms = lost, None, None
            yield from self._running(connector, max(time_ms, lost.newest_ms + 1), is_retraction=True)

    def _end(
        self,
        connector: Connector,
        state: State,
        time_ms: int,
        *,
        trace: str | None = None,
        stop_reason: str | None = None,
        is_inferred: bool = False,
    ) -> Iterator[RunUpdate]:
        """End the open run, or the one whose end was only inferred."""
        lost, run = connector.lost, connector.run or connector.lost
        connector.run = connector.lost = None
        if run is not None:
            update = self._update(connector, run, state, max(time_ms, run.started_ms))
            ended = update._replace(trace=trace, stop_reason=stop_reason, is_inferred=is_inferred)
            yield ended._replace(is_retraction=run is lost)

    def _update(self, connector: Connector, run: Run, state: State, time_ms: int) -> RunUpdate:
        return RunUpdate(
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

    def _awaited(self, connector: Connector, now_ms: int, workers: Workers | None) -> Iterator[RunUpdate]:
        """Decide on a run whose end was inferred: restarted workers would have restarted it by now."""
        if connector.lost is None:
            return
        since_ms = [] if connector.lost.heard_ms is None else [connector.lost.heard_ms]
        if workers is not None and workers.are_there:
            since_ms.append(workers.since_ms)
        if since_ms and now_ms - min(since_ms) >= UNINTERRUPTED_AFTER_MS:
            yield from self._reopened(connector, now_ms)

    def _passed(
        self, connector: Connector, now_ms: int, workers: Workers | None, heartbeat_ms: int, lost_after_ms: int
    ) -> Iterator[RunUpdate]:
        run = connector.run
        if run is None:
            return
        alive_ms = max(run.started_ms, 0 if workers is None else workers.seen_ms)  # a worker was alive when it started
        if workers is not None and not workers.are_there and now_ms - alive_ms >= lost_after_ms:
            yield from self._lost(connector, run, alive_ms)
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
        elif abs(now_ms - run.told_ms) >= heartbeat_ms:  # the clock may have been set back
            yield from self._evaluated(connector, max(now_ms, run.newest_ms + 1), report=True)
            run.told_ms = now_ms

    def _lost(self, connector: Connector, run: Run, alive_ms: int) -> Iterator[RunUpdate]:
        """Infer a silent end; its time must be after all earlier updates, and before all later ones."""
        is_shut_down = connector.state == "UNASSIGNED"
        state: State = "ABORT" if is_shut_down else "FAIL"
        reason = "workers shut down" if is_shut_down else "workers lost"
        run.newest_ms = max(alive_ms, run.newest_ms + 1)
        yield from self._end(connector, state, run.newest_ms, stop_reason=reason, is_inferred=True)
        connector.lost = None if is_shut_down else run

    @staticmethod
    def _is_done(connector: Connector, now_ms: int) -> bool:
        return (
            connector.planned_tasks == 0
            and connector.wanted == "STARTED"
            and connector.state == "RUNNING"
            and now_ms - connector.planned_ms >= COMPLETE_AFTER_MS
        )


def _is_deletion(record: Record) -> bool:
    return isinstance(record, TopicReset) or (isinstance(record, Status) and record.state is None)


def _tasks_if_all_failed(connector: Connector) -> list[Task]:
    """All tasks by number, if every expected task has failed; otherwise none."""
    failed = [task for _, task in sorted(connector.tasks.items()) if task.state == "FAILED"]
    return failed if connector.planned_tasks and len(failed) >= connector.planned_tasks else []
