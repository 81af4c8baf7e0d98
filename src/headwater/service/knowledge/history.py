"""The history of runs and datasets for the root-cause walk, read from graph and store."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import cache, partial
from itertools import islice, pairwise
from typing import Final

from headwater.graph.causes.attempts import not_superseded
from headwater.graph.causes.history import ColumnsOf
from headwater.graph.causes.readings import Columns
from headwater.graph.causes.record import (
    Check,
    DeclaredSchemaChange,
    EventOfRun,
    EventRef,
    FailedCheck,
    LifecycleChange,
    Record,
    ReportedSchemaChange,
    RunSummary,
    record_of,
)
from headwater.graph.coverage import SILENCE_US
from headwater.graph.diff.compare import columns_of
from headwater.graph.drift import ColumnChange, ReportedSchema, drift
from headwater.graph.ends import ends_of, reported_ends, runs_handing_to
from headwater.graph.flow import Value, evidence_of_run, sources_reported_by, sources_through, values_by
from headwater.graph.records import RunEnd
from headwater.graph.structs import Nesting
from headwater.graph.walk import reachable
from headwater.model.edits import DELETED, target_of
from headwater.model.events import DatasetEvent, Direction, RunEvent
from headwater.model.extract import mended
from headwater.model.facets.dataset import LifecycleStateChangeFacet, SchemaFacet, VersionFacet
from headwater.model.facets.input_output import IcebergCommitReportFacet, IcebergScanReportFacet
from headwater.model.facets.job import JobTypeFacet
from headwater.model.facets.own import SubjectFacet
from headwater.model.facets.quality import Assertion, DataQualityAssertionsFacet
from headwater.model.facts import ParentRun
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US, BEFORE_ALL_US
from headwater.service.knowledge.activity import Activity, KnownRun
from headwater.service.knowledge.job_type import is_stream
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.lifecycle import has_only_changed_places
from headwater.service.knowledge.run_records import Then
from headwater.store.entries import LoggedEvent, as_today
from headwater.store.facet_reader import ReportedFacet

_MOST_RUNS: Final = 200
"""Limit per job: its newest runs that had begun by a time."""
_MOST_BETWEEN: Final = 5_000
"""Limit per job: its newest runs between two times."""
_FAILED_ENDS: Final = frozenset({"FAIL", "ABORT"})
_MOST_WHOLES: Final = 20
"""Limit on nested parents of a run."""
_MOST_EVENTS: Final = 50
"""Limit per run: its first events, and as many of its last; a stream may have any number between, and reading them is
most of what a question costs."""
_WINDOWS: Final = 2
"""Reporting windows that a stream may miss, if it announces one."""
_VERSION_FACETS: Final[Mapping[str, type[VersionFacet | IcebergCommitReportFacet | IcebergScanReportFacet]]] = {
    kind.key: kind for kind in (VersionFacet, IcebergCommitReportFacet, IcebergScanReportFacet)
}
"""The facets that state which version of a dataset was read or written, by key."""


class KnownHistory:
    """Implements `headwater.graph.causes.history.History` over one state of the read model; caches all it reads.

    `asked_us` is the time of the request, in microseconds since 1970. `with_deleted`: inputs and outputs of runs, and
    writing jobs, include what was deleted since.
    """

    def __init__(self, knowledge: Knowledge, asked_us: int = 0, *, with_deleted: bool = False) -> None:
        self._knowledge = knowledge
        self._asked_us = asked_us
        self._with_deleted = with_deleted
        self._graph = knowledge.graph
        self._records = knowledge.run_records
        self._records.names_are_as_of(self._graph.identities.changes)
        knowledge.catch_up_derivations()
        self.runs_of = cache(self._runs_of)
        self.record = cache(self._record)
        self.record_then = cache(self._record_then)
        self.summary = cache(self._summary)
        self.made_from = cache(self._made_from)
        self.declared_schema_changes = cache(self._declared_schema_changes)
        self.reported_schema_changes = cache(self._reported_schema_changes)
        self.failed_checks_while_running = cache(self._failed_checks_while_running)
        self.is_stream = cache(partial(is_stream, knowledge))
        self._reported_ends = cache(partial(reported_ends, self._graph))
        self._values_by = cache(partial(values_by, self._graph))
        self._named = cache(self._names)  # most runs of a job have the same ends

    def close(self) -> None:
        """Free the caches: they form reference cycles, which only the garbage collector would find."""
        vars(self).clear()

    def writers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that write a dataset, by name; without deleted ones, unless asked for."""
        return sorted(filter(self._counts, self._graph.writers(name)))

    def readers(self, name: DatasetId) -> Sequence[JobId]:
        """The jobs that read a dataset, by name; without deleted ones."""
        return sorted(job for job in self._graph.readers(name) if not self._graph.hides(job))

    def givers(self, job: JobId) -> Sequence[JobId]:
        """The jobs that feed a job directly, without a dataset between, by name; without deleted ones."""
        return sorted(giver for giver in self._graph.jobs[job].fed_by if not self._graph.hides(giver))

    def named_givers(self, run_id: str) -> Mapping[JobId, Sequence[RunSummary]]:
        """The runs named as having fed a run directly, by job, newest first; only runs with events of their own."""
        named = runs_handing_to(self._graph, run_id)
        return {job: self._newest_first(run_ids) for job, run_ids in named.items()}

    def _newest_first(self, run_ids: Iterable[str]) -> Sequence[RunSummary]:
        found = filter(None, map(self.summary, run_ids))
        return sorted(found, key=_begin, reverse=True)

    def _made_from(self, name: DatasetId) -> Sequence[DatasetId]:
        """As in `History`."""
        derived = self._knowledge.derivations.sources(name)
        never_ran = (job for job in self.writers(name) if not self.has_run(job))
        return [*dict.fromkeys((*derived, *(source for job in never_ran for source in self._declared(job, name))))]

    def _declared(self, job: JobId, name: DatasetId) -> Sequence[DatasetId]:
        """The inputs from which a job that never ran makes the dataset; all its inputs if that is not declared."""
        sources = sources_through(self._graph, job, name)
        return sorted(filter(self._graph.shows, sources)) or self.read_by(job)

    def has_run(self, job: JobId) -> bool:
        """Whether a job has any run, even one known only from others; else it is only declared."""
        activity = self._activity(job)
        return activity is not None and bool(activity.runs)

    def read_by(self, job: JobId) -> Sequence[DatasetId]:
        """The datasets that a job reads, by name."""
        return sorted(filter(self._graph.shows, self._graph.reads(job)))

    def made_by(self, run_id: str, name: DatasetId) -> AbstractSet[DatasetId] | None:
        """The sources of a dataset as a run states them, by its strongest facet; None if it states none."""
        return sources_reported_by(self._graph, run_id, name)

    def values_made_by(self, run_id: str, name: DatasetId) -> Mapping[str, frozenset[Value]] | None:
        """As in `History`."""
        by = evidence_of_run(self._graph, run_id, name)
        return self._values_by(by) if by else None

    def parts(self, run_id: str) -> Sequence[RunSummary]:
        """As in `History`; deleted jobs are left out."""
        claims = self._graph.child_runs.get(run_id, {}).values()
        began_us = {part: self._graph.first_us_of([part]) for parts in claims for part in parts if part != run_id}
        of_job: dict[JobId, list[RunSummary]] = {}
        for part in sorted(began_us, key=lambda part: (-began_us[part], part)):
            job = self._graph.job_of(part)
            if job is None or self._graph.hides(job) or (job not in of_job and len(of_job) == _MOST_RUNS):
                continue
            runs = of_job.setdefault(job, [])
            if len(runs) < _MOST_RUNS and (run := self._begun(part)) is not None:
                runs.append(run)
        newest_first = (sorted(runs, key=_begin, reverse=True) for runs in of_job.values())
        found = {each for runs in newest_first for each in (*runs[:1], *_failed(runs, run_id))}
        return sorted(found, key=lambda run: (run.started_us, run.run_id))

    def parents(self, run_id: str) -> Sequence[ParentRun]:
        """The parents and roots of a run that have events of their own, nearest first; without deleted jobs."""
        found = reachable(self._named_parents(run_id), lambda parent: self._named_parents(parent.run_id), _MOST_WHOLES)
        with_events = (parent for parent in found if self._graph.job_of(parent.run_id) is not None)
        return [parent for parent in with_events if not self._graph.hides(parent.job)]

    def _named_parents(self, run_id: str) -> list[ParentRun]:
        run = self._knowledge.activities.run(run_id)
        return [] if run is None else [parent for parent in (run.parent, run.root) if parent is not None]

    def versions_written(self, run_ids: Sequence[str], name: DatasetId) -> Mapping[str, frozenset[str]]:
        """For each run, the versions of the dataset that it states to have written."""
        return self._reported_versions(run_ids, name, "output")

    def versions_read(self, run_id: str, name: DatasetId) -> frozenset[str]:
        """The versions of the dataset that the run last stated to have read."""
        return self._reported_versions([run_id], name, "input")[run_id]

    def _reported_versions(
        self, run_ids: Sequence[str], name: DatasetId, direction: Direction
    ) -> dict[str, frozenset[str]]:
        versions = dict.fromkeys(run_ids, frozenset[str]())
        for member in self._graph.members(name):
            for facet in self._knowledge.store.reported_facets(run_ids, member, [*_VERSION_FACETS]):
                if facet.direction == direction:
                    versions[facet.run_id] |= frozenset(self._versions(facet))
        return versions

    def sources(self, name: DatasetId, columns: frozenset[str]) -> ColumnsOf | None:
        """The source columns of these columns, direct or indirect; None if the dataset has no column edges."""
        edges = self._graph.column_edges_into(name)
        requested = Nesting(columns)
        sources: dict[DatasetId, set[str | None]] = {}
        for edge in edges:
            if edge.target_column is None or requested.touches(edge.target_column):
                sources.setdefault(edge.source, set()).add(edge.source_column)
        return {source: self._all_of(source, feeding) for source, feeding in sources.items()} if edges else None

    def _all_of(self, name: DatasetId, columns: AbstractSet[str | None]) -> frozenset[str]:
        """These columns of a dataset; None among them stands for all."""
        named = (column for column in columns if column is not None)
        return frozenset((*named, *(self._knowledge.all_columns(name) if None in columns else ())))

    def silence_us(self, job: JobId) -> int:
        """How long a running stream may be silent: twice the window that it announces, else an hour."""
        kind = self._knowledge.facets.read(JobTypeFacet, self._graph.job_digest(job, JobTypeFacet.key))
        window_s = None if kind is None else kind.window_s
        return SILENCE_US if window_s is None else _WINDOWS * window_s * 1_000_000

    def asked_us(self) -> int:
        """As in `History`."""
        return self._asked_us

    def _declared_schema_changes(self, name: DatasetId) -> Sequence[DeclaredSchemaChange]:
        """How a dataset's declared schema changed, oldest first."""
        store = self._knowledge.store
        shapes = [shape for member in self._graph.members(name) for shape in store.declared_shapes(member)]
        schemas = sorted((each.stamp, each.dataset, each.schema) for each in shapes if each.schema is not None)
        reports = (ReportedSchema(name, columns_of(store.content(schema))) for _, name, schema in schemas)
        news = [
            (stamp, tuple(changes)) for (stamp, _, _), changes in zip(schemas, drift(reports), strict=True) if changes
        ]
        events = store.with_digests([stamp.digest for stamp, _ in news])
        return [_declared_schema_change(changes, events[stamp.digest]) for stamp, changes in news]

    def declared_lifecycle_changes(self, name: DatasetId) -> Sequence[LifecycleChange]:
        """As in `History`."""
        key = LifecycleStateChangeFacet.key
        datasets = filter(None, map(self._graph.datasets.get, self._graph.members(name)))
        reports = [each.facets[key] for dataset in datasets for each in dataset.declared.values() if key in each.facets]
        events = self._knowledge.store.with_digests([report.stamp.digest for report in reports]) if reports else {}
        found = (
            (self._knowledge.facets.read(LifecycleStateChangeFacet, report.content), report.stamp) for report in reports
        )
        return [
            LifecycleChange(change.lifecycle_state_change, stamp.time_us, _ref(events[stamp.digest]))
            for change, stamp in found
            if change is not None
        ]

    def has_only_changed_places(self, name: DatasetId, dropped_us: int) -> bool:
        """As in `History`."""
        return has_only_changed_places(self._knowledge, name, dropped_us)

    def _reported_schema_changes(self, run_id: str) -> Sequence[ReportedSchemaChange]:
        """Schema changes of a run's inputs and outputs during the run, as it reported them, in no order."""
        run = self._graph.runs[run_id]
        return [
            change
            for direction, name in sorted(run.observed)
            for change in self._schema_changes(run_id, direction, name)
        ]

    def _failed_checks_while_running(self, run_id: str) -> Sequence[FailedCheck]:
        """The expectations that a run reported as failed while it was running, oldest first."""
        run = self._graph.runs[run_id]
        found = (each for direction, name in sorted(run.observed) for each in self._failed(run_id, direction, name))
        return sorted(found, key=lambda each: (each.at_us, each.dataset, each.direction))

    def _failed(self, run_id: str, direction: Direction, name: DatasetId) -> Iterator[FailedCheck]:
        shown = self._graph.shown(name)
        reports = self._facet_reports(run_id, name, DataQualityAssertionsFacet.key)
        if not reports or not self._graph.shows(shown):
            return
        failed = [
            (report.stamp, assertion)
            for report in sorted(reports)
            if report.direction == direction
            for assertion in self._assertions(report)
            if not assertion.success
        ]
        events = self._knowledge.store.with_digests([stamp.digest for stamp, _ in failed])
        for stamp, assertion in failed:
            yield FailedCheck(direction, shown, Check(assertion, _ref(events[stamp.digest])), stamp.time_us)

    def _assertions(self, report: ReportedFacet) -> Sequence[Assertion]:
        facet = self._knowledge.facets.read(DataQualityAssertionsFacet, report.content)
        return () if facet is None else facet.assertions

    def _schema_changes(self, run_id: str, direction: Direction, name: DatasetId) -> Iterator[ReportedSchemaChange]:
        shown = self._graph.shown(name)
        if not self._graph.shows(shown):
            return
        shapes = self._facet_reports(run_id, name, SchemaFacet.key)
        if len(shapes) < 2:
            return
        reported = [
            (columns, each.stamp)
            for each in sorted(shapes, key=lambda each: (each.stamp, each.content))
            if each.direction == direction and (columns := self._columns(each.content)) is not None
        ]
        changes = [(then, now) for then, now in pairwise(reported) if then[0] != now[0]]
        events = self._knowledge.store.with_digests([stamp.digest for change in changes for _, stamp in change])
        for (then, stamp_then), (now, stamp) in changes:
            before, after = (then, _ref(events[stamp_then.digest])), (now, _ref(events[stamp.digest]))
            yield ReportedSchemaChange(direction, shown, before, after, stamp.time_us)

    def _facet_reports(self, run_id: str, name: DatasetId, facet: str) -> list[ReportedFacet]:
        return self._knowledge.store.reports_of_runs([run_id], self._graph.first_us_of([run_id]), name, [facet])

    def _columns(self, schema: bytes) -> Columns | None:
        return self._records.readings.columns({SchemaFacet.key: self._knowledge.store.content(schema)})

    def _runs_of(self, job: JobId, until_us: int = AFTER_ALL_US) -> Sequence[RunSummary]:
        activity = self._activity(job)
        runs = () if activity is None else activity.begun_between(BEFORE_ALL_US, until_us, self._began_us)
        begun = (run for run in map(self._begun, runs) if run is not None and run.started_us <= until_us)
        return tuple(sorted(islice(begun, _MOST_RUNS), key=_begin, reverse=True))

    def _begun(self, run_id: str) -> RunSummary | None:
        """The run, or None if it has no events of its own, or was only created."""
        run = self._graph.runs.get(run_id)
        return self.summary(run_id) if run is not None and run.has_begun else None

    def ended_in(self, job: JobId, after_us: int, until_us: int, *, has_failed: bool) -> Iterator[RunSummary]:
        """As in `History`: read lazily, and without the runs' datasets."""
        if (activity := self._activity(job)) is None:
            return
        for run_id in islice(activity.begun_by(until_us, self._began_us), _MOST_BETWEEN):
            if self._began_us(run_id) + activity.longest_us <= after_us:
                return  # this run and all earlier ones had ended by then
            if self._has_ended_in(run_id, after_us, until_us, has_failed) and (run := self.summary(run_id)) is not None:
                yield run

    def _has_ended_in(self, run_id: str, after_us: int, until_us: int, has_failed: bool) -> bool:
        run = self._graph.runs.get(run_id)
        end = None if run is None else self._graph.end_of(run)
        if end is None or not after_us < end.time_us <= until_us:
            return False
        return end.event_type in _FAILED_ENDS if has_failed else end.event_type == "COMPLETE"

    def begun_between(self, job: JobId, after_us: int, until_us: int) -> Sequence[str]:
        """As in `History`."""
        activity = self._activity(job)
        return () if activity is None else activity.begun_between(after_us, until_us, self._began_us)

    def begun_since(self, job: JobId, at_us: int) -> Iterator[RunSummary]:
        """As in `History`, read lazily."""
        if (activity := self._activity(job)) is None:
            return
        since = len(activity.runs) - len(activity.begun_by(at_us - 1, self._began_us))
        yield from filter(None, (self.summary(activity.runs[index]) for index in reversed(range(since))))

    def _activity(self, job: JobId) -> Activity | None:
        """The runs of a job; None if events that came meanwhile gave them to another job."""
        return self._knowledge.activity(job) if self._graph.has_job(job) else None

    def _began_us(self, run_id: str) -> int:
        run = self._graph.runs.get(run_id)
        return (
            self._knowledge.run(run_id).seen.first_us if run is None or run.times is None else run.times.seen.first_us
        )

    def _summary(self, run_id: str) -> RunSummary | None:
        """The run, or None if it has no events of its own."""
        run = self._knowledge.activities.run(run_id)
        if run is None or not run.has_events:
            return None
        ends = frozenset(ends_of(self._graph, run_id, self._declared_ends_then(run)))
        has_begun = self._graph.runs[run_id].has_begun
        return RunSummary(
            run_id,
            run.job,
            run.state,
            next(us for us in (run.started_us, run.ended_us, run.seen.first_us) if us is not None),
            run.ended_us,
            run.seen.last_us,
            self._named(ends, "input"),
            self._named(ends, "output") if has_begun else frozenset(),
            None if run.parent is None else run.parent.run_id,
        )

    def _declared_ends_then(self, run: KnownRun) -> AbstractSet[RunEnd]:
        """The declared inputs and outputs of the run's job, without those deleted before the run began."""
        ends, began_us = self._reported_ends(run.job), run.seen.first_us
        if not self._graph.edits.deleted:
            return ends
        return {end for end in ends if not self._was_deleted(self._graph.shown(end[1]), began_us)}

    def _was_deleted(self, name: DatasetId, by_us: int) -> bool:
        """Whether a dataset, by its shown name, is deleted now and was by then."""
        deletion = self._graph.edits.get(target_of(name), DELETED)
        return deletion is not None and deletion.seen.last_us <= by_us and self._graph.hides(name)

    def _names(self, ends: Iterable[RunEnd], direction: Direction) -> frozenset[DatasetId]:
        shown = (self._graph.shown(name) for side, name in ends if side == direction)
        return frozenset(name for name in shown if name.is_complete and self._counts(name))

    def _counts(self, node: DatasetId | JobId) -> bool:
        return self._with_deleted or not self._graph.hides(node)

    def _record(self, run_id: str) -> Record:
        summary = self.summary(run_id)
        assert summary is not None  # noqa: S101  only runs with events are asked for
        record = self._records.get(run_id)
        if record is None or any(self._graph.shown(name) != name for _, name in record.ends):
            record = self._folded(summary)
        record = self._without_deleted(record)
        return record if record.summary == summary else replace(record, summary=summary)

    def _folded(self, summary: RunSummary) -> Record:
        """The run's record, from its events; of a run that went on since, as of its last event then."""
        if not self._records.holds(summary.run_id):
            return self._begun_then(summary, summary.last_us)
        record = record_of(summary, self._events(summary.run_id), self._graph.shown, self._records.readings)
        self._records.keep(record)
        return record

    def _without_deleted(self, record: Record) -> Record:
        """The record without the inputs and outputs that do not count."""
        if all(self._counts(name) for _, name in record.ends):
            return record
        return replace(record, ends={key: end for key, end in record.ends.items() if self._counts(key[1])})

    def _record_then(self, run_id: str, until_us: int) -> Record:
        full = self.summary(run_id)
        assert full is not None  # noqa: S101  only runs with events are asked for
        if full.last_us <= until_us:
            return self.record(run_id)
        begun = self._begun_then(full, until_us)
        has_ended = full.ended_us is not None and full.ended_us <= until_us
        summary = full._replace(
            state=full.state if has_ended else "RUNNING",
            ended_us=full.ended_us if has_ended else None,
            last_us=begun.summary.last_us,
        )
        then = self._without_deleted(begun)
        observed = self._graph.runs[run_id].observed
        reads = full.reads - (self._names(observed, "input") - then.named("input"))
        writes = full.writes - (self._names(observed, "output") - then.named("output"))
        return replace(then, summary=summary._replace(reads=reads, writes=writes))

    def _begun_then(self, full: RunSummary, until_us: int) -> Record:
        """The record of a run by its events up to that time; its summary is as of now, but for `last_us`."""
        run_id = full.run_id
        key = Then(run_id, until_us, self._knowledge.store.count_run_events(run_id, until_us))
        record = self._records.get_then(key)
        if record is None:
            events = [*self._events(run_id, until_us)]
            last_us = max((each.event.stamp.time_us for each in events), default=full.started_us)
            summary = full._replace(last_us=last_us)
            record = record_of(summary, events, self._graph.shown, self._records.readings)
            self._records.keep_then(key, record)
        return record

    def _events(self, run_id: str, until_us: int | None = None) -> Iterator[EventOfRun]:
        logged = self._logged(run_id, until_us)
        is_long = len(logged) > _MOST_EVENTS
        for each in logged:
            known = self._records.events.get(each.log_index) if is_long else None
            event = known or _event_of_run(each)
            if event is None:
                continue
            if is_long and known is None:
                self._records.events.keep(each.log_index, event)
            yield event

    def _logged(self, run_id: str, until_us: int | None) -> list[LoggedEvent]:
        store = self._knowledge.store
        logged = store.run_events(run_id, _MOST_EVENTS)
        if len(logged) == _MOST_EVENTS:
            events = store.count_run_events(run_id, AFTER_ALL_US if until_us is None else until_us)
            logged += store.run_events(run_id, _MOST_EVENTS, max(_MOST_EVENTS, events - _MOST_EVENTS))
        return [each for each in logged if until_us is None or each.event_us <= until_us]

    def _versions(self, facet: ReportedFacet) -> Iterator[str]:
        view = self._knowledge.facets.read(_VERSION_FACETS[facet.name], facet.content)
        if isinstance(view, VersionFacet):
            yield view.dataset_version
        elif view is not None and isinstance(view.snapshot_id, int):  # a float has lost digits
            yield str(view.snapshot_id)


def _begin(run: RunSummary) -> tuple[int, str]:
    """Sort key; of runs that began at the same time, the one with the greatest id counts as the newest."""
    return run.started_us, run.run_id


def _failed(runs: Iterable[RunSummary], in_run: str) -> Iterator[RunSummary]:
    """The parts of a run, given newest first, that failed and were not retried successfully."""
    return not_superseded([run for run in runs if run.ended_us is not None], in_run)


def _event_of_run(logged: LoggedEvent) -> EventOfRun | None:
    """The event, with mended lineage; None if it is none of a run, or can no longer be read."""
    event = as_today(logged.event_type, logged.raw)
    return EventOfRun(mended(event), _ref(logged)) if isinstance(event, RunEvent) else None


def _ref(logged: LoggedEvent) -> EventRef:
    return EventRef(logged.log_index, logged.digest)


def _declared_schema_change(changes: tuple[ColumnChange, ...], logged: LoggedEvent) -> DeclaredSchemaChange:
    subject = declared_subject(logged)
    version = None if subject is None else f"version {subject.version} of {subject.subject}"
    return DeclaredSchemaChange(logged.event_us, judged(changes, subject), version, _ref(logged))


def judged(changes: Iterable[ColumnChange], subject: SubjectFacet | None) -> tuple[ColumnChange, ...]:
    """The changes, each marked as breaking or not as the registry's watcher reports it.

    The watcher knows the schema language: readers survive a change from `int32` to `double` in Avro, not in Protobuf.
    """
    reported = {(each.field, each.change): each.is_breaking for each in (subject and subject.changes) or ()}
    return tuple(
        change._replace(is_breaking=reported.get((change.column, change.change), change.is_breaking))
        for change in changes
    )


def declared_subject(logged: LoggedEvent) -> SubjectFacet | None:
    """The registry subject and version that a declaration is from, by its event."""
    event = as_today(logged.event_type, logged.raw)
    return SubjectFacet.readable(event.dataset.facets) if isinstance(event, DatasetEvent) else None
