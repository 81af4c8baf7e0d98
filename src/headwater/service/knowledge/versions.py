"""Versions: of a dataset by its schema and version facets, of a job by what a run read and wrote.

Versions are derived, not stored. A version's id is a UUID over its content, so equal content has the same id wherever
and whenever it is computed, and a late event falls into place.
"""

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import chain, groupby
from typing import Final, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson

from headwater.errors import NotFoundError
from headwater.graph.declared import dataset_of, references
from headwater.graph.ends import ends_of, reported_ends
from headwater.graph.lineage import Graph
from headwater.graph.records import Run, RunEnd
from headwater.model.edits import DELETED, target_of
from headwater.model.events import Direction, Stamp
from headwater.model.facets.own import DeclaredFacet
from headwater.model.facts import SHAPE_PARTS, TERMINAL_STATES, DeclaredShape, RunTimes, ShapePart, Stamped
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import HEADWATER_FACETS
from headwater.model.times import AFTER_ALL_US
from headwater.service.knowledge.job_type import STREAM, job_type
from headwater.service.knowledge.knowledge import Knowledge
from headwater.store.facet_reader import Moment, ShapeChange

_OURS: Final = uuid5(NAMESPACE_URL, HEADWATER_FACETS)
_FEW_MOMENTS: Final = 32
"""Up to so many, the reports after each are searched; beyond, that takes longer than reading all."""


class Shape(NamedTuple):
    """What defines a version of a dataset: the digests of its schema facet and its version facet."""

    schema: bytes | None = None
    version: bytes | None = None


class DatasetVersion(NamedTuple):
    """A dataset from one change of its shape to the next."""

    shape: Shape
    since_us: int
    reported_by: tuple[str, Direction, DatasetId] | None
    """Run, direction and dataset name, if a run reported the change."""
    declared_by: tuple[bytes, DatasetId] | None = None
    """The event's digest and the dataset name, if an event without a run reported the change."""


@lru_cache(maxsize=20_000)  # a version is part of the answer for each run that met it
def content_uuid(*content: str | None) -> UUID:
    """A UUID derived from these texts."""
    return uuid5(_OURS, orjson.dumps(content).decode())


def job_uuid(job: JobId) -> UUID:
    """The UUID of a job itself."""
    return content_uuid("job", *job)


def job_version(graph: Graph, job: JobId, observed: Iterable[tuple[Direction, DatasetId]]) -> UUID:
    """The UUID of the job's version with exactly these inputs and outputs."""
    shown = ((direction, graph.shown(name)) for direction, name in observed)
    ends = sorted({(direction, *name) for direction, name in shown if name.is_complete})
    return content_uuid("job version", *job, *(part for end in ends for part in end))


class Giving(NamedTuple):
    """A run that defines a version of its job."""

    run_id: str
    seen: Seen
    observed: Mapping[RunEnd, Seen]


def runs_giving_version(knowledge: Knowledge, job: JobId) -> Iterator[Giving]:
    """The runs that define versions of the job, newest first."""
    is_stream = job_type(knowledge, job) == STREAM
    for run_id in knowledge.activity(job).runs:
        run = knowledge.graph.runs.get(run_id)
        if run is not None and run.times is not None and _gives_version(run, run.times, is_stream=is_stream):
            yield Giving(run_id, run.times.seen, run.observed)


def version_given_by(knowledge: Knowledge, run_id: str, job: JobId) -> UUID | None:
    """The version of the job that its run defines; None if it defines none."""
    run = knowledge.graph.runs.get(run_id)
    is_stream = job_type(knowledge, job) == STREAM
    if run is None or run.times is None or not _gives_version(run, run.times, is_stream=is_stream):
        return None
    return job_version(knowledge.graph, job, run.observed)


def _gives_version(run: Run, times: RunTimes, *, is_stream: bool) -> bool:
    """Whether a run has ended; the run of a stream may never end, and defines a version with its first input or output.

    A run without events of its own defines none.
    """
    *_, event_type = times.state
    return event_type in TERMINAL_STATES or (is_stream and bool(run.observed))


def newest_giving_version(knowledge: Knowledge, job: JobId) -> str | None:
    """The first of these runs, or None; does not read the runs of a job that is no stream."""
    if job_type(knowledge, job) != STREAM:
        return knowledge.activity(job).ended_run
    return next((run.run_id for run in runs_giving_version(knowledge, job)), None)


class DeclaredVersion(NamedTuple):
    """A job as declared by an event: its inputs and outputs by that event alone."""

    uuid: UUID
    since_us: int
    ends: Sequence[tuple[Direction, DatasetId]]
    """By shown names, in order."""


def declared_version(knowledge: Knowledge, job: JobId) -> DeclaredVersion | None:
    """The job's version by its newest declaration; None for a job that was only put over the API."""
    graph = knowledge.graph
    declaration = graph.jobs[job].declaration
    if declaration is None or graph.job_digest(job, DeclaredFacet.key) is not None:
        return None
    declared = references(knowledge.store.content(declaration.content))
    named = {(side, graph.shown(dataset_of(each))) for side, each in declared}
    ends = sorted(end for end in named if end[1].is_complete)
    return DeclaredVersion(job_version(graph, job, ends), declaration.stamp.time_us, ends)


def shape_uuid(graph: Graph, name: DatasetId, shape: Shape) -> UUID:
    """The UUID of a version of a dataset, the same under each of its names."""
    digests = (None if digest is None else digest.hex() for digest in _semantic_digests(graph, shape))
    return content_uuid("dataset version", *graph.shown(name), *digests)


def _semantic_digests(graph: Graph, shape: Shape) -> tuple[bytes | None, bytes | None]:
    return graph.semantic_digests.of_any(shape.schema), graph.semantic_digests.of_any(shape.version)


def current_shape(graph: Graph, name: DatasetId) -> Shape | None:
    """The newest schema and version; None for a dataset that no run touched, and that was declared without either."""
    shape = Shape(*(graph.digest_of(name, part) for part in SHAPE_PARTS))
    was_touched = any(graph.datasets[member].observed for member in graph.members(name) if member in graph.datasets)
    return shape if was_touched or shape != Shape() else None


def current_version(knowledge: Knowledge, name: DatasetId) -> str | None:
    """The UUID of the newest of `dataset_versions`; None where there are none."""
    shape = current_shape(knowledge.graph, name)
    if shape is None and next(dataset_versions(knowledge, name), None) is not None:
        shape = Shape()
    return None if shape is None else str(shape_uuid(knowledge.graph, name, shape))


def shape_at(knowledge: Knowledge, name: DatasetId, time_us: int, own: Mapping[ShapePart, Stamped]) -> Shape:
    """The shape that a run met which last reported the dataset at that time.

    That is the shape then, unless the run itself reported another (`own`): then it is the shape as of its last report.
    So it is always one of `dataset_versions`.
    """
    shape = Shape(*(_newest_at(knowledge, name, part, time_us) for part in SHAPE_PARTS))
    of_any = knowledge.graph.semantic_digests.of_any
    if any(of_any(report.content) != of_any(getattr(shape, part)) for part, report in own.items()):
        shape = _shape_by(knowledge, name, max(map(Moment.of, own.values())))
    return shape


def _was_declared(graph: Graph, name: DatasetId) -> bool:
    """Whether it was ever declared: a declaration since replaced may have had a shape."""
    return any(graph.datasets[member].was_declared for member in graph.members(name) if member in graph.datasets)


def _newest_at(knowledge: Knowledge, name: DatasetId, part: ShapePart, time_us: int) -> bytes | None:
    """The content after all reports of that time; mostly that of now, which takes no search."""
    graph = knowledge.graph
    newest = graph.digest_of(name, part)
    is_never_reported = newest is None and not _was_declared(graph, name)
    if is_never_reported or graph.is_settled_since(name, part, time_us):
        return newest
    return _last_report(knowledge, name, part, Moment.last_of(time_us))


def _shape_by(knowledge: Knowledge, name: DatasetId, until: Moment) -> Shape:
    return Shape(*(_last_report(knowledge, name, part, until) for part in SHAPE_PARTS))


def _last_report(knowledge: Knowledge, name: DatasetId, part: ShapePart, until: Moment) -> bytes | None:
    members = knowledge.graph.members(name)
    reports = [found for member in members if (found := knowledge.store.facet_at(member, part, until)) is not None]
    reports += [
        change.report
        for change in _declared_by_jobs(knowledge.graph, name)
        if change.name == part and Moment.of(change.report) <= until
    ]
    for member in members if _was_declared(knowledge.graph, name) else ():
        declared = [shape for shape in knowledge.store.declared_shapes(member) if shape.stamp <= until.stamp]
        content = declared and getattr(declared[-1], part)
        reports += [Stamped(declared[-1].stamp, False, content)] if content else []
    return max(reports).content if reports else None


class _Change(NamedTuple):
    report: Stamped
    name: ShapePart
    dataset: DatasetId
    reported_by: tuple[str, Direction, DatasetId] | None


def dataset_versions(knowledge: Knowledge, name: DatasetId) -> Iterator[DatasetVersion]:
    """The versions of a dataset, oldest first; neighbours differ in content. A stream makes one with each commit.

    An event that reads and writes the same dataset may report two. The first has no shape if a run met the dataset
    before any was reported.
    """
    shape, latest = Shape(), _LatestReports()
    is_known = False
    for (stamp, _), together in groupby(_changes(knowledge, name), key=_when):
        changes = list(together)
        before, shape = shape, latest.after(changes)
        if shape != before and _semantic_digests(knowledge.graph, shape) != _semantic_digests(knowledge.graph, before):
            reported_by = next((change.reported_by for change in changes if isinstance(change, _Change)), None)
            declared_by = None if reported_by is not None else (stamp.digest, changes[0].dataset)
            if not is_known and (met_us := _met_before(knowledge, name, stamp.time_us)) is not None:
                yield DatasetVersion(Shape(), met_us, None)
            is_known = True
            yield DatasetVersion(shape, stamp.time_us, reported_by, declared_by)
    if not is_known and current_shape(knowledge.graph, name) is not None:
        yield DatasetVersion(shape, knowledge.seen(name).first_us, None)
    elif not is_known and (met_us := _met_before(knowledge, name, AFTER_ALL_US)) is not None:
        yield DatasetVersion(shape, met_us, None)


def _met_before(knowledge: Knowledge, name: DatasetId, time_us: int) -> int | None:
    """Since when the dataset was there, if a run last read or wrote it before that time; else None.

    An input that others report later, such as the job's declaration, may be from before the dataset's first event.
    """
    graph, first_us = knowledge.graph, knowledge.seen(name).first_us
    names, met_us = frozenset(graph.members(name)), list[int]()
    for job in graph.readers(name) | graph.writers(name):
        of_job = [(side, each) for side, each in reported_ends(graph, job) if side == "input"]
        if first_us >= time_us and not any(end[1] in names for end in (*of_job, *graph.jobs[job].reported)):
            continue
        begun = _begun_before(knowledge, job, time_us)
        all_last_us = (last_us for run_id in begun for last_us in _last_us(graph, run_id, of_job, names))
        earliest_us = next((last_us for last_us in all_last_us if last_us < time_us), None)
        if earliest_us is not None:
            if first_us < time_us:
                return first_us
            met_us.append(earliest_us)
    return min(met_us, default=None)


def _begun_before(knowledge: Knowledge, job: JobId, time_us: int) -> Iterator[str]:
    """The job's runs with events of their own and the first before that time."""
    for run_id in reversed(knowledge.activity(job).runs):
        run = knowledge.graph.runs.get(run_id)
        if run is not None and run.times is not None:
            if run.times.seen.first_us >= time_us:
                return  # as are those after it
            yield run_id


def _last_us(graph: Graph, run_id: str, of_job: Collection[RunEnd], names: AbstractSet[DatasetId]) -> Iterable[int]:
    """When a run last read the dataset with these names, and last wrote it; if others report that, when it began."""
    run, last_us = graph.runs[run_id], dict[Direction, int]()
    began_us = 0 if run.times is None else run.times.seen.first_us
    for end in ends_of(graph, run_id, of_job):
        direction, name = end
        if name in names:
            seen_us = run.observed[end].last_us if end in run.observed else began_us
            last_us[direction] = max(last_us.get(direction, seen_us), seen_us)
    return last_us.values()


class Had(NamedTuple):
    """When a dataset or job last had a version, in microseconds since 1970."""

    moments_us: tuple[int, ...]
    """Latest first: while it had the version, it may have been deleted and come back with another."""
    names: tuple[DatasetId, ...] = ()
    """Those of the dataset; first that under which the version was reported, as it may not have had the others yet."""


def last_had(knowledge: Knowledge, node: DatasetId | JobId, uuid: str) -> Generator[None, None, Had | None]:
    """When a dataset or job last had the version with that UUID; None: it is current.

    Works in steps.

    Raises:
        NotFoundError: it never had that version.
    """
    if isinstance(node, JobId):
        return (yield from _job_had(knowledge, node, uuid))
    return (yield from _dataset_had(knowledge, node, uuid))


def _dataset_had(knowledge: Knowledge, name: DatasetId, uuid: str) -> Generator[None, None, Had | None]:
    had: Had | None = None
    having: DatasetVersion | None = None
    for version in dataset_versions(knowledge, name):
        if having is not None:
            had = Had(_moments_us(knowledge, name, having, version), _names_of(knowledge, name, having))
        having = version if str(shape_uuid(knowledge.graph, name, version.shape)) == uuid else None
        yield
    if had is None and having is None:
        raise NotFoundError(f"Dataset version '{uuid}' not found.")
    return had if having is None else None


def _moments_us(
    knowledge: Knowledge, name: DatasetId, version: DatasetVersion, following: DatasetVersion
) -> tuple[int, ...]:
    """The last moment of a version, the one before the first deletion within it, and its first."""
    first_us = version.since_us
    last_us = max(first_us, following.since_us - 1)  # an event that reads one and writes the next left it no time
    deletions = (knowledge.graph.edits.get(target_of(each), DELETED) for each in knowledge.graph.members(name))
    until_us = (edit.seen.first_us - 1 for edit in deletions if edit is not None)
    within = [us for us in until_us if first_us < us < last_us]
    return tuple(dict.fromkeys((last_us, *(within and [max(within)]), first_us)))


def _names_of(knowledge: Knowledge, name: DatasetId, version: DatasetVersion) -> tuple[DatasetId, ...]:
    *_, reported = version.reported_by or version.declared_by or (name,)
    return (reported, *knowledge.graph.members(name))


def _job_had(knowledge: Knowledge, job: JobId, uuid: str) -> Generator[None, None, Had | None]:
    for position, run in enumerate(runs_giving_version(knowledge, job)):
        if str(job_version(knowledge.graph, job, run.observed)) == uuid:
            return None if position == 0 else Had((run.seen.last_us,))
        yield
    declared = declared_version(knowledge, job)
    if declared is None or str(declared.uuid) != uuid:
        raise NotFoundError(f"Job version '{uuid}' not found.")
    return None


class _LatestReports:
    """Folds reports in time order: the last of runs and job events, and current dataset events; the newest wins."""

    def __init__(self) -> None:
        self._observed: dict[ShapePart, Stamped] = {}
        self._declared: dict[DatasetId, DeclaredShape] = {}

    def after(self, changes: Iterable[_Change | DeclaredShape]) -> Shape:
        """The shape after these reports, which are later than all before."""
        for change in changes:
            if isinstance(change, DeclaredShape):
                self._declared[change.dataset] = change
            else:
                self._observed[change.name] = change.report
        return Shape(*map(self._newest, SHAPE_PARTS))

    def _newest(self, part: ShapePart) -> bytes | None:
        observed = self._observed.get(part)
        if not self._declared:
            return None if observed is None else observed.content
        declared = ((shape.stamp, getattr(shape, part)) for shape in self._declared.values())
        reports = [Stamped(stamp, False, content) for stamp, content in declared if content]
        reports += [] if observed is None else [observed]
        return max(reports).content if reports else None


def _changes(knowledge: Knowledge, name: DatasetId) -> Iterable[_Change | DeclaredShape]:
    """All changes in order, lazily where there may be thousands: those of a stream."""
    members = knowledge.graph.members(name)
    reported = [found for member in members if (found := knowledge.store.shape_changes(member))]
    declared = [shape for member in members for shape in knowledge.store.declared_shapes(member)]
    declared_by_jobs = [*_declared_by_jobs(knowledge.graph, name)]
    if len(reported) == 1 and not declared and not declared_by_jobs:
        return map(_change_of, reported[0])
    changes: list[_Change | DeclaredShape] = [*map(_change_of, chain.from_iterable(reported))]
    changes += [*declared_by_jobs, *declared]
    if len(reported) + bool(declared) + bool(declared_by_jobs) > 1:
        # A report that repeats what the same source reported before may change what another source reported since.
        moments = {Moment(*_when(change)) for change in changes}
        changes += [_change_of(each) for member in members for each in _reports_after(knowledge, member, moments)]
    return sorted(changes, key=_order)


def _reports_after(knowledge: Knowledge, member: DatasetId, moments: Collection[Moment]) -> list[ShapeChange]:
    """At least the first reports after each moment."""
    if len(moments) <= _FEW_MOMENTS:
        return knowledge.store.shape_reports_after(member, sorted(moments))
    return [
        ShapeChange(each.stamp, each.run_id, each.direction, member, part, each.content)
        for part in SHAPE_PARTS
        for each in knowledge.store.facet_reports(member, [part])
    ]


def _when(change: _Change | DeclaredShape) -> tuple[Stamp, bool]:
    return (change.stamp, False) if isinstance(change, DeclaredShape) else change.report[:2]


def _order(change: _Change | DeclaredShape) -> tuple[tuple[Stamp, bool], str, bytes]:
    return _when(change), *(("", b"") if isinstance(change, DeclaredShape) else (change.name, change.report.content))


def _change_of(change: ShapeChange) -> _Change:
    report = Stamped(change.stamp, change.direction == "output", change.content)
    return _Change(report, change.name, change.dataset, (change.run_id, change.direction, change.dataset))


def _declared_by_jobs(graph: Graph, name: DatasetId) -> Iterator[_Change]:
    for member in graph.members(name):
        dataset = graph.datasets.get(member)
        for by, declared in dataset.declared.items() if dataset else ():
            for part in SHAPE_PARTS:
                if part in declared.facets and not isinstance(by, DatasetId):
                    yield _Change(declared.facets[part], part, member, None)
