"""The store on SQLite: the log of raw bytes, and the merged facts beside it.

One process writes (held by a lock file), in transactions that reach the disk before they are acknowledged: WAL with
`synchronous = FULL`. Readers have their own connection and never wait for the writer.
"""

import fcntl
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from headwater.errors import InvalidEventError, SetupError, UnavailableError
from headwater.model.events import DatasetEvent, Event, JobEvent, RunEvent
from headwater.model.extract import facts
from headwater.model.facts import Content, Fact
from headwater.store import schema
from headwater.store.entries import Entry, Stored
from headwater.store.reader import SqliteReader
from headwater.store.tables import TABLES, run_key

_KNOWN_CONTENTS = 200_000
"""How many digests of contents the writer remembers as stored, to skip the insert; 32 bytes each."""


class SqliteStore(SqliteReader):
    """Keeps events and facts in one SQLite file.

    `add` is called from one thread at a time; the reading methods from one thread at a time, which may be another.
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
        self._next_index: int = self._writer.execute("SELECT coalesce(max(idx) + 1, 0) FROM log").fetchone()[0]
        self._name_ids: dict[tuple[str, str], int] = {}
        self._known_contents: set[bytes] = set()

    def close(self) -> None:
        """Close the file and give up the lock."""
        self._reader.close()
        self._writer.close()
        os.close(self._lock)

    # Writing

    def add(self, entries: Sequence[Entry]) -> list[Stored]:
        """Store the events and their facts in one transaction, which is on disk when this returns.

        An event whose very bytes were stored before, or stand earlier in `entries`, changes nothing.

        Raises:
            UnavailableError: the disk is full or does not answer; then nothing of it is stored.
            InvalidEventError: one of the events holds what the database does not take; then none is stored.
        """
        try:
            self._writer.execute("BEGIN IMMEDIATE")
            stored = [self._append(entry) for entry in entries]
            self._merge(fact for answer in stored for fact in answer.facts)
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
        return stored

    def _roll_back(self) -> None:
        if self._writer.in_transaction:
            self._writer.execute("ROLLBACK")
        self._name_ids.clear()
        self._known_contents.clear()
        self._next_index = self._writer.execute("SELECT coalesce(max(idx) + 1, 0) FROM log").fetchone()[0]

    def _append(self, entry: Entry) -> Stored:
        event = entry.event
        row = (
            self._next_index,
            event.stamp.digest,
            entry.received_us,
            event.stamp.time_us,
            _event_type(event),
            run_key(event.run_id) if isinstance(event, RunEvent) else None,
            entry.verdict,
            entry.key_id,
            event.raw,
        )
        sql = "INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"
        if self._writer.execute(sql, row).rowcount == 0:
            known = self._writer.execute("SELECT idx FROM log WHERE digest = ?", (event.stamp.digest,)).fetchone()
            return Stored(known[0], is_new=False, facts=())
        self._next_index += 1
        return Stored(row[0], is_new=True, facts=facts(event))

    def _merge(self, new_facts: Iterable[Fact]) -> None:
        by_kind: dict[type[Fact], list[Fact]] = defaultdict(list)
        for fact in new_facts:
            if not isinstance(fact, Content) or fact.digest not in self._known_contents:
                by_kind[type(fact)].append(fact)
        for table in TABLES:
            rows = [table.row(fact, self._intern) for fact in by_kind[table.kind]]
            if rows:
                self._writer.executemany(table.upsert, rows)
        if len(self._known_contents) > _KNOWN_CONTENTS:
            self._known_contents.clear()
        self._known_contents.update(fact.digest for fact in by_kind[Content] if isinstance(fact, Content))

    def _intern(self, pair: tuple[str, str]) -> int:
        known = self._name_ids.get(pair)
        if known is None:
            insert = "INSERT INTO name (namespace, name) VALUES (?, ?) ON CONFLICT DO NOTHING"
            self._writer.execute(insert, tuple(pair))
            select = "SELECT id FROM name WHERE namespace = ? AND name = ?"
            known = self._name_ids[pair] = self._writer.execute(select, tuple(pair)).fetchone()[0]
        return known


def _event_type(event: Event) -> str:
    match event:
        case RunEvent():
            return event.event_type
        case JobEvent():
            return "JOB"
        case DatasetEvent():
            return "DATASET"


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
