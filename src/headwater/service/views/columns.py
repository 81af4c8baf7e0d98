"""Column lineage: the sources of each column, and the graph of columns around a node."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from typing import Final, NamedTuple

from headwater.graph.column_edges import LegacyTransformation
from headwater.graph.column_walk import ColumnStep, ColumnWalk
from headwater.graph.columns import ColumnEdge
from headwater.model.facts import FlowDirection
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service.background import result_in_slices
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import current_version
from headwater.service.request.node_ids import versioned
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import marquez as shapes

COLUMN_LINEAGE = "columnLineage"
MOST_SPREAD: Final = 10_000
"""Edges, from column to column, that those of a dataset as a whole are spelled out to: 4 MB of an answer.

A dataset that groups by all of its 1,000 columns would come to a million.
"""
_NOTHING = LegacyTransformation("", "")


def column_sources(knowledge: Knowledge, name: DatasetId) -> shapes.SourcesOfDataset:
    """The columns of a dataset that are made from others; what affects the whole dataset counts for each of them.

    If that is too much, they are listed once.
    """
    walk = ColumnWalk(knowledge.graph, knowledge.columns)
    shown = knowledge.graph.shown(name)
    wording = _Wording(knowledge, shown)

    def is_shown(source: DatasetId) -> bool:
        """Whether it is not deleted."""
        return not knowledge.graph.hides(source)

    by_column = [
        shapes.ColumnSources(
            name=column,
            inputFields=_input_fields(steps, wording),
            transformationDescription=wording.description(column, steps),
            transformationType=wording.type(column, steps),
        )
        for column in knowledge.columns(shown)
        if (steps := [step for step in _steps_into(walk, ColumnId(shown, column)) if is_shown(step.source.dataset)])
    ]
    sources = shapes.SourcesOfDataset(columnLineage=by_column or None)
    if dataset_edges := [edge for edge in _wide_edges(walk, shown) if is_shown(edge.source)]:
        sources["datasetInputFields"] = _dataset_input_fields(dataset_edges)
    return sources


class Options(NamedTuple):
    """Options of a query for column lineage."""

    max_hops: int
    with_downstream: bool = False
    """Also what they feed."""
    with_versions: bool = False
    """Each column's id names the version of its dataset, too."""


async def column_lineage(
    knowledge: Knowledge, node: DatasetId | JobId | ColumnId, options: Options
) -> shapes_lineage.ColumnLineage:
    """The columns that feed a column, a dataset's columns or those that a job writes; on demand also what they feed.

    Works in time slices.
    """
    return await result_in_slices(_column_lineage(knowledge, node, options))


def _column_lineage(
    knowledge: Knowledge, node: DatasetId | JobId | ColumnId, options: Options
) -> Generator[None, None, shapes_lineage.ColumnLineage]:
    max_hops = options.max_hops
    walk = ColumnWalk(knowledge.graph, knowledge.columns)
    start = list(_columns_of(knowledge, node))
    directions: tuple[FlowDirection, ...] = ("upstream", "downstream") if options.with_downstream else ("upstream",)
    reached: set[ColumnId] = set()
    beyond: set[ColumnId] = set()
    for direction in directions:
        there = yield from walk.walked(start, direction, max_hops + 1)
        for column, hops in there.items():
            (reached if hops <= max_hops else beyond).add(column)
            if hops < max_hops:
                reached.update(walk.related(column, direction))
    is_cut = any(knowledge.graph.shows(column.dataset) for column in beyond - reached)
    reached = {column for column in reached if knowledge.graph.shows(column.dataset)}
    steps: dict[ColumnId, list[ColumnStep]] = {}
    for column in reached:
        steps[column] = [step for step in _steps_into(walk, column) if step.source in reached]
        yield
    found = shapes_lineage.ColumnLineage(graph=(yield from _nodes(knowledge, steps, options)))
    if is_cut:
        found["isCut"] = True
    if dataset_inputs := (yield from _dataset_sources(walk, reached)):
        found["datasetInputFields"] = dataset_inputs
    return found


def _dataset_sources(
    walk: ColumnWalk, reached: AbstractSet[ColumnId]
) -> Generator[None, None, list[shapes_lineage.InputFieldsOfDataset]]:
    """The sources of datasets as a whole, once per dataset."""
    datasets = {column.dataset for column in reached}

    def has(name: DatasetId, column: str | None) -> bool:
        return name in datasets if column is None else ColumnId(name, column) in reached

    found = []
    for name in sorted(datasets):
        edges = [
            edge
            for edge in _wide_edges(walk, name)
            if has(name, edge.target_column) and has(edge.source, edge.source_column)
        ]
        if edges:
            inputs = _dataset_input_fields(edges)
            found.append(
                shapes_lineage.InputFieldsOfDataset(namespace=name.namespace, dataset=name.name, inputFields=inputs)
            )
        yield
    return found


def _columns_of(knowledge: Knowledge, node: DatasetId | JobId | ColumnId) -> Iterable[ColumnId]:
    match node:
        case ColumnId():
            yield node
        case DatasetId():
            yield from (ColumnId(node, column) for column in knowledge.all_columns(node))
        case JobId():
            for written in knowledge.graph.writes(node):
                yield from _columns_of(knowledge, written)


def _steps_into(walk: ColumnWalk, column: ColumnId) -> list[ColumnStep]:
    """The transformations into a column, in an order independent of the order of events."""
    is_spread = walk.count_spread_into(column.dataset) <= MOST_SPREAD
    return sorted(walk.steps_into(column) if is_spread else walk.column_steps_into(column), key=_order)


def _wide_edges(walk: ColumnWalk, name: DatasetId) -> list[ColumnEdge]:
    """The edges into a dataset as a whole that are not repeated at each column."""
    return walk.wide_into(name) if walk.count_spread_into(name) > MOST_SPREAD else []


def _order(step: ColumnStep) -> tuple[ColumnId, tuple[str, str, str, bool]]:
    return step.source, _order_of_edge(step.edge)


def _order_of_edge(edge: ColumnEdge) -> tuple[str, str, str, bool]:
    return edge.kind, edge.subtype, edge.description, edge.masking


def _nodes(
    knowledge: Knowledge, steps: Mapping[ColumnId, Sequence[ColumnStep]], options: Options
) -> Generator[None, None, list[shapes_lineage.ColumnNode]]:
    version_of = cache(partial(current_version, knowledge))
    ids = {column: column.node_id for column in steps}
    if options.with_versions:
        ids = {column: versioned(node_id, version_of(column.dataset)) for column, node_id in ids.items()}
    out: dict[ColumnId, list[shapes_lineage.Edge]] = {column: [] for column in steps}
    into: dict[ColumnId, list[shapes_lineage.Edge]] = {column: [] for column in steps}
    for target in sorted(steps):
        for source in dict.fromkeys(step.source for step in steps[target]):
            # Marquez writes both kinds of edges from the node itself; its page follows the `destination` of both.
            into[target].append(shapes_lineage.Edge(origin=ids[target], destination=ids[source]))
            out[source].append(shapes_lineage.Edge(origin=ids[source], destination=ids[target]))
        yield
    wording_of = cache(partial(_Wording, knowledge))
    nodes: list[shapes_lineage.ColumnNode] = []
    for column in sorted(steps, key=ids.__getitem__):
        data = _data(column, steps[column], wording_of(column.dataset), version_of)
        nodes.append(
            shapes_lineage.ColumnNode(
                id=ids[column], type="DATASET_FIELD", data=data, inEdges=into[column], outEdges=out[column]
            )
        )
        yield
    return nodes


def _data(
    column: ColumnId,
    steps: Sequence[ColumnStep],
    wording: "_Wording",
    version_of: Callable[[DatasetId], str | None],
) -> shapes_lineage.ColumnData:
    return shapes_lineage.ColumnData(
        namespace=column.dataset.namespace,
        dataset=column.dataset.name,
        datasetVersion=version_of(column.dataset),
        field=column.column,
        fieldType=wording.types.get(column.column) or "",
        transformationDescription=wording.description(column.column, steps),
        transformationType=wording.type(column.column, steps),
        inputFields=[
            shapes_lineage.InputFieldOfVersion(
                **each, datasetVersion=version_of(DatasetId(each["namespace"], each["dataset"]))
            )
            for each in _input_fields(steps, wording)
        ],
    )


def _input_fields(steps: Sequence[ColumnStep], wording: "_Wording") -> list[shapes.InputField]:
    """Each source column once, with all transformations of it."""
    by_source: dict[ColumnId, list[ColumnStep]] = {}
    for step in steps:
        by_source.setdefault(step.source, []).append(step)
    return [
        shapes.InputField(
            namespace=source.dataset.namespace,
            dataset=source.dataset.name,
            field=source.column,
            transformationDescription=wording.description(steps_from[0].target.column, steps_from),
            transformationType=wording.type(steps_from[0].target.column, steps_from),
            transformations=[_transformation(step.edge) for step in steps_from],
        )
        for source, steps_from in sorted(by_source.items())
    ]


def _dataset_input_fields(edges: Iterable[ColumnEdge]) -> list[shapes.DatasetInputField]:
    """Each source once per target, with all transformations of it."""
    by_ends: dict[tuple[str, DatasetId, str], list[ColumnEdge]] = {}
    for edge in sorted(edges, key=_order_of_edge):
        ends = edge.target_column or "", edge.source, edge.source_column or ""
        by_ends.setdefault(ends, []).append(edge)
    return [
        shapes.DatasetInputField(
            namespace=source.namespace,
            dataset=source.name,
            field=of_source[0].source_column,
            targetField=of_source[0].target_column,
            transformations=[*map(_transformation, of_source)],
        )
        for (_, source, _), of_source in sorted(by_ends.items())
    ]


def _transformation(edge: ColumnEdge) -> shapes.Transformation:
    return shapes.Transformation(
        type=edge.kind, subtype=edge.subtype, description=edge.description, masking=edge.masking
    )


class _Wording:
    """Transformations in the form that preceded `transformations`, which Marquez's clients read.

    From the newest columnLineage facet of the dataset, or else from the first step.
    """

    def __init__(self, knowledge: Knowledge, name: DatasetId) -> None:
        graph = knowledge.graph
        self.types = dict(_types(knowledge.facets.fields(graph.digest_of(name, "schema"))))
        digest = graph.digest_of(name, COLUMN_LINEAGE)
        self._legacy = {} if digest is None else graph.column_edges.legacy_transformations(digest)

    def description(self, column: str, steps: Sequence[ColumnStep]) -> str | None:
        """The transformation in words; None if none was given, or for a column without sources."""
        if not steps:
            return None
        return self._legacy.get(column, _NOTHING).description or steps[0].edge.description or None

    def type(self, column: str, steps: Sequence[ColumnStep]) -> str | None:
        """The type of transformation; None if none was given, or for a column without sources.

        None also for a direct one without a subtype, as naming the source already implies that.
        """
        if not steps:
            return None
        kind = steps[0].edge.kind
        return self._legacy.get(column, _NOTHING).type or steps[0].edge.subtype or (None if kind == "DIRECT" else kind)


def _types(fields: Iterable[shapes.Field], above: str = "") -> Iterator[tuple[str, str | None]]:
    """The types of columns; nested ones by their paths."""
    for field in fields:
        yield above + field["name"], field["type"]
        yield from _types(field.get("fields", ()), f"{above}{field['name']}.")
