"""Which runs and declarations keep an element in a graph: those that may drop it again."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from headwater.graph.diff.compare import Element
from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset, Job, Reporter
from headwater.model.events import Direction
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId

MembersOf = Callable[[DatasetId], Iterable[DatasetId]]
"""The names, in the graph, of a dataset of the diff."""
_SCHEMA = "schema"
_NOBODY = Job()


class DatasetFacet(NamedTuple):
    """A facet of a dataset, by name."""

    dataset: DatasetId
    name: str

    @property
    def element(self) -> Element:
        """The facet as an element of a diff."""
        if self.name == _SCHEMA:
            return Element("schema", (self.dataset,))
        return Element("datasetFacet", (self.dataset,), self.name)


def facet_with(element: Element) -> DatasetFacet | None:
    """The facet of a dataset that an element is, or is a part of; None for other elements."""
    match element:
        case Element("datasetFacet", (DatasetId() as name,), facet):
            return DatasetFacet(name, facet)
        case Element("schema", (DatasetId() as name,)) | Element("column", (ColumnId(dataset=name),)):
            return DatasetFacet(name, _SCHEMA)
    return None


def holders(graph: Graph, element: Element, members_of: MembersOf) -> frozenset[Reporter]:
    """The holders of an element; for datasets and columns only declarations, since what runs reported stays."""
    match element:
        case Element("job", (JobId() as job,)):
            return frozenset(_of_job(graph.jobs.get(job, _NOBODY)))
        case Element("edge", (JobId() as job, JobId() as other)):
            return frozenset(graph.jobs.get(job, _NOBODY).feeds.get(other, ()))
        case Element("edge", (JobId() as job, DatasetId() as name)):
            return frozenset(_of_edge(graph, job, "output", members_of(name)))
        case Element("edge", (DatasetId() as name, JobId() as job)):
            return frozenset(_of_edge(graph, job, "input", members_of(name)))
        case Element("datasetFacet" | "schema" | "column") if (facet := facet_with(element)) is not None:
            return frozenset(_declaring(_known(graph, members_of(facet.dataset)), facet.name))
        case Element("dataset", (DatasetId() as name,)):
            known = _known(graph, members_of(name))
            return frozenset() if any(each.observed for each in known) else frozenset(_declaring(known))
        case Element("columnEdge", (origin, end)):
            return frozenset(_of_column_edge(graph, _place(origin, members_of), _place(end, members_of)))
    return frozenset()


def covering(
    graph: Graph, element: Element, members_of: MembersOf, other: Graph, members_of_other: MembersOf
) -> frozenset[Reporter]:
    """The declarations in this graph of the facet that an element belongs to, newer than what the other graph has."""
    facet = facet_with(element)
    if facet is None:
        return frozenset()
    others = (each.current_facets() for each in _known(other, members_of_other(facet.dataset)))
    newest = max((facets[facet.name] for facets in others if facet.name in facets), default=None)
    return frozenset(
        by
        for dataset in _known(graph, members_of(facet.dataset))
        for by, declared in dataset.declared.items()
        if facet.name in declared.facets and newest is not None and declared.facets[facet.name] > newest
    )


def _of_job(job: Job) -> Iterator[Reporter]:
    yield from job.runs or job.named
    by_side = (reporters for side in (job.reported, job.feeds, job.fed_by) for reporters in side.values())
    yield from (reporter for reporters in by_side for reporter in reporters if not isinstance(reporter, str))


def _of_edge(graph: Graph, name: JobId, direction: Direction, members: Iterable[DatasetId]) -> Iterator[Reporter]:
    job = graph.jobs.get(name, _NOBODY)
    for member in members:
        end = (direction, member)
        yield from job.reported.get(end, ())
        yield from (run_id for run_id in job.runs if end in graph.runs[run_id].observed)
        if job.declaration is not None and member in graph.datasets:
            declared = graph.datasets[member].declared.get(job.declaration.key)
            if declared is not None and direction in declared.sides:
                yield job.declaration.key


def _known(graph: Graph, names: Iterable[DatasetId]) -> list[Dataset]:
    return [graph.datasets[name] for name in names if name in graph.datasets]


def _declaring(datasets: Iterable[Dataset], facet: str | None = None) -> Iterator[Reporter]:
    for dataset in datasets:
        yield from (by for by, declared in dataset.declared.items() if facet is None or facet in declared.facets)


class _Place(NamedTuple):
    """An end of a column edge: a column, or all columns, of the dataset with these names."""

    names: AbstractSet[DatasetId]
    column: str | None


def _place(end: AnyNode, members_of: MembersOf) -> _Place:
    match end:
        case ColumnId(name, column):
            return _Place({*members_of(name)}, column)
        case DatasetId():
            return _Place({*members_of(end)}, None)
    return _Place(frozenset(), None)


def _of_column_edge(graph: Graph, origin: _Place, end: _Place) -> Iterator[Reporter]:
    columns = origin.column, end.column
    for target in (name for name in end.names if name in graph.datasets):
        for by, declared in graph.datasets[target].declared.items():
            edges = () if declared.evidence is None else graph.column_edges.edges(target, declared.evidence[1])
            if any(
                edge.source in origin.names and (edge.source_column, edge.target_column) == columns for edge in edges
            ):
                yield by
