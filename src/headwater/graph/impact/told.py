"""Column edges between two datasets, as numbers until one is needed: a change of one column needs few of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from headwater.graph.column_edges import WHOLE
from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId

_Edge = tuple[int, int]
"""A target column, and what was done on the way to it."""


class ToldBetween:
    """What events tell of the columns between one source and one target."""

    def __init__(self, graph: Graph, source: DatasetId) -> None:
        self._graph = graph
        self._source = source
        self._by_column: dict[int, dict[_Edge, None]] = defaultdict(dict)

    def add(self, into: int, out_of: int, how: int) -> None:
        """Note an edge."""
        self._by_column[out_of][into, how] = None

    def source_columns(self) -> list[str | None]:
        """The columns that edges start at, by name; None: all of the source is meant."""
        return sorted(map(self._name, self._by_column), key=lambda name: name or "")

    def edges(self, source_column: str | None) -> list[ColumnEdge]:
        """The edges that start at the column, in an order that does not hang on what came first.

        That the one dataset is made from the other says nothing of columns where others say more.
        """
        number = WHOLE if source_column is None else self._graph.column_edges.columns.number(source_column)
        found = self._by_column.get(number, {})
        if source_column is None and self._tells_of_columns():
            found = {edge: None for edge in found if edge[0] != WHOLE}
        return sorted(self._read(source_column, found), key=_order)

    def _tells_of_columns(self) -> bool:
        return any(
            out_of != WHOLE or any(into != WHOLE for into, _ in found) for out_of, found in self._by_column.items()
        )

    def _read(self, source_column: str | None, edges: Mapping[_Edge, None]) -> Iterator[ColumnEdge]:
        hows = self._graph.column_edges.hows.things
        for into, how in edges:
            yield ColumnEdge(self._name(into), self._source, source_column, *hows[how])

    def _name(self, column: int) -> str | None:
        return None if column == WHOLE else self._graph.column_edges.columns.things[column]


def told_into(graph: Graph, target: DatasetId) -> dict[DatasetId, ToldBetween]:
    """What events tell of the columns of a target, by source; datasets by their shown names."""
    told: dict[DatasetId, ToldBetween] = {}
    by_number: dict[int, ToldBetween] = {}
    datasets = graph.column_edges.datasets.things
    for member in graph.members(target):
        known = graph.datasets.get(member)
        for _, digest in tuple(known.evidence) if known else ():
            for into, source, out_of, how in graph.column_edges.quads(member, digest):
                between = by_number.get(source)
                if between is None:
                    name = graph.shown(datasets[source])
                    between = by_number[source] = told.get(name) or ToldBetween(graph, name)
                    told[name] = between
                between.add(into, out_of, how)
    return told


def _order(edge: ColumnEdge) -> tuple[str, str, str, bool, str]:
    return (edge.target_column or "", edge.kind, edge.subtype, edge.masking, edge.description)
