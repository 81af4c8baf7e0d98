"""Signed events that wait for one target, in an SQLite file.

SQLite rather than files of our own: a kill at any instant leaves whole transactions, delivered events give their room
back, and a full disk or a damaged page is an error code. The journal is a write-ahead log that is not synced on every
commit: a process may die at any time without loss, a power cut may take the last transactions but never tears one.

SQLite has locks that all connections of a process share. A child that is forked while some thread holds one would wait
for it for ever at its first connection, so one thread at a time is in SQLite here, and who forks waits until none is.
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
"""Events are read once, in order: of SQLite's usual 2 MB a burst would fill all, for as long as the process lives."""

_FORK_WAITS_S: Final = 5.0
"""For a thread that is in SQLite: a disk that hangs must not hold up the program for good."""


class DamagedSpoolError(UnavailableError):
    """The file is not, or no longer, a spool."""


class Outgoing(NamedTuple):
    """An event on its way out, and when it was put, in seconds since 1970."""

    put_at: float
    body: bytes


class Spooled(NamedTuple):
    """An event in a spool, with its place there."""

    seq: int
    put_at: float
    body: bytes


class Spool:
    """Events in the order they were added. For one thread at a time.

    `claim` is the directory of the file, or None for a spool in memory; `check` has the whole file read, to find damage
    before the first event is taken from it.

    Every method raises DamagedSpoolError if the file cannot be understood, and UnavailableError if the disk is full or
    failing.
    """

    def __init__(self, claim: Claim | None, *, check: bool = False) -> None:
        self._claim = claim
        self.path = claim.path / "events.db" if claim else None
        self._delivered_seq = 0
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

    def first_some(self, count: int, size_bytes: int) -> list[Spooled]:
        """The oldest events that were not removed: `count` at most, and one or as many as fit into the size."""
        found: list[Spooled] = []
        with _translated(), closing(self._db.execute(_OLDEST, (self._delivered_seq, count))) as rows:
            for seq, put_at, body, checksum in rows:
                size_bytes -= len(body)
                if found and size_bytes < 0:
                    break
                if crc32(body) != checksum:
                    if found:
                        break  # those before it are whole
                    raise DamagedSpoolError(f"spool: event {seq} was changed on the disk")
                found.append(Spooled(seq, put_at, body))
        return found

    def remove(self, events: Sequence[Spooled]) -> None:
        """Forget the first events.

        `first_some` does not give them again even if the disk refuses the removal; the next removal makes up for it.
        """
        self._delivered_seq = events[-1].seq
        self.event_count -= len(events)
        self.event_bytes -= sum(len(event.body) for event in events)
        with _translated():
            self._db.execute("DELETE FROM event WHERE seq <= ?", (self._delivered_seq,))
            if self.event_count == 0 and self.path and self.path.stat().st_size > _WORTH_SHRINKING_BYTES:
                self._db.execute("VACUUM")

    def all(self) -> list[Outgoing]:
        """Every event that was not removed."""
        with _translated():
            rows = self._db.execute(
                "SELECT put_at, body FROM event WHERE seq > ? ORDER BY seq", (self._delivered_seq,)
            ).fetchall()
        return [Outgoing(*row) for row in rows]

    def sync(self) -> None:
        """Have the disk keep what was added and removed so far."""
        if self._claim is None:
            return
        with _translated():
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()  # syncs the log, and then the file
            self._claim.sync()

    def close(self) -> None:
        """Close the spool; an empty one is deleted, another is left to the next process."""
        with _turn.lock:
            self._db.close()
        if self._claim is not None:
            if self.event_count == 0:
                self._claim.remove()
            else:
                self._claim.release()

    def set_aside(self) -> Path | None:
        """Close a damaged spool and keep its file for a person to look at; returns its directory."""
        with _turn.lock:
            self._db.close()
        return self._claim.set_aside() if self._claim else None

    def _prepared(self, check: bool) -> tuple[int, int]:
        """Make the table unless it is there; returns how many events there are, and their bytes."""
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
                if self._db.in_transaction:  # a full disk has SQLite roll back by itself
                    cursor.execute("ROLLBACK")
                raise


class _Turn:
    """Whose turn it is to be in SQLite."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._forking = threading.local()

    def take_to_fork(self) -> None:
        """Wait until no thread is in SQLite."""
        self._forking.has_it = self.lock.acquire(timeout=_FORK_WAITS_S)

    def give_back(self) -> None:
        """In the parent the other threads go on."""
        if self._forking.has_it:
            self.lock.release()

    def begin_anew(self) -> None:
        """In the child there are none."""
        self.lock = threading.RLock()


_turn: Final = _Turn()
os.register_at_fork(before=_turn.take_to_fork, after_in_parent=_turn.give_back, after_in_child=_turn.begin_anew)


@contextmanager
def _translated() -> Iterator[None]:
    """A turn in SQLite, its errors as ours; its messages name tables and pages, never values."""
    try:
        with _turn.lock:
            yield
    except sqlite3.Error as error:
        kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_MISUSE) & 0xFF
        raise (DamagedSpoolError if kind in _DAMAGED else UnavailableError)(f"spool: {error}") from error
    except OSError as error:
        raise UnavailableError(f"spool: {error.strerror}") from error
