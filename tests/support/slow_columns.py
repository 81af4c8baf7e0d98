"""Reference column walk: every dataset-wide edge is expanded to column edges. The package's walk must equal it."""

from collections.abc import Callable, Iterator, Sequence

from headwater.graph.column_walk import ColumnStep
from headwater.graph.lineage import Graph
from headwater.graph.structs import lies_in
from headwater.graph.walk import reachable
from headwater.model.facts import FlowDirection
from headwater.model.names import ColumnId, DatasetId


class SlowColumns:
    """All column steps of a graph, and walks over them."""

    def __init__(self, graph: Graph, columns_of: Callable[[DatasetId], Sequence[str]]) -> None:
        self.ends: set[tuple[FlowDirection, ColumnId]] = set()
        """The columns that edges start from, by direction; also edges to a dataset without columns."""
        self.steps: list[ColumnStep] = []
        for target in sorted(graph.shown_datasets()):
            self._lay_out(graph, columns_of, target)

    def _lay_out(self, graph: Graph, columns_of: Callable[[DatasetId], Sequence[str]], target: DatasetId) -> None:
        edges = graph.column_edges_into(target)
        in_detail = {edge.source for edge in edges if (edge.target_column, edge.source_column) != (None, None)}
        for edge in edges:
            if (edge.target_column, edge.source_column) == (None, None) and edge.source in in_detail:
                continue
            for column in columns_of(target) if edge.target_column is None else (edge.target_column,):
                self.ends.add(("upstream", ColumnId(target, column)))
                for source in columns_of(edge.source) if edge.source_column is None else (edge.source_column,):
                    self.ends.add(("downstream", ColumnId(edge.source, source)))
                    self.steps.append(ColumnStep(ColumnId(edge.source, source), ColumnId(target, column), edge))

    def into(self, column: ColumnId) -> list[ColumnStep]:
        """The steps into the column."""
        return [step for step in self.steps if step.target == column]

    def walked(self, start: Sequence[ColumnId], way: FlowDirection, max_hops: int) -> dict[ColumnId, int]:
        """Every column within this many hops, with its distance."""

        def neighbours(column: ColumnId) -> Iterator[ColumnId]:
            for each in (column, *self.related(column, way)):
                for source, target, _ in self.steps:
                    if each == (target if way == "upstream" else source):
                        yield source if way == "upstream" else target

        return reachable(start, neighbours, max_hops)

    def related(self, column: ColumnId, way: FlowDirection) -> set[ColumnId]:
        """Enclosing structs and nested fields of the column that edges start from, in this direction."""
        name, path = column
        return {
            each
            for ended, each in self.ends
            if (ended, each.dataset) == (way, name) and (lies_in(each.column, path) or lies_in(path, each.column))
        }
