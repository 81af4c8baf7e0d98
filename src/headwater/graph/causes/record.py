"""The reports of one run about itself and its datasets, folded from its events; the last report counts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from headwater.graph.causes.readings import Columns, Readings
from headwater.graph.drift import ColumnChange
from headwater.model.events import NO_FACETS, DatasetRef, Direction, Facets, RunEvent, undeleted
from headwater.model.facets.dataset import LifecycleState, LifecycleStateChangeFacet, SchemaFacet, VersionFacet
from headwater.model.facets.input_output import (
    IcebergCommitReportFacet,
    IcebergScanReportFacet,
    InputStatisticsFacet,
    OutputStatisticsFacet,
)
from headwater.model.facets.job import SourceCodeFacet, SourceCodeLocationFacet, SqlFacet
from headwater.model.facets.quality import (
    Assertion,
    DataQualityAssertionsFacet,
    DataQualityMetricsFacet,
    ExecutedTest,
    RunTestsFacet,
)
from headwater.model.facets.run import (
    ErrorMessageFacet,
    ExecutionParametersFacet,
    NominalTimeFacet,
    ProcessingEngineFacet,
    SparkExceptionFacet,
)
from headwater.model.facets.view import View
from headwater.model.facts import TERMINAL_STATES, RunState
from headwater.model.names import DatasetId, JobId
from headwater.model.times import microseconds

ViewT = TypeVar("ViewT", bound=View)
ItemT = TypeVar("ItemT")

_OF_RUN: Final = (
    SqlFacet,
    SourceCodeFacet,
    SourceCodeLocationFacet,
    ProcessingEngineFacet,
    ExecutionParametersFacet,
    ErrorMessageFacet,
    SparkExceptionFacet,
)
"""Facets of a run or its job that the rules need."""
_POSSIBLE: Final = range(2**63)
"""Numbers of rows: producers that do not know it report -1."""
_COUNTS: Final = (OutputStatisticsFacet, InputStatisticsFacet, DataQualityMetricsFacet)
_OF_DATASET: Final = (SchemaFacet, VersionFacet, LifecycleStateChangeFacet, *_COUNTS)
_OF_ACCESS: Final = (IcebergScanReportFacet, IcebergCommitReportFacet, *_COUNTS)


class RunSummary(NamedTuple):
    """A run without its facets: datasets by shown names, times in microseconds since 1970."""

    run_id: str
    job: JobId
    state: RunState
    started_us: int
    ended_us: int | None
    last_us: int
    """The time of its last event."""
    reads: frozenset[DatasetId]
    writes: frozenset[DatasetId]
    parent_run: str | None
    """The id of its parent run, which may have no events."""

    @property
    def has_failed(self) -> bool:
        """Whether it ended without success."""
        return self.state in ("FAILED", "ABORTED")

    @property
    def began(self) -> tuple[int, str]:
        """Its place in the order of starts."""
        return self.started_us, self.run_id

    @property
    def end_us(self) -> int:
        """Its end; without one, the time of its last event."""
        return self.last_us if self.ended_us is None else self.ended_us

    def has_ended_by(self, at_us: int) -> bool:
        """Whether it had ended at that time."""
        return self.ended_us is not None and self.ended_us <= at_us

    def has_completed_by(self, at_us: int) -> bool:
        """Whether it had ended with success at that time."""
        return self.state == "COMPLETED" and self.has_ended_by(at_us)


def last_ended(runs: Iterable[RunSummary]) -> RunSummary | None:
    """The run that ended last, of runs that ended."""
    return max(runs, key=lambda run: (run.end_us, run.run_id), default=None)


class EventRef(NamedTuple):
    """An event in the log."""

    log_index: int
    digest: bytes


class DeclaredSchemaChange(NamedTuple):
    """A declared schema that differs from the one before."""

    at_us: int
    """Microseconds since 1970, UTC."""
    changes: tuple[ColumnChange, ...]
    version: str | None
    """A label for it, such as `version 2 of orders-value`."""
    event: EventRef


class LifecycleChange(NamedTuple):
    """A declared lifecycle change of a dataset, such as a truncation."""

    state: LifecycleState
    at_us: int
    """Microseconds since 1970, UTC."""
    event: EventRef


class ReportedSchemaChange(NamedTuple):
    """A change of a dataset's columns that a run reported while it ran, as a stream may at any time."""

    direction: Direction
    dataset: DatasetId
    before: tuple[Columns, EventRef]
    after: tuple[Columns, EventRef]
    at_us: int
    """When it first did; microseconds since 1970, UTC."""


class ParsedFacet(NamedTuple, Generic[ViewT]):
    """A parsed facet, and the event it came with."""

    view: ViewT
    event: EventRef


class Check(NamedTuple):
    """An expectation on a dataset, and the event that reported its result."""

    assertion: Assertion
    event: EventRef


class Tested(NamedTuple):
    """A test that a run carried out, and the event that reported its result."""

    test: ExecutedTest
    event: EventRef


class FailedCheck(NamedTuple):
    """An expectation that failed while a run was in progress, whatever the run reported later."""

    direction: Direction
    dataset: DatasetId
    check: Check
    at_us: int
    """Microseconds since 1970, UTC."""


class EventOfRun(NamedTuple):
    """An event of the run, and its place in the log."""

    event: RunEvent
    ref: EventRef


class End(NamedTuple):
    """The run's reports of one dataset that it read or wrote."""

    versions: frozenset[str]
    """The versions that were read or written, as text; an Iceberg snapshot is one."""
    versions_at_first: frozenset[str]
    """The versions reported first: at its end, Spark's agent reports inputs' versions as of then."""
    rows: tuple[int, EventRef] | None
    """The number of rows read or written, and the event that reported it."""
    columns: tuple[Columns, EventRef] | None
    """The type of each column, and the event that reported it."""
    columns_at_first: tuple[Columns, EventRef] | None
    """The columns reported first."""
    checks: tuple[Check, ...]
    """Assertions about the dataset, general or on this read of it: the last result of each expectation."""
    lifecycle_change: tuple[LifecycleState, EventRef] | None = None
    """The dataset's lifecycle change, and the event that reported it."""


NOTHING_REPORTED: Final = End(frozenset(), frozenset(), None, None, None, ())
"""Nothing was reported."""


@dataclass(frozen=True, slots=True)
class Record:
    """A run with everything it reported."""

    summary: RunSummary
    facets: Mapping[type[View], ParsedFacet[View]]
    """Facets of the run and its job, as far as rules need them."""
    ends: Mapping[tuple[Direction, DatasetId], End]
    last: EventRef | None
    """The event that reported its end, or its last one."""
    first: EventRef | None = None
    """Its first event."""
    tests: tuple[Tested, ...] = ()
    """The last result of each of its tests, by name."""
    nominal_us: int | None = None
    """The nominal time set by a scheduler, in microseconds since 1970: not when it ran."""

    def view(self, kind: type[ViewT]) -> ParsedFacet[ViewT] | None:
        """A run or job facet and its event; None where it is absent or cannot be parsed."""
        return cast("ParsedFacet[ViewT] | None", self.facets.get(kind))

    def named(self, direction: Direction) -> frozenset[DatasetId]:
        """The datasets that the run reported to read or write."""
        return frozenset(name for side, name in self.ends if side == direction)

    def sides(self, direction: Direction) -> Iterator[tuple[DatasetId, End]]:
        """The datasets that the run read or wrote, by name, with what it reported of each."""
        yield from sorted((name, end) for (side, name), end in self.ends.items() if side == direction)


def record_of(
    summary: RunSummary, events: Iterable[EventOfRun], shown: Callable[[DatasetId], DatasetId], readings: Readings
) -> Record:
    """Fold the run's events, in any order and with repetitions; quarantined names are left out."""
    known = {name: name for name in (*summary.reads, *summary.writes)}
    of_run, of_job, ends = _LastFacets(), _LastFacets(), dict[tuple[Direction, DatasetId], _FacetsOfEnd]()
    in_order = sorted(events, key=lambda each: each.event.stamp)
    for event, ref in in_order:
        of_run.add((*_OF_RUN, NominalTimeFacet), event.run_facets, ref)
        of_job.add(_OF_RUN, event.job_facets, ref)
        sides: tuple[tuple[Direction, tuple[DatasetRef, ...]], ...] = (
            ("input", event.inputs),
            ("output", event.outputs),
        )
        for direction, datasets in sides:
            for dataset in datasets:
                name = shown(dataset.id)
                if name.is_complete:
                    ends.setdefault((direction, known.get(name, name)), _FacetsOfEnd()).add(dataset, ref)
    terminal = [ref for event, ref in in_order if event.event_type in TERMINAL_STATES]
    return Record(
        summary,
        {**of_job.read_all(_OF_RUN, readings), **of_run.read_all(_OF_RUN, readings)},
        {key: last.end(readings) for key, last in ends.items()},
        next(reversed(terminal or [ref for _, ref in in_order]), None),
        next((ref for _, ref in in_order), None),
        tuple(_tests(in_order, readings)),
        _nominal_us(of_run, readings),
    )


def _nominal_us(of_run: "_LastFacets", readings: Readings) -> int | None:
    facet = of_run.read(NominalTimeFacet, readings)
    start = None if facet is None else facet.view.start
    return None if start is None else microseconds(start)


def _tests(in_order: Iterable[EventOfRun], readings: Readings) -> Iterator[Tested]:
    last = _LastOfEach(RunTestsFacet, lambda facet: facet.tests, lambda test: test.name)
    for event, ref in in_order:
        last.add(event.run_facets, ref)
    yield from (Tested(*each) for each in last.read(readings))


class _LastOfEach(Generic[ViewT, ItemT]):
    """The last report of each item of a facet: a run may report only some items at a time, or delete the facet."""

    def __init__(
        self, kind: type[ViewT], items: Callable[[ViewT], Sequence[ItemT]], key: Callable[[ItemT], object]
    ) -> None:
        self._kind = kind
        self._items = items
        self._key = key
        self._reports: list[tuple[Facets, EventRef]] = []

    def add(self, facets: Facets, ref: EventRef) -> None:
        """Take in an event's facets; events must come in stamp order."""
        if self._kind.key in facets:
            self._reports.append((facets, ref))

    def read(self, readings: Readings) -> Iterator[tuple[ItemT, EventRef]]:
        """The items in a fixed order, each with the event that reported it."""
        last: dict[object, list[tuple[ItemT, EventRef]]] = {}
        views = [
            readings.view(self._kind, facets) for facets, _ in self._reports
        ]  # cached, so equal ones are parsed once
        for (facets, ref), view in zip(self._reports, views, strict=True):
            if undeleted(facets, self._kind.key) is None:
                last.clear()
            new: dict[object, list[tuple[ItemT, EventRef]]] = {}
            for item in self._items(view) if view is not None else ():
                new.setdefault(self._key(item), []).append((item, ref))
            last |= new
        for key in sorted(last, key=str):
            yield from last[key]


class _LastFacets(dict[str, tuple[Facets, EventRef]]):
    """By facet name, the last facets that had it; parsed only at the end."""

    def add(self, kinds: Iterable[type[View]], facets: Facets, ref: EventRef) -> None:
        """Take in an event's facets; events must come in stamp order, so that the last one counts."""
        self.update((kind.key, (facets, ref)) for kind in kinds if kind.key in facets)

    def read(self, kind: type[ViewT], readings: Readings) -> ParsedFacet[ViewT] | None:
        """The parsed facet, or None where it is absent or cannot be parsed."""
        facets, ref = self.get(kind.key, _ABSENT)
        view = readings.view(kind, facets)
        return None if view is None else ParsedFacet(view, ref)

    def read_all(self, kinds: Iterable[type[View]], readings: Readings) -> dict[type[View], ParsedFacet[View]]:
        """Those of these facets that can be parsed."""
        read = ((kind, self.read(kind, readings)) for kind in kinds)
        return {kind: facet for kind, facet in read if facet is not None}


_ABSENT: Final = (NO_FACETS, EventRef(0, b""))


class _FacetsOfEnd:
    """The facets reported of a dataset that the run read or wrote."""

    def __init__(self) -> None:
        self._facets, self._own, self._first = _LastFacets(), _LastFacets(), _LastFacets()
        self._checks, self._own_checks = _checks(), _checks()

    def add(self, dataset: DatasetRef, ref: EventRef) -> None:
        """Take in what an event reports of the dataset."""
        self._facets.add(_OF_DATASET, dataset.facets, ref)
        self._own.add(_OF_ACCESS, dataset.direction_facets, ref)
        self._checks.add(dataset.facets, ref)
        self._own_checks.add(dataset.direction_facets, ref)
        for key, facet in self._facets.items():
            self._first.setdefault(key, facet)

    def end(self, readings: Readings) -> End:
        """The result, parsed."""
        scan = self._own.read(IcebergScanReportFacet, readings)
        commit = self._own.read(IcebergCommitReportFacet, readings)
        done = self._facets.read(LifecycleStateChangeFacet, readings)
        snapshots = [facet.view.snapshot_id for facet in (scan, commit) if facet is not None]
        exact = [str(snapshot) for snapshot in snapshots if isinstance(snapshot, int)]  # a float was rounded
        return End(
            frozenset([*exact, *_version(self._facets, readings)]),
            frozenset([*exact, *_version(self._first, readings)]),
            next(self._rows(readings), None),
            _columns(self._facets, readings),
            _columns(self._first, readings),
            tuple(Check(*each) for last in (self._checks, self._own_checks) for each in last.read(readings)),
            None if done is None else (done.view.lifecycle_state_change, done.event),
        )

    def _rows(self, readings: Readings) -> Iterator[tuple[int, EventRef]]:
        for last, kind in product((self._own, self._facets), _COUNTS):
            facet: ParsedFacet[Any] | None = last.read(kind, readings)
            if facet is not None and isinstance(rows := facet.view.row_count, int) and rows in _POSSIBLE:
                yield rows, facet.event


def _checks() -> _LastOfEach[DataQualityAssertionsFacet, Assertion]:
    return _LastOfEach(DataQualityAssertionsFacet, lambda facet: facet.assertions, lambda assertion: assertion.check)


def _columns(last: _LastFacets, readings: Readings) -> tuple[Columns, EventRef] | None:
    facets, ref = last.get(SchemaFacet.key, _ABSENT)
    columns = readings.columns(facets)
    return None if columns is None else (columns, ref)


def _version(last: _LastFacets, readings: Readings) -> list[str]:
    facet = last.read(VersionFacet, readings)
    return [] if facet is None else [facet.view.dataset_version]
