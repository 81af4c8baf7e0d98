"""Walks over the graph: what lies around a node, what feeds a column and what it reaches."""

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Literal, NamedTuple, TypeVar

from headwater.graph.columns import ColumnEdge
from headwater.graph.derived import Derivations
from headwater.graph.lineage import Graph
from headwater.graph.structs import Nesting
from headwater.model.names import ColumnId, DatasetId, JobId

NodeT = TypeVar("NodeT", bound=Hashable)
Way = Literal["upstream", "downstream"]


def reachable(
    start: Iterable[NodeT], neighbours: Callable[[NodeT], Iterable[NodeT]], max_hops: int
) -> dict[NodeT, int]:
    """Every node within `max_hops` edges of a start node, mapped to its distance in hops.

    Nearest first; start nodes are at 0. Cycles are fine: each node is visited once.
    """
    steps = walked(start, neighbours, max_hops)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            hops: dict[NodeT, int] = end.value
            return hops


def walked(
    start: Iterable[NodeT], neighbours: Callable[[NodeT], Iterable[NodeT]], max_hops: int
) -> Generator[None, None, dict[NodeT, int]]:
    """As `reachable`, with a step for each node that is come to: between two of them others may have their turn."""
    hops = dict.fromkeys(start, 0)
    queue = deque(hops)
    while queue:
        yield
        node = queue.popleft()
        if hops[node] == max_hops:
            continue
        for neighbour in neighbours(node):
            if neighbour not in hops:
                hops[neighbour] = hops[node] + 1
                queue.append(neighbour)
    return hops


class Made(NamedTuple):
    """A dataset that is come to from another one without a job; by itself it would equal a job of that name."""

    dataset: DatasetId


class Around(NamedTuple):
    """The jobs around a node, and the datasets that are come to without a job."""

    jobs: list[JobId]
    made: list[DatasetId]


def around(graph: Graph, derivations: Derivations, node: DatasetId | JobId, max_hops: int) -> Around:
    """What lies within so many jobs of a job or dataset; jobs that touch the dataset are at 0.

    A neighbour of a job writes what the job reads, or reads what it writes, or hands data over without a dataset. Where
    a dataset is made from another without a job, that counts as one.
    """
    read: set[DatasetId] = set()
    written: set[DatasetId] = set()

    def neighbours(step: JobId | Made) -> Iterable[JobId | Made]:
        return of_job(step) if isinstance(step, JobId) else of_dataset(step.dataset)

    def of_job(job: JobId) -> Iterable[JobId | Made]:
        known = graph.jobs[job]
        for dataset in known.reads.keys() - read:  # once is enough: a hub has thousands of readers
            read.add(dataset)
            if graph.shown(dataset).is_complete:
                yield from graph.writers(dataset)
                yield from beside(dataset)
        for dataset in known.writes.keys() - written:
            written.add(dataset)
            if graph.shown(dataset).is_complete:
                yield from graph.readers(dataset)
                yield from beside(dataset)
        yield from (*known.fed_by, *known.feeds)

    def of_dataset(dataset: DatasetId) -> Iterable[JobId | Made]:
        yield from sorted(graph.writers(dataset) | graph.readers(dataset))
        yield from beside(dataset)

    def beside(dataset: DatasetId) -> Iterable[Made]:
        return map(Made, derivations.beside(graph.shown(dataset))) if derivations else ()

    start = [node] if isinstance(node, JobId) else of_dataset(node)
    steps = reachable(start, neighbours, max_hops)
    return Around(
        [step for step in steps if isinstance(step, JobId)],
        [step.dataset for step in steps if isinstance(step, Made)],
    )


class ColumnStep(NamedTuple):
    """One edge between two columns, in the direction of the data."""

    source: ColumnId
    target: ColumnId
    edge: ColumnEdge


ColumnsOf = Callable[[DatasetId], Sequence[str]]
"""The columns of a dataset, all that edges end at among them: what a dataset-wide edge spreads over."""


class ColumnWalk:
    """Steps between columns, over one state of the graph; each dataset's edges are laid out once."""

    def __init__(self, graph: Graph, columns_of: ColumnsOf) -> None:
        self._graph = graph
        self._columns_of = cache(columns_of)
        self._into: dict[DatasetId, dict[str, list[ColumnStep]]] = {}
        self._from: dict[DatasetId, dict[str, list[ColumnStep]]] = {}
        self._nesting: dict[tuple[DatasetId, Way], Nesting] = {}

    def walked(self, start: Iterable[ColumnId], way: Way, max_hops: int) -> Generator[None, None, dict[ColumnId, int]]:
        """Every column within `max_hops` of a start column, that way, with its distance; step by step.

        What goes into a struct goes into the fields inside it, and what goes into a field, into the struct; so it is
        with what comes from them.
        """

        def neighbours(column: ColumnId) -> Iterator[ColumnId]:
            for each in (column, *self.beside(column, way)):
                steps = self.steps_into(each) if way == "upstream" else self.steps_from(each)
                yield from (step.source if way == "upstream" else step.target for step in steps)

        return walked(start, neighbours, max_hops)

    def beside(self, column: ColumnId, way: Way) -> list[ColumnId]:
        """The structs that a column lies in, and the fields inside it, from which steps lead that way."""
        name = column.dataset
        steps = self._steps_within(name) if way == "upstream" else self._steps_out_of(name)
        if (nesting := self._nesting.get((name, way))) is None:
            nesting = self._nesting[name, way] = Nesting(steps)
        return [ColumnId(name, each) for each in nesting.beside(column.column)]

    def steps_into(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that end at the column.

        A dataset-wide edge counts for every column of the target, a whole source for every column of its own.
        """
        return self._steps_within(column.dataset).get(column.column, [])

    def steps_from(self, column: ColumnId) -> list[ColumnStep]:
        """The edges that start at the column."""
        return self._steps_out_of(column.dataset).get(column.column, [])

    def _steps_out_of(self, name: DatasetId) -> dict[str, list[ColumnStep]]:
        """The edges that start at columns of the dataset, by column."""
        if name not in self._from:
            steps: dict[str, list[ColumnStep]] = {}
            for target in sorted(self._graph.fed_by(name)):
                for step in chain.from_iterable(self._steps_within(target).values()):
                    if step.source.dataset == name:
                        steps.setdefault(step.source.column, []).append(step)
            self._from[name] = steps
        return self._from[name]

    def _steps_within(self, target: DatasetId) -> dict[str, list[ColumnStep]]:
        """The edges that end at columns of the target, by column."""
        if target not in self._into:
            self._into[target] = self._laid_out(target)
        return self._into[target]

    def _laid_out(self, name: DatasetId) -> dict[str, list[ColumnStep]]:
        steps: dict[str, list[ColumnStep]] = {}
        ends = cache(ColumnId)
        edges = self._graph.column_edges_into(name)
        in_detail = {edge.source for edge in edges if edge.target_column is not None or edge.source_column is not None}
        for edge in edges:
            if edge.target_column is not None and edge.source_column is not None:  # as nearly all are
                step = ColumnStep(ends(edge.source, edge.source_column), ends(name, edge.target_column), edge)
                steps.setdefault(edge.target_column, []).append(step)
                continue
            if edge.target_column is None and edge.source_column is None and edge.source in in_detail:
                continue  # that one dataset is made from the other says nothing of columns where others say more
            targets = self._columns_of(name) if edge.target_column is None else (edge.target_column,)
            sources = self._columns_of(edge.source) if edge.source_column is None else (edge.source_column,)
            for target in targets:
                steps.setdefault(target, []).extend(
                    ColumnStep(ends(edge.source, source), ends(name, target), edge) for source in sources
                )
        return steps
