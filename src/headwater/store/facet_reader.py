"""Reading facets of runs and datasets: by run, by dataset, and over time."""

# ruff: noqa: S608  SQL is put together from constants only; values go in as parameters

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any, Final, NamedTuple, TypeVar

from headwater.model.events import Direction, Stamp
from headwater.model.facts import SHAPE_PARTS, DeclaredShape, FacetReport, ShapePart, Stamped
from headwater.model.names import DatasetId, JobId
from headwater.store.bounded import NAME, RUN, RUNS, Bounded
from headwater.store.bulk import marks
from headwater.store.connection import Row
from headwater.store.numbers import run_id_of_key
from headwater.store.packing import content_of_row

ReportT = TypeVar("ReportT")

OF_DATASET: Final = "(slot = 'facets' OR direction = 'input')"
"""As `ObservedFacet.is_of_dataset`."""

_ENDS: Final = ("first", "last")
"""The first and last time in a row of `telling`."""
_NAMED_RUN: Final = "JOIN run ON id = run"
_AFTER_ALL_DIGESTS: Final = b"\xff" * 32
_FEW_CHANGES: Final = 32
"""Changes of schema or version up to which they are searched one by one; beyond, that takes longer."""


class Moment(NamedTuple):
    """A place in the order of reports: of one event, what it says of an output comes after what it says of an input."""

    stamp: Stamp
    is_written: bool

    @classmethod
    def of(cls, report: Stamped) -> "Moment":
        """The moment of a report."""
        return cls(report.stamp, report.is_written)

    @classmethod
    def last_of(cls, time_us: int) -> "Moment":
        """After every report of that time."""
        return cls(Stamp(time_us, _AFTER_ALL_DIGESTS), True)


class RunFacetRow(NamedTuple):
    """A facet of a run, as JSON."""

    name: str
    body: bytes


class ObservedFacetRow(NamedTuple):
    """A run's facet of a dataset: an input or output facet as JSON, or only the digest of its schema or version."""

    stamp: Stamp
    direction: Direction
    dataset: DatasetId
    name: str
    content: bytes
    body: bytes | None


class ShapeChange(NamedTuple):
    """A run reported another schema or version of a dataset than the run before it."""

    stamp: Stamp
    run_id: str
    direction: Direction
    dataset: DatasetId
    name: ShapePart
    content: bytes


class ReportedFacet(NamedTuple):
    """A facet of a dataset as a run reported it, by digest."""

    stamp: Stamp
    run_id: str
    direction: Direction
    name: str
    content: bytes


class ReportedRunFacet(NamedTuple):
    """A facet of a run by digest, and the time of its last report."""

    stamp: Stamp
    run_id: str
    content: bytes


class ReportedJobFacet(NamedTuple):
    """A value of a job facet by digest, and the times of its first and last report."""

    name: str
    content: bytes
    first_us: int
    last: Stamp


class FacetReader(Bounded):
    """Queries of the facets of runs, and of datasets as runs reported them."""

    def runs_that_named(self, job: JobId) -> list[str]:
        """The runs that ever named the job as theirs, even if they turned out to be another job's."""
        sql = f"SELECT run_id FROM named_job JOIN run ON id = run WHERE job = {NAME}"
        return [run_id_of_key(row[0]) for row in self._fact_rows(sql, job)]

    def job_facets(self, job: JobId, names: Sequence[str]) -> list[ReportedJobFacet]:
        """Values of a job's facets, by name: those reported by then and again since; of others the last one."""
        sql = (
            "WITH report AS (SELECT name, content, first_us, stamp_us, stamp_digest FROM job_facet "
            f"WHERE job = {NAME} AND name IN ({marks(names)}) AND first_us <= ?), "
            "ended AS (SELECT name AS of_name, max(stamp_us) AS last_us FROM report WHERE stamp_us <= ? GROUP BY name) "
            "SELECT name, content, first_us, stamp_us, stamp_digest FROM report LEFT JOIN ended ON name = of_name "
            "WHERE stamp_us > ? OR stamp_us = last_us ORDER BY name"
        )
        rows = self._fact_rows(sql, (*job, *names, *(self._until_us,) * 3))
        return [ReportedJobFacet(row[0], row[1], row[2], Stamp(*row[3:])) for row in rows]

    def run_facets(self, run_ids: Sequence[str]) -> dict[str, list[RunFacetRow]]:
        """For each run: its own facets."""
        sql = (
            f"SELECT run_id, name, body FROM {RUNS} r JOIN run_facet ON run = r.id "
            f"JOIN content ON digest = content{self._if_reported} ORDER BY run, name"
        )
        facets: dict[str, list[RunFacetRow]] = {run_id: [] for run_id in run_ids}
        for run, name, body in self._fact_rows_in(sql, self._keys(run_ids), behind=self._bound):
            facets[run_id_of_key(run)].append(RunFacetRow(name, content_of_row(body)))
        return facets

    def reported_run_facets(self, run_ids: Sequence[str], name: str) -> list[ReportedRunFacet]:
        """All values of this facet, one of `KEPT_RUN_FACETS`, that the runs reported."""
        sql = (
            f"SELECT stamp_us, stamp_digest, run_id, content FROM {RUNS} r JOIN run_telling ON run = r.id "
            f"WHERE name = ?{self._if_reported}"
        )
        return _reported(ReportedRunFacet, self._fact_rows_in(sql, self._keys(run_ids), behind=(name, *self._bound)))

    def observed_facets(self, run_ids: Sequence[str]) -> dict[str, list[ObservedFacetRow]]:
        """For each run: its input and output facets, and the digests of its datasets' schemas and versions."""
        sql = (
            "SELECT run_id, stamp_us, stamp_digest, direction, n.namespace, n.name, o.name, content, body "
            f"FROM {RUNS} r JOIN observed_facet o ON run = r.id JOIN name n ON n.id = o.dataset "
            "LEFT JOIN content ON digest = content AND slot = 'direction_facets' "
            f"WHERE (slot = 'direction_facets' OR o.name IN ('schema', 'version')){self._if_reported} "
            "ORDER BY run, o.name, n.namespace, n.name"
        )
        facets: dict[str, list[ObservedFacetRow]] = {run_id: [] for run_id in run_ids}
        rows = self._fact_rows_in(sql, self._keys(run_ids), behind=self._bound)
        for run, *stamp, direction, namespace, name, facet, content, row in rows:
            body, dataset = None if row is None else content_of_row(row), DatasetId(namespace, name)
            observed = ObservedFacetRow(Stamp(*stamp), direction, dataset, facet, content, body)
            facets[run_id_of_key(run)].append(observed)
        return facets

    def reported_facets(self, run_ids: Sequence[str], dataset: DatasetId, names: Sequence[str]) -> list[ReportedFacet]:
        """The facets with these names, of either slot, that the runs reported for a dataset under this very name."""
        sql = (
            "SELECT stamp_us, stamp_digest, run_id, direction, o.name, content "
            f"FROM {RUNS} r JOIN observed_facet o ON run = r.id "
            f"WHERE dataset = {NAME} AND o.name IN ({marks(names)}){self._if_reported}"
        )
        rows = self._fact_rows_in(sql, self._keys(run_ids), behind=(*dataset, *names, *self._bound))
        return sorted(_reported(ReportedFacet, rows), key=lambda each: (each.stamp, each.name, each.content))

    def all_reported(self, name: str) -> Iterator[tuple[str, DatasetId, Stamped]]:
        """The last value per run and dataset of a facet; scans everything that runs observed."""
        sql = (
            "SELECT stamp_us, stamp_digest, direction, content, run_id, n.namespace, n.name "
            "FROM observed_facet o JOIN run ON run.id = o.run JOIN name n ON n.id = o.dataset "
            f"WHERE o.name = ? AND {OF_DATASET}{self._if_reported}"
        )
        for row in self._fact_rows(sql, (name, *self._bound)):
            yield run_id_of_key(row[4]), DatasetId(*row[5:]), _stamped(row[:4])

    def dataset_facets(self, run_id: str, direction: Direction, dataset: DatasetId) -> dict[str, bytes]:
        """The facets of a dataset as one run reported them, as JSON."""
        sql = (
            "SELECT name, body FROM observed_facet JOIN content ON digest = content "
            f"WHERE run = {RUN} AND direction = ? AND dataset = {NAME} AND {OF_DATASET}{self._if_reported} "
            "ORDER BY name, stamp_us, stamp_digest, content"
        )
        rows = self._fact_rows(sql, (self._key(run_id), direction, *dataset, *self._bound))
        return {name: content_of_row(body) for name, body in rows}

    def newest_facets(self, run_ids: Sequence[str], dataset: DatasetId) -> dict[str, Stamped]:
        """The newest value per facet among those that these runs reported for a dataset under this very name."""
        sql = (
            f"SELECT o.name, stamp_us, stamp_digest, direction, content FROM {RUNS} r "
            "JOIN observed_facet o ON run = r.id "
            f"WHERE dataset = {NAME} AND {OF_DATASET}{self._if_reported}"
        )
        newest: dict[str, Stamped] = {}
        for name, *columns in self._fact_rows_in(sql, self._keys(run_ids), behind=(*dataset, *self._bound)):
            stamped = _stamped(columns)
            newest[name] = max(newest.get(name, stamped), stamped)
        return newest

    def facet_at(self, dataset: DatasetId, name: ShapePart, until: Moment) -> Stamped | None:
        """The newest schema or version that runs reported up to that moment (inclusive)."""
        newest = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {end}_us, {end}_digest, direction, content FROM telling "
            f"WHERE dataset = {NAME} AND facet = ? AND {end}_us <= ? "
            f"AND ({end}_us < ? OR ({end}_digest, direction) <= (?, ?)) "
            f"ORDER BY {end}_us DESC, {end}_digest DESC, direction DESC, content DESC LIMIT 1) AS {end}"
            for end in _ENDS
        )
        (time_us, digest), is_written = min(until, Moment.last_of(self._until_us))
        values = (*dataset, name, time_us, time_us, digest, "output" if is_written else "input")
        return max((_stamped(row) for row in self._fact_rows(newest, 2 * values)), default=None)

    def facet_reports(self, dataset: DatasetId, names: Sequence[str]) -> list[ReportedFacet]:
        """All values of these facets, which are among `KEPT_FACETS`, that runs reported, in no order.

        Of a value that a run reported several times, the first and the last report.
        """
        reports, values = self._ends(dataset, names)
        sql = (
            f"SELECT stamp_us, stamp_digest, run_id, direction, facet, content FROM ({reports}) AS report {_NAMED_RUN}"
        )
        return _reported(ReportedFacet, self._fact_rows(sql, values))

    def reports_of_runs(
        self, run_ids: Sequence[str], since_us: int, dataset: DatasetId, names: Sequence[str]
    ) -> list[ReportedFacet]:
        """The `facet_reports` of these runs, none of which has events before `since_us`."""
        reports, values = self._ends(dataset, names, since_us)
        sql = (
            f"SELECT stamp_us, stamp_digest, run_id, direction, facet, content FROM ({reports}) AS report {_NAMED_RUN} "
            f"WHERE run IN (SELECT id FROM {RUNS} r)"
        )
        return _reported(ReportedFacet, self._fact_rows_in(sql, self._keys(run_ids), before=values))

    def repeated_reports(self, until_us: int, run_id: str, dataset: DatasetId) -> list[FacetReport]:
        """A run's reports on a dataset that it made by that time, and made again after it."""
        columns = "direction, facet, content, first_us, first_digest, last_us, last_digest"
        sql = f"SELECT {columns} FROM telling WHERE dataset = {NAME} AND run = {RUN} AND first_us <= ? AND last_us > ?"
        return [
            FacetReport(run_id, direction, dataset, name, content, Stamp(*ends[:2]), Stamp(*ends[2:]))
            for direction, name, content, *ends in self._fact_rows(
                sql, (*dataset, self._key(run_id), until_us, until_us)
            )
        ]

    def report_by(self, report: FacetReport, until_us: int) -> FacetReport | None:
        """The same report by its run up to that time, as far as known: if it was repeated later, only the first."""
        sql = (
            "SELECT first_us, first_digest, last_us, last_digest FROM telling "
            f"WHERE dataset = {NAME} AND facet = ? AND content = ? AND run = {RUN} AND direction = ? AND first_us <= ?"
        )
        of_run = self._key(report.run_id), report.direction, until_us
        for row in self._fact_rows(sql, (*report.dataset, report.name, report.content, *of_run)):
            first, last = Stamp(*row[:2]), Stamp(*row[2:])
            return replace(report, first=first, last=last if last.time_us <= until_us else first)
        return None

    def shape_changes(self, dataset: DatasetId) -> list[ShapeChange]:
        """The changes of schema or version that runs reported, by event time."""
        self.wait_for_facts()
        found = [self._few_changes(dataset, part) for part in SHAPE_PARTS]
        few = [changes for changes in found if changes is not None]
        if len(few) < len(found):
            return self._many_changes(dataset)
        return sorted(chain.from_iterable(few), key=_position)

    def _few_changes(self, dataset: DatasetId, part: ShapePart) -> list[ShapeChange] | None:
        """The changes of one part, each searched after the one before; None if there are many.

        For a table whose schema thousands of runs reported alike, sorting all their reports takes far longer.
        """
        changes: list[ShapeChange] = []
        while len(changes) <= _FEW_CHANGES:
            next_ones = [self._next_change(dataset, part, end, changes[-1] if changes else None) for end in _ENDS]
            found = min((each for each in next_ones if each is not None), key=_position, default=None)
            if found is None:
                return changes
            changes.append(found)
        return None

    def _next_change(
        self, dataset: DatasetId, part: ShapePart, end: str, former: ShapeChange | None
    ) -> ShapeChange | None:
        """The first report after a change with another content."""
        if former is None:
            return self._first_report(dataset, part, end)
        is_after = f" AND ({end}_us, {end}_digest, direction, content) > (?, ?, ?, ?) AND content <> ?"
        return self._first_report(dataset, part, end, is_after, (*_position(former), former.content))

    def shape_reports_after(self, dataset: DatasetId, moments: Sequence[Moment]) -> list[ShapeChange]:
        """For each moment, the first schema and the first version that runs reported after it, also if repeated."""
        found: list[ShapeChange] = []
        for (stamp, is_written), part in product(moments, SHAPE_PARTS):
            behind = (*stamp, "output" if is_written else "input")
            first = (
                self._first_report(dataset, part, end, f" AND ({end}_us, {end}_digest, direction) > (?, ?, ?)", behind)
                for end in _ENDS
            )
            found += sorted((each for each in first if each is not None), key=_position)[:1]
        return found

    def _first_report(
        self, dataset: DatasetId, part: ShapePart, end: str, condition: str = "", values: Sequence[object] = ()
    ) -> ShapeChange | None:
        position = f"{end}_us, {end}_digest, direction, content"
        sql = (
            f"SELECT {position}, run_id FROM telling {_NAMED_RUN} WHERE dataset = {NAME} AND facet = ?"
            f"{condition}{self._early(end)} ORDER BY {position} LIMIT 1"
        )
        for row in self._rows(sql, (*dataset, part, *values, *self._bound)):
            return ShapeChange(Stamp(*row[:2]), run_id_of_key(row[4]), row[2], dataset, part, row[3])
        return None

    def _many_changes(self, dataset: DatasetId) -> list[ShapeChange]:
        order = "stamp_us, stamp_digest, direction, content"
        reports, values = self._ends(dataset, SHAPE_PARTS)
        sql = (
            "SELECT stamp_us, stamp_digest, run_id, direction, facet, content FROM (SELECT *, "
            f"lag(content) OVER (PARTITION BY facet ORDER BY {order}) AS former FROM ({reports}) AS report) AS report "
            f"{_NAMED_RUN} WHERE former IS NULL OR former <> content ORDER BY {order}"
        )
        return [
            ShapeChange(Stamp(*row[:2]), run_id_of_key(row[2]), row[3], dataset, *row[4:])
            for row in self._rows(sql, values)
        ]

    def _ends(
        self, dataset: DatasetId, names: Sequence[str], since_us: int | None = None
    ) -> tuple[str, Sequence[object]]:
        """A query for the first and last report in each row of `telling` of a dataset, and its values."""
        since = () if since_us is None else (since_us,)
        first, last = (
            f"SELECT run, direction, facet, content, {end}_us AS stamp_us, {end}_digest AS stamp_digest FROM telling "
            f"WHERE dataset = {NAME} AND facet IN ({marks(names)})"
            f"{f' AND {end}_us >= ?' if since else ''}{self._early(end)}"
            for end in _ENDS
        )
        values = 2 * (*dataset, *names, *since, *self._bound)
        return f"{first} UNION ALL {last} AND first_digest <> last_digest", values

    def _early(self, end: str) -> str:
        return f" AND +{end}_us <= ?" if self._bound else ""

    def declared_shapes(self, dataset: DatasetId) -> list[DeclaredShape]:
        """Schemas and versions in dataset events, under this very name, by event time."""
        sql = (
            "SELECT stamp_us, stamp_digest, schema, version FROM declared_shape "
            f"WHERE dataset = {NAME}{self._if_reported} ORDER BY stamp_us, stamp_digest"
        )
        rows = self._fact_rows(sql, (*dataset, *self._bound))
        return [DeclaredShape(dataset, Stamp(*row[:2]), *row[2:]) for row in rows]

    def all_reported_schemas(self, dataset: DatasetId) -> set[bytes]:
        """The schemas that runs ever reported for a dataset under this very name, even after the time asked for."""
        sql = f"SELECT DISTINCT content FROM telling WHERE dataset = {NAME} AND facet = 'schema'"
        return {row[0] for row in self._fact_rows(sql, dataset)}

    def datasets_with_several_schemas(self) -> list[DatasetId]:
        """The names with more than one reported schema; scans everything that runs observed."""
        reports = (
            f"SELECT dataset, content FROM telling WHERE facet = 'schema'{self._early('first')} "
            f"UNION SELECT dataset, schema FROM declared_shape WHERE schema IS NOT NULL{self._if_reported}"
        )
        several = f"SELECT dataset FROM ({reports}) AS report GROUP BY dataset HAVING count(*) > 1"
        sql = f"SELECT namespace, name FROM name WHERE id IN ({several})"
        return [DatasetId(*row) for row in self._fact_rows(sql, 2 * self._bound)]


def _reported(kind: Callable[..., ReportT], rows: Iterable[Row]) -> list[ReportT]:
    """From time, digest, run key and the columns of the kind."""
    return [kind(Stamp(*row[:2]), run_id_of_key(row[2]), *row[3:]) for row in rows]


def _position(change: ShapeChange) -> tuple[int, bytes, Direction, bytes]:
    """The position of a change among those of its part, and mostly among all."""
    return *change.stamp, change.direction, change.content


def _stamped(row: Sequence[Any]) -> Stamped:
    """From time, digest, direction and content."""
    time_us, digest, direction, content = row
    return Stamped(Stamp(time_us, digest), direction == "output", content)
