"""Gaps that we know of: what events should have told and did not, or what could not be taken as it was told."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Run
from headwater.model.facets.own import EngineCatalogFacet
from headwater.model.facets.run import ExtractionErrorFacet
from headwater.model.facts import Quarantined
from headwater.model.names import DatasetId, JobId

GapKind = Literal[
    "quarantined-name",
    "run-without-start",
    "run-without-end",
    "extraction-error",
    "silent-stream",
    "edge-without-columns",
    "dataset-without-schema",
]

_SILENCE_US: Final = 3_600_000_000
"""How long any run may say nothing; of a job whose runs last long, twice the longest."""
_TIMES_LONGEST: Final = 2
_SCHEMA_OR_NONE: Final = frozenset({"schema", EngineCatalogFacet.key})
"""What a dataset has that is as it should be: a catalog has tables, and no columns."""


class Gap(NamedTuple):
    """One gap: at which node, in whose namespace, since when nothing better is known, and what else it concerns."""

    kind: GapKind
    node_id: str
    namespace: str
    words: str
    at_us: int
    related: tuple[str, ...] = ()


class Expected(NamedTuple):
    """What a job is expected to do: run on and on, and then say something at least this often."""

    is_stream: bool
    silence_us: int


class Looking(NamedTuple):
    """What is needed to see a gap, beside the graph."""

    started: Collection[str]
    """Runs of which an event told the START."""
    expected: Callable[[JobId], Expected]
    content: Callable[[bytes], Mapping[str, Any]]
    now_us: int


Step = Gap | None
"""What a step of the search finds."""


def gaps(graph: Graph, looking: Looking) -> Iterator[Step]:
    """Every gap, in no order, and None after each node or run that was looked at.

    The graph may grow between two steps; what comes then may be passed over.
    """
    yield from _quarantined(graph)
    yield from _unfinished_runs(graph, looking)
    yield from _edges_without_columns(graph)
    yield from _datasets_without_schema(graph)


def _quarantined(graph: Graph) -> Iterator[Gap]:
    jobs = {job.node_id: job for job in graph.jobs} if graph.quarantined else {}
    for fact in graph.quarantined.values():
        if not graph.shown(DatasetId(fact.namespace, fact.name)).is_complete:
            job = _job_of(graph, jobs, fact)
            yield Gap(
                "quarantined-name",
                fact.subject if job else "",
                job.namespace if job else fact.namespace,
                f"{fact.direction} {fact.name!r} has no namespace" if fact.name else f"an {fact.direction} has no name",
                fact.seen.last_us,
                (job.node_id,) if job else (),
            )


def _job_of(graph: Graph, jobs: Mapping[str, JobId], fact: Quarantined) -> JobId | None:
    """The job that mentioned the name; None for a dataset event."""
    kind, _, run_id = fact.subject.partition(":")
    run = graph.runs.get(run_id) if kind == "run" else None
    return run.of_job.job if run is not None and run.of_job is not None else jobs.get(fact.subject)


def _unfinished_runs(graph: Graph, looking: Looking) -> Iterator[Step]:
    longest_us: dict[JobId, int] = {}
    runs = [*graph.runs.items()]
    for _, run in runs:
        _note_length(longest_us, run)
        yield None
    for run_id, run in runs:
        yield None
        end = graph.end_of(run)
        if end is None or run.times is None or run.of_job is None:
            continue
        job, seen = run.of_job.job, run.times.seen
        about = f"run:{run_id}", job.namespace
        if run_id not in looking.started:
            words = f"a run of {job.name} told no START, so nobody knows when it began"
            yield Gap("run-without-start", *about, words, seen.first_us, (job.node_id,))
        if end.event_type not in ("COMPLETE", "FAIL", "ABORT"):
            yield from _silent(looking, about, job, seen.last_us, longest_us.get(job, 0))
        trouble = run.told.facets.get(ExtractionErrorFacet.key) if run.told else None
        if trouble is not None and not graph.is_deleted(trouble.content):
            words = f"a run of {job.name}: {_failed_tasks(looking.content(trouble.content))}"
            yield Gap("extraction-error", *about, words, trouble.stamp.time_us, (job.node_id,))


def _silent(looking: Looking, about: tuple[str, str], job: JobId, last_us: int, longest_us: int) -> Iterator[Gap]:
    expected = looking.expected(job)
    silent_us = looking.now_us - last_us
    if expected.is_stream and silent_us > expected.silence_us:
        words = f"{job.name} streams and has said nothing since"
        yield Gap("silent-stream", *about, words, last_us, (job.node_id,))
    if not expected.is_stream and silent_us > max(_SILENCE_US, _TIMES_LONGEST * longest_us):
        words = f"a run of {job.name} told no end and has said nothing since"
        yield Gap("run-without-end", *about, words, last_us, (job.node_id,))


def _note_length(longest_us: dict[JobId, int], run: Run) -> None:
    """Keep by job how long its longest run that completed took."""
    if run.of_job is not None and run.times is not None and run.times.state[2] == "COMPLETE":
        took_us = run.times.state[1].time_us - run.times.seen.first_us
        longest_us[run.of_job.job] = max(longest_us.get(run.of_job.job, 0), took_us)


def _failed_tasks(facet: Mapping[str, Any]) -> str:
    read = ExtractionErrorFacet.read({ExtractionErrorFacet.key: facet})
    if isinstance(read, ExtractionErrorFacet):
        return f"the lineage of {read.failed_tasks} of {read.total_tasks} tasks could not be worked out"
    return "its lineage could not be worked out"


def _edges_without_columns(graph: Graph) -> Iterator[Step]:
    """Where a job reads and writes, and nobody tells which column of the one becomes which of the other."""
    for job, known in [*graph.jobs.items()]:
        yield None
        if all(graph.datasets[name].evidence for name in known.writes):
            continue  # as nearly everywhere; also where it writes nothing
        read = graph.reads(job) if not graph.hides(job) else {}
        for target, edge in graph.writes(job).items() if read else ():
            if not (_tells_columns(graph, target) or graph.hides(target)):
                sources = f"{len(read)} dataset{'s' * (len(read) != 1)}"
                words = f"{job.name} makes it from {sources}, and no event tells of columns"
                related = (job.node_id, *sorted(name.node_id for name in read))
                yield Gap("edge-without-columns", target.node_id, target.namespace, words, edge.seen.last_us, related)


def _tells_columns(graph: Graph, name: DatasetId) -> bool:
    """Also where a facet tells that nothing feeds it: that is known then."""
    return any(graph.datasets[member].evidence for member in graph.members(name) if member in graph.datasets)


def _datasets_without_schema(graph: Graph) -> Iterator[Step]:
    for name, known in [*graph.datasets.items()]:
        yield None
        if "schema" in known.facets:
            continue  # whatever name it is shown by
        if graph.is_shown(name) and not _SCHEMA_OR_NONE & graph.facets_of(name).keys():
            last_us = max(each.seen.last_us for each in _known(graph, name))
            words = "no event tells its columns and their types"
            yield Gap("dataset-without-schema", name.node_id, name.namespace, words, last_us)


def _known(graph: Graph, name: DatasetId) -> Iterator[Any]:
    datasets = (graph.datasets.get(member) for member in graph.members(name))
    yield from (dataset for dataset in datasets if dataset is not None and dataset.is_known)
