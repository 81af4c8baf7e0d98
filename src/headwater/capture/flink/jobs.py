"""What Flink's REST API says of jobs, as types; and how its answers are read.

Source: Flink 2.1 REST API, https://nightlies.apache.org/flink/flink-docs-release-2.1/docs/ops/rest_api/; the names of
all fields that are read are the same in the classes of flink-runtime 1.14.6, 1.18.1 and 2.1.3, but for `job-type`
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

OVER: Final = frozenset({"FINISHED", "CANCELED", "FAILED"})
"""The states of Flink's that a job never leaves; SUSPENDED is one that another JobManager may take up."""

_Answer = Mapping[str, Any]
_STOPPED_WITH: Final = "SYNC_SAVEPOINT"
"""The type of the savepoint that a job is stopped with; one that is only taken is a SAVEPOINT."""


class Listed(NamedTuple):
    """A job in the cluster's overview. Times are milliseconds since 1970, by the cluster's clock."""

    id: str
    name: str
    state: str
    started_ms: int
    ended_ms: int | None
    modified_ms: int
    """When it or one of its tasks changed its state last."""

    @property
    def is_over(self) -> bool:
        """Whether it has come to an end of its own."""
        return self.state in OVER


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A stream checkpoint that came to its end."""

    id: int
    ended_ms: int
    duration_ms: int
    state_bytes: int
    path: str | None


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """How many stream checkpoints there were, and the newest."""

    completed: int
    failed: int
    in_progress: int
    restored: int
    last: Checkpoint | None
    restored_from: str | None
    is_from_savepoint: bool = False
    """Whether that is a savepoint: what somebody begins with, where a failover takes the newest checkpoint."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """A chain of operators, and for how much of each second its busiest task is held up by those behind it."""

    name: str
    parallelism: int
    state: str
    back_pressured_ms_per_second: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a job has counted; None where Flink does not tell.

    Of a chain of operators Flink knows only what it fetched last (`metrics.fetcher.update-interval`, 10 s), also when
    the job is over: what passed since then is counted nowhere.

    Attributes:
        records_in: what its sources have handed on since its last restart.
        records_out: what its sinks were given since its last restart.
        restarts: how often all or some of its tasks were started anew.
    """

    records_in: int | None = None
    records_out: int | None = None
    restarts: int | None = None
    checkpoints: Checkpoints | None = None
    vertices: tuple[Vertex, ...] = ()

    def or_else(self, known: "Figures") -> "Figures":
        """These, and where Flink does not tell any more (of a job that is over), what it told before."""
        return replace(
            self,
            records_in=known.records_in if self.records_in is None else self.records_in,
            records_out=known.records_out if self.records_out is None else self.records_out,
            restarts=max((each for each in (self.restarts, known.restarts) if each is not None), default=None),
            checkpoints=self.checkpoints or known.checkpoints,
        )


class Failure(NamedTuple):
    """What went wrong last: the root exception as Flink calls it, with the chain of its causes."""

    trace: str
    at_ms: int
    task: str | None


class Details(NamedTuple):
    """What there is to know of a job beyond its state."""

    figures: Figures
    is_stream: bool
    failure: Failure | None = None
    savepoint: str | None = None
    """Where the savepoint is that it was stopped with."""


class Read(NamedTuple):
    """Answers about one job, as they came."""

    job: _Answer
    checkpoints: _Answer
    exceptions: _Answer
    metrics: Sequence[_Answer]
    operators: Mapping[str, Sequence[_Answer]]
    """By vertex id: metrics of its tasks, with `sum` and `max` over them; of those that `wanted_metrics` chose."""


def listed(overview: _Answer) -> tuple[Listed, ...]:
    """The jobs of `/jobs/overview`, in the order of their starts.

    Raises:
        KeyError, TypeError: it is no such answer.
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
    """Those of a vertex's metrics that are read: what sources hand on and sinks are given, and the back-pressure."""
    return [each for each in ids if each == _BACK_PRESSURE or _OF_SOURCE.fullmatch(each) or _OF_SINK.fullmatch(each)]


def details(read: Read) -> Details:
    """The job's details.

    Raises:
        KeyError, TypeError, AttributeError, ValueError: an answer is not what it should be.
    """
    counted = [_counted(vertex, read.operators.get(vertex["id"], ())) for vertex in read.job["vertices"]]
    restarts = next((int(each["value"]) for each in read.metrics if each["id"] == "numRestarts"), None)
    entries = read.exceptions["exceptionHistory"]["entries"]
    if read.job["state"] == "FAILED":  # each exception but the last was followed by a restart; the metric lags behind
        restarts = max(restarts or 0, len(entries) - 1)
    figures = Figures(
        records_in=_total(one.records_in for one in counted if one.is_source),
        records_out=_total(one.records_out for one in counted if one.is_sink),
        restarts=restarts,
        checkpoints=_checkpoints(read.checkpoints),
        vertices=tuple(one.vertex for one in counted),
    )
    return Details(figures, _is_stream(read.job), _failure(entries), _stopped_with(read.checkpoints))


def _is_stream(job: _Answer) -> bool:
    """Told by the job itself since Flink 1.20 (FLINK-35223), by its plan before."""
    kind = job.get("job-type") or (job.get("plan") or {}).get("type")
    return bool(kind != "BATCH")


class _Counted(NamedTuple):
    vertex: Vertex
    is_source: bool
    is_sink: bool
    records_in: int | None
    records_out: int | None


def _counted(vertex: _Answer, metrics: Sequence[_Answer]) -> _Counted:
    """What a vertex has counted: by its operators, or by what passed between tasks where it has one operator only."""
    name, passed = vertex["name"], vertex["metrics"]
    is_alone = "->" not in name
    held_up = next((int(each["max"]) for each in metrics if each["id"] == _BACK_PRESSURE), None)
    return _Counted(
        Vertex(name, vertex["parallelism"], vertex["status"], held_up),
        is_source="Source: " in name,
        is_sink=": Writer" in name or "Sink: " in name,
        records_in=_sum(metrics, _OF_SOURCE, passed["write-records"] if is_alone else None),
        records_out=_sum(metrics, _OF_SINK, passed["read-records"] if is_alone else None),
    )


def _sum(metrics: Sequence[_Answer], of: re.Pattern[str], otherwise: int | None) -> int | None:
    found = [int(each["sum"]) for each in metrics if of.fullmatch(each["id"])]
    return sum(found) if found else otherwise


def _total(counts: Iterable[int | None]) -> int | None:
    """The sum; None if there is nothing to sum up, or one of them is not known."""
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
