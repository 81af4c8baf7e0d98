"""What one run told of itself and of its datasets, folded from its events: the last to say a thing holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from headwater.graph.causes.readings import Columns, Readings
from headwater.graph.drift import ColumnChange
from headwater.model.events import NO_FACETS, DatasetRef, Direction, Facets, RunEvent, standing
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
"""What rules ask of a run or its job."""
_COUNTS: Final = (OutputStatisticsFacet, InputStatisticsFacet, DataQualityMetricsFacet)
_OF_DATASET: Final = (SchemaFacet, VersionFacet, LifecycleStateChangeFacet, *_COUNTS)
_OF_ACCESS: Final = (IcebergScanReportFacet, IcebergCommitReportFacet, *_COUNTS)


class Outline(NamedTuple):
    """A run without its facets: datasets by shown names, times in microseconds since 1970."""

    run_id: str
    job: JobId
    state: RunState
    started_us: int
    ended_us: int | None
    last_us: int
    """The last event that told of it."""
    reads: frozenset[DatasetId]
    writes: frozenset[DatasetId]
    parent_run: str | None
    """The id of the run that it is a part of, which may tell nothing itself."""

    @property
    def has_failed(self) -> bool:
        """Whether it ended without having done what it was to do."""
        return self.state in ("FAILED", "ABORTED")


class EventRef(NamedTuple):
    """An event in the log."""

    log_index: int
    digest: bytes


class SchemaNews(NamedTuple):
    """A schema that was declared, and differs from the one before."""

    at_us: int
    """Microseconds since 1970, UTC."""
    changes: tuple[ColumnChange, ...]
    version: str | None
    """What to call it, such as `version 2 of orders-value`."""
    event: EventRef


class DoneToAll(NamedTuple):
    """What was done to a dataset as a whole, as it was declared."""

    state: LifecycleState
    at_us: int
    """Microseconds since 1970, UTC."""
    event: EventRef


class Retold(NamedTuple):
    """A run told of other columns of a dataset than it had told before: a stream may at any time."""

    direction: Direction
    dataset: DatasetId
    before: tuple[Columns, EventRef]
    after: tuple[Columns, EventRef]
    at_us: int
    """When it first did; microseconds since 1970, UTC."""


class Said(NamedTuple, Generic[ViewT]):
    """A facet as it is read, and which event said it."""

    view: ViewT
    event: EventRef


class Check(NamedTuple):
    """An expectation on a dataset, and which event told how it went."""

    assertion: Assertion
    event: EventRef


class Tested(NamedTuple):
    """A test that a run carried out, and which event told how it went."""

    test: ExecutedTest
    event: EventRef


class FailedCheck(NamedTuple):
    """An expectation that was missed while a run went on, whatever it told later."""

    direction: Direction
    dataset: DatasetId
    check: Check
    at_us: int
    """Microseconds since 1970, UTC."""


class Told(NamedTuple):
    """An event of the run, and where the log has it."""

    event: RunEvent
    ref: EventRef


class End(NamedTuple):
    """What the run told of one dataset that it read or wrote."""

    versions: frozenset[str]
    """The versions that were read or written, as text; an Iceberg snapshot is one."""
    versions_at_first: frozenset[str]
    """The versions that were told first: at its end Spark's agent tells of inputs what they are by then."""
    rows: tuple[int, EventRef] | None
    """How many rows were read or written, and which event told."""
    columns: tuple[Columns, EventRef] | None
    """The type of each column, and which event told."""
    columns_at_first: tuple[Columns, EventRef] | None
    """The type of each column as it was told first, and which event told."""
    checks: tuple[Check, ...]
    """What was asserted of the dataset, on itself or on this read of it: of each expectation what was told last."""
    done_to_all: tuple[LifecycleState, EventRef] | None = None
    """What was done to the dataset as a whole, and which event told."""


SILENT: Final = End(frozenset(), frozenset(), None, None, None, ())
"""Nothing was told."""


@dataclass(frozen=True, slots=True)
class Record:
    """A run with all that it told."""

    outline: Outline
    said: Mapping[type[View], Said[View]]
    """Of the run and its job, as far as rules ask."""
    ends: Mapping[tuple[Direction, DatasetId], End]
    last: EventRef | None
    """The event that told how it ended, or the last one."""
    first: EventRef | None = None
    """The event that told of it first."""
    tests: tuple[Tested, ...] = ()
    """Its tests, of each what it told last, by name."""
    nominal_us: int | None = None
    """The time that it is for, as a scheduler tells it, in microseconds since 1970: not when it ran."""

    def view(self, kind: type[ViewT]) -> Said[ViewT] | None:
        """A run facet or job facet and the event that told it; None where it is absent or cannot be read."""
        return cast("Said[ViewT] | None", self.said.get(kind))

    def named(self, direction: Direction) -> frozenset[DatasetId]:
        """The datasets that the run told to read or write."""
        return frozenset(name for way, name in self.ends if way == direction)

    def sides(self, direction: Direction) -> Iterator[tuple[DatasetId, End]]:
        """The datasets that the run read or wrote, by name, and what it told of each."""
        yield from sorted((name, end) for (way, name), end in self.ends.items() if way == direction)


def record_of(
    outline: Outline, told: Iterable[Told], shown: Callable[[DatasetId], DatasetId], readings: Readings
) -> Record:
    """Fold the run's events, in any order and with repetitions; names in quarantine are left out."""
    known = {name: name for name in (*outline.reads, *outline.writes)}
    of_run, of_job, ends = _Heard(), _Heard(), dict[tuple[Direction, DatasetId], _HeardOfEnd]()
    in_order = sorted(told, key=lambda each: each.event.stamp)
    for event, ref in in_order:
        of_run.hear((*_OF_RUN, NominalTimeFacet), event.run_facets, ref)
        of_job.hear(_OF_RUN, event.job_facets, ref)
        sides: tuple[tuple[Direction, tuple[DatasetRef, ...]], ...] = (
            ("input", event.inputs),
            ("output", event.outputs),
        )
        for direction, datasets in sides:
            for dataset in datasets:
                name = shown(dataset.id)
                if name.is_complete:
                    ends.setdefault((direction, known.get(name, name)), _HeardOfEnd()).hear(dataset, ref)
    terminal = [ref for event, ref in in_order if event.event_type in TERMINAL_STATES]
    return Record(
        outline,
        {**of_job.read_all(_OF_RUN, readings), **of_run.read_all(_OF_RUN, readings)},
        {key: heard.end(readings) for key, heard in ends.items()},
        next(reversed(terminal or [ref for _, ref in in_order]), None),
        next((ref for _, ref in in_order), None),
        tuple(_tests(in_order, readings)),
        _nominal_us(of_run, readings),
    )


def _nominal_us(of_run: "_Heard", readings: Readings) -> int | None:
    said = of_run.read(NominalTimeFacet, readings)
    start = None if said is None else said.view.start
    return None if start is None else microseconds(start)


def _tests(in_order: Iterable[Told], readings: Readings) -> Iterator[Tested]:
    heard = _LastOfEach(RunTestsFacet, lambda facet: facet.tests, lambda test: test.name)
    for event, ref in in_order:
        heard.hear(event.run_facets, ref)
    yield from (Tested(*each) for each in heard.read(readings))


class _LastOfEach(Generic[ViewT, ItemT]):
    """What was told last of each item of a facet: a run may tell of some now and of others later, or take all back."""

    def __init__(
        self, kind: type[ViewT], items: Callable[[ViewT], Sequence[ItemT]], key: Callable[[ItemT], object]
    ) -> None:
        self._kind = kind
        self._items = items
        self._key = key
        self._told: list[tuple[Facets, EventRef]] = []

    def hear(self, facets: Facets, ref: EventRef) -> None:
        """Events come in the order of their stamps."""
        if self._kind.key in facets:
            self._told.append((facets, ref))

    def read(self, readings: Readings) -> Iterator[tuple[ItemT, EventRef]]:
        """The items, in an order that is always the same, each with the event that told it."""
        heard: dict[object, list[tuple[ItemT, EventRef]]] = {}
        views = [readings.view(self._kind, facets) for facets, _ in self._told]  # held, so equal ones are read once
        for (facets, ref), told in zip(self._told, views, strict=True):
            if standing(facets, self._kind.key) is None:
                heard.clear()
            new: dict[object, list[tuple[ItemT, EventRef]]] = {}
            for item in self._items(told) if told is not None else ():
                new.setdefault(self._key(item), []).append((item, ref))
            heard |= new
        for key in sorted(heard, key=str):
            yield from heard[key]


class _Heard(dict[str, tuple[Facets, EventRef]]):
    """Among which facets each was said last, by its name; they are read when all was heard."""

    def hear(self, kinds: Iterable[type[View]], facets: Facets, ref: EventRef) -> None:
        """Events come in the order of their stamps, so the last one holds."""
        self.update((kind.key, (facets, ref)) for kind in kinds if kind.key in facets)

    def read(self, kind: type[ViewT], readings: Readings) -> Said[ViewT] | None:
        """What was said, or None where it cannot be read."""
        facets, ref = self.get(kind.key, _UNHEARD)
        view = readings.view(kind, facets)
        return None if view is None else Said(view, ref)

    def read_all(self, kinds: Iterable[type[View]], readings: Readings) -> dict[type[View], Said[View]]:
        """What was said of these, as far as it can be read."""
        read = ((kind, self.read(kind, readings)) for kind in kinds)
        return {kind: said for kind, said in read if said is not None}


_UNHEARD: Final = (NO_FACETS, EventRef(0, b""))


class _HeardOfEnd:
    """What was said of a dataset that the run read or wrote."""

    def __init__(self) -> None:
        self._facets, self._own, self._first = _Heard(), _Heard(), _Heard()
        self._checks, self._own_checks = _checks(), _checks()

    def hear(self, dataset: DatasetRef, ref: EventRef) -> None:
        """Take in what an event said of the dataset."""
        self._facets.hear(_OF_DATASET, dataset.facets, ref)
        self._own.hear(_OF_ACCESS, dataset.direction_facets, ref)
        self._checks.hear(dataset.facets, ref)
        self._own_checks.hear(dataset.direction_facets, ref)
        for key, said in self._facets.items():
            self._first.setdefault(key, said)

    def end(self, readings: Readings) -> End:
        """All of it, read."""
        scan = self._own.read(IcebergScanReportFacet, readings)
        commit = self._own.read(IcebergCommitReportFacet, readings)
        done = self._facets.read(LifecycleStateChangeFacet, readings)
        snapshots = [said.view.snapshot_id for said in (scan, commit) if said is not None]
        exact = [str(snapshot) for snapshot in snapshots if isinstance(snapshot, int)]  # a float was rounded
        return End(
            frozenset([*exact, *_version(self._facets, readings)]),
            frozenset([*exact, *_version(self._first, readings)]),
            next(self._rows(readings), None),
            _columns(self._facets, readings),
            _columns(self._first, readings),
            tuple(Check(*each) for heard in (self._checks, self._own_checks) for each in heard.read(readings)),
            None if done is None else (done.view.lifecycle_state_change, done.event),
        )

    def _rows(self, readings: Readings) -> Iterator[tuple[int, EventRef]]:
        for heard, kind in product((self._own, self._facets), _COUNTS):
            said: Said[Any] | None = heard.read(kind, readings)
            if said is not None and isinstance(rows := said.view.row_count, int):
                yield rows, said.event


def _checks() -> _LastOfEach[DataQualityAssertionsFacet, Assertion]:
    return _LastOfEach(DataQualityAssertionsFacet, lambda facet: facet.assertions, lambda made: made.check)


def _columns(heard: _Heard, readings: Readings) -> tuple[Columns, EventRef] | None:
    facets, ref = heard.get(SchemaFacet.key, _UNHEARD)
    columns = readings.columns(facets)
    return None if columns is None else (columns, ref)


def _version(heard: _Heard, readings: Readings) -> list[str]:
    said = heard.read(VersionFacet, readings)
    return [] if said is None else [said.view.dataset_version]
