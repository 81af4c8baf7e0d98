"""Every place downstream of a dataset or column, with each step that leads there.

Where events tell of columns, a change goes only where the column goes. A job that never told what it makes a dataset
from may make it from all that it reads: such steps carry no edge.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.told import ToldBetween, told_into
from headwater.graph.lineage import Graph
from headwater.model.names import ColumnId, DatasetId, JobId

Use = Literal["direct", "indirect", "unknown"]
"""Gives its value, decides about rows or choices, or nobody says."""
USES: tuple[Use, ...] = ("direct", "indirect", "unknown")


class Place(NamedTuple):
    """A column, a dataset or a job. The kind tells a job from a dataset of the same name, which are equal as pairs."""

    kind: Literal["column", "dataset", "job"]
    name: ColumnId | DatasetId | JobId

    @property
    def node_id(self) -> str:
        """As the API writes it."""
        return self.name.node_id


class Step(NamedTuple):
    """From a column or dataset to what uses it; `edge` None: no event tells which columns are used."""

    origin: Place
    destination: Place
    edge: ColumnEdge | None
    jobs: tuple[JobId, ...]
    """Through which it goes; none where only a declaration tells of it."""

    @property
    def use(self) -> Use:
        """How the destination uses the origin."""
        if self.edge is None:
            return "unknown"
        return "direct" if self.edge.kind == "DIRECT" else "indirect"


@dataclass(frozen=True, slots=True)
class Reach:
    """What lies downstream of the start: by place its distance in jobs and the steps that lead to it."""

    start: frozenset[Place]
    distance: dict[Place, int] = field(default_factory=dict)
    steps: dict[Place, list[Step]] = field(default_factory=dict)

    def nearest_first(self) -> list[Place]:
        """The places reached, without the start."""
        return sorted(self.distance, key=lambda place: (self.distance[place], place.kind, place.name))


Front = dict[DatasetId, set[Place]]
"""The places from which the walk goes on, by dataset; a dataset itself stands for all of it."""


def reach(flow: "Flow", start: Sequence[ColumnId | DatasetId]) -> Generator[None, None, Reach]:
    """Everything downstream. Nearest first; a place is at the least number of jobs that lead to it.

    A step is a dataset that the walk went on from: between two of them others may have their turn.
    """
    places = frozenset(map(_place, start))
    found = Reach(places)
    gone = set(places)
    front = _by_dataset(places)
    hops = 0
    while front:
        hops += 1
        fresh: set[Place] = set()
        for name in sorted(front):
            for step in flow.steps_from(name, sorted(front[name])):
                if step.destination in places:
                    continue
                found.distance.setdefault(step.destination, hops)
                found.steps.setdefault(step.destination, []).append(step)
                if flow.goes_on(step):
                    fresh.add(step.destination)
            yield
        front = _by_dataset(fresh - gone)
        gone |= fresh
    return found


def _by_dataset(places: Iterable[Place]) -> Front:
    front: Front = {}
    for place in places:
        name = place.name.dataset if isinstance(place.name, ColumnId) else DatasetId(*place.name)
        front.setdefault(name, set()).add(place)
    return front


def _place(name: ColumnId | DatasetId) -> Place:
    return Place("column" if isinstance(name, ColumnId) else "dataset", name)


class _Onward(NamedTuple):
    """A dataset that is made from another: through which jobs, and by which column edges."""

    target: DatasetId
    jobs: tuple[JobId, ...]
    told: ToldBetween | None
    """The column edges between the two, where there are any."""
    untold: tuple[JobId, ...]
    """Those of the jobs that never told what they make the target from, be it from nothing."""


ToldInto = Callable[[DatasetId], Mapping[DatasetId, ToldBetween]]


class Flow:
    """The steps of data through one state of the graph; what leads on from a dataset is laid out once."""

    def __init__(self, graph: Graph, columns_of: Callable[[DatasetId], Sequence[str]]) -> None:
        self._graph = graph
        self._columns_of = cache(columns_of)
        # Of functions that do not refer to this: what they keep goes with it, and needs no collection of garbage.
        self._onward = cache(partial(_onward_from, graph, cache(partial(told_into, graph))))

    def goes_on(self, step: Step) -> bool:
        """Whether the walk goes on from where the step leads.

        From a dataset only if all of it is meant: its columns are unknown, or which of them is.
        """
        match step.destination:
            case Place("column"):
                return True
            case Place("dataset", DatasetId() as name):
                if step.edge is None:
                    return True
                return step.edge.target_column is None and not self._columns_of(name)
        return False

    def steps_from(self, name: DatasetId, fronts: Sequence[Place]) -> Iterator[Step]:
        """The steps that lead on from these places of a dataset; `fronts` is sorted and not empty."""
        touched = _Touched(fronts)
        told: set[JobId] = set()
        for onward in self._onward(name):
            told.update(onward.jobs if onward.told else ())
            for column in onward.told.source_columns() if onward.told else ():
                origins = touched.origins(column)
                for edge in onward.told.edges(column) if onward.told and origins else ():
                    for origin in origins:
                        yield from self._along(origin, onward, edge)
            if onward.untold:
                yield Step(fronts[0], Place("dataset", onward.target), None, onward.untold)
        for job in sorted(_readers(self._graph, name) - told):
            yield Step(fronts[0], Place("job", job), None, (job,))

    def _along(self, origin: Place, onward: _Onward, edge: ColumnEdge) -> Iterator[Step]:
        target = onward.target
        columns = self._columns_of(target) if edge.target_column is None else (edge.target_column,)
        for column in columns:
            yield Step(origin, Place("column", ColumnId(target, column)), edge, onward.jobs)
        yield Step(origin, Place("dataset", target), edge, onward.jobs)
        for job in onward.jobs:
            yield Step(origin, Place("job", job), edge, (job,))


def _readers(graph: Graph, name: DatasetId) -> set[JobId]:
    """The jobs that read the dataset, but for deleted ones."""
    return {job for job in graph.readers(name) if not graph.hides(job)}


def _onward_from(graph: Graph, told_of: ToldInto, name: DatasetId) -> tuple[_Onward, ...]:
    readers = _readers(graph, name)
    written = {target for job in readers for target in graph.writes(job)}
    found = []
    for target in sorted(written | graph.fed_by(name)):
        jobs = tuple(sorted(readers & graph.writers(target)))  # deleted ones are not among the readers
        told = told_of(target)
        if (target not in written and name not in told) or graph.hides(target):
            continue  # a facet said so that no longer counts, or the target is deleted
        found.append(_Onward(target, jobs, told.get(name), _untold(graph, target, jobs)))
    return tuple(found)


def _untold(graph: Graph, target: DatasetId, jobs: tuple[JobId, ...]) -> tuple[JobId, ...]:
    """The jobs that gave no evidence for the target; the evidence of one says nothing of what another does."""
    datasets = graph.datasets
    told_of = [name for name in graph.members(target) if name in datasets and datasets[name].evidence]
    return tuple(job for job in jobs if not _tells(graph, job, told_of)) if told_of else jobs


def _tells(graph: Graph, job: JobId, told_of: Sequence[DatasetId]) -> bool:
    known = graph.jobs[job]
    if known.declaration is not None:
        declared = (graph.datasets[name].declared.get(known.declaration.key) for name in told_of)
        if any(each is not None and each.evidence is not None for each in declared):
            return True
    return any(name in graph.runs[run_id].evidence for run_id in known.runs for name in told_of)


class _Touched:
    """The places of one dataset that the walk has come to."""

    def __init__(self, fronts: Sequence[Place]) -> None:
        self._first = fronts[0]
        self._whole = [place for place in fronts if place.kind == "dataset"]
        self._columns = {place.name.column: place for place in fronts if isinstance(place.name, ColumnId)}
        self._inside: dict[str, list[Place]] = {}
        for column, place in self._columns.items():
            for outer in _outer(column):
                self._inside.setdefault(outer, []).append(place)

    def origins(self, source_column: str | None) -> list[Place]:
        """From which of them an edge starts that reads this column; None reads all, and a field's struct the field."""
        if self._whole or source_column is None:
            return self._whole or [self._first]
        outer = [self._columns[name] for name in _outer(source_column) if name in self._columns]
        own = [self._columns[source_column]] if source_column in self._columns else []
        return [*own, *outer, *self._inside.get(source_column, ())]


def _outer(column: str) -> Iterator[str]:
    """The structs that a nested field lies in.

    >>> list(_outer("a.b.c"))
    ['a.b', 'a']
    """
    while "." in column:
        column = column.rpartition(".")[0]
        yield column
