"""Column edges between two datasets, as numbers until one is needed: a change of one column needs few of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial

from headwater.graph.column_edges import WHOLE
from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.model.names import DatasetId

_Edge = tuple[int, int]
"""A target column, and what was done on the way to it."""


class ToldBetween:
    """What events tell of the columns between one source and one target."""

    def __init__(self, graph: Graph, source: DatasetId, by_column: Mapping[int, Mapping[_Edge, None]]) -> None:
        """`by_column` has the edges that start at each column."""
        self._graph = graph
        self._source = source
        self._by_column = by_column

    def source_columns(self) -> list[str | None]:
        """The columns that edges start at, by name; None: all of the source is meant."""
        if len(self._by_column) == 1:
            return [*map(self._name, self._by_column)]
        return sorted(map(self._name, self._by_column), key=lambda name: name or "")

    def edges(self, source_column: str | None) -> list[ColumnEdge]:
        """The edges that start at the column, in an order that does not hang on what came first.

        That the one dataset is made from the other says nothing of columns where others say more.
        """
        number = WHOLE if source_column is None else self._graph.column_edges.columns.number(source_column)
        found = self._by_column.get(number, {})
        if source_column is None and self._tells_of_columns():
            found = {edge: None for edge in found if edge[0] != WHOLE}
        edges = [*self._read(source_column, found)]
        if len(edges) > 1:
            edges.sort(key=_order)
        return edges

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


class Telling:
    """What events tell of columns, through one state of the graph; what is told of a target is looked at once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        datasets = graph.column_edges.datasets.things
        # Of functions that do not refer to this: what they keep goes with it, and needs no collection of garbage.
        shown = cache(lambda number: graph.shown(datasets[number]))
        self._into = cache(partial(_told_into, graph, shown))

    def between(self, source: DatasetId, target: DatasetId) -> ToldBetween | None:
        """What is told of the columns between the two, by their shown names; None: nothing."""
        told = self._into(target).get(source)
        if told is None:
            return None
        by_column: dict[int, dict[_Edge, None]] = {}
        for into, _, out_of, how in told:
            by_column.setdefault(out_of, {})[into, how] = None
        return ToldBetween(self._graph, source, by_column)


def _told_into(
    graph: Graph, shown: Callable[[int], DatasetId], target: DatasetId
) -> Mapping[DatasetId, Sequence[tuple[int, int, int, int]]]:
    told: dict[DatasetId, list[tuple[int, int, int, int]]] = {}
    for member in graph.members(target):
        known = graph.datasets.get(member)
        for _, digest in tuple(known.evidence) if known else ():
            for quad in graph.column_edges.quads(member, digest):
                told.setdefault(shown(quad[1]), []).append(quad)
    return told


def _order(edge: ColumnEdge) -> tuple[str, str, str, bool, str]:
    return (edge.target_column or "", edge.kind, edge.subtype, edge.masking, edge.description)
