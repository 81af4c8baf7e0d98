"""The quality of a dataset, or of one of its columns, over time."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, Literal, NamedTuple, cast

import orjson

from headwater.model.events import Direction, Stamp
from headwater.model.extract import content_of
from headwater.model.names import ColumnId, DatasetId
from headwater.service import shapes_evidence as shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge

Kind = Literal["dataQualityAssertions", "dataQualityMetrics"]
_KINDS: Final[tuple[Kind, ...]] = ("dataQualityAssertions", "dataQualityMetrics")


class _Told(NamedTuple):
    stamp: Stamp
    run_id: str | None
    direction: Direction | None
    kind: Kind
    content: bytes


def quality_timeline(
    knowledge: Knowledge, node: DatasetId | ColumnId, limit: int, offset: int
) -> shapes.QualityTimeline:
    """A page of what was asserted and measured, newest first; of a column only what is said of it."""
    name, column = (node.dataset, node.column) if isinstance(node, ColumnId) else (node, None)
    told = sorted(_told(knowledge, name), key=lambda each: (each.stamp, each.kind, each.content), reverse=True)
    points = [point for each in told if (point := _point(knowledge, each, column)) is not None]
    return shapes.QualityTimeline(timeline=list(islice(points, offset, offset + limit)), totalCount=len(points))


def _told(knowledge: Knowledge, name: DatasetId) -> Iterator[_Told]:
    graph = knowledge.graph
    for member in graph.members(name):
        runs = graph.runs_naming(member)
        for row in knowledge.store.told_facets(runs, member, _KINDS) if runs else ():
            yield _Told(row.stamp, row.run_id, row.direction, cast(Kind, row.name), row.content)
        dataset = graph.datasets.get(member)
        for declared in dataset.declared.values() if dataset else ():
            for kind in _KINDS:
                if kind in declared.digests:
                    yield _Told(declared.stamp, None, None, kind, declared.digests[kind])


def _point(knowledge: Knowledge, told: _Told, column: str | None) -> shapes.QualityPoint | None:
    facet = knowledge.store.content(told.content)
    assertions = [each for each in _objects(facet.get("assertions")) if column in (None, each.get("column"))]
    metrics = _metrics(facet, column) if told.kind == "dataQualityMetrics" else None
    if not assertions and metrics is None:
        return None
    return shapes.QualityPoint(
        at=iso(told.stamp.time_us),
        run=told.run_id,
        direction=told.direction,
        kind=told.kind,
        passed=all(each.get("success") is True for each in assertions) if assertions else None,
        assertions=[_written(each) for each in assertions],
        metrics=None if metrics is None else _written(metrics),
    )


def _metrics(facet: Mapping[str, Any], column: str | None) -> Mapping[str, Any] | None:
    columns = facet.get("columnMetrics")
    if column is not None:
        of_column = columns.get(column) if isinstance(columns, dict) else None
        return of_column if isinstance(of_column, dict) else None
    if facet.get("_deleted") is True:
        return None
    return {name: value for name, value in facet.items() if not name.startswith("_")}


def _written(value: Mapping[str, Any]) -> orjson.Fragment:
    """As JSON, also where numbers are beyond 64 bits."""
    return orjson.Fragment(content_of(value).body)


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
