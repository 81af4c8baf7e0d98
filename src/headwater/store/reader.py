"""Reading the store: the log, the merged facts and the facets, on a connection of its own that never waits."""

# ruff: noqa: S608  SQL is put together from the constants of this file only; values go in as parameters

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple, cast

from headwater.errors import UnavailableError
from headwater.model import strict_json
from headwater.model.events import Direction, Stamp
from headwater.model.facts import (
    TROUBLE,
    Alias,
    CatalogEntry,
    ChainLink,
    Content,
    DeclaredShape,
    Edit,
    EngineCatalog,
    Fact,
    ObservedFacet,
    RunFacet,
    Seen,
)
from headwater.model.names import DatasetId, JobId
from headwater.store.bulk import marks
from headwater.store.connection import Connection, Row
from headwater.store.entries import LoggedEvent
from headwater.store.numbers import LookedUpNames, ReadNames, run_id_of_key
from headwater.store.packing import content_of_row, unpacked
from headwater.store.segments import Segments
from headwater.store.tables import TABLES, target_of_key
from headwater.store.tree import ReadTree

_KEPT_CONTENTS: Final = 1_000
"""Contents that are kept as read; one that lists the sources of 100 columns takes 100 kB in memory."""

_OF_GRAPH: Final[Mapping[type[Fact], str]] = {
    ObservedFacet: " WHERE slot = 'facets'",
    DeclaredShape: " WHERE dataset IS NULL",  # none: read from here where versions are shown
    RunFacet: " WHERE name IN ('" + "', '".join(sorted(TROUBLE)) + "')",
}
"""Which facts of a kind a graph is made of, where it is not all of them."""


_ALL: Final = 2**62
_END_OF_TIME_US: Final = 2**62


class RunFacetRow(NamedTuple):
    """A facet of a run, as JSON."""

    name: str
    body: bytes


class ObservedFacetRow(NamedTuple):
    """What one run told of a dataset: a direction facet as JSON, or the digest alone of its schema or version."""

    direction: Direction
    dataset: DatasetId
    name: str
    content: bytes
    body: bytes | None


class ShapeChange(NamedTuple):
    """A run told of another schema or version of a dataset than the run before it."""

    stamp: Stamp
    run_id: str
    direction: Direction
    dataset: DatasetId
    name: Literal["schema", "version"]
    content: bytes


class ToldFacet(NamedTuple):
    """A facet of a dataset as a run told it, by its digest."""

    stamp: Stamp
    run_id: str
    direction: Direction
    name: str
    content: bytes


class Reader:
    """Answers from one database; called from one thread at a time, which need not be the writer's.

    Every method raises UnavailableError where the database does not answer.
    """

    def __init__(self, connection: Connection, segments: Segments | None = None, until_us: int | None = None) -> None:
        """Read from a connection; with `until_us` only what events until that time say, as far as rows tell."""
        self._reader = connection
        self._segments = segments
        self._until_us = _END_OF_TIME_US if until_us is None else until_us
        # Not even asked where there is no bound: several answers then come from an index alone.
        self._if_happened = "" if until_us is None else f" AND +event_us <= {until_us}"
        self._if_told = "" if until_us is None else f" AND +stamp_us <= {until_us}"
        self._rows = connection.rows
        self._key = connection.run_key
        self._counted: Counter[str] = Counter()
        """Entries of the log by verdict, as many of its first ones as that makes: there are no holes."""
        self.tree = ReadTree(self._rows)
        self.content = lru_cache(maxsize=_KEPT_CONTENTS)(self._read_content)

    def _wait_for_facts(self) -> None:
        """See to it that the facts of every event in the log can be read, as far as possible now."""

    def close(self) -> None:
        """Close the connection."""
        self._reader.close()

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401  whatever the column holds
        return next((row[0] for row in self._rows(sql, values)), None)

    # Facts

    def facts(self, *, with_contents: bool = True) -> Iterator[Fact]:
        """Every merged fact, contents first, runs before what they observed."""
        return self._read_facts(with_contents, {})

    def graph_facts(self) -> Iterator[Fact]:
        """The merged facts that a graph is made of: neither contents nor what is read from here when a run is shown."""
        return self._read_facts(False, _OF_GRAPH)

    def edit_facts(self, kind: str) -> Iterator[Edit]:
        """The edits that hold of targets of that kind, as `key` or `dataset`."""
        self._wait_for_facts()
        sql = "SELECT target, what, value, log_idx, first_us, last_us FROM edit"
        for target, what, value, place, *seen in self._rows(sql):
            if (named := target_of_key(target))[0] == kind:
                yield Edit(named, what, value, place, Seen(*seen))

    def _read_facts(self, with_contents: bool, where: Mapping[type[Fact], str]) -> Iterator[Fact]:
        self._wait_for_facts()
        tables = [table for table in TABLES if with_contents or table.kind is not Content]
        with self._reader.one_moment():
            names = ReadNames(self._reader)
            for table in tables:
                for row in self._reader.many_rows(table.select + where.get(table.kind, "")):
                    yield table.fact(row, names)

    def identity_facts(self) -> list[Fact]:
        """What tells which names are one dataset, if it was first told until this reader's time."""
        self._wait_for_facts()
        names = LookedUpNames(self._reader)
        tables = (table for table in TABLES if table.kind in (Alias, CatalogEntry, EngineCatalog))
        early = f" WHERE first_us <= {self._until_us}"
        return [table.fact(row, names) for table in tables for row in list(self._rows(table.select + early))]

    def chain_links(self, until_us: int) -> list[Fact]:
        """The places of signed events in their nodes' records, of those that happened until then."""
        self._wait_for_facts()
        names = LookedUpNames(self._reader)
        (table,) = (table for table in TABLES if table.kind is ChainLink)
        rows = self._rows(f"{table.select} WHERE event_us <= ?", (until_us,))
        return [table.fact(row, names) for row in list(rows)]

    def _read_content(self, digest: bytes) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], strict_json.parse(self._read_content_body(digest)))

    def _read_content_body(self, digest: bytes) -> bytes:
        return content_of_row(self._value("SELECT body FROM content WHERE digest = ?", (digest,)))

    def bodies(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The JSON of contents, by digest."""
        self._wait_for_facts()
        sql = f"SELECT digest, body FROM content WHERE digest IN ({marks(digests)})"
        return {digest: content_of_row(body) for digest, body in self._rows(sql, digests)}

    # The log

    def size(self) -> int:
        """How many entries the log holds: events and edits."""
        if self._if_happened:
            return int(self._value("SELECT count(*) FROM log WHERE event_us <= ?", (self._until_us,)))
        return int(self._value("SELECT coalesce(max(idx) + 1, 0) FROM log"))

    def folded(self) -> int:
        """Of how many entries the facts are stored."""
        return int(self._value("SELECT events FROM folded"))

    def first_received(self, received_us: int) -> int:
        """The place of the first entry that came at that time or later; the log's size if there is none."""
        low, high = 0, self.size()
        while low < high:  # the log is in the order in which entries came, but for a clock that was set back
            middle = (low + high) // 2
            if int(self._value("SELECT received_us FROM log WHERE idx = ?", (middle,))) < received_us:
                low = middle + 1
            else:
                high = middle
        return low

    def verdict_counts(self) -> dict[str, int]:
        """How many events were stored with each verdict."""
        if self._if_happened:
            early = "SELECT verdict, count(*) FROM log WHERE event_us <= ? AND event_type <> 'EDIT' GROUP BY verdict"
            return dict(self._rows(early, (self._until_us,)))
        new = " WHERE idx >= ?" if self._counted else ""  # the first time, an index that has it all is read instead
        sql = f"SELECT verdict, count(*) FROM log{new} GROUP BY verdict"
        self._counted.update(dict(self._rows(sql, [self._counted.total()] if new else [])))
        edits = "SELECT verdict, count(*) FROM log WHERE event_type = 'EDIT' AND +idx < ? GROUP BY verdict"
        return self._counted - Counter(dict(self._rows(edits, [self._counted.total()])))

    def verdicts(self) -> Iterator[tuple[str | None, str, str | None, int]]:
        """How many events were stored with each verdict, by run (None: events without one) and by the key they name."""
        early = self._if_happened.replace("AND", "WHERE", 1)
        counts = f"SELECT run, verdict, key_id, count(*) AS events FROM log{early} GROUP BY run, verdict, key_id"
        sql = f"SELECT run_id, verdict, key_id, events FROM ({counts}) AS counted LEFT JOIN run ON id = run"
        for run, verdict, key_id, events in self._rows(sql):
            yield None if run is None else run_id_of_key(run), verdict, key_id, events

    def runs_that_told(self, event_type: str) -> Iterator[str]:
        """The runs of which an event of that type is in the log; looks through all of it."""
        sql = f"SELECT run_id FROM run WHERE id IN (SELECT run FROM log WHERE event_type = ?{self._if_happened})"
        return (run_id_of_key(row[0]) for row in self._rows(sql, (event_type,)))

    def raw(self, digest: bytes) -> bytes | None:
        """The bytes of an event, as they came."""
        row = next(self._rows(f"SELECT idx, packed FROM log WHERE digest = ?{self._if_happened}", (digest,)), None)
        return None if row is None else self._unpacked(row[0], digest, row[1])

    def known_digests(self, digests: Sequence[bytes]) -> set[bytes]:
        """Those of the digests whose bytes are in the log."""
        known: set[bytes] = set()
        for begin in range(0, len(digests), _IN_ONE_QUESTION):
            asked = digests[begin : begin + _IN_ONE_QUESTION]
            known.update(
                row[0] for row in self._rows(f"SELECT digest FROM log WHERE digest IN ({marks(asked)})", asked)
            )
        return known

    def _unpacked(self, place: int, digest: bytes, frame: bytes) -> bytes:
        """The bytes of an event, from its row in the log; an empty frame means that they are in a segment."""
        if frame:
            return unpacked(frame)
        if self._segments is None:
            raise UnavailableError(f"the bytes of event {place} are in a segment, and no folder of segments is known")
        raw = self._segments.raw(place)
        if sha256(raw).digest() != digest:
            raise UnavailableError(f"the segment that has event {place} holds other bytes than were logged")
        return raw

    def events(
        self, before_us: int, after_us: int, order: Literal["asc", "desc"], limit: int, offset: int
    ) -> tuple[list[LoggedEvent], int]:
        """A page of the events with `after_us` <= event time < `before_us`, by event time, and how many there are."""
        before_us = min(before_us, self._until_us + 1)
        where = "WHERE event_us >= ? AND event_us < ?"
        way = "ASC" if order == "asc" else "DESC"
        page = (
            f"SELECT {_LOGGED} FROM log {where} AND event_type <> 'EDIT' "
            f"ORDER BY event_us {way}, idx {way} LIMIT ? OFFSET ?"
        )
        events = [self._logged(row) for row in self._rows(page, (after_us, before_us, limit, offset))]
        return events, self._events_between(after_us, before_us)

    def _events_between(self, after_us: int, before_us: int) -> int:
        if -after_us >= _END_OF_TIME_US <= before_us:  # all of them: their places tell how many, for there are no holes
            return self.size() - int(self._value("SELECT count(*) FROM log WHERE event_type = 'EDIT'"))
        where, bounds = "WHERE event_us >= ? AND event_us < ?", (after_us, before_us)
        edits = self._value(f"SELECT count(*) FROM log {where} AND event_type = 'EDIT'", bounds)
        return int(self._value(f"SELECT count(*) FROM log {where}", bounds)) - int(edits)

    def edits(self, limit: int, offset: int) -> tuple[list[LoggedEvent], int]:
        """A page of the edits, the newest first, and how many there are."""
        # Without an index's name the whole log is looked through.
        few = f"FROM log INDEXED BY log_edits WHERE event_type = 'EDIT'{self._if_happened}"
        page = f"SELECT {_LOGGED} {few} ORDER BY idx DESC LIMIT ? OFFSET ?"
        edits = [self._logged(row) for row in self._rows(page, (limit, offset))]
        return edits, self._value(f"SELECT count(*) {few}")

    def event_counts(self, start_us: int, end_us: int) -> dict[str, int]:
        """How many events of each type there are with `start_us` <= event time < `end_us`."""
        sql = "SELECT event_type, count(*) FROM log WHERE event_us >= ? AND event_us < ? GROUP BY event_type"
        return dict(self._rows(sql, (start_us, min(end_us, self._until_us + 1))))

    def started_us(self, run_id: str) -> int | None:
        """The time of the first event by which the run was under way or at its end."""
        sql = f"SELECT min(event_us) FROM log WHERE run = {_RUN} AND event_type <> 'OTHER'{self._if_happened}"
        time_us: int | None = self._value(sql, (self._key(run_id),))
        return time_us

    def events_of_namespace(self, namespace: str, limit: int, offset: int) -> tuple[list[LoggedEvent], int]:
        """A page of the events of the runs of a namespace's jobs, the newest first, and how many there are."""
        joined = (
            "FROM name JOIN run_of_job ON job = name.id JOIN log ON log.run = run_of_job.run "
            f"WHERE name.namespace = ?{self._if_happened}"
        )
        self._wait_for_facts()
        page = f"SELECT {_LOGGED} {joined} ORDER BY event_us DESC, idx DESC LIMIT ? OFFSET ?"
        events = [self._logged(row) for row in self._rows(page, (namespace, limit, offset))]
        return events, self._value(f"SELECT count(*) {joined}", (namespace,))

    def _logged(self, row: Row) -> LoggedEvent:
        return LoggedEvent._make((*row[:-1], self._unpacked(row[0], row[1], row[-1])))

    def logged(self, places: range, until_us: int | None = None) -> Iterator[LoggedEvent]:
        """The events in these places of the log that happened until then, that time included, in the log's order."""
        sql = f"SELECT {_LOGGED} FROM log WHERE idx >= ? AND idx < ? AND +event_us <= ? ORDER BY idx"
        until = self._until_us if until_us is None else min(until_us, self._until_us)
        for begin in range(places.start, places.stop, _IN_ONE_ANSWER):  # PostgreSQL gives an answer whole
            end = min(begin + _IN_ONE_ANSWER, places.stop)
            yield from map(self._logged, self._rows(sql, (begin, end, until)))

    def raw_before(self, places: range, received_us: int) -> list[bytes]:
        """The raw bytes of the events in these places, if all are there, were received before then, and are folded."""
        sql = "SELECT count(*) FROM log, folded WHERE idx >= ? AND idx < ? AND idx < events AND received_us < ?"
        if self._value(sql, (places.start, places.stop, received_us)) < len(places):
            return []
        return [logged.raw for logged in self.logged(places)]

    def told_of(self, run_ids: Sequence[str], until_us: int = _END_OF_TIME_US) -> Iterator[LoggedEvent]:
        """The events of the runs, and all that declare a job or dataset or edit something, that happened until then."""
        early = f" AND +event_us <= {min(until_us, self._until_us)}"
        few = "SELECT id FROM run WHERE run_id IN ({marks})"
        of_runs = f"SELECT {_LOGGED} FROM log WHERE run IN ({few}){early}"
        for begin in range(0, len(run_ids), _IN_ONE_QUESTION):
            asked = run_ids[begin : begin + _IN_ONE_QUESTION]
            rows = self._rows(of_runs.format(marks=marks(asked)), [self._key(run_id) for run_id in asked])
            yield from map(self._logged, rows)
        yield from map(self._logged, self._rows(f"SELECT {_LOGGED} FROM log WHERE run IS NULL{early}"))

    def at(self, places: Sequence[int]) -> dict[int, LoggedEvent]:
        """The events in these places of the log."""
        rows = self._rows(f"SELECT {_LOGGED} FROM log WHERE idx IN ({marks(places)})", places)
        return {event.log_index: event for event in map(self._logged, rows)}

    def newest_us(self, log_size: int | None = None, until_us: int | None = None) -> int | None:
        """The latest event time in the first entries of the log, or in all, until then; None where there is none."""
        sql = "SELECT event_us FROM log WHERE event_us <= ? AND idx < ? ORDER BY event_us DESC LIMIT 1"
        until = self._until_us if until_us is None else min(until_us, self._until_us)
        newest: int | None = self._value(sql, (until, _END_OF_TIME_US if log_size is None else log_size))
        return newest

    def run_events(self, run_id: str, limit: int = _ALL, offset: int = 0) -> list[LoggedEvent]:
        """A page of the events of a run, by event time."""
        sql = f"SELECT {_LOGGED} FROM log WHERE run = {_RUN}{self._if_happened} ORDER BY event_us, idx LIMIT ? OFFSET ?"
        return [self._logged(row) for row in self._rows(sql, (self._key(run_id), limit, offset))]

    def newest_events(self, run_id: str, limit: int, offset: int) -> list[LoggedEvent]:
        """A page of the events of a run, the newest by event time first."""
        order = "ORDER BY event_us DESC, idx DESC LIMIT ? OFFSET ?"
        sql = f"SELECT {_LOGGED} FROM log WHERE run = {_RUN}{self._if_happened} {order}"
        return [self._logged(row) for row in self._rows(sql, (self._key(run_id), limit, offset))]

    def run_verdicts(self, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str | None, int]]]:
        """For each run: verdict, key id, and how many of its events came out so."""
        sql = (
            f"SELECT run_id, verdict, key_id, count(*) FROM log JOIN {_runs(run_ids)} r ON id = run{self._if_happened} "
            "GROUP BY run_id, verdict, key_id"
        )
        verdicts: dict[str, list[tuple[str, str | None, int]]] = {run_id: [] for run_id in run_ids}
        for run, verdict, key_id, count in self._rows(sql, [self._key(run_id) for run_id in run_ids]):
            verdicts[run_id_of_key(run)].append((verdict, key_id, count))
        return verdicts

    def runs_that_named(self, job: JobId) -> list[str]:
        """The runs of which an event ever named the job as theirs, also those that turned out to be another's."""
        self._wait_for_facts()
        sql = f"SELECT run_id FROM named_job JOIN run ON id = run WHERE job = {_NAME}"
        return [run_id_of_key(row[0]) for row in self._rows(sql, job)]

    # Facets

    def run_facets(self, run_ids: Sequence[str]) -> dict[str, list[RunFacetRow]]:
        """For each run: its own facets."""
        sql = (
            f"SELECT run_id, name, body FROM {_runs(run_ids)} r JOIN run_facet ON run = r.id "
            f"JOIN content ON digest = content{self._if_told} ORDER BY run, name"
        )
        self._wait_for_facts()
        facets: dict[str, list[RunFacetRow]] = {run_id: [] for run_id in run_ids}
        for run, name, body in self._rows(sql, [self._key(run_id) for run_id in run_ids]):
            facets[run_id_of_key(run)].append(RunFacetRow(name, content_of_row(body)))
        return facets

    def observed_facets(self, run_ids: Sequence[str]) -> dict[str, list[ObservedFacetRow]]:
        """For each run: the direction facets of its datasets, and the digests of their schemas and versions."""
        sql = (
            "SELECT run_id, direction, n.namespace, n.name, o.name, content, body "
            f"FROM {_runs(run_ids)} r JOIN observed_facet o ON run = r.id JOIN name n ON n.id = o.dataset "
            "LEFT JOIN content ON digest = content AND slot = 'direction_facets' "
            f"WHERE (slot = 'direction_facets' OR o.name IN ('schema', 'version')){self._if_told} "
            "ORDER BY run, o.name, n.namespace, n.name"
        )
        self._wait_for_facts()
        facets: dict[str, list[ObservedFacetRow]] = {run_id: [] for run_id in run_ids}
        for run, direction, *pair, name, content, row in self._rows(sql, [self._key(run_id) for run_id in run_ids]):
            body = None if row is None else content_of_row(row)
            facets[run_id_of_key(run)].append(ObservedFacetRow(direction, DatasetId(*pair), name, content, body))
        return facets

    def told_facets(self, run_ids: Sequence[str], dataset: DatasetId, names: Sequence[str]) -> list[ToldFacet]:
        """The facets with these names, of either slot, that the runs told of a dataset under this very name."""
        sql = (
            "SELECT stamp_us, stamp_digest, run_id, direction, o.name, content "
            f"FROM {_runs(run_ids)} r JOIN observed_facet o ON run = r.id "
            f"WHERE dataset = {_NAME} AND o.name IN ({marks(names)}){self._if_told} "
            "ORDER BY stamp_us, stamp_digest, o.name, content"
        )
        self._wait_for_facts()
        rows = self._rows(sql, [*map(self._key, run_ids), *dataset, *names])
        return [ToldFacet(Stamp(*row[:2]), run_id_of_key(row[2]), *row[3:]) for row in rows]

    def dataset_facets(self, run_id: str, direction: Direction, dataset: DatasetId) -> dict[str, bytes]:
        """The facets of a dataset as one run saw it, as JSON."""
        sql = (
            "SELECT name, body FROM observed_facet JOIN content ON digest = content "
            f"WHERE run = {_RUN} AND direction = ? AND dataset = {_NAME} AND slot = 'facets'{self._if_told} "
            "ORDER BY name"
        )
        self._wait_for_facts()
        rows = self._rows(sql, (self._key(run_id), direction, *dataset))
        return {name: content_of_row(body) for name, body in rows}

    def newest_facets(self, run_ids: Sequence[str], dataset: DatasetId) -> dict[str, tuple[Stamp, bytes]]:
        """Of each facet that these runs told of a dataset under this very name, the newest stamp and digest."""
        sql = (
            f"SELECT o.name, stamp_us, stamp_digest, content FROM {_runs(run_ids)} r "
            "JOIN observed_facet o ON run = r.id "
            f"WHERE dataset = {_NAME} AND slot = 'facets'{self._if_told}"
        )
        self._wait_for_facts()
        newest: dict[str, tuple[Stamp, bytes]] = {}
        for name, time_us, digest, content in self._rows(sql, [*map(self._key, run_ids), *dataset]):
            stamped = Stamp(time_us, digest), content
            newest[name] = max(newest.get(name, stamped), stamped)
        return newest

    def facet_at(self, dataset: DatasetId, name: str, time_us: int) -> tuple[Stamp, bytes] | None:
        """The newest schema or version facet that a run told of until then, that time included: stamp and digest."""
        sql = (
            f"SELECT stamp_us, stamp_digest, content FROM observed_facet WHERE {_SHAPES} AND dataset = {_NAME} "
            "AND name = ? AND stamp_us <= ? ORDER BY stamp_us DESC, stamp_digest DESC LIMIT 1"
        )
        self._wait_for_facts()
        row = next(self._rows(sql, (*dataset, name, min(time_us, self._until_us))), None)
        return row and (Stamp(*row[:2]), row[2])

    def shapes_told(self, dataset: DatasetId) -> list[ShapeChange]:
        """Which schema or version each run told of, in no order."""
        sql = (
            "SELECT stamp_us, stamp_digest, run_id, direction, name, content FROM observed_facet "
            f"JOIN run ON id = run WHERE {_SHAPES} AND dataset = {_NAME}{self._if_told}"
        )
        self._wait_for_facts()
        return [
            ShapeChange(Stamp(*row[:2]), run_id_of_key(row[2]), row[3], dataset, *row[4:])
            for row in self._rows(sql, dataset)
        ]

    def shape_changes(self, dataset: DatasetId) -> list[ShapeChange]:
        """When runs told of another schema or version than before, by event time."""
        sql = (
            "SELECT stamp_us, stamp_digest, run_id, direction, name, content FROM ("
            "SELECT *, lag(content) OVER (PARTITION BY name ORDER BY stamp_us, stamp_digest) AS former "
            f"FROM observed_facet WHERE {_SHAPES} AND dataset = {_NAME}{self._if_told}) AS told JOIN run ON id = run "
            "WHERE former IS NULL OR former <> content ORDER BY stamp_us, stamp_digest"
        )
        self._wait_for_facts()
        return [
            ShapeChange(Stamp(*row[:2]), run_id_of_key(row[2]), row[3], dataset, *row[4:])
            for row in self._rows(sql, dataset)
        ]

    def declared_shapes(self, dataset: DatasetId) -> list[DeclaredShape]:
        """What dataset events said the dataset, under this very name, is like; by event time."""
        sql = (
            "SELECT stamp_us, stamp_digest, schema, version FROM declared_shape "
            f"WHERE dataset = {_NAME}{self._if_told} ORDER BY stamp_us, stamp_digest"
        )
        self._wait_for_facts()
        return [DeclaredShape(dataset, Stamp(*row[:2]), *row[2:]) for row in self._rows(sql, dataset)]

    def datasets_with_several_schemas(self) -> list[DatasetId]:
        """The names under which more than one schema was told of; looks through all that runs observed."""
        early = self._if_told
        told = (
            f"SELECT dataset, content FROM observed_facet WHERE slot = 'facets' AND name = 'schema'{early} "
            f"UNION SELECT dataset, schema FROM declared_shape WHERE schema IS NOT NULL{early}"
        )
        several = f"SELECT dataset FROM ({told}) AS told GROUP BY dataset HAVING count(*) > 1"
        self._wait_for_facts()
        return [DatasetId(*row) for row in self._rows(f"SELECT namespace, name FROM name WHERE id IN ({several})")]

    def with_digests(self, digests: Sequence[bytes]) -> dict[bytes, LoggedEvent]:
        """The events with these digests."""
        rows = self._rows(f"SELECT {_LOGGED} FROM log WHERE digest IN ({marks(digests)})", digests)
        return {event.digest: event for event in map(self._logged, rows)}


_IN_ONE_QUESTION = 500
_IN_ONE_ANSWER = 2_000
_LOGGED = "idx, digest, received_us, event_us, event_type, verdict, key_id, packed"
_SHAPES = "slot = 'facets' AND name IN ('schema', 'version')"
"""As in the index `observed_shape`."""
_RUN = "(SELECT id FROM run WHERE run_id = ?)"
_NAME = "(SELECT id FROM name WHERE namespace = ? AND name = ?)"


def _runs(run_ids: Sequence[str]) -> str:
    return f"(SELECT * FROM run WHERE run_id IN ({marks(run_ids)}))"
