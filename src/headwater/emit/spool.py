"""Signed events that wait for one target, in an SQLite file.

SQLite rather than a file format of our own: a kill at any instant leaves whole transactions, delivered events free
their space, and a full disk or a damaged page is an error code. The write-ahead log is not synced on every commit: a
process may die at any time without loss; a power cut may take the last transactions but never tears one.

SQLite has locks that all connections of a process share. A child that is forked while a thread holds one would wait
for it for ever at its first connection. So only one thread at a time uses SQLite here, and a fork waits for it.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from headwater.emit.claim import Claim
from headwater.errors import UnavailableError

FILE: Final = "events.db"
"""The file of a spool in its claimed directory."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used twice: `Spool` remembers up to where it has delivered
    put_at REAL NOT NULL,                   -- seconds since 1970
    body BLOB NOT NULL,
    crc32 INTEGER NOT NULL                  -- of the body: SQLite itself would not notice a change within it
) STRICT
"""
_OLDEST: Final = "SELECT seq, put_at, body, crc32 FROM event WHERE seq > ? ORDER BY seq LIMIT ?"
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})
_WORTH_SHRINKING_BYTES: Final = 8 << 20
_CACHE_KIB: Final = 256
"""Events are read once, in order: a burst would fill SQLite's default 2 MB and hold it as long as the process lives."""

_MOST_SEQ: Final = 2**63 - 1
_SINGLE_STEPS: Final = 64
"""Many more events than one page of the file holds."""

_FORK_WAITS_S: Final = 5.0
"""The longest a fork waits for a thread that uses SQLite: a hanging disk must not block the program for good."""


class DamagedSpoolError(UnavailableError):
    """The file is not a spool, or is damaged."""


class Outgoing(NamedTuple):
    """An event to be delivered, and when it was put, in seconds since 1970."""

    put_at: float
    body: bytes


class Spooled(NamedTuple):
    """An event in a spool, with its row number there."""

    seq: int
    put_at: float
    body: bytes


class Spool:
    """Events in the order they were added. For one thread at a time.

    `claim` is the directory of the file, or None for a spool in memory; `check` reads the whole file, to find damage
    before the first event is taken from it.

    Every method raises DamagedSpoolError if the file cannot be understood, and UnavailableError if the disk is full or
    failing.
    """

    def __init__(self, claim: Claim | None, *, check: bool = False) -> None:
        self._claim = claim
        self.path = claim.path / FILE if claim else None
        self.delivered_seq = 0
        """The row number up to which events were removed, even if the disk refused that."""
        with _translated():
            self._db = sqlite3.connect(self.path or ":memory:", isolation_level=None, check_same_thread=False)
            try:
                self.event_count, self.event_bytes = self._prepared(check)
            except BaseException:
                self._db.close()
                raise

    def add(self, events: Sequence[Outgoing]) -> None:
        """Add all of the events, or none."""
        with _translated(), self._transaction():
            self._db.executemany(
                "INSERT INTO event (put_at, body, crc32) VALUES (?, ?, ?)",
                ((event.put_at, event.body, crc32(event.body)) for event in events),
            )
        self.event_count += len(events)
        self.event_bytes += sum(len(event.body) for event in events)

    def peek(self, count: int, size_bytes: int) -> list[Spooled]:
        """The oldest events that were not removed: at most `count`, at least one, and else as fit the size."""
        found: list[Spooled] = []
        with _translated(), closing(self._db.execute(_OLDEST, (self.delivered_seq, count))) as rows:
            for seq, put_at, body, checksum in rows:
                size_bytes -= len(body)
                if found and size_bytes < 0:
                    break
                if crc32(body) != checksum:
                    raise DamagedSpoolError(f"spool: event {seq} was changed on the disk")
                found.append(Spooled(seq, put_at, body))
        return found

    def remove(self, events: Sequence[Spooled]) -> None:
        """Remove the first events.

        `peek` does not return them again even if the disk refuses the removal; the next removal retries it.
        """
        self.delivered_seq = events[-1].seq
        self.event_count -= len(events)
        self.event_bytes -= sum(len(event.body) for event in events)
        with _translated():
            self._db.execute("DELETE FROM event WHERE seq <= ?", (self.delivered_seq,))
            if self.event_count == 0 and self.path and self.path.stat().st_size > _WORTH_SHRINKING_BYTES:
                self._db.execute("VACUUM")

    def all(self) -> list[Outgoing]:
        """Every event that was not removed."""
        with _translated():
            rows = self._db.execute(
                "SELECT put_at, body FROM event WHERE seq > ? ORDER BY seq", (self.delivered_seq,)
            ).fetchall()
        return [Outgoing(*row) for row in rows]

    def sync(self) -> None:
        """Sync all additions and removals so far to disk."""
        if self._claim is None:
            return
        with _translated():
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # syncs the log, and then the file
            self._claim.sync()

    def close(self) -> None:
        """Close the spool; an empty one is deleted, otherwise it is left to the next process."""
        with _sqlite.lock:
            self._db.close()
        if self._claim is not None:
            if self.event_count == 0:
                self._claim.remove()
            else:
                self._claim.release()

    def set_aside(self) -> Path | None:
        """Close a damaged spool and keep its file for a person to inspect; returns its directory."""
        with _sqlite.lock:
            self._db.close()
        return self._claim.set_aside() if self._claim else None

    def _prepared(self, check: bool) -> tuple[int, int]:
        """Create the table unless it exists; returns the number of events and their bytes."""
        if check:
            (finding,) = self._db.execute("PRAGMA quick_check(1)").fetchone()
            if finding != "ok":
                raise DamagedSpoolError(f"spool: {finding}")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._db.execute(_SCHEMA)
        count, size = self._db.execute("SELECT count(*), coalesce(sum(length(body)), 0) FROM event").fetchone()
        return count, size

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with closing(self._db.cursor()) as cursor:
            cursor.execute("BEGIN IMMEDIATE")
            try:
                yield
                cursor.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # on a full disk SQLite rolls back by itself
                    cursor.execute("ROLLBACK")
                raise


def readable(damaged: Path, after_seq: int) -> Iterator[Outgoing]:
    """The events in a damaged file after a row number that are whole, oldest first.

    SQLite reports a page that the disk does not return like one with other content. The search continues after the
    events of such a page: one row number at a time, and in steps that double where many are unreadable in a row.

    Raises:
        UnavailableError: the file cannot be opened.
    """
    with _translated():
        db = sqlite3.connect(damaged, isolation_level=None, check_same_thread=False)
    try:
        seq, failures = after_seq, 0
        while seq < _MOST_SEQ:
            try:
                with _translated():
                    row = db.execute(_OLDEST, (seq, 1)).fetchone()
            except UnavailableError:
                seq += 1 << max(0, failures - _SINGLE_STEPS)
                failures += 1
                continue
            if row is None:
                return
            found, put_at, body, checksum = row
            seq, failures = max(seq + 1, found), 0  # row numbers in a damaged page need not ascend
            if isinstance(body, bytes) and crc32(body) == checksum:
                yield Outgoing(put_at, body)
    finally:
        with _sqlite.lock:
            db.close()


class _SqliteLock:
    """A process-wide lock around the use of SQLite, safe to fork."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._forking = threading.local()

    def before_fork(self) -> None:
        """Before a fork: wait until no thread uses SQLite, at most `_FORK_WAITS_S`."""
        self._forking.has_it = self.lock.acquire(timeout=_FORK_WAITS_S)

    def after_fork_in_parent(self) -> None:
        """After a fork, in the parent: let the other threads go on."""
        if self._forking.has_it:
            self.lock.release()

    def after_fork_in_child(self) -> None:
        """After a fork, in the child: there are no other threads, so start with a free lock."""
        self.lock = threading.RLock()


_sqlite: Final = _SqliteLock()
os.register_at_fork(
    before=_sqlite.before_fork, after_in_parent=_sqlite.after_fork_in_parent, after_in_child=_sqlite.after_fork_in_child
)


@contextmanager
def _translated() -> Iterator[None]:
    """Holds the SQLite lock, and raises SQLite's errors as ours; their messages name tables and pages, never values."""
    try:
        with _sqlite.lock:
            yield
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
        raise (DamagedSpoolError if kind in _DAMAGED else UnavailableError)(f"spool: {error}") from error
    except OSError as error:
        raise UnavailableError(f"spool: {error.strerror}") from error
