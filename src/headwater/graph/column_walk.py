"""Walks over columns: what feeds a column, and what it feeds.

An edge with a whole dataset at one end stands for an edge of each of its columns, of which there may be thousands. Such
a wide edge is stored as one, and followed once instead of once for each column.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.graph.structs import Nesting
from headwater.graph.walk import walked
from headwater.model.facts import FlowDirection
from headwater.model.names import ColumnId, DatasetId


class ColumnStep(NamedTuple):
    """One edge between two columns, in the direction of the data."""

    source: ColumnId
    target: ColumnId
    edge: ColumnEdge


ColumnsOf = Callable[[DatasetId], Sequence[str]]
"""Gives a dataset's columns, including those that only edges name: what a wide edge expands to."""


class _EdgesBetween(NamedTuple):
    """The column edges between two datasets."""

    steps: list[ColumnStep]
    wide: list[ColumnEdge]
    """Edges with a whole dataset at one end."""


class _Wide(NamedTuple):
    """The far end of a wide edge."""

    far: DatasetId
    column: str | None
    """None: all columns."""
    edge: ColumnEdge


@dataclass(frozen=True, slots=True)
class _Onward:
    """The edges that lead from one dataset, in one direction."""

    steps: dict[str, list[ColumnStep]] = field(default_factory=dict)
    """Column to column, by this dataset's column."""
    to_whole: dict[str, list[_Wide]] = field(default_factory=dict)
    """From one of this dataset's columns to all columns of another, by that column."""
    from_whole: list[_Wide] = field(default_factory=list)
    """From every column of this dataset."""


class ColumnWalk:
    """Column edges over one state of the graph; each dataset's edges are looked up once and cached."""

    def __init__(self, graph: Graph, columns_of: ColumnsOf) -> None:
        self._graph = graph
        # The cached functions do not refer to this object: their caches are freed with it, without a garbage
        # collection.
        cached = self._columns_of = cache(columns_of)
        self._has = cache(lambda name: frozenset(cached(name)))
        self._into: dict[DatasetId, dict[DatasetId, _EdgesBetween]] = {}
        self._onward: dict[tuple[DatasetId, FlowDirection], _Onward] = {}
        self._nesting: dict[tuple[DatasetId, FlowDirection], Nesting] = {}
        self._spread: dict[DatasetId, int] = {}

    def walked(
        self, start: Iterable[ColumnId], direction: FlowDirection, max_hops: int
    ) -> Generator[None, None, dict[ColumnId, int]]:
        """Every column within `max_hops` of a start, in that direction, with its distance; yields at each step.

        Structs and their fields count as connected: data that flows into a struct flows into its fields, and the
        reverse; likewise for data that flows out.
        """
        visited: set[ColumnId] = set()
        expanded_whole: set[DatasetId] = set()
        reached_whole: set[DatasetId] = set()

        # Nearest first: a later visit of the same edge cannot reach anything sooner.
        def neighbours(column: ColumnId) -> Iterator[ColumnId]:
            for each in (column, *self.related(column, direction)):
                if each not in visited:
                    visited.add(each)
                    yield from onward(each)

        def onward(column: ColumnId) -> Iterator[ColumnId]:
            name = column.dataset
            edges = self._onward_from(name, direction)
            for step in edges.steps.get(column.column, ()):
                yield step.source if direction == "upstream" else step.target
            yield from ends(edges.to_whole.get(column.column, ()))
            if edges.from_whole and name not in expanded_whole and column.column in self._has(name):
                expanded_whole.add(name)
                yield from ends(edges.from_whole)

        def ends(wide: Iterable[_Wide]) -> Iterator[ColumnId]:
            for far, column, _ in wide:
                if column is not None:
                    yield ColumnId(far, column)
                elif far not in reached_whole:
                    reached_whole.add(far)
                    yield from (ColumnId(far, each) for each in self._columns_of(far))

        return walked(start, neighbours, max_hops)

    def related(self, column: ColumnId, direction: FlowDirection) -> list[ColumnId]:
        """The enclosing structs and the nested fields of a column that have edges in that direction."""
        name = column.dataset
        if (nesting := self._nesting.get((name, direction))) is None:
            nesting = self._nesting[name, direction] = Nesting(self._with_steps(name, direction))
        return [ColumnId(name, each) for each in nesting.related(column.column)]

    def steps_into(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that end at the column, wide edges expanded.

        A wide target counts for each column of the target, a wide source for each column of the source.
        """
        edges = self._onward_from(column.dataset, "upstream")
        wide = [*edges.to_whole.get(column.column, ())]
        if edges.from_whole and column.column in self._has(column.dataset):
            wide += edges.from_whole
        return self.column_steps_into(column) + [
            ColumnStep(ColumnId(far, source), column, edge)
            for far, one, edge in wide
            for source in (self._columns_of(far) if one is None else (one,))
        ]

    def column_steps_into(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that connect one column to exactly this column."""
        return [*self._onward_from(column.dataset, "upstream").steps.get(column.column, ())]

    def wide_into(self, name: DatasetId) -> list[ColumnEdge]:
        """The wide edges into the dataset: either end may be the whole dataset."""
        return [edge for between in self._edges_into(name).values() for edge in between.wide]

    def count_spread_into(self, name: DatasetId) -> int:
        """The number of column-to-column edges that the wide edges into the dataset expand to."""
        if name not in self._spread:
            self._spread[name] = sum(self._spread_over(name, edge) for edge in self.wide_into(name))
        return self._spread[name]

    def _spread_over(self, name: DatasetId, edge: ColumnEdge) -> int:
        sources = len(self._columns_of(edge.source)) if edge.source_column is None else 1
        return sources * (len(self._has(name)) if edge.target_column is None else 1)

    def _with_steps(self, name: DatasetId, direction: FlowDirection) -> Iterator[str]:
        """The columns that have edges in that direction."""
        edges = self._onward_from(name, direction)
        yield from edges.steps
        yield from edges.to_whole
        if edges.from_whole:
            yield from self._columns_of(name)

    def _onward_from(self, name: DatasetId, direction: FlowDirection) -> _Onward:
        if (name, direction) not in self._onward:
            self._onward[name, direction] = self._looked_up(name, direction)
        return self._onward[name, direction]

    def _looked_up(self, name: DatasetId, direction: FlowDirection) -> _Onward:
        onward = _Onward()
        for target, between in self._edges_on_side(name, direction):
            for step in between.steps:
                near = step.target if direction == "upstream" else step.source
                onward.steps.setdefault(near.column, []).append(step)
            for edge in between.wide:
                near_column, wide = edge.target_column, _Wide(edge.source, edge.source_column, edge)
                if direction == "downstream":
                    near_column, wide = edge.source_column, _Wide(target, edge.target_column, edge)
                    if edge.target_column is None and not self._columns_of(target):
                        continue  # expands to no column
                if near_column is None:
                    onward.from_whole.append(wide)
                else:
                    onward.to_whole.setdefault(near_column, []).append(wide)
        return onward

    def _edges_on_side(self, name: DatasetId, direction: FlowDirection) -> Iterator[tuple[DatasetId, _EdgesBetween]]:
        """The edges on that side of the dataset, each with its target."""
        if direction == "upstream":
            yield from ((name, between) for between in self._edges_into(name).values())
            return
        for target in sorted(self._graph.fed_by(name)):
            if (between := self._edges_into(target).get(name)) is not None:
                yield target, between

    def _edges_into(self, target: DatasetId) -> dict[DatasetId, _EdgesBetween]:
        """The edges into the target, by source."""
        if target not in self._into:
            self._into[target] = _edges_into(self._graph, target)
        return self._into[target]


def _edges_into(graph: Graph, target: DatasetId) -> dict[DatasetId, _EdgesBetween]:
    by_source: dict[DatasetId, _EdgesBetween] = {}
    end = cache(ColumnId)
    for edge in graph.column_edges_into(target):
        source = edge.source
        if (between := by_source.get(source)) is None:
            between = by_source[source] = _EdgesBetween([], [])
        if edge.target_column is None or edge.source_column is None:
            between.wide.append(edge)
        else:
            step = ColumnStep(end(source, edge.source_column), end(target, edge.target_column), edge)
            between.steps.append(step)
    return {source: _without_redundant(each) if each.wide else each for source, each in by_source.items()}


def _without_redundant(between: _EdgesBetween) -> _EdgesBetween:
    """Drop dataset-to-dataset edges where there is column detail: they add nothing."""
    in_detail = [edge for edge in between.wide if edge.target_column is not None or edge.source_column is not None]
    return between._replace(wide=in_detail) if between.steps or in_detail else between
