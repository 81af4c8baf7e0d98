"""The store on SQLite: the log of raw bytes, and the merged facts beside it.

One process writes (held by a lock file). Events reach the log in transactions that are on disk before they are
acknowledged: WAL with `synchronous = FULL`. Their facts follow in larger transactions, without a flush of their own:
what a crash takes of them is folded again from the log when the store is opened. Who reads through the store never
sees the difference, because reading catches up first.
"""

import fcntl
import logging
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from headwater.errors import InvalidEventError, SetupError, UnavailableError
from headwater.graph.fold import fold
from headwater.model.edits import DELETED, InOrder, parse_edit
from headwater.model.events import parse_event
from headwater.model.facts import Content, Fact, Target
from headwater.store import schema
from headwater.store.bulk import Insert, Row, select_in
from headwater.store.entries import EDIT, Entry, Stored
from headwater.store.numbers import GivenNumbers
from headwater.store.packing import unpacked
from headwater.store.reader import SqliteReader
from headwater.store.tables import TABLES, target_of_key

log = logging.getLogger(__name__)

_LOG: Final = Insert("log", 9)
_KNOWN_CONTENTS: Final = 200_000
"""How many digests of contents the writer remembers as stored, to skip the insert; 32 bytes each."""
_FOLDED_TOGETHER: Final = 64
"""Events whose facts may wait for one transaction; more events are taken only once these are stored."""


class SqliteStore(SqliteReader):
    """Keeps events and facts in one SQLite file.

    `add` and `catch_up` may be called from any thread, the reading methods from one thread at a time.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _only_writer(path)
        try:
            self._writer = _connection(path)
            _prepare(self._writer, path)
            super().__init__(_connection(path))
        except sqlite3.Error as fault:
            raise SetupError(f"cannot open the database {path}: {fault}; is it a Headwater database?") from fault
        self._path = path
        self._begin_writing()
        self._fold_what_is_left()

    def _begin_writing(self) -> None:
        """Find out where the database stands; `_writer` is open."""
        self._writing = threading.RLock()
        self._next_index: int = self._writer.execute("SELECT coalesce(max(idx) + 1, 0) FROM log").fetchone()[0]
        self._numbers = GivenNumbers(self._writer)
        self._known_contents: set[bytes] = set()
        self._behind: list[tuple[Fact, ...]] = []
        self._in_order = self._order_so_far()
        self._waiting_contents: dict[bytes, bytes] = {}

    def close(self) -> None:
        """Bring the facts up to the log, close the file and give up the lock."""
        self._wait_for_facts()  # those that cannot be stored are folded again at the next start
        self._reader.close()
        self._writer.close()
        os.close(self._lock)

    def another_reader(self) -> SqliteReader:
        """A reader with a connection of its own, for another thread; the caller closes it."""
        return SqliteReader(_connection(self._path))

    # Writing

    def add(self, entries: Sequence[Entry]) -> list[Stored]:
        """Store the events in one transaction, which is on disk when this returns; their facts follow.

        An event whose very bytes were stored before, or stand earlier in `entries`, changes nothing.

        Raises:
            UnavailableError: the disk is full or does not answer; then nothing of it is stored.
            InvalidEventError: one of the events holds what the database does not take; then none is stored.
        """
        with self._writing:
            if len(self._behind) >= _FOLDED_TOGETHER:
                self.catch_up()
            with self._transaction():
                stored = self._append(entries)
            self._fall_behind(answer.facts for answer in stored if answer.is_new)
        return stored

    def catch_up(self) -> None:
        """Store the facts of every event that is in the log.

        Raises:
            UnavailableError: the disk is full or does not answer; the facts go on waiting.
        """
        with self._writing:
            if not self._behind:
                return
            try:
                self._store_facts(self._behind)
            except InvalidEventError:
                self._store_what_can_be(self._behind)
            self._behind.clear()
            self._waiting_contents.clear()

    def _store_what_can_be(self, behind: Sequence[tuple[Fact, ...]]) -> None:
        """Store the facts event by event: one that the database does not take must not keep the others out."""
        for event_facts in behind:
            try:
                self._store_facts([event_facts])
            except InvalidEventError as fault:
                log.error("facts of an event cannot be stored", extra={"fault": str(fault)})

    def _store_facts(self, behind: Sequence[tuple[Fact, ...]]) -> None:
        self._writer.execute("PRAGMA synchronous = NORMAL")
        try:
            with self._transaction():
                self._merge(fact for event_facts in behind for fact in event_facts)
                self._writer.execute("UPDATE folded SET events = ?", (self._next_index,))
        finally:
            self._writer.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            yield
            self._writer.execute("COMMIT")
        except (sqlite3.OperationalError, OSError) as fault:
            self._roll_back()
            raise UnavailableError(f"the event could not be stored, try again: {fault}") from fault
        except sqlite3.Error as fault:
            self._roll_back()
            raise InvalidEventError(f"event: the store does not take it: {fault}") from fault
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")
        self._numbers.forget()
        self._known_contents.clear()
        self._in_order = self._order_so_far()
        self._next_index = self._writer.execute("SELECT coalesce(max(idx) + 1, 0) FROM log").fetchone()[0]

    # The log

    def _append(self, entries: Sequence[Entry]) -> list[Stored]:
        digests = [entry.digest for entry in entries]
        places: dict[bytes, int] = dict(select_in(self._writer, "SELECT digest, idx FROM log WHERE digest IN", digests))
        self._numbers.meet_runs(entry.run_id for entry in entries if entry.run_id is not None)
        stored: list[Stored] = []
        rows: list[Row] = []
        for entry, digest in zip(entries, digests, strict=True):
            if digest in places:
                stored.append(Stored(places[digest], is_new=False, facts=()))
                continue
            place = places[digest] = self._next_index + len(rows)
            stored.append(Stored(place, is_new=True, facts=self._facts(entry, place)))
            rows.append(self._log_row(place, entry))
        _LOG.run(self._writer, rows)
        self._next_index += len(rows)
        return stored

    def _facts(self, entry: Entry, place: int) -> tuple[Fact, ...]:
        if entry.edits is not None:
            return self._in_order.of_edits(entry.edits, place)
        return self._in_order.of_event(entry.facts, entry.named, entry.event_us, place)

    def _log_row(self, place: int, entry: Entry) -> Row:
        return (
            place,
            entry.digest,
            entry.received_us,
            entry.event_us,
            entry.event_type,
            None if entry.run_id is None else self._numbers.run(entry.run_id),
            entry.verdict,
            entry.key_id,
            entry.frame,
        )

    # The facts

    def _fall_behind(self, new_facts: Iterable[tuple[Fact, ...]]) -> None:
        for event_facts in new_facts:
            self._behind.append(event_facts)
            self._waiting_contents.update((fact.digest, fact.body) for fact in event_facts if isinstance(fact, Content))

    def _fold_what_is_left(self) -> None:
        """Fold what the log holds beyond the facts: an earlier process ended between the two."""
        left = "SELECT idx, event_type, packed FROM log WHERE idx >= (SELECT events FROM folded) ORDER BY idx"
        for log_index, event_type, frame in self._writer.execute(left).fetchall():
            parse = parse_edit if event_type == EDIT else parse_event
            self._fall_behind([self._in_order.facts(parse(unpacked(frame)), log_index)])
        self.catch_up()

    def _order_so_far(self) -> InOrder:
        """What the facts in the tables and those that wait say of what is deleted."""
        sql = "SELECT target FROM edit WHERE what = ? AND value = ?"
        deleted: list[Target] = [target_of_key(key) for (key,) in self._writer.execute(sql, (DELETED, b"true"))]
        in_order = InOrder(deleted)
        for event_facts in self._behind:
            in_order.note(event_facts)
        return in_order

    def _merge(self, new_facts: Iterable[Fact]) -> None:
        unknown = (f for f in new_facts if not (isinstance(f, Content) and f.digest in self._known_contents))
        by_kind: dict[type[Fact], list[Fact]] = defaultdict(list)
        for fact in fold(unknown).values():
            by_kind[type(fact)].append(fact)
        for table in TABLES:
            table.insert.run(self._writer, [table.row(fact, self._numbers) for fact in by_kind[table.kind]])
        if len(self._known_contents) > _KNOWN_CONTENTS:
            self._known_contents.clear()
        self._known_contents.update(fact.digest for fact in by_kind[Content] if isinstance(fact, Content))

    def _wait_for_facts(self) -> None:
        with suppress(UnavailableError):  # what is stored can be read even if nothing more can be
            self.catch_up()

    def _read_content_body(self, digest: bytes) -> bytes:
        return self._waiting_contents.get(digest) or super()._read_content_body(digest)


def _connection(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
    connection.execute("PRAGMA busy_timeout = 5000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.executescript(f"BEGIN; {schema.DDL} PRAGMA user_version = {schema.VERSION}; COMMIT;")
    elif version != schema.VERSION:
        raise SetupError(
            f"the database {path} has shape {version}, this Headwater knows {schema.VERSION}; use the newer Headwater"
        )


def _only_writer(path: Path) -> int:
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 20).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise SetupError(
            f"another process (number {holder}) serves the database {path}; "
            "stop it, or set HEADWATER_HOME to another folder"
        ) from None
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    return lock
