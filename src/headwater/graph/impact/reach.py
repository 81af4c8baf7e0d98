"""Every place downstream of a dataset or column, with each step that leads there.

Where events report columns, a change follows only the column's edges. A job that never reports what it makes a dataset
from may make it from all its inputs, and from what other jobs hand to it: such steps carry no edge.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.checks import Checking, ChecksOf
from headwater.graph.impact.own_uses import UsingItself
from headwater.graph.impact.places import Place, ReachedPlaces, overlap
from headwater.graph.impact.run_groups import EvidenceRef, RunGroups
from headwater.graph.impact.target_edges import EdgesBetween, ReportedEdge, TargetEdges, target_edges_of
from headwater.graph.impact.uses import HandedOver, Since, Uses, Using
from headwater.graph.lineage import Graph
from headwater.graph.structs import lies_in
from headwater.model.merging import Seen
from headwater.model.names import ColumnId, DatasetId, JobId

Use = Literal["direct", "indirect", "unknown"]
"""Gives its value; decides about rows or choices; not reported."""
USES: tuple[Use, ...] = ("direct", "indirect", "unknown")


class Step(NamedTuple):
    """From a column or dataset to what uses it; `edge` None: no event reports which columns are used."""

    origin: Place
    destination: Place
    edge: ColumnEdge | None
    jobs: tuple[JobId, ...]
    """The jobs it goes through; empty if only a declaration reports it."""
    told: Using | UsingItself | HandedOver | Checking
    """Who reported it."""

    def since(self) -> Generator[None, None, Since | None]:
        """What later runs say of this use; None: it is in force. Yields between steps."""
        job = JobId(*self.destination.owner) if self.destination.kind == "job" else None
        return self.told.since(job, is_whole=self.origin.kind == "dataset")

    @property
    def use(self) -> Use:
        """How the destination uses the origin."""
        if self.edge is None or (self.edge.source_column is None and self.origin.kind == "column"):
            return "unknown"
        return "direct" if self.edge.kind == "DIRECT" else "indirect"

    @property
    def is_check(self) -> bool:
        """Whether the destination checks the origin."""
        return isinstance(self.told, Checking)

    @property
    def read(self) -> str:
        """The column that is read: the origin, a struct around it, or a field in it; empty for a dataset."""
        if self.edge is None or self.edge.source_column is None:
            return self.origin.column
        return self.edge.source_column

    @property
    def is_around(self) -> bool:
        """Whether a struct around the origin is read, for whichever of its fields."""
        return self.origin.kind == "column" and lies_in(self.origin.column, self.read)

    @property
    def is_in_other_case(self) -> bool:
        """Whether the column read matches the origin only if case is ignored."""
        return self.origin.kind == "column" and not overlap(self.origin.column, self.read)

    @property
    def is_inside(self) -> bool:
        """Whether a field nested in the origin is read."""
        return self.origin.kind == "column" and lies_in(self.read, self.origin.column)


class Reach(NamedTuple):
    """Everything downstream of the start."""

    start: Sequence[Place]
    """Sorted; no step leads to one of them."""
    places: Sequence[Place]
    """The places reached, nearest first, without the start."""
    steps: Mapping[Place, Sequence[Step]]
    """By place, the steps that lead to it, except wide ones."""
    wide: Mapping[DatasetId, Sequence[Step]]
    """By dataset, the steps that lead to each of its columns, stored once with the dataset as destination."""

    def wide_to(self, place: Place) -> Sequence[Step]:
        """The wide steps to a column, with its dataset as destination."""
        return self.wide.get(DatasetId(*place.owner), ()) if place.kind == "column" else ()


def reach(flow: "Flow", start: Sequence[ColumnId | DatasetId | JobId]) -> Generator[None, None, Reach]:
    """Everything downstream; for a job, what other jobs get from it. Nearest first, by the fewest jobs in between.

    Yields after each dataset that is expanded, so that other work can run.
    """
    walk = _Walk(flow, start)
    while not walk.is_over:
        yield from walk.go_on()
    places = sorted(walk.steps, key=_ORDER)
    places.sort(key=_DISTANCE)
    return Reach(sorted(walk.start, key=_ORDER), places, walk.steps, walk.wide)


_ORDER: Final = attrgetter("order")
_DISTANCE: Final = attrgetter("distance")


class _Walk:
    """The state of a walk."""

    def __init__(self, flow: "Flow", start: Iterable[ColumnId | DatasetId | JobId]) -> None:
        self._flow = flow
        self._column = cache(partial(Place, "column"))
        self._dataset = cache(partial(Place, "dataset"))
        self._job = cache(partial(Place, "job"))
        self.start = {self._place(name) for name in start}
        self.steps: dict[Place, list[Step]] = {}
        self.wide: dict[DatasetId, list[Step]] = {}
        self._hops = 0
        self._gone = {*self.start}
        self._fresh: set[Place] = set()
        self._handing = [place for place in self.start if place.kind == "job"]
        self._front = _by_dataset(self.start)

    def _place(self, name: ColumnId | DatasetId | JobId) -> Place:
        if isinstance(name, ColumnId):
            return self._column(*name)
        return self._job(name) if isinstance(name, JobId) else self._dataset(name)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to expand."""
        return not (self._front or self._handing)

    def go_on(self) -> Iterator[None]:
        """Advance by one job from all places reached so far; yields after each dataset."""
        self._hops += 1
        handing, self._handing = sorted(self._handing, key=_ORDER), []
        for place in handing:
            self._hand_on(place)
        for name in sorted(self._front):
            self._go_on_from(name, sorted(self._front[name], key=_ORDER))
            yield
        self._front = _by_dataset(self._fresh - self._gone)
        self._gone |= self._fresh
        self._fresh = set()

    def _hand_on(self, giver: Place) -> None:
        """Go on to the jobs that a job hands data to, and to what they may make of it."""
        for job, targets, told in self._flow.handed_on(JobId(*giver.owner)):
            taker = self._job(job)
            self._take(Step(giver, taker, None, (job,), told))
            for place in map(self._dataset, targets):
                self._fresh.add(place)
                self._take(Step(taker, place, None, (job,), told))

    def _go_on_from(self, name: DatasetId, fronts: Sequence[Place]) -> None:
        """Take the steps that lead on from these places of a dataset; `fronts` is sorted and not empty."""
        onwards = self._flow.onward(name)  # also makes sure that all facets about its columns are read
        touched = ReachedPlaces(fronts, self._flow.numbers, partial(self._flow.is_in_schema, name))
        told: set[JobId] = set()
        self._go_to_checks(name, touched)
        for onward in onwards:
            if onward.told is not None:
                told.update(onward.jobs)
                for column, edges in onward.told.edges_from(touched.numbers):
                    if origins := touched.origins(column):
                        self._go_along(onward, origins, edges)
            if onward.untold:
                place = self._dataset(onward.target)
                self._fresh.add(place)
                using = self._flow.using(name, onward.target, onward.untold)
                self._take(Step(fronts[0], place, None, onward.untold, using))
        for job in sorted(self._flow.readers(name)):
            used = self._flow.used_by(job).get(name)
            if used is None and job not in told:
                self._go_to_reader(name, job, touched)
            for edge, facets in (used or {}).items():
                self._go_to_user(job, edge, self._flow.using_itself(name, job, facets), touched, is_told=job in told)

    def _go_to_reader(self, name: DatasetId, job: JobId, touched: "ReachedPlaces") -> None:
        """Take the steps to a job without further steps: its outputs are deleted, or nobody reports columns."""
        place, using = self._job(job), self._flow.using(name, None, (job,))
        deleted = self._flow.told_of_deleted(name, job)
        for between in deleted:
            for column, edges in between.edges_from(touched.numbers):
                for edge, _ in edges:
                    for origin in touched.origins(column):
                        self._take(Step(origin, place, edge, (job,), using))
        if not deleted:
            self._take(Step(touched.first, place, None, (job,), using))

    def _go_to_user(
        self, job: JobId, edge: ColumnEdge, using: UsingItself, touched: "ReachedPlaces", *, is_told: bool
    ) -> None:
        """Take the steps to a job that itself uses what was reached; `is_told`: its outputs' columns are reported."""
        if edge.source_column is not None:
            for origin in touched.origins(edge.source_column):
                self._take(Step(origin, self._job(job), edge, (job,), using))
        elif not is_told:
            self._take(Step(touched.first, self._job(job), None, (job,), using))

    def _go_to_checks(self, name: DatasetId, touched: "ReachedPlaces") -> None:
        """Take the steps to the jobs that check what was reached."""
        checks = self._flow.checks_of(name)
        for job in sorted(self._flow.readers(name) & checks.keys()):
            using = self._flow.using(name, None, (job,))
            for check in checks[job]:
                for origin in touched.origins(check.column):
                    told = Checking(using, check.last_us)
                    self._take(Step(origin, self._job(job), check.edge_from(name), (job,), told))

    def _go_along(self, onward: "_Onward", origins: Sequence[Place], edges: Iterable[ReportedEdge]) -> None:
        target, jobs = onward.target, onward.jobs
        dataset, by_job = self._dataset(target), [(self._job(job), (job,)) for job in jobs]
        told_by: Sequence[EvidenceRef] = ()
        for edge, keys in edges:
            if keys is not told_by:  # mostly the same object as before
                told_by, using = keys, self._flow.using(onward.source, target, jobs, keys)
            if edge.target_column is not None:
                end = self._column(target, edge.target_column)
                self._fresh.add(end)
                for origin in origins:
                    self._take(Step(origin, end, edge, jobs, using))
            elif self._flow.columns_of(target):
                self._come_to_columns(target).extend(Step(origin, dataset, edge, jobs, using) for origin in origins)
            else:  # no columns known: continue from the dataset as a whole
                self._fresh.add(dataset)
            for origin in origins:
                self._take(Step(origin, dataset, edge, jobs, using))
                for place, through in by_job:
                    self._take(Step(origin, place, edge, through, using))

    def _come_to_columns(self, name: DatasetId) -> list[Step]:
        """The wide steps to a dataset; the first one reaches all of its columns."""
        if name not in self.wide:
            self.wide[name] = []
            for column in self._flow.columns_of(name):
                place = self._column(name, column)
                self._fresh.add(place)
                self._come_to(place)
        return self.wide[name]

    def _take(self, step: Step) -> None:
        """Record a step, unless it leads back to the start."""
        steps = self._come_to(step.destination)
        if steps is not None:
            steps.append(step)

    def _come_to(self, place: Place) -> list[Step] | None:
        """The steps to a place; None if it is part of the start."""
        steps = self.steps.get(place)
        if steps is None and place not in self.start:
            place.distance = self._hops
            steps = self.steps[place] = []
            if place.kind == "job":
                self._handing.append(place)
        return steps


def _by_dataset(places: Iterable[Place]) -> dict[DatasetId, list[Place]]:
    """The places by dataset; a dataset itself stands for all of its columns."""
    front: dict[DatasetId, list[Place]] = {}
    for place in places:
        if place.kind != "job":
            front.setdefault(DatasetId(*place.owner), []).append(place)
    return front


class _Onward(NamedTuple):
    """A dataset that is made from another: through which jobs, and by which column edges."""

    source: DatasetId
    target: DatasetId
    jobs: tuple[JobId, ...]
    told: EdgesBetween | None
    """The column edges between the two, where there are any."""
    untold: tuple[JobId, ...]
    """Those of the jobs that never reported what they make the target from, not even nothing."""


class Flow:
    """Data flow through one state of the graph; the steps from a dataset are computed once."""

    def __init__(
        self,
        graph: Graph,
        columns_of: Callable[[DatasetId], Sequence[str]],
        is_in_schema: Callable[[DatasetId, str], bool],
        is_stream: Callable[[JobId], bool],
        runs: RunGroups | None = None,
        checks_of: ChecksOf = lambda _: {},
    ) -> None:
        """Caches over the graph; `runs` may be shared between questions.

        `is_in_schema` says whether a dataset's newest schema has a column, possibly nested; `is_stream` whether a job's
        runs go on until somebody stops them.
        """
        # The cached functions do not refer to this object: their caches are freed with it, without a garbage
        # collection.
        self.numbers = graph.column_edges.columns
        self.columns_of = cache(columns_of)
        self.is_in_schema = is_in_schema
        self.checks_of = cache(checks_of)
        uses = Uses(graph, RunGroups(graph) if runs is None else runs, is_stream)
        self.using = cache(partial(Using, uses))
        self.readers = cache(partial(_readers, graph))
        self.used_by = cache(graph.used_by)
        self.using_itself = partial(_using_itself, uses, self.using)
        told_of = target_edges_of(graph, uses.told)
        self.onward = cache(partial(_onward_from, graph, told_of, self.readers))
        self.told_of_deleted = partial(_told_of_deleted, graph, told_of)
        self.handed_on = partial(_handed_on, graph, told_of)


def _readers(graph: Graph, name: DatasetId) -> set[JobId]:
    """The jobs that read the dataset, without deleted ones."""
    return {job for job in graph.readers(name) if not graph.hides(job)}


def _using_itself(
    uses: Uses, using: Callable[..., Using], source: DatasetId, job: JobId, facets: AbstractSet[bytes]
) -> UsingItself:
    return UsingItself(uses, using(source, None, (job,)), source, job, facets)


def _handed_on(
    graph: Graph, told_of: Callable[[DatasetId], TargetEdges], giver: JobId
) -> Iterator[tuple[JobId, list[DatasetId], HandedOver]]:
    """The jobs that a job feeds directly, their outputs without reported sources, and who reported the handover."""
    known = graph.jobs.get(giver)  # facts that arrive meanwhile may remove a job from a past
    feeds = {} if known is None else known.feeds
    for job in sorted(job for job in feeds if not graph.hides(job)):
        seen = Seen.over(feeds[job].values())
        written = filter(graph.shows, {graph.shown(target) for target in graph.jobs[job].writes})
        untold = sorted(target for target in written if _untold(graph, told_of(target).reported_names, (job,)))
        yield job, untold, HandedOver(None if seen is None else seen.last_us)


def _told_of_deleted(
    graph: Graph, told_of: Callable[[DatasetId], TargetEdges], source: DatasetId, job: JobId
) -> Sequence[EdgesBetween]:
    """How a job made deleted datasets from the source; empty if some output of it has no reported sources."""
    targets = {graph.shown(target) for target in graph.jobs[job].writes}
    told = [told_of(target) for target in sorted(targets) if target.is_complete]
    if any(_untold(graph, each.reported_names, (job,)) for each in told):
        return ()
    return [between for each in told if (between := each.between(graph, source)) is not None]


def _onward_from(
    graph: Graph,
    told_of: Callable[[DatasetId], TargetEdges],
    readers_of: Callable[[DatasetId], set[JobId]],
    name: DatasetId,
) -> tuple[_Onward, ...]:
    readers = readers_of(name)
    written = {graph.shown(target) for job in readers for target in graph.jobs[job].writes}
    found = []
    for target in sorted(filter(graph.shows, written | graph.fed_by(name))):
        told = told_of(target)
        between = told.between(graph, name)
        if target not in written and between is None:
            continue  # reported by a facet that no longer counts
        jobs = tuple(sorted(readers & told.writers))  # deleted ones are not among the readers
        found.append(_Onward(name, target, jobs, between, _untold(graph, told.reported_names, jobs)))
    return tuple(found)


def _untold(graph: Graph, reported_names: Sequence[DatasetId], jobs: tuple[JobId, ...]) -> tuple[JobId, ...]:
    """The jobs that gave no evidence for the target; one job's evidence says nothing about another's."""
    return tuple([job for job in jobs if not _tells(graph, job, reported_names)]) if reported_names else jobs


def _tells(graph: Graph, job: JobId, names: Sequence[DatasetId]) -> bool:
    known = graph.jobs[job]
    if known.declaration is not None:
        datasets = filter(None, map(graph.datasets.get, names))
        declared = (dataset.declared.get(known.declaration.key) for dataset in datasets)
        if any(each is not None and each.evidence is not None for each in declared):
            return True
    runs = graph.runs
    return any(name in evidence for run_id in known.runs if (evidence := runs[run_id].evidence) for name in names)
