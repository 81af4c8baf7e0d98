"""Known gaps: what events should have reported and did not, or what could not be accepted as reported."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from headwater.graph.column_edges import WHOLE, ContentReader
from headwater.graph.flow import sources_through
from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset, EvidenceKey, Run
from headwater.model.facets.own import EngineCatalogFacet
from headwater.model.facets.run import ExtractionErrorFacet, UnknownSourceAttributeFacet
from headwater.model.facts import STRENGTH, TERMINAL_STATES, Quarantined, RunFacet
from headwater.model.names import DatasetId, JobId, readings
from headwater.model.words import so_many

GapKind = Literal[
    "quarantined-name",
    "run-without-start",
    "run-without-end",
    "extraction-error",
    "unread-operator",
    "silent-stream",
    "edge-without-columns",
    "dataset-without-schema",
]

SILENCE_US: Final = 3_600_000_000
"""The longest silence of a run that announces no interval; for a run that is not a stream, twice the job's longest
run if that is more."""
_TIMES_LONGEST: Final = 2
_SCHEMA_OR_NONE: Final = frozenset({"schema", EngineCatalogFacet.key})
"""Either facet is enough: a catalog has tables instead of columns."""


class Gap(NamedTuple):
    """One gap: its node and namespace, since when nothing better is known, and the related nodes."""

    kind: GapKind
    node_id: str
    namespace: str
    words: str
    at_us: int
    related: tuple[str, ...] = ()


class Expected(NamedTuple):
    """The expectations of a job: whether it runs continuously, and how long it may be silent."""

    is_stream: bool
    silence_us: int


def gap_of_name(graph: Graph, fact: Quarantined) -> Iterator[Gap]:
    """A quarantined name, unless it has been resolved since."""
    if graph.shown(DatasetId(fact.namespace, fact.name)).is_complete:
        return
    job = _job_of(graph, fact)
    yield Gap(
        "quarantined-name",
        fact.subject if job else "",
        job.namespace if job else fact.namespace,
        f"{fact.direction} {fact.name!r} has no namespace" if fact.name else f"an {fact.direction} has no name",
        fact.seen.last_us,
        (job.node_id,) if job else (),
    )


def _job_of(graph: Graph, fact: Quarantined) -> JobId | None:
    """The job that mentioned the name; None for a dataset event."""
    kind, _, run_id = fact.subject.partition(":")
    run = graph.runs.get(run_id) if kind == "run" else None
    if run is not None and run.of_job is not None:
        return run.of_job.job
    meant = readings(fact.subject) if kind == "job" else ()
    return next((each.node for each in meant if isinstance(each.node, JobId) and each.node in graph.jobs), None)


def gaps_of_run(graph: Graph, run_id: str, *, has_start: bool, content: ContentReader) -> Iterator[Gap]:
    """The reports missing from a run, except for its end: that depends on the current time (`gap_of_silence`)."""
    run = graph.runs[run_id]
    if run.times is None or run.of_job is None:
        return
    job, seen = run.of_job.job, run.times.seen
    about = f"run:{run_id}", job.namespace
    if not has_start:
        words = f"a run of {job.name} reported no START, so its start time is unknown"
        yield Gap("run-without-start", *about, words, seen.first_us, (job.node_id,))
    trouble = _problem_facet(graph, run, ExtractionErrorFacet.key)
    if trouble is not None and (lost := _lost_tasks(content(trouble.content))) is not None:
        words = f"a run of {job.name}: {lost}"
        yield Gap("extraction-error", *about, words, trouble.stamp.time_us, (job.node_id,))
    unread = (
        None
        if run.observed or is_in_progress(graph, run)
        else _problem_facet(graph, run, UnknownSourceAttributeFacet.key)
    )
    if unread is not None:
        words = (
            f"a run of {job.name} reported no input and no output: {_unread(content(unread.content))} could not be read"
        )
        yield Gap("unread-operator", *about, words, unread.stamp.time_us, (job.node_id,))


def _problem_facet(graph: Graph, run: Run, name: str) -> RunFacet | None:
    """A facet that reports a problem, if the run has one that was not deleted."""
    facet = run.extras.facets.get(name) if run.extras else None
    return None if facet is None or graph.is_deleted(facet.content) else facet


def is_in_progress(graph: Graph, run: Run) -> bool:
    """Whether the run has reported that it is alive, and no end."""
    end = graph.end_of(run)
    return end is not None and run.of_job is not None and end.event_type not in TERMINAL_STATES


def gap_of_silence(graph: Graph, run_id: str, expected: Expected, longest_us: int, now_us: int) -> Gap | None:
    """The gap, if any, of a run in progress that has been silent until now; `longest_us`: its job's longest run.

    A run that is no stream is not silent while one of its child runs reports.
    """
    run = graph.runs[run_id]
    if run.times is None or run.of_job is None:
        return None
    job, last_us = run.of_job.job, run.times.seen.last_us
    about = f"run:{run_id}", job.namespace
    if expected.is_stream and now_us - last_us > expected.silence_us:
        words = f"{job.name} is still running, and has reported nothing since"
        return Gap("silent-stream", *about, words, last_us, (job.node_id,))
    since_us = now_us - max(SILENCE_US, _TIMES_LONGEST * longest_us)
    if not expected.is_stream and last_us < since_us and not _has_active_child(graph, run_id, since_us):
        words = f"a run of {job.name} has reported no end, and nothing since"
        return Gap("run-without-end", *about, words, last_us, (job.node_id,))
    return None


def _has_active_child(graph: Graph, run_id: str, since_us: int) -> bool:
    """Whether a child run, by its parent or root, reported then or later."""
    parts = (graph.runs.get(part) for parts in graph.child_runs.get(run_id, {}).values() for part in parts)
    return any(part.times.seen.last_us >= since_us for part in parts if part is not None and part.times is not None)


def took_us(run: Run) -> int:
    """The duration of a completed run, from its first event if it has no start; 0 for all others."""
    if run.times is None or run.times.state[2] != "COMPLETE":
        return 0
    first_us, started_us = run.times.seen.first_us, run.times.started_us
    return max(0, run.times.state[1].time_us - (first_us if started_us is None else started_us))


def _lost_tasks(facet: Mapping[str, Any]) -> str | None:
    """Which tasks' lineage is missing; None where the facet reports none missing."""
    read = ExtractionErrorFacet.readable({ExtractionErrorFacet.key: facet})
    if read is None or not read.reports_a_gap:
        return None
    if read.failed_tasks is None or read.total_tasks is None:
        return "its lineage could not be extracted"
    return f"the lineage of {read.failed_tasks:,} of {so_many(read.total_tasks, 'task')} could not be extracted"


def _unread(facet: Mapping[str, Any]) -> str:
    """The operators that could not be read, by class name only: any other text might contain a value."""
    read = UnknownSourceAttributeFacet.readable({UnknownSourceAttributeFacet.key: facet})
    items = () if read is None else read.unknown_items
    names = sorted({item.name for item in items if item.name.replace(".", "_").isidentifier()})
    return ", ".join(names) or "its operator"


def gaps_of_job(graph: Graph, job: JobId) -> Iterator[Gap]:
    """The datasets that the job makes from others while no event reports their columns."""
    if graph.hides(job) or all(map(partial(_has_column_lineage, graph), graph.jobs[job].writes)):
        return  # the common case; also where it writes nothing
    for target, edge in graph.writes(job).items():
        if graph.hides(target):
            continue
        if made_from := [source for source in _without_columns(graph, job, target) if not graph.hides(source)]:
            words = (
                f"{job.name} derives it from {so_many(len(made_from), 'dataset')}, and no event reports column lineage"
            )
            related = (job.node_id, *sorted(name.node_id for name in made_from))
            yield Gap("edge-without-columns", target.node_id, target.namespace, words, edge.seen.last_us, related)


def _has_column_lineage(graph: Graph, name: DatasetId) -> bool:
    """Whether runs give `columnLineage` for this very name, which always has columns: it need not be read."""
    evidence = graph.datasets[name].evidence.items()
    return any(strength == STRENGTH["columnLineage"] and edge.runs for (strength, _), edge in evidence)


def _without_columns(graph: Graph, job: JobId, target: DatasetId) -> Collection[DatasetId]:
    """The sources of the dataset in this job for which no columns are reported.

    Columns reported by a run, or by the job's own declaration, count for all the job's sources. A declaration by others
    counts only for the sources that it names: it may be about another path into the dataset.
    """
    evidence = [*graph.evidence_into(target)]
    if not evidence:
        return graph.reads(job)
    if any(_has_column_lineage(graph, member) for member in graph.members(target) if member in graph.datasets):
        return ()
    declaration = graph.jobs[job].declaration
    own = None if declaration is None else declaration.key
    made_from, covered = sources_through(graph, job, target), set[DatasetId]()
    for member, key, edge in evidence:
        with_columns = _sources_with_columns(graph, member, key)
        declared = graph.datasets[member].declared.get(own) if own is not None else None
        is_declared = declared is not None and declared.evidence == key
        if with_columns and (is_declared or edge.runs):
            return ()
        covered |= with_columns
        if is_declared:
            made_from.update(map(graph.shown, graph.column_edges.sources(member, key[1])))
    return {source for source in made_from if source.is_complete} - covered


def _sources_with_columns(graph: Graph, member: DatasetId, key: EvidenceKey) -> set[DatasetId]:
    """The datasets of which a facet reports columns, or columns that they feed."""
    quads = graph.column_edges.quads(member, key[1])
    sources = {source for into, source, out_of, _ in quads if into != WHOLE or out_of != WHOLE}
    return {graph.shown(graph.column_edges.datasets.by_number[source]) for source in sources}


def gap_of_dataset(graph: Graph, name: DatasetId) -> Iterator[Gap]:
    """A dataset, by its shown name, whose columns no event reports."""
    dataset = graph.datasets.get(name)
    if dataset is not None and "schema" in dataset.facets:
        return  # under whichever name it is shown
    if graph.is_shown(name) and not _SCHEMA_OR_NONE & graph.facets_of(name).keys():
        last_us = max(each.seen.last_us for each in _known(graph, name))
        words = "no event reports its columns and their types"
        yield Gap("dataset-without-schema", name.node_id, name.namespace, words, last_us)


def _known(graph: Graph, name: DatasetId) -> Iterator[Dataset]:
    datasets = (graph.datasets.get(member) for member in graph.members(name))
    yield from (dataset for dataset in datasets if dataset is not None and dataset.is_known)
