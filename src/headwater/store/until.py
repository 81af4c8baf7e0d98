"""Reading the store as of a time: as if only events up to that time had come.

A row holds for that time if its run had no later events. Rows of other runs were overwritten since: their events are
folded again from the log into a temporary store, and read from there.
"""

# ruff: noqa: S608  SQL is put together from constants only; values go in as parameters

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from headwater.model.edits import DELETED
from headwater.model.events import Direction
from headwater.model.facts import SHAPE_PARTS, Deletion, Edit, FacetReport, Fact, Observation, ShapePart, Stamped
from headwater.model.names import DatasetId
from headwater.model.times import BEFORE_ALL_US
from headwater.store.bounded import RUNS
from headwater.store.entries import EDIT, LoggedEvent
from headwater.store.facet_reader import (
    Moment,
    ObservedFacetRow,
    ReportedFacet,
    ReportedRunFacet,
    RunFacetRow,
    ShapeChange,
)
from headwater.store.few_facts import FewFacts
from headwater.store.log_reader import EventsQuery
from headwater.store.numbers import run_id_of_key
from headwater.store.reader import AnotherReader, Reader
from headwater.store.temporary import TemporaryStore

ByName = Mapping[str, Stamped]

_FEW: Final = 16
"""Up to so many events are not folded for the facets of their runs alone."""


class EventsAgain(NamedTuple):
    """Events whose facts are not in rows, or not as of a time."""

    events: Sequence[LoggedEvent]
    """In log order."""
    facts: Mapping[int, Sequence[Fact]]
    """Their facts, by log index."""
    reports: Sequence[FacetReport] = ()
    """Their retained reports, with the first and last times by then that rows know, if other events made them too."""


class _Moved(NamedTuple):
    """The runs that rows wrongly count to a namespace, and those that they wrongly leave out.

    Their numbers, as in a list of SQL, which may have any number of them; -1 where there is none.
    """

    left: str = "-1"
    joined: str = "-1"


class LogUntil(Reader):
    """A reader of the log as of a time, for another thread than a `ReaderUntil`; its facts are those of now."""

    def __init__(self, another: Reader, until_us: int, moved: _Moved) -> None:
        """Read through another reader's connection; `moved` is for the namespace that is asked about."""
        super().__init__(another.connection, another.known_segments, until_us)
        self._moved = moved

    def _runs_of_namespace(self, namespace: str) -> tuple[str, tuple[object, ...]]:
        """As of then."""
        now, values = super()._runs_of_namespace(namespace)
        return _runs_then(now, self._moved), values


class ReaderUntil(Reader):
    """A reader as of a time; called from the thread in which `now` is read.

    The temporary store has the events up to that time of `runs`, and all events without a run.
    """

    def __init__(self, now: Reader, until_us: int) -> None:
        super().__init__(now.connection, now.known_segments, until_us)
        self.until_us = until_us
        self._now = now
        self._temporary: TemporaryStore | None = None
        self._waiting: list[LoggedEvent] = []
        """Entries still to be folded into `_temporary` before it is read."""
        self._waiting_reports: list[FacetReport] = []
        """What is known about their reports from other events."""
        self.reports_again: set[tuple[object, ...]] = set()
        """The keys of reports that were folded again, and do not depend on rows any more."""
        self._few = FewFacts()
        """The facts of these, while `_has_few`."""
        self._refolded: set[int] = set()
        """The log indexes of events folded again."""
        self._datasets: set[DatasetId] = set()
        """The datasets that `_temporary` may mention."""
        self.runs: set[str] = set()
        self.content = now.content
        self._verdicts: dict[str, int] | None = None
        self._counts: dict[bool, int] = {}
        """Cached numbers of events, of runs only or all."""
        self.events_of_namespaces: dict[str, int] = {}
        """A cache of the numbers of events by namespace of the runs' jobs; another one after `note_late_events`."""

    def close(self) -> None:
        """Free what was folded again; the connection belongs to `now`."""
        if self._temporary is not None:
            self._temporary.close()

    @property
    def is_incomplete(self) -> bool:
        """As of the temporary store."""
        return self._temporary is not None and self._temporary.is_incomplete

    @property
    def refolded(self) -> int:
        """The number of events folded again."""
        return len(self._refolded)

    def add_again(self, again: EventsAgain) -> list[Fact]:
        """Fold events again whose facts are not in rows; returns the facts that are new here.

        What was deleted or restored is not among them: other events than these may have restored it. May be called in
        another thread, as long as nothing else is called meanwhile.
        """
        self._waiting += (new := [each for each in again.events if each.log_index not in self._refolded])
        self._waiting_reports += again.reports
        self._refolded.update(each.log_index for each in new)
        is_in_order = any(each.event_type == EDIT for each in new)  # the meaning of edits depends on earlier entries
        new_facts = self._fold() if is_in_order else [fact for each in new for fact in again.facts[each.log_index]]
        if self._has_few:
            self._few.add_all(new_facts)
        self._datasets.update(fact.dataset for fact in new_facts if isinstance(fact, Observation))
        self.reports_again.update(fact.key for fact in new_facts if isinstance(fact, FacetReport))
        return [fact for fact in new_facts if not _says_what_is_deleted(fact)]

    def fold_ahead(self) -> None:
        """Fold what would be folded at the first read; may be called in another thread, as `add_again`."""
        if self._waiting:
            self._fold()

    def _fold(self) -> list[Fact]:
        if self._temporary is None:
            self._temporary = TemporaryStore(self._now)
        waiting = sorted(self._waiting, key=lambda each: each.log_index)
        new_facts = self._temporary.add_logged(waiting, self._waiting_reports)
        self._waiting.clear()
        self._waiting_reports.clear()
        return new_facts

    def _temporary_for(self, of: DatasetId | None = None) -> TemporaryStore | None:
        """The temporary store, if it may mention that dataset (None: any dataset)."""
        if of is not None and of not in self._datasets:
            return None
        if self._waiting:
            self._fold()
        return self._temporary

    @property
    def _has_few(self) -> bool:
        """Whether nothing was folded yet, and that is little."""
        return self._temporary is None and len(self._waiting) <= _FEW

    def _facets_again(self) -> FewFacts | TemporaryStore | None:
        """Where to read the facets of runs folded again."""
        return self._few if self._has_few else self._temporary_for()

    def wait_for_facts(self) -> None:
        """As in `Bounded`."""
        self._now.wait_for_facts()

    def _split_runs(self, run_ids: Iterable[str]) -> tuple[list[str], list[str]]:
        """The runs whose rows hold as of then, and the others."""
        ids = list(run_ids)
        return [each for each in ids if each not in self.runs], [each for each in ids if each in self.runs]

    def bodies(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """As in `Reader`: contents are the same at any time."""
        return self._now.bodies(digests)

    def verdict_counts(self) -> dict[str, int]:
        """As of then; counted once, until `note_late_events`: no index has both what is counted and when it happened.

        So whichever is smaller is scanned: the events up to then, or those after it.
        """
        if self._verdicts is None:
            later = int(self._value("SELECT count(*) FROM log WHERE event_us > ?", (self.until_us,)))
            is_most = 2 * later > self._now.size()
            self._verdicts = super().verdict_counts() if is_most else self._all_but_later()
        return self._verdicts

    def _all_but_later(self) -> dict[str, int]:
        sql = (
            "SELECT verdict, count(*) FROM log WHERE event_us > ? AND event_type <> 'EDIT' AND +idx < ? "
            "GROUP BY verdict"
        )
        counts = Counter(self._now.verdict_counts())
        return counts - Counter(dict(self._rows(sql, (self.until_us, self._now.counted))))

    def note_late_events(self) -> None:
        """Note that events with an earlier time may have come."""
        self._verdicts = None
        self._counts.clear()
        self.events_of_namespaces = {}

    def _count(self, query: EventsQuery, bounds: tuple[int, int]) -> int:
        """As of then; cached until `note_late_events`."""
        if bounds != (BEFORE_ALL_US, self.until_us + 1):
            return super()._count(query, bounds)
        if query.of_runs not in self._counts:
            self._counts[query.of_runs] = super()._count(query, bounds)
        return self._counts[query.of_runs]

    def run_facets(self, run_ids: Sequence[str]) -> dict[str, list[RunFacetRow]]:
        """As of then."""
        unchanged, refolded = self._split_runs(run_ids)
        again = self._facets_again() if refolded else None
        return super().run_facets(unchanged) | (again.run_facets(refolded) if again else {})

    def reported_run_facets(self, run_ids: Sequence[str], name: str) -> list[ReportedRunFacet]:
        """As of then."""
        unchanged, refolded = self._split_runs(run_ids)
        temporary = self._temporary_for() if refolded else None
        return super().reported_run_facets(unchanged, name) + (
            temporary.reported_run_facets(refolded, name) if temporary else []
        )

    def observed_facets(self, run_ids: Sequence[str]) -> dict[str, list[ObservedFacetRow]]:
        """As of then."""
        unchanged, refolded = self._split_runs(run_ids)
        again = self._facets_again() if refolded else None
        return super().observed_facets(unchanged) | (again.observed_facets(refolded) if again else {})

    def reported_facets(self, run_ids: Sequence[str], dataset: DatasetId, names: Sequence[str]) -> list[ReportedFacet]:
        """As of then."""
        unchanged, refolded = self._split_runs(run_ids)
        reported = super().reported_facets(unchanged, dataset, names)
        temporary = self._temporary_for(dataset) if refolded else None
        if not temporary:
            return reported
        reported += temporary.reported_facets(refolded, dataset, names)
        return sorted(reported, key=lambda each: (each.stamp, each.name, each.content))

    def dataset_facets(self, run_id: str, direction: Direction, dataset: DatasetId) -> dict[str, bytes]:
        """As of then."""
        if run_id in self.runs:
            temporary = self._temporary_for(dataset)
            return temporary.dataset_facets(run_id, direction, dataset) if temporary else {}
        return super().dataset_facets(run_id, direction, dataset)

    def newest_facets(self, run_ids: Sequence[str], dataset: DatasetId) -> dict[str, Stamped]:
        """As of then."""
        unchanged, refolded = self._split_runs(run_ids)
        temporary = self._temporary_for(dataset) if refolded else None
        from_temporary = temporary.newest_facets(refolded, dataset) if temporary else {}
        return _newest(super().newest_facets(unchanged, dataset), from_temporary)

    def facet_at(self, dataset: DatasetId, name: ShapePart, until: Moment) -> Stamped | None:
        """As of then. A row that is old enough holds, whichever run reported it: nothing newer was reported since."""
        temporary = self._temporary_for(dataset)
        from_temporary = temporary.facet_at(dataset, name, until) if temporary else None
        known = super().facet_at(dataset, name, until), from_temporary
        return max((each for each in known if each is not None), default=None)

    def facet_reports(self, dataset: DatasetId, names: Sequence[str]) -> list[ReportedFacet]:
        """As of then. A row's end that is old enough holds, whichever run reported it."""
        temporary = self._temporary_for(dataset)
        from_temporary = temporary.facet_reports(dataset, names) if temporary else ()
        return [*{*from_temporary, *super().facet_reports(dataset, names)}]

    def reports_of_runs(
        self, run_ids: Sequence[str], since_us: int, dataset: DatasetId, names: Sequence[str]
    ) -> list[ReportedFacet]:
        """As of then; see `facet_reports`."""
        _, refolded = self._split_runs(run_ids)
        temporary = self._temporary_for(dataset) if refolded else None
        from_temporary = temporary.reports_of_runs(refolded, since_us, dataset, names) if temporary else ()
        return [*{*from_temporary, *super().reports_of_runs(run_ids, since_us, dataset, names)}]

    def shape_changes(self, dataset: DatasetId) -> list[ShapeChange]:
        """As of then."""
        temporary = self._temporary_for(dataset)
        if not (temporary and temporary.facet_reports(dataset, SHAPE_PARTS)):
            return super().shape_changes(dataset)
        changes: list[ShapeChange] = []
        former: dict[str, bytes] = {}
        reported = sorted(
            self.facet_reports(dataset, SHAPE_PARTS), key=lambda each: (each.stamp, each.direction, each.content)
        )
        for each in reported:
            if former.get(each.name) != each.content:
                name: ShapePart = "schema" if each.name == "schema" else "version"
                changes.append(ShapeChange(each.stamp, each.run_id, each.direction, dataset, name, each.content))
            former[each.name] = each.content
        return changes

    def shape_reports_after(self, dataset: DatasetId, moments: Sequence[Moment]) -> list[ShapeChange]:
        """As of then: the first ones in rows, and the first ones of runs folded again."""
        temporary = self._temporary_for(dataset)
        from_temporary = temporary.shape_reports_after(dataset, moments) if temporary else []
        return super().shape_reports_after(dataset, moments) + from_temporary

    def another_log(self, another_reader: AnotherReader, namespace: str | None = None) -> Callable[[], LogUntil]:
        """Opens a reader of the log as of then for another thread; the namespace is one that will be asked about."""
        moved = _Moved() if namespace is None else self._moved(namespace)
        return lambda: LogUntil(another_reader(), self.until_us, moved)

    def _runs_of_namespace(self, namespace: str) -> tuple[str, tuple[object, ...]]:
        """As of then."""
        now, values = super()._runs_of_namespace(namespace)
        return _runs_then(now, self._moved(namespace)), values

    def _moved(self, namespace: str) -> _Moved:
        temporary = self._temporary_for()
        then = {*temporary.runs_of_namespace(namespace)} if temporary else set()
        left, joined = list[int](), list[int]()
        sql = (
            f"SELECT run_id, r.id, namespace FROM {RUNS} r JOIN run_of_job ON run_of_job.run = r.id "
            "JOIN name ON name.id = job"
        )
        for key, number, now in self._fact_rows_in(sql, self._keys([*self.runs])):
            if (was := run_id_of_key(key) in then) != (now == namespace):
                (joined if was else left).append(number)
        return _Moved(*(", ".join(map(str, numbers)) or "-1" for numbers in (left, joined)))


def _says_what_is_deleted(fact: Fact) -> bool:
    return isinstance(fact, Deletion) or (isinstance(fact, Edit) and fact.what == DELETED)


def _runs_then(runs_now: str, moved: _Moved) -> str:
    return (
        f"{runs_now} AND run_of_job.run NOT IN ({moved.left}) UNION ALL SELECT id FROM run WHERE id IN ({moved.joined})"
    )


def _newest(*sources: ByName) -> dict[str, Stamped]:
    newest: dict[str, Stamped] = {}
    for by_name in sources:
        for name, stamped in by_name.items():
            newest[name] = max(newest.get(name, stamped), stamped)
    return newest
