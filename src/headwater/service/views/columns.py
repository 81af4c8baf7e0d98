"""Columns: what each is made from, and the graph of columns around a node."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import NamedTuple

from headwater.graph.column_edges import Said
from headwater.graph.column_walk import ColumnStep, ColumnWalk
from headwater.graph.walk import Way
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service.ahead import outcome_in_turns
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import current_shape, shape_uuid
from headwater.service.request.node_ids import versioned
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.shapes import marquez as shapes

COLUMN_LINEAGE = "columnLineage"
_NOTHING = Said("", "")


def column_sources(knowledge: Knowledge, name: DatasetId) -> list[shapes.ColumnSources]:
    """The columns of a dataset that are made from others; what affects the whole dataset counts for each of them."""
    walk = ColumnWalk(knowledge.graph, knowledge.columns)
    shown = knowledge.graph.shown(name)
    wording = _Wording(knowledge, shown)
    return [
        shapes.ColumnSources(
            name=column,
            inputFields=_input_fields(steps, wording),
            transformationDescription=wording.description(column, steps),
            transformationType=wording.type(column, steps),
        )
        for column in knowledge.columns(shown)
        if (steps := [step for step in _steps_into(walk, ColumnId(shown, column)) if _stands(knowledge, step)])
    ]


class Wanted(NamedTuple):
    """What is asked of the columns around a node."""

    max_hops: int
    with_downstream: bool = False
    """Also what they feed."""
    with_versions: bool = False
    """Each column's id names the version of its dataset, too."""


async def column_lineage(
    knowledge: Knowledge, node: DatasetId | JobId | ColumnId, wanted: Wanted
) -> shapes_lineage.ColumnLineage:
    """The columns that feed a column, a dataset's columns or those that a job writes; on demand also what they feed.

    Others have their turn meanwhile.
    """
    return await outcome_in_turns(_column_lineage(knowledge, node, wanted))


def _column_lineage(
    knowledge: Knowledge, node: DatasetId | JobId | ColumnId, wanted: Wanted
) -> Generator[None, None, shapes_lineage.ColumnLineage]:
    max_hops = wanted.max_hops
    walk = ColumnWalk(knowledge.graph, knowledge.columns)
    start = list(_columns_of(knowledge, node))
    ways: tuple[Way, ...] = ("upstream", "downstream") if wanted.with_downstream else ("upstream",)
    reached: set[ColumnId] = set()
    for way in ways:
        there = yield from walk.walked(start, way, max_hops)
        reached.update(there)
        reached.update(beside for column in there if there[column] < max_hops for beside in walk.beside(column, way))
    reached = {column for column in reached if knowledge.graph.shows(column.dataset)}
    steps: dict[ColumnId, list[ColumnStep]] = {}
    for column in reached:
        steps[column] = [step for step in _steps_into(walk, column) if step.source in reached]
        yield
    return shapes_lineage.ColumnLineage(graph=(yield from _nodes(knowledge, steps, wanted)))


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
    """The steps in an order that does not hang on the order in which events came."""
    return sorted(walk.steps_into(column), key=_order)


def _stands(knowledge: Knowledge, step: ColumnStep) -> bool:
    """Whether what the column comes from is not deleted."""
    return not knowledge.graph.hides(step.source.dataset)


def _order(step: ColumnStep) -> tuple[ColumnId, str, str, str, bool]:
    edge = step.edge
    return step.source, edge.kind, edge.subtype, edge.description, edge.masking


def _nodes(
    knowledge: Knowledge, steps: Mapping[ColumnId, Sequence[ColumnStep]], wanted: Wanted
) -> Generator[None, None, list[shapes_lineage.ColumnNode]]:
    version_of = cache(partial(_version, knowledge))
    ids = {column: column.node_id for column in steps}
    if wanted.with_versions:
        ids = {column: versioned(node_id, version_of(column.dataset)) for column, node_id in ids.items()}
    out: dict[ColumnId, list[shapes_lineage.Edge]] = {column: [] for column in steps}
    into: dict[ColumnId, list[shapes_lineage.Edge]] = {column: [] for column in steps}
    for target in sorted(steps):
        for source in dict.fromkeys(step.source for step in steps[target]):
            # Marquez writes both from where one stands, and its page follows the `destination` of both.
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


def _version(knowledge: Knowledge, name: DatasetId) -> str | None:
    shape = current_shape(knowledge.graph, name)
    return None if shape is None else str(shape_uuid(knowledge.graph, name, shape))


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
    """Each source column once, with all that was done to it."""
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
            transformations=[_transformation(step) for step in steps_from],
        )
        for source, steps_from in sorted(by_source.items())
    ]


def _transformation(step: ColumnStep) -> shapes.Transformation:
    edge = step.edge
    return shapes.Transformation(
        type=edge.kind, subtype=edge.subtype, description=edge.description, masking=edge.masking
    )


class _Wording:
    """Transformations as they were put before `transformations` came, which Marquez's clients read.

    The newest columnLineage facet of the dataset may say it itself; where it does not, the first step does.
    """

    def __init__(self, knowledge: Knowledge, name: DatasetId) -> None:
        graph = knowledge.graph
        self.types = dict(_types(knowledge.facets.fields(graph.digest_of(name, "schema"))))
        told = graph.digest_of(name, COLUMN_LINEAGE)
        self._said = {} if told is None else graph.column_edges.said(told)

    def description(self, column: str, steps: Sequence[ColumnStep]) -> str | None:
        """How the column came to be, in words; None where nobody told, or for a column that comes from nowhere."""
        if not steps:
            return None
        return self._said.get(column, _NOTHING).description or steps[0].edge.description or None

    def type(self, column: str, steps: Sequence[ColumnStep]) -> str | None:
        """The kind of transformation; None where nobody told, or for a column that comes from nowhere.

        A direct one is not told as a kind: who names a source and no more says as much.
        """
        if not steps:
            return None
        kind = steps[0].edge.kind
        return self._said.get(column, _NOTHING).type or steps[0].edge.subtype or (None if kind == "DIRECT" else kind)


def _types(fields: Iterable[shapes.Field], above: str = "") -> Iterator[tuple[str, str | None]]:
    """The types of columns, those inside others by their paths."""
    for field in fields:
        yield above + field["name"], field["type"]
        yield from _types(field.get("fields", ()), f"{above}{field['name']}.")
