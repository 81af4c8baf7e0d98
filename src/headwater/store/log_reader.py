"""Reading the log: entries in order, by time, by run, and counts."""

# ruff: noqa: S608  SQL is put together from constants only; values go in as parameters

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from headwater.errors import UnavailableError
from headwater.model.times import AFTER_ALL_US, BEFORE_ALL_US
from headwater.store.bounded import IN_ONE_QUESTION, RUN, RUNS, Bounded
from headwater.store.bulk import marks
from headwater.store.connection import RESTORED, Connection, Row
from headwater.store.entries import LoggedEvent
from headwater.store.numbers import run_id_of_key
from headwater.store.packing import DamagedFrame, unpacked
from headwater.store.segments import Segments

LOG_SIZE: Final = "SELECT coalesce(max(idx) + 1, 0) FROM log"
"""The number of log entries; indexes have no gaps."""
WITHOUT_FOLDED: Final = f"the database does not say of how many entries it has the facts: {RESTORED}"
_ALL: Final = 2**62
_IN_ONE_ANSWER: Final = 2_000
_FEW: Final = 16
_OTHERS: Final = {
    False: "log INDEXED BY log_edits WHERE event_type = 'EDIT'",  # else all of the log is looked through
    True: "log WHERE run IS NULL",
}
"""The log entries that are no events, and those that are no run events."""
_STEPS_BEHIND: Final = 40
"""Samples taken after an event, at doubling distances; enough to pass the end of any log."""
_FIRST_READ: Final = 4
"""The newest events of a run that are read first; they nearly always suffice."""
_LOGGED: Final = "idx, digest, received_us, event_us, event_type, verdict, key_id, packed"


VerdictRow = tuple[str | None, str, str | None, int]
"""Run id (None: events without a run), verdict, key id (if any), and number of events."""


class VerdictsRead(NamedTuple):
    """The signature verdicts in a stretch of the log."""

    begin: int
    end: int
    rows: Sequence[VerdictRow]


class ReportedState(NamedTuple):
    """A change of a run's state, as an event reports it."""

    event_type: str
    event_us: int
    digest: bytes


class EventsQuery(NamedTuple):
    """A query for events by time."""

    after_us: int = BEFORE_ALL_US
    """Inclusive."""
    before_us: int = AFTER_ALL_US
    """Exclusive."""
    order: Literal["asc", "desc"] = "desc"
    of_runs: bool = False
    """Only run events; otherwise job and dataset events too."""


class LogReader(Bounded):
    """Queries of the log."""

    def __init__(self, connection: Connection, segments: Segments | None = None, until_us: int | None = None) -> None:
        super().__init__(connection, until_us)
        self.known_segments = segments
        """The folder of raw bytes moved out of the database; None: not known."""
        self._counted: Counter[str] = Counter()
        """Counts by verdict for a prefix of the log; their sum is the prefix's length."""

    def size(self) -> int:
        """The number of log entries: events and edits."""
        if self._if_happened:
            return int(self._value("SELECT count(*) FROM log WHERE event_us <= ?", (self._until_us,)))
        return self._entries()

    def _entries(self) -> int:
        return int(self._value(LOG_SIZE))

    def folded(self) -> int:
        """The number of log entries whose facts are stored."""
        if (events := self._value("SELECT events FROM folded")) is None:
            raise UnavailableError(WITHOUT_FOLDED)
        return int(events)

    def first_received(self, received_us: int) -> int:
        """The index of the first entry received at that time or later; the log's size if there is none."""
        first = self._bisected(received_us)
        earlier = self._value("SELECT min(idx) FROM log WHERE idx < ? AND received_us >= ?", (first, received_us))
        return first if earlier is None else int(earlier)

    def end_received(self, received_us: int) -> int:
        """The index after the last entry received before that time; 0 if there is none.

        This is `first_received`, unless the clock was set back: then entries from before and after a time alternate.
        """
        end = self._bisected(received_us)
        later = self._value("SELECT max(idx) FROM log WHERE idx >= ? AND received_us < ?", (end, received_us))
        return end if later is None else int(later) + 1

    def _bisected(self, received_us: int) -> int:
        """An index with a later entry than this time there, and an earlier one before it."""
        low, high = 0, self.size()
        while low < high:
            middle = (low + high) // 2
            middle_us = self._value("SELECT received_us FROM log WHERE idx = ?", (middle,))
            if middle_us is None:
                raise UnavailableError(f"the log has no entry {middle}, but has later ones: {RESTORED}")
            if middle_us < received_us:
                low = middle + 1
            else:
                high = middle
        return low

    def verdict_counts(self) -> dict[str, int]:
        """The number of events by verdict."""
        if self._if_happened:
            early = "SELECT verdict, count(*) FROM log WHERE event_us <= ? AND event_type <> 'EDIT' GROUP BY verdict"
            return dict(self._rows(early, (self._until_us,)))
        new = " WHERE idx >= ?" if self._counted else ""  # the first time, an index that has it all is read instead
        sql = f"SELECT verdict, count(*) FROM log{new} GROUP BY verdict"
        self._counted.update(dict(self._rows(sql, [self._counted.total()] if new else [])))
        edits = "SELECT verdict, count(*) FROM log WHERE event_type = 'EDIT' AND +idx < ? GROUP BY verdict"
        return self._counted - Counter(dict(self._rows(edits, [self._counted.total()])))

    @property
    def counted(self) -> int:
        """The number of log entries, including edits, that the last `verdict_counts` covered."""
        return self._counted.total()

    def verdicts(self, begin: int = 0) -> VerdictsRead:
        """The number of events from that index on, by run, verdict and key."""
        end = self._entries()
        column = "idx" if begin else "+idx"  # all of them are counted by the index on runs, which has no raw bytes
        bound = (begin, end, *self._bound)
        where = f"WHERE {column} >= ? AND {column} < ?{self._if_happened}"
        counts = f"SELECT run, verdict, key_id, count(*) AS events FROM log {where} GROUP BY run, verdict, key_id"
        sql = f"SELECT run_id, verdict, key_id, events FROM ({counts}) AS counted LEFT JOIN run ON id = run"
        edits = (  # which have no run, and so no entry in that index
            "SELECT verdict, key_id, count(*) FROM log "
            f"WHERE event_type = 'EDIT' AND +idx >= ? AND +idx < ?{self._if_happened} GROUP BY verdict, key_id"
        )
        rows = Counter({(run and run_id_of_key(run), *rest): events for run, *rest, events in self._rows(sql, bound)})
        rows -= Counter({(None, *rest): events for *rest, events in self._rows(edits, bound)})
        return VerdictsRead(begin, end, [(*key, events) for key, events in rows.items()])

    def runs_with_event_type(self, event_type: str) -> Iterator[str]:
        """The runs with an event of that type; scans the whole log."""
        sql = f"SELECT run_id FROM run WHERE id IN (SELECT run FROM log WHERE event_type = ?{self._if_happened})"
        return (run_id_of_key(row[0]) for row in self._rows(sql, (event_type, *self._bound)))

    def raw(self, digest: bytes) -> bytes | None:
        """The bytes of an event, as they came."""
        sql = f"SELECT idx, packed FROM log WHERE digest = ?{self._if_happened}"
        row = next(self._rows(sql, (digest, *self._bound)), None)
        return None if row is None else self._unpacked(row[0], digest, row[1])

    def known_digests(self, digests: Sequence[bytes]) -> set[bytes]:
        """The digests among these whose bytes are in the log."""
        return {row[0] for row in self._rows_in("SELECT digest FROM log WHERE digest IN ({})", digests)}

    def _unpacked(self, log_index: int, digest: bytes, frame: bytes) -> bytes:
        """The bytes of an event, from its row; an empty frame means that they are in a segment."""
        if frame:
            try:
                return unpacked(frame)
            except DamagedFrame as fault:
                raise UnavailableError(
                    f"the bytes of event {log_index} in the database are damaged: {fault}"
                ) from fault
        if self.known_segments is None:
            raise UnavailableError(
                f"the bytes of event {log_index} are in a segment: set HEADWATER_HOME to the folder that has `segments`"
            )
        raw = self.known_segments.raw(log_index)
        if sha256(raw).digest() != digest:
            raise UnavailableError(f"the segment of event {log_index} has different bytes than were logged")
        return raw

    def events(self, query: EventsQuery, limit: int, offset: int) -> tuple[list[LoggedEvent], int]:
        """A page of events by event time, and the total number."""
        bounds = query.after_us, min(query.before_us, self._until_us + 1)
        direction = "ASC" if query.order == "asc" else "DESC"
        page = (
            f"SELECT {_LOGGED} FROM log WHERE event_us >= ? AND event_us < ? AND {_those(query)} "
            f"ORDER BY event_us {direction}, idx {direction} LIMIT ? OFFSET ?"
        )
        events = [self._logged(row) for row in self._rows(page, (*bounds, limit, offset))]
        return events, self._count(query, bounds)

    def _count(self, query: EventsQuery, bounds: tuple[int, int]) -> int:
        if bounds == (BEFORE_ALL_US, AFTER_ALL_US):  # all: the log has no gaps, so its size is enough
            return self.size() - int(self._value(f"SELECT count(*) FROM {_OTHERS[query.of_runs]}"))
        return int(
            self._value(f"SELECT count(*) FROM log WHERE event_us >= ? AND event_us < ? AND {_those(query)}", bounds)
        )

    def edits(self, limit: int, offset: int) -> tuple[list[LoggedEvent], int]:
        """A page of edits, newest first, and the total number."""
        # Without an index's name the whole log is looked through.
        few = f"FROM log INDEXED BY log_edits WHERE event_type = 'EDIT'{self._if_happened}"
        page = f"SELECT {_LOGGED} {few} ORDER BY idx DESC LIMIT ? OFFSET ?"
        edits = [self._logged(row) for row in self._rows(page, (*self._bound, limit, offset))]
        return edits, self._value(f"SELECT count(*) {few}", self._bound)

    def event_counts(self, start_us: int, end_us: int) -> dict[str, int]:
        """The number of events by type with `start_us` <= event time < `end_us`."""
        sql = "SELECT event_type, count(*) FROM log WHERE event_us >= ? AND event_us < ? GROUP BY event_type"
        return dict(self._rows(sql, (start_us, min(end_us, self._until_us + 1))))

    def runs_of_namespace(self, namespace: str) -> list[str]:
        """The runs of a namespace's jobs, in no order."""
        sql = (
            "SELECT run_id FROM name JOIN run_of_job ON job = name.id JOIN run ON run.id = run_of_job.run "
            "WHERE namespace = ?"
        )
        return [run_id_of_key(row[0]) for row in self._fact_rows(sql, (namespace,))]

    def runs_at(self, indexes: range) -> dict[int, str]:
        """The runs that entries were stored under, by log index."""
        sql = "SELECT idx, run_id FROM log JOIN run ON run.id = log.run WHERE idx >= ? AND idx < ?"
        return {log_index: run_id_of_key(key) for log_index, key in self._rows(sql, (indexes.start, indexes.stop))}

    def count_of_namespace(self, namespace: str) -> int:
        """The number of run events of a namespace's jobs; reads each of them."""
        runs_of_it, values = self._runs_of_namespace(namespace)
        sql = f"SELECT count(*) FROM log WHERE run IN ({runs_of_it}){self._if_happened}"
        [(count,)] = self._fact_rows(sql, (*values, *self._bound))
        return int(count)

    def events_of_namespace(self, namespace: str, count: int, limit: int, offset: int) -> list[LoggedEvent]:
        """A page of the events of the runs of a namespace's jobs, the newest first; `count` of them there are.

        Where they are many, the log is gone through from its newest event; where few, all of them are put in order.
        """
        runs_of_it, values = self._runs_of_namespace(namespace)
        if (offset + limit) * self._entries() < count * count:
            is_of_it = f"EXISTS (SELECT 1 FROM ({runs_of_it}) AS it WHERE it.run = log.run)"
            indexes = f"SELECT idx FROM log WHERE {is_of_it} AND event_us <= ?"
        else:
            indexes = f"SELECT idx FROM log WHERE run IN ({runs_of_it}) AND +event_us <= ?"
        order = "ORDER BY event_us DESC, idx DESC"
        page = f"SELECT {_LOGGED} FROM log WHERE idx IN ({indexes} {order} LIMIT ? OFFSET ?) {order}"
        return [self._logged(row) for row in self._fact_rows(page, (*values, self._until_us, limit, offset))]

    def _runs_of_namespace(self, namespace: str) -> tuple[str, tuple[object, ...]]:
        """A subquery, with its values, for the keys of the runs of a namespace's jobs, each once."""
        return "SELECT run_of_job.run FROM name JOIN run_of_job ON job = name.id WHERE namespace = ?", (namespace,)

    def _logged(self, row: Row) -> LoggedEvent:
        return LoggedEvent._make((*row[:-1], self._unpacked(row[0], row[1], row[-1])))

    def logged(self, indexes: range, until_us: int | None = None) -> Iterator[LoggedEvent]:
        """The events at these log indexes with a time up to that one (inclusive), in log order."""
        sql = f"SELECT {_LOGGED} FROM log WHERE idx >= ? AND idx < ? AND +event_us <= ? ORDER BY idx"
        until = self._until_us if until_us is None else min(until_us, self._until_us)
        for begin in range(indexes.start, indexes.stop, _IN_ONE_ANSWER):  # PostgreSQL gives an answer whole
            end = min(begin + _IN_ONE_ANSWER, indexes.stop)
            yield from map(self._logged, self._rows(sql, (begin, end, until)))

    def first_with_raw(self, indexes: range) -> int | None:
        """The first of these log indexes whose row still has raw bytes; scans all rows if none has."""
        sql = "SELECT min(idx) FROM log WHERE idx >= ? AND idx < ? AND length(packed) > 0"
        log_index: int | None = self._value(sql, (indexes.start, indexes.stop))
        return log_index

    def raw_before(self, indexes: range, received_us: int, enough_bytes: int) -> list[bytes]:
        """The raw bytes of the events at these log indexes, or of as many of them as reach `enough_bytes`.

        Empty unless all of them are there, were received before then, and are folded. Later entries were received
        later, whatever the clock said; so events recorded while it was ahead are not kept for longer.
        """
        raws: list[bytes] = []
        size = 0
        for raw in self._few_by_few(range(indexes.start, min(indexes.stop, self.folded()))):
            raws.append(raw)
            size += len(raw)
            if size >= enough_bytes:
                break
        else:
            if len(raws) < len(indexes):
                return []
        last = indexes.start + len(raws) - 1
        behind = [last, *(last + 2**step for step in range(_STEPS_BEHIND))]
        oldest = self._value(f"SELECT min(received_us) FROM log WHERE idx IN ({marks(behind)})", behind)
        return raws if oldest < received_us else []

    def _few_by_few(self, indexes: range) -> Iterator[bytes]:
        """The raw bytes of events in chunks, as each may be large and PostgreSQL returns results whole."""
        for begin in range(indexes.start, indexes.stop, _FEW):
            yield from (logged.raw for logged in self.logged(range(begin, min(begin + _FEW, indexes.stop))))

    def events_of_runs(self, run_ids: Sequence[str]) -> Iterator[LoggedEvent]:
        """The events of these runs, and all job events, dataset events and edits."""
        for indexes in (self.log_indexes_without_run(), [*self.times_of(run_ids)]):
            yield from self._at(indexes)

    def log_indexes_without_run(self, until_us: int = AFTER_ALL_US) -> list[int]:
        """The log indexes of all job events, dataset events and edits up to that time."""
        sql = "SELECT idx FROM log WHERE run IS NULL AND +event_us <= ?"
        return [row[0] for row in self._rows(sql, (min(until_us, self._until_us),))]

    def times_of(self, run_ids: Sequence[str]) -> dict[int, int]:
        """The times of these runs' events, by log index, in no order."""
        sql = f"SELECT idx, event_us FROM log WHERE run IN (SELECT id FROM {RUNS} r) AND +event_us <= ?"
        return dict(self._rows_in(sql, self._keys(run_ids), behind=(self._until_us,)))

    def count_events_of_runs(self, run_ids: Sequence[str], limit: int) -> int:
        """The number of events of these runs, of any time; `limit` if there are more."""
        some = f"SELECT 1 FROM log WHERE run IN (SELECT id FROM {RUNS} r) LIMIT ?"
        counts = self._rows_in(f"SELECT count(*) FROM ({some}) AS counted", self._keys(run_ids), behind=(limit,))
        return min(limit, sum(int(row[0]) for row in counts))

    def count_events_without_run(self, limit: int) -> int:
        """The number of job events, dataset events and edits, of any time; `limit` if there are more."""
        some = "SELECT 1 FROM log WHERE run IS NULL LIMIT ?"
        return int(self._value(f"SELECT count(*) FROM ({some}) AS counted", (limit,)))

    def at(self, indexes: Sequence[int]) -> dict[int, LoggedEvent]:
        """The events at these log indexes."""
        return {event.log_index: event for event in self._at(indexes)}

    def _at(self, indexes: Sequence[int]) -> Iterator[LoggedEvent]:
        """The events at these log indexes, in chunks, since a stream has thousands."""
        return map(self._logged, self._rows_in(f"SELECT {_LOGGED} FROM log WHERE idx IN ({{}})", indexes))

    def newest_us(self, log_size: int | None = None, until_us: int | None = None) -> int | None:
        """The latest event time in the log or its first entries, up to a time; None if there is none."""
        sql = "SELECT event_us FROM log WHERE event_us <= ? AND idx < ? ORDER BY event_us DESC LIMIT 1"
        until = self._until_us if until_us is None else min(until_us, self._until_us)
        newest: int | None = self._value(sql, (until, _ALL if log_size is None else log_size))
        return newest

    def earliest_us_after(self, log_size: int) -> int | None:
        """The earliest event time after the first entries of the log; None if there are no more entries."""
        sql = "SELECT event_us FROM log WHERE idx >= ? ORDER BY event_us LIMIT 1"
        earliest: int | None = self._value(sql, (log_size,))
        return earliest

    def run_events(self, run_id: str, limit: int = _ALL, offset: int = 0) -> list[LoggedEvent]:
        """A page of the events of a run, by event time."""
        order = "ORDER BY event_us, idx"
        # A stream has thousands of events: indexes are sorted first, so that the sort has no raw bytes in it.
        indexes = f"SELECT idx FROM log WHERE run = {RUN}{self._if_happened} {order} LIMIT ? OFFSET ?"
        sql = f"SELECT {_LOGGED} FROM log WHERE idx IN ({indexes}) {order}"
        return [self._logged(row) for row in self._rows(sql, (self._key(run_id), *self._bound, limit, offset))]

    def log_indexes_of(self, run_id: str) -> list[int]:
        """The log indexes of a run's events, by event time."""
        sql = f"SELECT idx FROM log WHERE run = {RUN}{self._if_happened} ORDER BY event_us, digest"
        return [row[0] for row in self._rows(sql, (self._key(run_id), *self._bound))]

    def log_indexes_after(self, run_id: str, log_index: int) -> list[int]:
        """The log indexes of a run's events of any time that are greater than that one, in order."""
        sql = f"SELECT idx FROM log WHERE run = {RUN} AND idx > ? ORDER BY idx"
        return [row[0] for row in self._rows(sql, (self._key(run_id), log_index))]

    def newest_first(self, run_id: str) -> Iterator[LoggedEvent]:
        """The events of a run, newest first, read lazily."""
        order = "ORDER BY event_us DESC, idx DESC"
        sql = f"SELECT idx FROM log WHERE run = {RUN}{self._if_happened} {order}"
        indexes = [row[0] for row in self._rows(sql, (self._key(run_id), *self._bound))]
        begin, count = 0, _FIRST_READ
        while page := indexes[begin : begin + count]:
            rows = self._rows(f"SELECT {_LOGGED} FROM log WHERE idx IN ({marks(page)}) {order}", page)
            yield from map(self._logged, rows)
            begin, count = begin + count, min(2 * count, IN_ONE_QUESTION)

    def count_run_events(self, run_id: str, until_us: int) -> int:
        """The number of a run's events up to that time (inclusive)."""
        sql = f"SELECT count(*) FROM log WHERE run = {RUN} AND +event_us <= ?"
        return int(self._value(sql, (self._key(run_id), min(until_us, self._until_us))))

    def changes_of_state(self, run_id: str) -> list[ReportedState]:
        """The states reported by a run's events, without RUNNING events, in log order."""
        columns = "SELECT event_type, event_us, digest FROM log"
        sql = f"{columns} WHERE run = {RUN} AND event_type <> 'RUNNING'{self._if_happened} ORDER BY idx"
        return [ReportedState(*row) for row in self._rows(sql, (self._key(run_id), *self._bound))]

    def run_verdicts(self, run_ids: Sequence[str]) -> dict[str, list[tuple[str, str | None, int]]]:
        """For each run: verdict, key id, and number of events."""
        sql = (
            f"SELECT run_id, verdict, key_id, count(*) FROM log JOIN {RUNS} r ON id = run{self._if_happened} "
            "GROUP BY run_id, verdict, key_id"
        )
        verdicts: dict[str, list[tuple[str, str | None, int]]] = {run_id: [] for run_id in run_ids}
        for run, verdict, key_id, count in self._rows_in(sql, self._keys(run_ids), behind=self._bound):
            verdicts[run_id_of_key(run)].append((verdict, key_id, count))
        return verdicts

    def with_digests(self, digests: Sequence[bytes]) -> dict[bytes, LoggedEvent]:
        """The events with these digests."""
        rows = self._rows_in(f"SELECT {_LOGGED} FROM log WHERE digest IN ({{}})", digests)
        return {event.digest: event for event in map(self._logged, rows)}


def _those(query: EventsQuery) -> str:
    """By what the index on event times has."""
    return "event_type NOT IN ('EDIT', 'JOB', 'DATASET')" if query.of_runs else "event_type <> 'EDIT'"
