"""The path of the data into one column: every column upstream, edge by edge."""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from headwater.graph.column_walk import ColumnWalk
from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.graph.walk import reachable
from headwater.model.names import ColumnId, DatasetId


class ColumnFlow(NamedTuple):
    """Data flows into a column, from a column or, as far as events tell, from all of a dataset."""

    source: ColumnId | DatasetId
    target: ColumnId
    edge: ColumnEdge


def column_path(graph: Graph, column: ColumnId) -> list[ColumnFlow]:
    """Everything upstream of a column; what flows into a struct flows into its fields, and the reverse."""
    walk, found = ColumnWalk(graph, lambda _: ()), list[ColumnFlow]()

    def sources(target: ColumnId) -> Iterator[ColumnId]:
        for flow in _flows_into(graph, walk, target):
            found.append(flow)
            if isinstance(flow.source, ColumnId):
                yield flow.source

    reachable([column], sources, sys.maxsize)
    return sorted(found, key=_order)


def _flows_into(graph: Graph, walk: ColumnWalk, target: ColumnId) -> Iterator[ColumnFlow]:
    columns = (target, *walk.related(target, "upstream"))
    edges = [step.edge for column in columns for step in walk.column_steps_into(column)]
    names = {None, *(column.column for column in columns)}
    edges += [edge for edge in walk.wide_into(target.dataset) if edge.target_column in names]
    for edge in edges:
        if graph.shows(edge.source):
            source = edge.source if edge.source_column is None else ColumnId(edge.source, edge.source_column)
            yield ColumnFlow(source, target, edge)


def _order(flow: ColumnFlow) -> tuple[str, str, str, str, bool, str]:
    edge = flow.edge
    return flow.target.node_id, flow.source.node_id, edge.kind, edge.subtype, edge.masking, edge.description
