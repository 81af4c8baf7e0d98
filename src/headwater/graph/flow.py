"""The datasets that a dataset is derived from, and how that is known.

Of a run's evidence for a dataset the strongest counts: the `lineage` facet, then `columnLineage`, then all that the run
read. A `lineage` facet without sources reports that there are none.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, Run
from headwater.model.facts import STRENGTH
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

Derivation = Literal["lineage", "columnLineage", "inputs and outputs"]

DERIVATION: Final[Mapping[int, Derivation]] = {
    STRENGTH["lineage"]: "lineage",
    STRENGTH["columnLineage"]: "columnLineage",
}
INFERRED: Final = "inputs and outputs"


class Source(NamedTuple):
    """A dataset that another is derived from, by its shown name, and how that is known."""

    dataset: DatasetId
    derivation: Derivation


def sources_of(graph: Graph, name: DatasetId) -> dict[Source, Edge]:
    """The sources of the dataset, under any of its names; `runs` 0 means it was only declared.

    Deleted sources are left out.
    """
    sources: dict[Source, Edge] = {}
    members = tuple(graph.members(name))
    inferred = (_inferred(graph, member, members) for member in members)
    for source, edge in chain(_reported(graph, name), *inferred):
        sources[source] = edge.joined(sources.get(source))
    named = (source for source in sources if graph.shows(source.dataset))
    return {source: sources[source] for source in named}


def sources_reported_by(graph: Graph, run_id: str, name: DatasetId) -> set[DatasetId] | None:
    """The sources that one run reports for the dataset, by its strongest facet; None: it has no such facet."""
    by = _strongest(graph.runs[run_id], graph.members(name))
    return {graph.shown(source) for each in by for source in graph.column_edges.sources(*each)} if by else None


def _strongest(run: Run, members: Sequence[DatasetId]) -> list[tuple[DatasetId, bytes]]:
    """The strongest facets in which a run reports the dataset's sources: name used, and digest."""
    if not run.evidence:
        return []
    keys = [(member, key) for member in members for key, _ in run.evidence.get(member, ())]
    strongest = max((strength for _, (strength, _) in keys), default=None)
    return [(member, digest) for member, (strength, digest) in keys if strength == strongest]


def sources_through(graph: Graph, job: JobId, name: DatasetId) -> set[DatasetId]:
    """The dataset's sources in the job, by its own runs, or by its declaration if that has no column evidence."""
    members = graph.members(name)
    by, read = set[tuple[DatasetId, bytes]](), set[DatasetId]()
    for run in map(graph.runs.__getitem__, graph.jobs[job].runs):  # there may be thousands that report the same
        if keys := _strongest(run, members):
            by.update(keys)
        elif any(("output", member) in run.observed for member in members):
            read.update(source for direction, source in run.observed if direction == "input")
    named = (source for each in by for source in graph.column_edges.sources(*each))
    sources = {graph.shown(source) for source in chain(read, named)}
    for member in filter(graph.datasets.__contains__, members):
        sources |= {source.dataset for source, _ in _declared(graph, job, member, members)}
    return sources


def _reported(graph: Graph, target: DatasetId) -> Iterator[tuple[Source, Edge]]:
    for member, (strength, digest), edge in graph.evidence_into(target):
        for source in {graph.shown(column_edge.source) for column_edge in graph.column_edges.edges(member, digest)}:
            yield Source(source, DERIVATION[strength]), edge


def _inferred(graph: Graph, target: DatasetId, members: Sequence[DatasetId]) -> Iterator[tuple[Source, Edge]]:
    """Inputs times outputs: the inputs of runs and declarations that write the dataset without lineage evidence for it.

    Evidence under any of the dataset's names (`members`) counts.
    """
    dataset = graph.datasets.get(target)
    for job in dataset.writers if dataset else ():
        for run_id in graph.jobs[job].runs:
            run = graph.runs[run_id]
            if ("output", target) in run.observed and run.evidence.keys().isdisjoint(members):
                for (direction, source), seen in run.observed.items():
                    if direction == "input":
                        yield Source(graph.shown(source), INFERRED), Edge(seen, 1)
        yield from _declared(graph, job, target, members)


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
    if declared is not None and all(each.evidence is None for each in described):
        seen = Seen(declared.stamp.time_us, declared.stamp.time_us)
        for source in job.reads:
            read = graph.datasets[source].declared.get(by)
            if read is not None and "input" in read.sides:
                yield Source(graph.shown(source), INFERRED), Edge(seen, 0)
