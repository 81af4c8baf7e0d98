"""The answers of Flink's REST API about jobs, as types, and their parsing.

Source: Flink 2.1 REST API, https://nightlies.apache.org/flink/flink-docs-release-2.1/docs/ops/rest_api/; the names of
all fields that are read are the same in the classes of flink-runtime 1.14.6, 1.18.1 and 2.1.3, but for `job-type`
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

OVER: Final = frozenset({"FINISHED", "CANCELED", "FAILED"})
"""Flink's final job states; a SUSPENDED job may be taken over by another JobManager."""

_Answer = Mapping[str, Any]
_STOPPED_WITH: Final = "SYNC_SAVEPOINT"
"""The type of a savepoint that stopped its job; others have type SAVEPOINT."""


class Listed(NamedTuple):
    """A job in the cluster's overview. Times are milliseconds since 1970, by the cluster's clock."""

    id: str
    name: str
    state: str
    started_ms: int
    ended_ms: int | None
    modified_ms: int
    """When it or one of its tasks last changed state."""

    @property
    def is_over(self) -> bool:
        """Whether it is in a final state."""
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A completed stream checkpoint."""

    id: int
    ended_ms: int
    duration_ms: int
    state_bytes: int
    path: str | None


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The counts of a job's stream checkpoints, and the newest one."""

    completed: int
    failed: int
    in_progress: int
    restored: int
    last: Checkpoint | None
    restored_from: str | None
    is_from_savepoint: bool = False
    """Whether it was restored from a savepoint, which a person chose; a failover restores the newest checkpoint."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """An operator chain, and the milliseconds per second for which its busiest task is back-pressured."""

    name: str
    parallelism: int
    state: str
    back_pressured_ms_per_second: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A job's metrics; None if Flink does not report a figure.

    Flink reports the metrics that it last fetched (`metrics.fetcher.update-interval`, 10 s), even when the job has
    ended: records since then are not counted.

    Attributes:
        records_in: records that its sources emitted since its last restart.
        records_out: records that its sinks received since its last restart.
        restarts: how often all or some of its tasks were restarted.
    """

    records_in: int | None = None
    records_out: int | None = None
    restarts: int | None = None
    checkpoints: Checkpoints | None = None
    vertices: tuple[Vertex, ...] = ()

    def or_else(self, known: "Figures") -> "Figures":
        """These figures; where Flink no longer reports one, as for an ended job, the known one."""
        return replace(
            self,
            records_in=known.records_in if self.records_in is None else self.records_in,
            records_out=known.records_out if self.records_out is None else self.records_out,
            restarts=max((each for each in (self.restarts, known.restarts) if each is not None), default=None),
            checkpoints=self.checkpoints or known.checkpoints,
        )


class Failure(NamedTuple):
    """The last failure: Flink's root exception, with the chain of its causes."""

    trace: str
    at_ms: int
    task: str | None


class Details(NamedTuple):
    """The details of a job beyond its state."""

    figures: Figures
    is_stream: bool
    failure: Failure | None = None
    savepoint: str | None = None
    """The path of the savepoint that it was stopped with."""


class JobAnswers(NamedTuple):
    """The raw answers about one job."""

    job: _Answer
    checkpoints: _Answer
    exceptions: _Answer
    metrics: Sequence[_Answer]
    operators: Mapping[str, Sequence[_Answer]]
    """By vertex id: the metrics chosen by `wanted_metrics`, with `sum` and `max` over its tasks."""


def listed(overview: _Answer) -> tuple[Listed, ...]:
    """The jobs of `/jobs/overview`, in the order of their starts.

    Raises:
        KeyError, TypeError: the answer does not have the expected shape.
    """
    jobs = (
        Listed(
            job["jid"],
            job["name"],
            job["state"],
            job["start-time"],
            job["end-time"] if job["end-time"] >= 0 else None,
            job["last-modification"],
        )
        for job in overview["jobs"]
    )
    return tuple(sorted(jobs, key=lambda job: (job.started_ms, job.id)))


_OF_SOURCE: Final = re.compile(r"Source__.*\.numRecordsOut")
_OF_SINK: Final = re.compile(r"(?:.*__Writer|Sink__.*)\.numRecordsIn")
_BACK_PRESSURE: Final = "backPressuredTimeMsPerSecond"


def wanted_metrics(ids: Iterable[str]) -> list[str]:
    """The metrics of a vertex to read: records out of sources and into sinks, and back-pressure."""
    return [each for each in ids if each == _BACK_PRESSURE or _OF_SOURCE.fullmatch(each) or _OF_SINK.fullmatch(each)]


def details(answers: JobAnswers) -> Details:
    """The job's details.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: an answer does not have the expected shape.
    """
    counted = [_counted(vertex, answers.operators.get(vertex["id"], ())) for vertex in answers.job["vertices"]]
    restarts = next((int(each["value"]) for each in answers.metrics if each["id"] == "numRestarts"), None)
    entries = answers.exceptions["exceptionHistory"]["entries"]
    if answers.job["state"] == "FAILED":  # each exception but the last caused a restart; the metric lags behind
        restarts = max(restarts or 0, len(entries) - 1)
    figures = Figures(
        records_in=_total(one.records_in for one in counted if one.is_source),
        records_out=_total(one.records_out for one in counted if one.is_sink),
        restarts=restarts,
        checkpoints=_checkpoints(answers.checkpoints),
        vertices=tuple(one.vertex for one in counted),
    )
    return Details(figures, _is_stream(answers.job), _failure(entries), _stopped_with(answers.checkpoints))


def _is_stream(job: _Answer) -> bool:
    """Whether the job is a stream: by its own field since Flink 1.20 (FLINK-35223), else by its plan."""
    kind = job.get("job-type") or (job.get("plan") or {}).get("type")
    return bool(kind != "BATCH")


class _Counted(NamedTuple):
    vertex: Vertex
    is_source: bool
    is_sink: bool
    records_in: int | None
    records_out: int | None


def _counted(vertex: _Answer, metrics: Sequence[_Answer]) -> _Counted:
    """A vertex's records: from the metrics of its operators, or of its tasks if it has only one operator."""
    name, passed = vertex["name"], vertex["metrics"]
    is_alone = "->" not in name
    back_pressure = next((int(each["max"]) for each in metrics if each["id"] == _BACK_PRESSURE), None)
    return _Counted(
        Vertex(name, vertex["parallelism"], vertex["status"], back_pressure),
        is_source="Source: " in name,
        is_sink=": Writer" in name or "Sink: " in name,
        records_in=_sum(metrics, _OF_SOURCE, passed["write-records"] if is_alone else None),
        records_out=_sum(metrics, _OF_SINK, passed["read-records"] if is_alone else None),
    )


def _sum(metrics: Sequence[_Answer], of: re.Pattern[str], otherwise: int | None) -> int | None:
    found = [int(each["sum"]) for each in metrics if of.fullmatch(each["id"])]
    return sum(found) if found else otherwise


def _total(counts: Iterable[int | None]) -> int | None:
    """The sum; None if there are no counts, or one is unknown."""
    found = [*counts]
    return None if not found or None in found else sum(each or 0 for each in found)


def _checkpoints(answer: _Answer) -> Checkpoints | None:
    if not answer:  # a batch job has none
        return None
    counts, latest = answer["counts"], answer["latest"]
    last, restored = latest["completed"], latest["restored"]
    return Checkpoints(
        counts["completed"],
        counts["failed"],
        counts["in_progress"],
        counts["restored"],
        None if last is None else _checkpoint(last),
        None if restored is None else restored["external_path"],
        restored is not None and bool(restored.get("is_savepoint")),
    )


def _checkpoint(answer: _Answer) -> Checkpoint:
    return Checkpoint(
        answer["id"],
        answer["latest_ack_timestamp"],
        answer["end_to_end_duration"],
        answer["state_size"],
        answer.get("external_path"),
    )


def _stopped_with(answer: _Answer) -> str | None:
    savepoint = answer["latest"]["savepoint"] if answer else None
    if savepoint is None or savepoint.get("checkpoint_type") != _STOPPED_WITH:
        return None
    path: str = savepoint["external_path"]
    return path


def _failure(entries: Sequence[_Answer]) -> Failure | None:
    if not entries:
        return None
    newest = entries[0]
    tasks = [each.get("taskName") for each in (newest, *newest.get("concurrentExceptions", ()))]
    return Failure(newest["stacktrace"], newest["timestamp"], next(filter(None, tasks), None))
