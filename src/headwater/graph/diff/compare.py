"""The differences between two graphs, or between two runs: added, removed or changed.

Each side is first laid out as elements with comparable values; then the two layouts are compared. Of two graphs only
what differs by digest is laid out, so that what they share costs next to nothing.

Datasets go by the names that the later argument shows them under, so a renamed dataset is one change of the dataset,
and none of its edges and columns. If several datasets became one, one of them counts as renamed; the others as removed,
with their edges and columns. A split is treated as the exact reverse.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, Literal, NamedTuple

from headwater.graph.column_edges import ContentReader
from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.graph.semantic_digests import in_positional_order, without_producer
from headwater.graph.tags import tags_in_dataset_facet, tags_in_job_facet, tags_set_by_people
from headwater.model.facet_texts import sorted_json
from headwater.model.facets.lenient import scalar_text
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId, without_column
from headwater.model.objects import objects, text

Kind = Literal[
    "job", "jobFacet", "runFacet", "dataset", "datasetFacet", "tag", "schema", "column", "edge", "columnEdge"
]
ChangeKind = Literal["came", "went", "changed"]

KINDS: Final[tuple[Kind, ...]] = (
    "job",
    "jobFacet",
    "runFacet",
    "dataset",
    "datasetFacet",
    "tag",
    "schema",
    "column",
    "edge",
    "columnEdge",
)
"""The order in which changes are listed."""
OF_DATASET: Final = frozenset({"datasetType", "documentation", "lifecycleStateChange", "ownership", "storage", "tags"})
"""Facets that describe a dataset itself: others describe one run, or are compared as columns and edges."""
ABOUT_THE_EVENT: Final = frozenset({"signature", "headwater_chain"})
"""Facets that differ in every event, because they are about the event."""
_SCHEMA: Final = "schema"
_TAGS: Final = "tags"
_MANY: Final = 16
"""Facets read per step."""
_UNORDERED: Final[Mapping[str, str]] = {
    "executionParameters": "parameters",
    "environmentVariables": "environmentVariables",
    "ownership": "owners",
    "tags": "tags",
}
"""By facet, its list that is in no particular order."""


class Element(NamedTuple):
    """Something that may be added, removed or changed; an edge has two ends, in the direction of the data."""

    kind: Kind
    ends: tuple[AnyNode, ...]
    what: str = ""
    """The name of the facet or tag; for an edge `reads`, `writes` or `feeds`, since its ends may be equal."""


Layout = dict[Element, Any]
"""Values by element; None where an element has nothing that could change."""


class Change(NamedTuple):
    """An element that differs; `before` None where it was added, `after` None where it was removed."""

    element: Element
    kind: ChangeKind
    before: Any
    after: Any


def compare(before: Mapping[Element, Any], after: Mapping[Element, Any]) -> list[Change]:
    """The changes from the one to the other, by kind and then by name."""
    changes = [Change(element, "went", value, None) for element, value in before.items() if element not in after]
    for element, value in after.items():
        if element not in before:
            changes.append(Change(element, "came", None, value))
        elif before[element] != value:
            changes.append(Change(element, "changed", before[element], value))
    return sorted(changes, key=_order)


def _order(change: Change) -> tuple[int, tuple[str, ...], str]:
    kind, ends, what = change.element
    return KINDS.index(kind), tuple(end.node_id for end in ends), what


def touches(change: Change, node: AnyNode | None, namespace: str | None) -> bool:
    """Whether the change concerns the node, or something in the namespace; columns belong to their datasets."""
    ends = {part for end in change.element.ends for part in _parts(end)}
    is_here = namespace is None or any(
        namespace == part.namespace for _, part in ends if not isinstance(part, ColumnId)
    )
    return is_here and (node is None or (type(node), node) in ends)


def _parts(end: AnyNode) -> Iterator[tuple[type, AnyNode]]:
    """The node, and its dataset if it is a column; with the type, since a job and a dataset may be equal as pairs."""
    yield type(end), end
    if isinstance(end, ColumnId):
        yield DatasetId, end.dataset


def columns_of(schema: Mapping[str, Any]) -> dict[str, str | None]:
    """The types of a schema facet's columns, nested ones by path; unreadable ones are skipped.

    Empty for a tombstone.
    """
    return {} if schema.get("_deleted") is True else dict(_columns(schema.get("fields"), ""))


def _columns(fields: object, above: str) -> Iterator[tuple[str, str | None]]:
    named = [field for field in objects(fields) if text(field, "name")]
    for field in in_positional_order(named):
        yield f"{above}{field['name']}", scalar_text(field.get("type"))
        yield from _columns(field.get("fields"), f"{above}{field['name']}.")


def comparable(name: str, facet: Mapping[str, Any]) -> dict[str, Any] | None:
    """A facet without the members that only identify its producer, unordered lists sorted.

    None for a tombstone.
    """
    if facet.get("_deleted") is True:
        return None
    members = without_producer(facet)
    unordered = _UNORDERED.get(name)
    if unordered is not None and isinstance(members.get(unordered), list):
        members[unordered] = sorted(members[unordered], key=sorted_json)
    return members


def lay_out_schema(layout: Layout, dataset: DatasetId, schema: Mapping[str, Any]) -> None:
    """Add a schema and its columns."""
    columns = columns_of(schema)
    layout[Element("schema", (dataset,))] = tuple(columns.items())
    for column, kind in columns.items():
        layout[Element("column", (ColumnId(dataset, column),))] = kind


def lay_out_edges(layout: Layout, target: DatasetId, edges: Iterable[ColumnEdge]) -> None:
    """Add column edges; one of a whole dataset ends at the dataset. The value is the set of all transformations."""
    done: dict[Element, set[tuple[str, str, bool]]] = {}
    for edge in edges:
        origin = edge.source if edge.source_column is None else ColumnId(edge.source, edge.source_column)
        end = target if edge.target_column is None else ColumnId(target, edge.target_column)
        done.setdefault(Element("columnEdge", (origin, end)), set()).add((edge.kind, edge.subtype, edge.masking))
    layout.update({element: tuple(sorted(how)) for element, how in done.items()})


class Side(NamedTuple):
    """A graph, and a reader for the contents that its digests refer to."""

    graph: Graph
    content: ContentReader


class Among(NamedTuple):
    """The jobs and datasets to compare; datasets by any of their names in either graph."""

    jobs: AbstractSet[JobId]
    datasets: AbstractSet[DatasetId]


class GraphDiff:
    """Compares two graphs; `before` and `after` may be in either order of time."""

    def __init__(self, before: Side, after: Side) -> None:
        self._before = before
        self._after = after
        self._names: dict[DatasetId, DatasetId] = {}

    def name(self, before: DatasetId) -> DatasetId:
        """The name in the diff of a dataset of the graph before, by its shown name there.

        It is that of the same dataset afterwards, unless that one is another dataset of the graph before.
        """
        was, now = self._before.graph, self._after.graph
        if was.identities.is_alone(before) and now.identities.is_alone(before):  # the common case
            return before
        if before not in self._names:
            after = _same_in(now, was.members(before))
            is_this = after is not None and _same_in(was, now.members(after)) == before
            self._names[before] = after if after is not None and is_this else before
        return self._names[before]

    def name_before(self, name: DatasetId) -> DatasetId | None:
        """The shown name, in the graph before, of the dataset with this name in the diff; None where there was none."""
        was = self._before.graph
        found = (was.shown(member) for member in (name, *self._after.graph.members(name)))
        return next((each for each in found if was.is_shown(each) and self.name(each) == name), None)

    def resolved_before(self, name: DatasetId) -> DatasetId:
        """The diff's name for what this name meant before, or means now if it was not in use before."""
        was, now = self._before.graph, self._after.graph
        if _known_as(was, name) is None:
            after = _known_as(now, name)
            return self._used_by_nobody(name) if after is None else after
        return self.name(was.shown(name))

    def resolved_after(self, name: DatasetId) -> DatasetId:
        """The diff's name for what this name means now, or meant before if it is not in use now."""
        was, now = self._before.graph, self._after.graph
        if _known_as(now, name) is None:
            before = _known_as(was, name)
            return self._used_by_nobody(name) if before is None else self.name(before)
        return now.shown(name)

    def _used_by_nobody(self, name: DatasetId) -> DatasetId:
        """The same on both sides: one of them may know another name or spelling for it."""
        now = self._after.graph.shown(name)
        return self._before.graph.shown(name) if now == name else now

    def about(self, node: AnyNode) -> Among:
        """The jobs and datasets whose changes may concern a node."""
        if isinstance(node, JobId):
            known = (side.graph.jobs.get(node) for side in (self._before, self._after))
            return Among({node, *(giver for job in known if job is not None for giver in job.fed_by)}, frozenset())
        name = without_column(node)
        jobs, datasets = set[JobId](), {name}
        for graph, each in ((self._after.graph, name), (self._before.graph, self.name_before(name) or name)):
            jobs.update(graph.readers(each), graph.writers(each))
            datasets.update(graph.members(each), graph.fed_by(each))  # all names: it may have been several datasets
            datasets.update(edge.source for edge in graph.column_edges_into(each))  # sources may have other names
        return Among(jobs, datasets)

    def lay_out(self, before: Layout, after: Layout, among: Among | None = None) -> Iterator[None]:
        """Lay out what differs; yields after each job and dataset, which takes some 50 µs.

        With `among` only these are looked at.
        """
        looked_at = self._everything() if among is None else among
        for job in looked_at.jobs:
            self._job(job, before, after)
            yield
        names = set[DatasetId]()
        for name in looked_at.datasets:
            names.update(self._names_in_diff(name))
            yield
        for name in names:
            self._dataset(name, before, after)
            yield
        moved = [name for name in names if self._is_moved(name)]
        for name in (yield from self._fed_by(moved)):
            self._column_edges(name, before, after)
            yield

    def _everything(self) -> Among:
        was, now = self._before.graph, self._after.graph
        return Among({*was.jobs, *now.jobs}, {*was.datasets, *now.datasets})

    def _names_in_diff(self, name: DatasetId) -> Iterator[DatasetId]:
        """The diff's names for this name, which may be another dataset in either graph."""
        was, now = (side.graph.shown(name) for side in (self._before, self._after))
        if self._before.graph.is_shown(was):
            yield self.name(was)
        if self._after.graph.is_shown(now):
            yield now

    def _job(self, job: JobId, before: Layout, after: Layout) -> None:
        was, now = self._before.graph, self._after.graph
        was_known, is_known = (_has_job(graph, job) for graph in (was, now))
        if was_known:
            before[Element("job", (job,))] = None
            reads, writes = (map(self.name, filter(was.shows, ends)) for ends in (was.reads(job), was.writes(job)))
            before.update(flow(job, reads, writes, _fed(was, job)))
        if is_known:
            after[Element("job", (job,))] = None
            reads_now, writes_now = (filter(now.shows, ends) for ends in (now.reads(job), now.writes(job)))
            after.update(flow(job, reads_now, writes_now, _fed(now, job)))
        if was_known and is_known:
            sides = (before, self._before, was.job_digests(job)), (after, self._after, now.job_digests(job))
            _lay_out_facets(sides, "jobFacet", job, None)
            _lay_out_tags(sides, job, [[job]] * 2)

    def _dataset(self, name: DatasetId, before: Layout, after: Layout) -> None:
        former, current = self._before_and_after(name)
        if former is not None:
            before[Element("dataset", (name,))] = _names(self._before.graph, former)
        if current is not None:
            after[Element("dataset", (name,))] = _names(self._after.graph, current)
        was, now = _facet_digests(self._before, former), _facet_digests(self._after, current)
        sides = ((before, self._before, was), (after, self._after, now))
        if was.get(_SCHEMA) != now.get(_SCHEMA):
            for layout, side, digests in sides:
                if _SCHEMA in digests:
                    lay_out_schema(layout, name, side.content(digests[_SCHEMA]))
        if former is not None and current is not None:
            _lay_out_facets(sides, "datasetFacet", name, OF_DATASET)
            _lay_out_tags(sides, name, [layout[Element("dataset", (name,))] for layout in (before, after)])
        if _evidence(self._before.graph, former) != _evidence(self._after.graph, current):
            self._column_edges(name, before, after)

    def _before_and_after(self, name: DatasetId) -> tuple[DatasetId | None, DatasetId | None]:
        """The shown names of this dataset of the diff before and after; None where there was or is none."""
        return self.name_before(name), name if self._after.graph.is_shown(name) else None

    def _column_edges(self, name: DatasetId, before: Layout, after: Layout) -> None:
        former, current = self._before_and_after(name)
        lay_out_edges(before, name, _edges_into(self._before.graph, former, self.resolved_before))
        lay_out_edges(after, name, _edges_into(self._after.graph, current, self.resolved_after))

    def _is_moved(self, name: DatasetId) -> bool:
        """Whether edges from its columns have other ends in one of the graphs."""
        is_deleted = self._before.graph.hides(name) != self._after.graph.hides(name)
        return is_deleted or self._goes_by_others(name) or self._is_of_another(name)

    def _goes_by_others(self, name: DatasetId) -> bool:
        """Whether the dataset has other names in one of the graphs than in the other."""
        was, now = self._before.graph, self._after.graph
        if was.identities.is_alone(name) and now.identities.is_alone(name):  # the common case
            return False
        former, current = self._before_and_after(name)
        return former is not None and current is not None and {*was.members(former)} != {*now.members(current)}

    def _is_of_another(self, name: DatasetId) -> bool:
        """Whether the name belongs, in one of the graphs, to another dataset."""
        was, now = self._before.graph, self._after.graph
        former, current = self._before_and_after(name)
        without = was if former is None else now if current is None else None
        return without is not None and _known_as(without, name) not in (None, name)

    def _fed_by(self, sources: Sequence[DatasetId]) -> Generator[None, None, set[DatasetId]]:
        """The diff's names of the datasets that these feed; reads the remaining facets first, step by step."""
        while sources and self._after.graph.column_edges.read_some(_MANY):
            yield
        sides = (self._before.graph, self.resolved_before), (self._after.graph, self.resolved_after)
        return {resolved(each) for graph, resolved in sides for name in sources for each in graph.fed_by(name)}


def _edges_into(graph: Graph, name: DatasetId | None, resolved: Callable[[DatasetId], DatasetId]) -> list[ColumnEdge]:
    edges = () if name is None else graph.column_edges_into(name)
    return [edge._replace(source=resolved(edge.source)) for edge in edges if not graph.hides(edge.source)]


_Sides = tuple[tuple[Layout, Side, Mapping[str, bytes]], tuple[Layout, Side, Mapping[str, bytes]]]
"""Before and after: the layout, the graph, and the facet digests of one job or dataset."""


def _lay_out_facets(sides: _Sides, kind: Kind, node: JobId | DatasetId, names: AbstractSet[str] | None) -> None:
    """Add the facets that differ, of these names or of any."""
    (*_, was), (*_, now) = sides
    for name in (was.keys() | now.keys()) if names is None else names & (was.keys() | now.keys()):
        if was.get(name) != now.get(name):
            for layout, side, digests in sides:
                if name in digests and (value := comparable(name, side.content(digests[name]))) is not None:
                    layout[Element(kind, (node,), name)] = value


def _lay_out_tags(sides: _Sides, node: JobId | DatasetId, names: Sequence[Sequence[JobId | DatasetId]]) -> None:
    """Add the tags that people put on or removed, under all names on either side; producers' tags are a facet."""
    was, now = (
        tags_set_by_people(side.graph.edits, of_side) for (_, side, _), of_side in zip(sides, names, strict=True)
    )
    if was == now:
        return
    tags_in_facet = tags_in_job_facet if isinstance(node, JobId) else tags_in_dataset_facet
    anyhow = {*was.put, *was.taken_off, *now.put, *now.taken_off}
    for (layout, side, digests), of_people in zip(sides, (was, now), strict=True):
        of_producers = tags_in_facet(side.content(digests[_TAGS])) if _TAGS in digests else frozenset()
        for column, word in anyhow & (of_people.put.keys() | (of_producers - of_people.taken_off)):
            end = ColumnId(node, column) if isinstance(node, DatasetId) and column is not None else node
            layout[Element("tag", (end,), word)] = word


def _has_job(graph: Graph, job: JobId) -> bool:
    return graph.has_job(job) and not graph.hides(job)


def _known_as(graph: Graph, name: DatasetId) -> DatasetId | None:
    """The shown name of what this name means; None where none of its names is in use, or none is complete."""
    datasets = (graph.datasets.get(member) for member in graph.identities.members(name))
    is_known = any(dataset is not None and dataset.is_known for dataset in datasets)
    shown = graph.shown(name)
    return shown if is_known and shown.is_complete else None


def _same_in(graph: Graph, names: Iterable[DatasetId]) -> DatasetId | None:
    """The shown name of the dataset that the first known one of these names has there; None where none is known."""
    return next((shown for name in names if (shown := _known_as(graph, name)) is not None), None)


def _names(graph: Graph, name: DatasetId) -> tuple[DatasetId, ...]:
    return tuple(sorted(graph.members(name)))


def flow(job: JobId, reads: Iterable[DatasetId], writes: Iterable[DatasetId], feeds: Iterable[JobId] = ()) -> Layout:
    """The edges of a job: from and to datasets, and to the jobs that it feeds directly."""
    layout: Layout = {Element("edge", (name, job), "reads"): None for name in reads}
    layout.update({Element("edge", (job, name), "writes"): None for name in writes})
    layout.update({Element("edge", (job, name), "feeds"): None for name in feeds})
    return layout


def _fed(graph: Graph, job: JobId) -> Iterator[JobId]:
    return (other for other in graph.jobs[job].feeds if _has_job(graph, other))


def _facet_digests(side: Side, name: DatasetId | None) -> dict[str, bytes]:
    """The digest of each facet of a dataset."""
    return {} if name is None else side.graph.digests_of(name)


def _evidence(graph: Graph, name: DatasetId | None) -> set[tuple[DatasetId, tuple[int, bytes]]]:
    members = () if name is None else graph.members(name)
    return {(member, key) for member in members if member in graph.datasets for key in graph.datasets[member].evidence}
