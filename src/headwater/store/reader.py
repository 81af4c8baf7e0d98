"""Reading the store: the log, the merged facts and the facets, on a connection of its own that never waits."""

# ruff: noqa: S608  SQL is put together from the constants of this file only; values go in as parameters

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

import orjson

from headwater.errors import UnavailableError
from headwater.model.events import Direction, Stamp
from headwater.model.facts import Content, Fact, ObservedFacet, RunFacet
from headwater.model.names import DatasetId
from headwater.store.entries import LoggedEvent
from headwater.store.tables import TABLES, Row, run_id_of_key, run_key

_KEPT_CONTENTS: Final = 1_000
"""Contents that are kept as read; one that lists the sources of 100 columns takes 100 kB in memory."""


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


class SqliteReader:
    """Answers from one SQLite file; called from one thread at a time, which need not be the writer's.

    Every method raises UnavailableError where the disk does not answer.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._reader = connection
        self._reader.execute("PRAGMA query_only = ON")
        self.content = lru_cache(maxsize=_KEPT_CONTENTS)(self._read_content)

    def _rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        try:
            yield from self._reader.execute(sql, values)
        except sqlite3.Error as fault:
            raise UnavailableError(f"the database does not answer: {fault}") from fault

    def _value(self, sql: str, values: Sequence[object] = ()) -> Any:  # noqa: ANN401  whatever the column holds
        return next((row[0] for row in self._rows(sql, values)), None)

    # Facts

    def facts(self, *, with_contents: bool = True) -> Iterator[Fact]:
        """Every merged fact, contents first, runs before what they observed."""
        names = {row[0]: (row[1], row[2]) for row in self._rows("SELECT * FROM name")}
        for table in TABLES:
            if with_contents or table.kind is not Content:
                for row in self._rows(table.select):
                    yield table.fact(row, names.__getitem__)

    def graph_facts(self) -> Iterator[Fact]:
        """The merged facts that a graph is made of: neither contents nor what is read from here when a run is shown."""
        names = {row[0]: (row[1], row[2]) for row in self._rows("SELECT * FROM name")}
        for table in TABLES:
            if table.kind not in (Content, RunFacet):
                where = " WHERE slot = 'facets'" if table.kind is ObservedFacet else ""
                for row in self._rows(table.select + where):
                    yield table.fact(row, names.__getitem__)

    def _read_content(self, digest: bytes) -> Mapping[str, Any]:
        body = self._value("SELECT body FROM content WHERE digest = ?", (digest,))
        content: Mapping[str, Any]
        try:
            content = orjson.loads(body)
        except orjson.JSONDecodeError:  # numbers beyond what a double holds, lone surrogates: JSON all the same
            content = json.loads(body)
        return content

    def bodies(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The JSON of contents, by digest."""
        sql = f"SELECT digest, body FROM content WHERE digest IN ({_marks(digests)})"
        return dict(self._rows(sql, digests))

    # The log

    def size(self) -> int:
        """How many events the log holds."""
        return int(self._value("SELECT coalesce(max(idx) + 1, 0) FROM log"))

    def verdict_counts(self) -> dict[str, int]:
        """How many events were stored with each verdict."""
        return dict(self._rows("SELECT verdict, count(*) FROM log GROUP BY verdict"))

    def raw(self, digest: bytes) -> bytes | None:
        """The bytes of an event, as they came."""
        raw: bytes | None = self._value("SELECT raw FROM log WHERE digest = ?", (digest,))
        return raw

    def events(
        self, before_us: int, after_us: int, order: Literal["asc", "desc"], limit: int, offset: int
    ) -> tuple[list[LoggedEvent], int]:
        """A page of the events with `after_us` <= event time < `before_us`, by event time, and how many there are."""
        where = "WHERE event_us >= ? AND event_us < ?"
        way = "ASC" if order == "asc" else "DESC"
        page = f"SELECT {_LOGGED} FROM log {where} ORDER BY event_us {way}, idx {way} LIMIT ? OFFSET ?"
        events = [LoggedEvent(*row) for row in self._rows(page, (after_us, before_us, limit, offset))]
        total = self._value(f"SELECT count(*) FROM log {where}", (after_us, before_us))
        return events, total

    def events_of_namespace(self, namespace: str, limit: int, offset: int) -> tuple[list[LoggedEvent], int]:
        """A page of the events of the runs of a namespace's jobs, the newest first, and how many there are."""
        joined = (
            "FROM name JOIN run_of_job ON job = name.id JOIN log ON log.run = run_of_job.run WHERE name.namespace = ?"
        )
        page = f"SELECT {_LOGGED} {joined} ORDER BY event_us DESC, idx DESC LIMIT ? OFFSET ?"
        events = [LoggedEvent(*row) for row in self._rows(page, (namespace, limit, offset))]
        return events, self._value(f"SELECT count(*) {joined}", (namespace,))

    def run_events(self, run_id: str, limit: int = -1, offset: int = 0) -> list[LoggedEvent]:
        """A page of the events of a run, by event time; -1 gives all."""
        sql = f"SELECT {_LOGGED} FROM log WHERE run = ? ORDER BY event_us, idx LIMIT ? OFFSET ?"
        return [LoggedEvent(*row) for row in self._rows(sql, (run_key(run_id), limit, offset))]

    def run_verdicts(self, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str | None, int]]]:
        """For each run: verdict, key id, and how many of its events came out so."""
        sql = (
            f"SELECT run, verdict, key_id, count(*) FROM log WHERE run IN ({_marks(run_ids)}) "
            "GROUP BY run, verdict, key_id"
        )
        verdicts: dict[str, list[tuple[str, str | None, int]]] = {run_id: [] for run_id in run_ids}
        for run, verdict, key_id, count in self._rows(sql, [run_key(run_id) for run_id in run_ids]):
            verdicts[run_id_of_key(run)].append((verdict, key_id, count))
        return verdicts

    # Facets

    def run_facets(self, run_ids: Sequence[str]) -> dict[str, list[RunFacetRow]]:
        """For each run: its own facets."""
        sql = (
            "SELECT run, name, body FROM run_facet JOIN content ON digest = content "
            f"WHERE run IN ({_marks(run_ids)}) ORDER BY run, name"
        )
        facets: dict[str, list[RunFacetRow]] = {run_id: [] for run_id in run_ids}
        for run, *facet in self._rows(sql, [run_key(run_id) for run_id in run_ids]):
            facets[run_id_of_key(run)].append(RunFacetRow(*facet))
        return facets

    def observed_facets(self, run_ids: Sequence[str]) -> dict[str, list[ObservedFacetRow]]:
        """For each run: the direction facets of its datasets, and the digests of their schemas and versions."""
        sql = (
            "SELECT run, direction, n.namespace, n.name, o.name, content, body "
            "FROM observed_facet o JOIN name n ON n.id = o.dataset "
            "LEFT JOIN content ON digest = content AND slot = 'direction_facets' "
            f"WHERE run IN ({_marks(run_ids)}) AND (slot = 'direction_facets' OR o.name IN ('schema', 'version')) "
            "ORDER BY run, o.name, n.namespace, n.name"
        )
        facets: dict[str, list[ObservedFacetRow]] = {run_id: [] for run_id in run_ids}
        for run, direction, namespace, name, *facet in self._rows(sql, [run_key(run_id) for run_id in run_ids]):
            facets[run_id_of_key(run)].append(ObservedFacetRow(direction, DatasetId(namespace, name), *facet))
        return facets

    def dataset_facets(self, run_id: str, direction: Direction, dataset: DatasetId) -> dict[str, bytes]:
        """The facets of a dataset as one run saw it, as JSON."""
        sql = (
            "SELECT name, body FROM observed_facet JOIN content ON digest = content "
            f"WHERE run = ? AND direction = ? AND dataset = {_NAME_ID} AND slot = 'facets' ORDER BY name"
        )
        return dict(self._rows(sql, (run_key(run_id), direction, *dataset)))

    def facet_at(self, dataset: DatasetId, name: str, time_us: int) -> tuple[Stamp, bytes] | None:
        """The newest schema or version facet that a run told of until then, that time included: stamp and digest."""
        sql = (
            f"SELECT stamp_us, stamp_digest, content FROM observed_facet WHERE {_SHAPES} AND dataset = {_NAME_ID} "
            "AND name = ? AND stamp_us <= ? ORDER BY stamp_us DESC, stamp_digest DESC LIMIT 1"
        )
        row = next(self._rows(sql, (*dataset, name, time_us)), None)
        return row and (Stamp(*row[:2]), row[2])

    def shape_changes(self, dataset: DatasetId) -> list[ShapeChange]:
        """When runs told of another schema or version than before, by event time."""
        sql = (
            "SELECT stamp_us, stamp_digest, run, direction, name, content FROM ("
            "SELECT *, lag(content) OVER (PARTITION BY name ORDER BY stamp_us, stamp_digest) AS former "
            f"FROM observed_facet WHERE {_SHAPES} AND dataset = {_NAME_ID}) "
            "WHERE former IS NOT content ORDER BY stamp_us, stamp_digest"
        )
        return [
            ShapeChange(Stamp(*row[:2]), run_id_of_key(row[2]), row[3], dataset, *row[4:])
            for row in self._rows(sql, dataset)
        ]


_LOGGED = "idx, digest, received_us, event_us, event_type, verdict, key_id, raw"
_SHAPES = "slot = 'facets' AND name IN ('schema', 'version')"
"""As in the index `observed_shape`."""
_NAME_ID = "(SELECT id FROM name WHERE namespace = ? AND name = ?)"


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
