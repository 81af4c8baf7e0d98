"""What one run told of itself and of its datasets, folded from its events: the last to say a thing holds."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Literal, NamedTuple, TypeVar

from headwater.graph.drift import ColumnChange
from headwater.model.events import DatasetRef, Direction, RunEvent, Stamp
from headwater.model.facets.dataset import SchemaFacet, SchemaField, VersionFacet
from headwater.model.facets.input_output import (
    IcebergCommitReportFacet,
    IcebergScanReportFacet,
    InputStatisticsFacet,
    OutputStatisticsFacet,
)
from headwater.model.facets.quality import Assertion, DataQualityAssertionsFacet, DataQualityMetricsFacet
from headwater.model.facets.view import View
from headwater.model.names import DatasetId, JobId

ViewT = TypeVar("ViewT", bound=View)
State = Literal["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED"]


class Outline(NamedTuple):
    """A run without its facets: datasets by shown names, times in microseconds since 1970."""

    run_id: str
    job: JobId
    state: State
    started_us: int
    ended_us: int | None
    last_us: int
    """The last event that told of it."""
    reads: frozenset[DatasetId]
    writes: frozenset[DatasetId]


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


class Said(NamedTuple):
    """A facet, and which event said it."""

    facet: Mapping[str, Any]
    stamp: Stamp
    event: EventRef


class Check(NamedTuple):
    """An expectation on a dataset, and which event told how it went."""

    assertion: Assertion
    event: EventRef


class Told(NamedTuple):
    """An event of the run, and where the log has it."""

    event: RunEvent
    ref: EventRef


@dataclass(slots=True)
class End:
    """What the run told of one dataset that it read or wrote, by facet name."""

    facets: dict[str, Said] = field(default_factory=dict)
    own: dict[str, Said] = field(default_factory=dict)
    """Of this one read or write: `inputFacets` or `outputFacets`."""
    first: dict[str, Said] = field(default_factory=dict)
    """What was said first of each of `facets`."""

    @property
    def versions(self) -> frozenset[str]:
        """The versions that were read or written, as text; an Iceberg snapshot is one."""
        return self._versions(self.facets)

    @property
    def versions_at_first(self) -> frozenset[str]:
        """The same by what was said first: at its end Spark's agent tells of inputs what they are by then."""
        return self._versions(self.first)

    def _versions(self, facets: Mapping[str, Said]) -> frozenset[str]:
        told = _read(facets, VersionFacet)
        scan, commit = _read(self.own, IcebergScanReportFacet), _read(self.own, IcebergCommitReportFacet)
        snapshots = [report.snapshot_id for report in (scan, commit) if report is not None]
        exact = [str(snapshot) for snapshot in snapshots if isinstance(snapshot, int)]  # a float was rounded
        return frozenset([*exact, *([told.dataset_version] if told is not None else [])])

    @property
    def rows(self) -> tuple[int, EventRef] | None:
        """How many rows were read or written, and which event told."""
        kinds = (OutputStatisticsFacet, InputStatisticsFacet, DataQualityMetricsFacet)
        for facets, kind in product((self.own, self.facets), kinds):
            rows = getattr(_read(facets, kind), "row_count", None)
            if isinstance(rows, int):
                return rows, facets[kind.key].event
        return None

    @property
    def columns(self) -> tuple[dict[str, str], EventRef] | None:
        """The type of each column in lower case, nested ones with dots, and which event told."""
        read = _read(self.facets, SchemaFacet)
        if read is None or read.fields is None:
            return None
        return dict(_columns(read.fields, "")), self.facets[SchemaFacet.key].event

    @property
    def checks(self) -> list[Check]:
        """What was asserted of the dataset, on itself or on this read of it."""
        found = []
        for facets in (self.facets, self.own):
            read = _read(facets, DataQualityAssertionsFacet)
            if read is not None:
                found += [Check(each, facets[DataQualityAssertionsFacet.key].event) for each in read.assertions]
        return found


@dataclass(slots=True)
class Record:
    """A run with all that it told."""

    outline: Outline
    run_facets: dict[str, Said] = field(default_factory=dict)
    job_facets: dict[str, Said] = field(default_factory=dict)
    ends: dict[tuple[Direction, DatasetId], End] = field(default_factory=dict)
    last: EventRef | None = None
    """The event that told how it ended, or the last one."""

    def view(self, kind: type[ViewT]) -> tuple[ViewT, EventRef] | None:
        """A run facet or job facet and the event that told it; None where it is absent or cannot be read."""
        for facets in (self.run_facets, self.job_facets):
            read = _read(facets, kind)
            if read is not None:
                return read, facets[kind.key].event
        return None

    def sides(self, direction: Direction) -> Iterator[tuple[DatasetId, End]]:
        """What it read or wrote, by name."""
        yield from sorted((name, end) for (way, name), end in self.ends.items() if way == direction)


def record_of(outline: Outline, told: Iterable[Told], shown: Callable[[DatasetId], DatasetId]) -> Record:
    """Fold the run's events, in any order and with repetitions; names in quarantine are left out."""
    record = Record(outline)
    in_order = sorted(told, key=lambda each: each.event.stamp)
    for event, ref in in_order:
        _say(record.run_facets, event.run_facets, event.stamp, ref)
        _say(record.job_facets, event.job_facets, event.stamp, ref)
        sides: tuple[tuple[Direction, tuple[DatasetRef, ...]], ...] = (
            ("input", event.inputs),
            ("output", event.outputs),
        )
        for direction, datasets in sides:
            for dataset in datasets:
                name = shown(dataset.id)
                if name.is_complete:
                    end = record.ends.setdefault((direction, name), End())
                    _say(end.facets, dataset.facets, event.stamp, ref)
                    end.first = {**end.facets, **end.first}
                    _say(end.own, dataset.direction_facets, event.stamp, ref)
    terminal = [ref for event, ref in in_order if event.event_type in ("COMPLETE", "FAIL", "ABORT")]
    record.last = next(reversed(terminal or [ref for _, ref in in_order]), None)
    return record


def _say(known: dict[str, Said], facets: Mapping[str, Mapping[str, Any]], stamp: Stamp, ref: EventRef) -> None:
    """Events come in the order of their stamps, so the last one holds."""
    known.update({name: Said(facet, stamp, ref) for name, facet in facets.items()})


def _read(facets: Mapping[str, Said], kind: type[ViewT]) -> ViewT | None:
    said = facets.get(kind.key)
    read = None if said is None else kind.read({kind.key: said.facet})
    return read if isinstance(read, kind) else None


def _columns(fields: Iterable[SchemaField], outer: str) -> Iterator[tuple[str, str]]:
    for each in fields:
        yield f"{outer}{each.name}", (each.type or "").lower()
        yield from _columns(each.fields or (), f"{outer}{each.name}.")
