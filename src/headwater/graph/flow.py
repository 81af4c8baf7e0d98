"""The datasets that a dataset is derived from, and how that is known.

Of a run's evidence for a dataset the strongest counts: the `lineage` facet, then `columnLineage`, then all that the run
read. A `lineage` facet without sources reports that there are none.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from typing import Final, Literal, NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, EvidenceKey, Run
from headwater.model.facts import STRENGTH
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId, JobId

Derivation = Literal["lineage", "columnLineage", "inputs and outputs"]

DERIVATION: Final[Mapping[int, Derivation]] = {
    STRENGTH["lineage"]: "lineage",
    STRENGTH["columnLineage"]: "columnLineage",
}
INFERRED: Final = "inputs and outputs"


Value = tuple[DatasetId, str | None]
"""A source of a column's value; column None: all of the dataset."""
Report = tuple[DatasetId, EvidenceKey, Edge]
"""Column evidence for a dataset: the name used, what was reported, and when, in how many runs."""


class Source(NamedTuple):
    """A dataset that another is derived from, by its shown name, and how that is known."""

    dataset: DatasetId
    derivation: Derivation


def sources_of(graph: Graph, name: DatasetId) -> dict[Source, Edge]:
    """The sources of the dataset, under any of its names; `runs` 0 means it was only declared.

    Deleted sources are left out.
    """
    sources = _reported(graph, name)
    for source, edge in _inferred(graph, name):
        sources[source] = edge.joined(sources.get(source))
    named = (source for source in sources if graph.shows(source.dataset))
    return {source: sources[source] for source in named}


def sources_reported_by(graph: Graph, run_id: str, name: DatasetId) -> set[DatasetId] | None:
    """The sources that one run reports for the dataset, by its strongest facet; None: it has no such facet."""
    by = _strongest(graph.runs[run_id], graph.members(name))
    return {graph.shown(source) for source in _sources_by(graph, by)} if by else None


def evidence_of_run(graph: Graph, run_id: str, name: DatasetId) -> frozenset[tuple[DatasetId, EvidenceKey]]:
    """The strongest evidence that one run gives of the dataset's sources; empty: it gives none."""
    return frozenset(_strongest(graph.runs[run_id], graph.members(name)))


def values_by(graph: Graph, by: Iterable[tuple[DatasetId, EvidenceKey]]) -> dict[str, frozenset[Value]]:
    """By column, what its value is taken from by this evidence; nothing for a column that only depends on others."""
    taken: dict[str, set[Value]] = {}
    for edge in (edge for member, (_, digest) in by for edge in graph.column_edges.edges(member, digest)):
        if edge.target_column is not None:
            values = taken.setdefault(edge.target_column, set())
            if edge.kind == "DIRECT":
                values.add((graph.shown(edge.source), edge.source_column))
    return {column: frozenset(values) for column, values in taken.items()}


def _sources_by(graph: Graph, by: Iterable[tuple[DatasetId, EvidenceKey]]) -> Iterator[DatasetId]:
    """The sources that this evidence names; a source may be repeated."""
    return (source for member, (_, digest) in by for source in graph.column_edges.sources(member, digest))


def _strongest(run: Run, members: Sequence[DatasetId]) -> list[tuple[DatasetId, EvidenceKey]]:
    """The strongest evidence that a run gives of the dataset's sources, by the name used."""
    if not run.evidence:
        return []
    keys = [(member, key) for member in members for key, _ in run.evidence.get(member, ())]
    strongest = max((strength for _, (strength, _) in keys), default=None)
    return [(member, key) for member, key in keys if key[0] == strongest]


def sources_through(graph: Graph, job: JobId, name: DatasetId) -> set[DatasetId]:
    """The dataset's sources in the job, by its own runs, or by its declaration if that has no column evidence."""
    members = graph.members(name)
    by, read = set[tuple[DatasetId, EvidenceKey]](), set[DatasetId]()
    for run in map(graph.runs.__getitem__, graph.jobs[job].runs):  # there may be thousands that report the same
        if keys := _strongest(run, members):
            by.update(keys)
        elif any(("output", member) in run.observed for member in members):
            read.update(source for direction, source in run.observed if direction == "input")
    sources = {graph.shown(source) for source in chain(read, _sources_by(graph, by))}
    for member in filter(graph.datasets.__contains__, members):
        sources |= {source.dataset for source, _ in _declared(graph, job, member, members)}
    return sources


def joined_reports(graph: Graph, target: DatasetId, reports: Sequence[Report]) -> Edge:
    """One edge for several reports about a dataset; a run that gave more than one of them counts once."""
    edge = reduce(Edge.joined, (each for *_, each in reports))
    if len(reports) == 1 or edge.runs < 2:
        return edge
    wanted = {(member, key) for member, key, _ in reports}
    members = graph.members(target)
    reporting = {run_id for member, _ in wanted for run_id in graph.runs_reporting(member)}
    strongest = (_strongest(graph.runs[run_id], members) for run_id in reporting)
    return Edge(edge.seen, sum(any(each in wanted for each in by) for by in strongest))


def _reported(graph: Graph, target: DatasetId) -> dict[Source, Edge]:
    reports: dict[Source, list[Report]] = {}
    for report in graph.evidence_into(target):
        member, (strength, digest), _ = report
        for source in {graph.shown(column_edge.source) for column_edge in graph.column_edges.edges(member, digest)}:
            reports.setdefault(Source(source, DERIVATION[strength]), []).append(report)
    return {source: joined_reports(graph, target, each) for source, each in reports.items()}


def _inferred(graph: Graph, target: DatasetId) -> Iterator[tuple[Source, Edge]]:
    """Inputs times outputs: the inputs of runs and declarations that write the dataset without lineage evidence for it.

    Evidence under any of the dataset's names counts, and a run counts once for all of a source's names.
    """
    members = graph.members(target)
    ends = {("output", member) for member in members}
    for job in graph.writers(target):
        for run in map(graph.runs.__getitem__, graph.jobs[job].runs):
            if not run.observed.keys().isdisjoint(ends) and run.evidence.keys().isdisjoint(members):
                yield from ((Source(source, INFERRED), Edge(seen, 1)) for source, seen in _inputs(graph, run).items())
        for member in members:
            if member in graph.datasets and job in graph.datasets[member].writers:
                yield from _declared(graph, job, member, members)


def _inputs(graph: Graph, run: Run) -> dict[DatasetId, Seen]:
    """What the run read, by shown name."""
    inputs: dict[DatasetId, Seen] = {}
    for (direction, name), seen in run.observed.items():
        if direction == "input":
            source = graph.shown(name)
            inputs[source] = widened(inputs.get(source), seen)
    return inputs


def _declared(
    graph: Graph, job_id: JobId, target: DatasetId, members: Sequence[DatasetId]
) -> Iterator[tuple[Source, Edge]]:
    job = graph.jobs[job_id]
    if job.declaration is None:
        return
    by = job.declaration.key
    known = (graph.datasets[name].declared.get(by) for name in members if name in graph.datasets)
    described = [each for each in known if each is not None]
    declared = graph.datasets[target].declared.get(by)
    if declared is not None and "output" in declared.sides and all(each.evidence is None for each in described):
        seen = Seen(declared.stamp.time_us, declared.stamp.time_us)
        for source in job.reads:
            read = graph.datasets[source].declared.get(by)
            if read is not None and "input" in read.sides:
                yield Source(graph.shown(source), INFERRED), Edge(seen, 0)
