"""Every place downstream of a dataset or column, with each step that leads there.

If events report columns, a change follows only the column's edges. A job that never reports column edges into a dataset
may derive it from all its inputs, and from what other jobs hand over to it: such steps have no edge.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from operator import attrgetter
from typing import Final, Literal, NamedTuple

from headwater.graph.columns import ColumnEdge
from headwater.graph.impact.checks import Checks, ChecksOf, CheckUse, no_checks
from headwater.graph.impact.own_uses import OwnUse
from headwater.graph.impact.places import Place, ReachedPlaces, overlap
from headwater.graph.impact.run_groups import EvidenceRef, RunGroups
from headwater.graph.impact.target_edges import EdgesBetween, ReportedEdge, TargetEdges, target_edges_of
from headwater.graph.impact.uses import Handover, ReportedUse, Since, Uses
from headwater.graph.lineage import Graph
from headwater.graph.structs import lies_in
from headwater.model.merging import Seen
from headwater.model.names import ColumnId, DatasetId, JobId

Use = Literal["direct", "indirect", "unknown"]
"""Gives its value; decides about rows or choices; not reported."""
USES: tuple[Use, ...] = ("direct", "indirect", "unknown")


class Step(NamedTuple):
    """From a column or dataset to its user; `edge` None: no event reports which columns are used."""

    origin: Place
    destination: Place
    edge: ColumnEdge | None
    jobs: tuple[JobId, ...]
    """The jobs it goes through; empty if only a declaration reports it."""
    reported: ReportedUse | OwnUse | Handover | CheckUse
    """The report of it."""

    def since(self) -> Generator[None, None, Since | None]:
        """The evidence of later runs about this use; None: it is in force. Yields between steps."""
        job = JobId(*self.destination.owner) if self.destination.kind == "job" else None
        return self.reported.since(job, is_whole=self.origin.kind == "dataset")

    @property
    def use(self) -> Use:
        """The kind of use that the destination makes of the origin."""
        if self.edge is None or (self.edge.source_column is None and self.origin.kind == "column"):
            return "unknown"
        return "direct" if self.edge.kind == "DIRECT" else "indirect"

    @property
    def is_check(self) -> bool:
        """Whether the destination checks the origin."""
        return isinstance(self.reported, CheckUse)

    @property
    def read(self) -> str:
        """The column that is read: the origin, an enclosing struct, or a nested field; empty for a dataset."""
        if self.edge is None or self.edge.source_column is None:
            return self.origin.column
        return self.edge.source_column

    @property
    def is_enclosing(self) -> bool:
        """Whether a struct that encloses the origin is read; which of its fields is unknown."""
        return self.origin.kind == "column" and lies_in(self.origin.column, self.read)

    @property
    def is_in_other_case(self) -> bool:
        """Whether the column read matches the origin only if case is ignored."""
        return self.origin.kind == "column" and not overlap(self.origin.column, self.read)

    @property
    def is_nested(self) -> bool:
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
    """Everything downstream; for a job, via the jobs it hands data to. Nearest first, by the fewest jobs in between.

    Yields after each dataset that is expanded, so that other work can run.
    """
    walk = _Walk(flow, start)
    while not walk.is_over:
        yield from walk.advance()
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
        self._expanded = {*self.start}
        self._fresh: set[Place] = set()
        self._givers = [place for place in self.start if place.kind == "job"]
        self._frontier = _by_dataset(self.start)

    def _place(self, name: ColumnId | DatasetId | JobId) -> Place:
        if isinstance(name, ColumnId):
            return self._column(*name)
        return self._job(name) if isinstance(name, JobId) else self._dataset(name)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to expand."""
        return not (self._frontier or self._givers)

    def advance(self) -> Iterator[None]:
        """Advance by one job from all places reached so far; yields after each dataset."""
        self._hops += 1
        givers, self._givers = sorted(self._givers, key=_ORDER), []
        for place in givers:
            self._follow_handovers(place)
        for name in sorted(self._frontier):
            checks = yield from self._flow.checks_of(name)
            yield from self._expand(name, sorted(self._frontier[name], key=_ORDER), checks)
            yield
        self._frontier = _by_dataset(self._fresh - self._expanded)
        self._expanded |= self._fresh
        self._fresh = set()

    def _follow_handovers(self, giver: Place) -> None:
        """Take the steps to the jobs that a job hands data to, and on to the datasets that they may derive from it."""
        for job, targets, handover in self._flow.handovers(JobId(*giver.owner)):
            taker = self._job(job)
            self._add_step(Step(giver, taker, None, (job,), handover))
            for place in map(self._dataset, targets):
                self._fresh.add(place)
                self._add_step(Step(taker, place, None, (job,), handover))

    def _expand(self, name: DatasetId, fronts: Sequence[Place], checks: Checks) -> Iterator[None]:
        """Take the steps that lead on from these places of a dataset; `fronts` is sorted and not empty."""
        derivations = self._flow.derivations_of(name)  # also makes sure that all facets about its columns are read
        touched = ReachedPlaces(fronts, self._flow.numbers, partial(self._flow.is_in_schema, name))
        reporting: set[JobId] = set()  # jobs with column edges from here
        self._add_checks(name, touched, checks)
        for derivation in derivations:
            if derivation.edges is not None:
                reporters = yield from self._flow.reporters_of(derivation)
                reporting.update(reporters.jobs_of(reporters.by_facet))
                for column, edges in derivation.edges.edges_from(touched.numbers):
                    if origins := touched.origins(column):
                        self._follow_edges(derivation, reporters, origins, edges)
            if derivation.without_evidence:
                place = self._dataset(derivation.target)
                self._fresh.add(place)
                use = self._flow.use_of(name, derivation.target, derivation.without_evidence)
                self._add_step(Step(fronts[0], place, None, derivation.without_evidence, use))
        for job in sorted(self._flow.readers(name)):
            used = self._flow.used_by(job).get(name)
            if used is None and job not in reporting:
                self._add_reader(name, job, touched)
            for edge, facets in (used or {}).items():
                own_use = self._flow.own_use(name, job, facets)
                self._add_user(job, edge, own_use, touched, has_edges=job in reporting)

    def _add_reader(self, name: DatasetId, job: JobId, touched: "ReachedPlaces") -> None:
        """Take the steps to a job whose outputs are deleted, or for which no columns are reported."""
        place, use = self._job(job), self._flow.use_of(name, None, (job,))
        deleted = self._flow.edges_to_deleted(name, job)
        for between in deleted:
            for column, edges in between.edges_from(touched.numbers):
                for edge, _ in edges:
                    for origin in touched.origins(column):
                        self._add_step(Step(origin, place, edge, (job,), use))
        if not deleted:
            self._add_step(Step(touched.first, place, None, (job,), use))

    def _add_user(
        self, job: JobId, edge: ColumnEdge, use: OwnUse, touched: "ReachedPlaces", *, has_edges: bool
    ) -> None:
        """Take the steps to a job that uses the places itself; `has_edges`: column edges to its outputs are known."""
        if edge.source_column is not None:
            for origin in touched.origins(edge.source_column):
                self._add_step(Step(origin, self._job(job), edge, (job,), use))
        elif not has_edges:
            self._add_step(Step(touched.first, self._job(job), None, (job,), use))

    def _add_checks(self, name: DatasetId, touched: "ReachedPlaces", checks: Checks) -> None:
        """Take the steps to the jobs that check what was reached."""
        for job in sorted(self._flow.readers(name) & checks.keys()):
            use = self._flow.use_of(name, None, (job,))
            for check in checks[job]:
                for origin in touched.origins(check.column):
                    check_use = CheckUse(use, check.last_us)
                    self._add_step(Step(origin, self._job(job), check.edge_from(name), (job,), check_use))

    def _follow_edges(
        self,
        derivation: "_Derivation",
        reporters: "_Reporters",
        origins: Sequence[Place],
        edges: Iterable[ReportedEdge],
    ) -> None:
        target, jobs = derivation.target, derivation.jobs
        dataset = self._dataset(target)
        last_keys: Sequence[EvidenceRef] = ()
        for edge, keys in edges:
            if keys is not last_keys:  # mostly the same object as before
                last_keys, use = keys, self._flow.use_of(derivation.source, target, jobs, keys)
                by_job = [(self._job(job), (job,)) for job in reporters.jobs_of(keys)]
            if edge.target_column is not None:
                end = self._column(target, edge.target_column)
                self._fresh.add(end)
                for origin in origins:
                    self._add_step(Step(origin, end, edge, jobs, use))
            elif self._flow.columns_of(target):
                self._reach_columns(target).extend(Step(origin, dataset, edge, jobs, use) for origin in origins)
            else:  # no columns known: continue from the dataset as a whole
                self._fresh.add(dataset)
            for origin in origins:
                self._add_step(Step(origin, dataset, edge, jobs, use))
                for place, through in by_job:
                    self._add_step(Step(origin, place, edge, through, use))

    def _reach_columns(self, name: DatasetId) -> list[Step]:
        """The wide steps to a dataset; the first one reaches all of its columns."""
        if name not in self.wide:
            self.wide[name] = []
            for column in self._flow.columns_of(name):
                place = self._column(name, column)
                self._fresh.add(place)
                self._reach(place)
        return self.wide[name]

    def _add_step(self, step: Step) -> None:
        """Record a step, unless it leads back to the start."""
        steps = self._reach(step.destination)
        if steps is not None:
            steps.append(step)

    def _reach(self, place: Place) -> list[Step] | None:
        """The steps to a place; None if it is part of the start."""
        steps = self.steps.get(place)
        if steps is None and place not in self.start:
            place.distance = self._hops
            steps = self.steps[place] = []
            if place.kind == "job":
                self._givers.append(place)
        return steps


def _by_dataset(places: Iterable[Place]) -> dict[DatasetId, list[Place]]:
    """The places by dataset; a dataset itself stands for all of its columns."""
    front: dict[DatasetId, list[Place]] = {}
    for place in places:
        if place.kind != "job":
            front.setdefault(DatasetId(*place.owner), []).append(place)
    return front


class _Derivation(NamedTuple):
    """A dataset that is derived from another: through which jobs, and by which column edges."""

    source: DatasetId
    target: DatasetId
    jobs: tuple[JobId, ...]
    edges: EdgesBetween | None
    """The column edges between the two, if any."""
    without_evidence: tuple[JobId, ...]
    """Those of the jobs that never reported column edges into the target, not even an empty list."""


class _Reporters(NamedTuple):
    """Which of several jobs between two datasets reported column edges."""

    jobs: tuple[JobId, ...]
    by_facet: Mapping[EvidenceRef, AbstractSet[JobId]]
    """Empty if there is only one job."""

    def jobs_of(self, facets: Iterable[EvidenceRef]) -> tuple[JobId, ...]:
        """The jobs that reported these facets; all jobs if none of them did, or if there is only one."""
        reporters = {job for facet in facets for job in self.by_facet.get(facet, ())}
        return tuple(sorted(reporters)) if reporters else self.jobs


class Flow:
    """Data flow through one state of the graph; the steps from a dataset are computed once."""

    def __init__(
        self,
        graph: Graph,
        columns_of: Callable[[DatasetId], Sequence[str]],
        is_in_schema: Callable[[DatasetId, str], bool],
        is_stream: Callable[[JobId], bool],
        runs: RunGroups | None = None,
        checks_of: ChecksOf = no_checks,
    ) -> None:
        """Caches over the graph; `runs` may be shared between questions.

        `is_in_schema` says whether a dataset's newest schema has a column, possibly nested; `is_stream` whether a job's
        runs continue until they are stopped.
        """
        # The cached functions do not refer to this object: their caches are freed with it, without a garbage
        # collection.
        self.numbers = graph.column_edges.columns
        self.columns_of = cache(columns_of)
        self.is_in_schema = is_in_schema
        self._read_checks = checks_of
        self._checks: dict[DatasetId, Checks] = {}
        uses = Uses(graph, RunGroups(graph) if runs is None else runs, is_stream)
        self._graph, self._uses = graph, uses
        self.use_of = cache(partial(ReportedUse, uses))
        self.readers = cache(partial(_readers, graph))
        self.used_by = cache(graph.used_by)
        self.own_use = partial(_own_use, uses, self.use_of)
        edges_of = target_edges_of(graph, uses.evidence_of)
        self.derivations_of = cache(partial(_derivations_of, graph, edges_of, self.readers))
        self.edges_to_deleted = partial(_edges_to_deleted, graph, edges_of)
        self.handovers = partial(_handovers, graph, edges_of)

    def reporters_of(self, derivation: _Derivation) -> Generator[None, None, _Reporters]:
        """Which of the jobs of a derivation reported its column edges; yields between steps."""
        found: dict[EvidenceRef, set[JobId]] = {}
        if len(derivation.jobs) > 1:
            by_runs = yield from self._uses.reporters_of(derivation.target)
            found = {facet: {*jobs}.intersection(derivation.jobs) for facet, jobs in by_runs.items()}
            names = self._graph.members(derivation.target)
            for job in derivation.jobs:
                for facet in _declared_by(self._graph, job, names):
                    found.setdefault(facet, set()).add(job)
        return _Reporters(derivation.jobs, found)

    def checks_of(self, name: DatasetId) -> Generator[None, None, Checks]:
        """As in `ChecksOf`, read once."""
        if name not in self._checks:
            self._checks[name] = yield from self._read_checks(name)
        return self._checks[name]


def _readers(graph: Graph, name: DatasetId) -> set[JobId]:
    """The jobs that read the dataset, without deleted ones."""
    return {job for job in graph.readers(name) if not graph.hides(job)}


def _own_use(
    uses: Uses, use_of: Callable[..., ReportedUse], source: DatasetId, job: JobId, facets: AbstractSet[bytes]
) -> OwnUse:
    return OwnUse(uses, use_of(source, None, (job,)), source, job, facets)


def _handovers(
    graph: Graph, edges_of: Callable[[DatasetId], TargetEdges], giver: JobId
) -> Iterator[tuple[JobId, list[DatasetId], Handover]]:
    """The jobs that a job feeds directly, their outputs without evidence, and the report of the handover."""
    known = graph.jobs.get(giver)  # facts that arrive meanwhile may remove a job from a past
    feeds = {} if known is None else known.feeds
    for job in sorted(job for job in feeds if not graph.hides(job)):
        seen = Seen.over(feeds[job].values())
        written = filter(graph.shows, {graph.shown(target) for target in graph.jobs[job].writes})
        without_evidence = sorted(
            target for target in written if _without_evidence(graph, edges_of(target).reported_names, (job,))
        )
        yield job, without_evidence, Handover(None if seen is None else seen.last_us)


def _edges_to_deleted(
    graph: Graph, edges_of: Callable[[DatasetId], TargetEdges], source: DatasetId, job: JobId
) -> Sequence[EdgesBetween]:
    """The column edges of a job into deleted datasets; empty if some output of it has no evidence."""
    targets = {graph.shown(target) for target in graph.jobs[job].writes}
    edges = [edges_of(target) for target in sorted(targets) if target.is_complete]
    if any(_without_evidence(graph, each.reported_names, (job,)) for each in edges):
        return ()
    return [between for each in edges if (between := each.between(graph, source)) is not None]


def _derivations_of(
    graph: Graph,
    edges_of: Callable[[DatasetId], TargetEdges],
    readers_of: Callable[[DatasetId], set[JobId]],
    name: DatasetId,
) -> tuple[_Derivation, ...]:
    readers = readers_of(name)
    written = {graph.shown(target) for job in readers for target in graph.jobs[job].writes}
    found = []
    for target in sorted(filter(graph.shows, written | graph.fed_by(name))):
        edges = edges_of(target)
        between = edges.between(graph, name)
        if target not in written and between is None:
            continue  # reported by a facet that no longer counts
        jobs = tuple(sorted(readers & edges.writers))  # deleted ones are not among the readers
        found.append(_Derivation(name, target, jobs, between, _without_evidence(graph, edges.reported_names, jobs)))
    return tuple(found)


def _declared_by(graph: Graph, job: JobId, names: Sequence[DatasetId]) -> Iterator[EvidenceRef]:
    declaration = graph.jobs[job].declaration
    if declaration is not None:
        datasets = ((name, graph.datasets[name]) for name in names if name in graph.datasets)
        declared = ((name, dataset.declared.get(declaration.key)) for name, dataset in datasets)
        yield from ((name, each.evidence) for name, each in declared if each is not None and each.evidence is not None)


def _without_evidence(graph: Graph, reported_names: Sequence[DatasetId], jobs: tuple[JobId, ...]) -> tuple[JobId, ...]:
    """The jobs without evidence for the target; another job's evidence does not count."""
    return tuple([job for job in jobs if not _has_evidence(graph, job, reported_names)]) if reported_names else jobs


def _has_evidence(graph: Graph, job: JobId, names: Sequence[DatasetId]) -> bool:
    if any(True for _ in _declared_by(graph, job, names)):
        return True
    runs = graph.runs
    return any(
        name in evidence for run_id in graph.jobs[job].runs if (evidence := runs[run_id].evidence) for name in names
    )
