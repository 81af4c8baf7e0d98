"""Walks over columns: what feeds a column, and what it feeds.

An edge that has a whole dataset at one end counts for each of its columns, and a dataset may have thousands: such an
edge is kept as one, and gone along once, not once for each column.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.lineage import Graph
from headwater.graph.structs import Nesting
from headwater.graph.walk import walked
from headwater.model.facts import Way
from headwater.model.names import ColumnId, DatasetId


class ColumnStep(NamedTuple):
    """One edge between two columns, in the direction of the data."""

    source: ColumnId
    target: ColumnId
    edge: ColumnEdge


ColumnsOf = Callable[[DatasetId], Sequence[str]]
"""The columns of a dataset, all that edges end at among them: what a dataset-wide edge spreads over."""


class _Told(NamedTuple):
    """What is told of the columns between two datasets."""

    steps: list[ColumnStep]
    wide: list[ColumnEdge]
    """The edges that have a whole dataset at one end."""


class _Wide(NamedTuple):
    """Where an edge leads that has a whole dataset at one end."""

    far: DatasetId
    column: str | None
    """None: all of them."""
    edge: ColumnEdge


@dataclass(frozen=True, slots=True)
class _Onward:
    """Where edges lead from one dataset, one way."""

    steps: dict[str, list[ColumnStep]] = field(default_factory=dict)
    """Between two columns, by the one that is of this dataset."""
    to_whole: dict[str, list[_Wide]] = field(default_factory=dict)
    """From one of its columns, by that, to all of another dataset."""
    from_whole: list[_Wide] = field(default_factory=list)
    """From each of its columns."""


class ColumnWalk:
    """Steps between columns, over one state of the graph; the edges of each dataset are looked at once."""

    def __init__(self, graph: Graph, columns_of: ColumnsOf) -> None:
        self._graph = graph
        # Of functions that do not refer to this: what they keep goes with it, and needs no collection of garbage.
        kept = self._columns_of = cache(columns_of)
        self._has = cache(lambda name: frozenset(kept(name)))
        self._into: dict[DatasetId, dict[DatasetId, _Told]] = {}
        self._onward: dict[tuple[DatasetId, Way], _Onward] = {}
        self._nesting: dict[tuple[DatasetId, Way], Nesting] = {}
        self._spread: dict[DatasetId, int] = {}

    def walked(self, start: Iterable[ColumnId], way: Way, max_hops: int) -> Generator[None, None, dict[ColumnId, int]]:
        """Every column within `max_hops` of a start column, that way, with its distance; step by step.

        What goes into a struct goes into the fields inside it, and what goes into a field, into the struct; so it is
        with what comes from them.
        """
        gone: set[ColumnId] = set()
        gone_as_whole: set[DatasetId] = set()
        come_to_whole: set[DatasetId] = set()

        # The nearest come first: whoever goes the same way later, comes to nothing sooner.
        def neighbours(column: ColumnId) -> Iterator[ColumnId]:
            for each in (column, *self.beside(column, way)):
                if each not in gone:
                    gone.add(each)
                    yield from onward(each)

        def onward(column: ColumnId) -> Iterator[ColumnId]:
            name = column.dataset
            edges = self._onward_from(name, way)
            for step in edges.steps.get(column.column, ()):
                yield step.source if way == "upstream" else step.target
            yield from ends(edges.to_whole.get(column.column, ()))
            if edges.from_whole and name not in gone_as_whole and column.column in self._has(name):
                gone_as_whole.add(name)
                yield from ends(edges.from_whole)

        def ends(wide: Iterable[_Wide]) -> Iterator[ColumnId]:
            for far, column, _ in wide:
                if column is not None:
                    yield ColumnId(far, column)
                elif far not in come_to_whole:
                    come_to_whole.add(far)
                    yield from (ColumnId(far, each) for each in self._columns_of(far))

        return walked(start, neighbours, max_hops)

    def beside(self, column: ColumnId, way: Way) -> list[ColumnId]:
        """The structs that a column lies in, and the fields inside it, from which steps lead that way."""
        name = column.dataset
        if (nesting := self._nesting.get((name, way))) is None:
            nesting = self._nesting[name, way] = Nesting(self._with_steps(name, way))
        return [ColumnId(name, each) for each in nesting.beside(column.column)]

    def steps_into(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that end at the column.

        A dataset-wide edge counts for every column of the target, a whole source for every column of its own.
        """
        edges = self._onward_from(column.dataset, "upstream")
        wide = [*edges.to_whole.get(column.column, ())]
        if edges.from_whole and column.column in self._has(column.dataset):
            wide += edges.from_whole
        return self.told_into(column) + [
            ColumnStep(ColumnId(far, source), column, edge)
            for far, one, edge in wide
            for source in (self._columns_of(far) if one is None else (one,))
        ]

    def told_into(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that end at the column and at no other, and start at one."""
        return [*self._onward_from(column.dataset, "upstream").steps.get(column.column, ())]

    def wide_into(self, name: DatasetId) -> list[ColumnEdge]:
        """The edges into the dataset that have a whole dataset at one end, this one or the other."""
        return [edge for told in self._told_into(name).values() for edge in told.wide]

    def count_spread_into(self, name: DatasetId) -> int:
        """How many edges these come to, from column to column."""
        if name not in self._spread:
            self._spread[name] = sum(self._spread_over(name, edge) for edge in self.wide_into(name))
        return self._spread[name]

    def _spread_over(self, name: DatasetId, edge: ColumnEdge) -> int:
        sources = len(self._columns_of(edge.source)) if edge.source_column is None else 1
        return sources * (len(self._has(name)) if edge.target_column is None else 1)

    def _with_steps(self, name: DatasetId, way: Way) -> Iterator[str]:
        """The columns from which steps lead that way."""
        edges = self._onward_from(name, way)
        yield from edges.steps
        yield from edges.to_whole
        if edges.from_whole:
            yield from self._columns_of(name)

    def _onward_from(self, name: DatasetId, way: Way) -> _Onward:
        if (name, way) not in self._onward:
            self._onward[name, way] = self._looked_up(name, way)
        return self._onward[name, way]

    def _looked_up(self, name: DatasetId, way: Way) -> _Onward:
        onward = _Onward()
        for target, told in self._told(name, way):
            for step in told.steps:
                near = step.target if way == "upstream" else step.source
                onward.steps.setdefault(near.column, []).append(step)
            for edge in told.wide:
                near_column, wide = edge.target_column, _Wide(edge.source, edge.source_column, edge)
                if way == "downstream":
                    near_column, wide = edge.source_column, _Wide(target, edge.target_column, edge)
                    if edge.target_column is None and not self._columns_of(target):
                        continue  # it leads to no column
                if near_column is None:
                    onward.from_whole.append(wide)
                else:
                    onward.to_whole.setdefault(near_column, []).append(wide)
        return onward

    def _told(self, name: DatasetId, way: Way) -> Iterator[tuple[DatasetId, _Told]]:
        """What is told of the dataset on that side, with the targets."""
        if way == "upstream":
            yield from ((name, told) for told in self._told_into(name).values())
            return
        for target in sorted(self._graph.fed_by(name)):
            if (told := self._told_into(target).get(name)) is not None:
                yield target, told

    def _told_into(self, target: DatasetId) -> dict[DatasetId, _Told]:
        """What is told of the target, by source."""
        if target not in self._into:
            self._into[target] = _told_into(self._graph, target)
        return self._into[target]


def _told_into(graph: Graph, target: DatasetId) -> dict[DatasetId, _Told]:
    told: dict[DatasetId, _Told] = {}
    end = cache(ColumnId)
    for edge in graph.column_edges_into(target):
        source = edge.source
        if (between := told.get(source)) is None:
            between = told[source] = _Told([], [])
        if edge.target_column is None or edge.source_column is None:
            between.wide.append(edge)
        else:
            step = ColumnStep(end(source, edge.source_column), end(target, edge.target_column), edge)
            between.steps.append(step)
    return {source: between if not between.wide else _telling(between) for source, between in told.items()}


def _telling(told: _Told) -> _Told:
    """That one dataset is made from the other says nothing of columns where others say more."""
    in_detail = [edge for edge in told.wide if edge.target_column is not None or edge.source_column is not None]
    return told._replace(wide=in_detail) if told.steps or in_detail else told
