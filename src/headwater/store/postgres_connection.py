"""A connection to PostgreSQL that reconnects after it was lost."""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any, Final, TypeVar, cast

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.errors import ProgramLimitExceeded, ReadOnlySqlTransaction
from psycopg.waiting import Ready, Wait

from headwater.errors import InvalidEventError, SetupError, UnavailableError
from headwater.store.backoff import Backoff
from headwater.store.connection import Row
from headwater.store.migrations import missing_steps
from headwater.store.postgres_sql import in_postgres, steps_in_postgres, text_from_postgres, text_in_postgres
from headwater.store.postgres_url import DatabaseAddress

CHANNEL: Final = "headwater_log"
"""The channel by which processes notify each other of new log entries."""
_OLDEST: Final = 140_000
"""PostgreSQL 14, as the server reports its version."""
_Value = TypeVar("_Value")
_TRY_AGAIN_AFTER_S: Final = 0.25
_ROWS_AT_ONCE: Final = 1_000

# Write transactions are serialised, so the log has no gaps, and its order is that of the commits. A process that stops
# in the middle of one loses it, rather than blocking the others for ever.
_SETTINGS: Final = (
    "SET synchronous_commit = on; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '30s'"
)
_ONLY_READS: Final = "; SET default_transaction_read_only = on"
_BEGIN: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
_NOT_FLUSHED: Final = "SET LOCAL synchronous_commit = off; "
_ALONE: Final = "SELECT pg_advisory_xact_lock('log'::regclass::oid::bigint)"
_CLAIMS: Final = 7_521_835
_OTHERS: Final = """
SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND datname = current_database() AND classid::bigint = ? AND objsubid = 2
  AND pid <> pg_backend_pid() AND objid::bigint {} (?::bigint & 4294967295)
"""
_END_OTHERS: Final = """
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
WHERE locktype = 'advisory' AND datname = current_database() AND classid::bigint = ? AND objsubid = 2
  AND pid <> pg_backend_pid()
"""
_MIGRATES_ALONE: Final = "SELECT pg_advisory_xact_lock(7521834)"


def _mark(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], signed=True)


class PostgresConnection:
    """A connection to a PostgreSQL database, opened at first use.

    A connection for reading reconnects by itself; one for writing is reopened by its owner, who must first find out
    whether the last transaction was committed.
    """

    def __init__(
        self, address: DatabaseAddress, *, only_reads: bool = False, opened: Callable[[], None] = lambda: None
    ) -> None:
        """`opened` is called after each connect, before any query; if it raises, no query is run."""
        self._address = address
        self._only_reads = only_reads
        self._opened = opened
        self._db: _ConnectionWithTimeout | None = None
        self._connecting = Backoff(self._connected, _TRY_AGAIN_AFTER_S)
        self._is_closed = False
        self._patience_s: float | None = None
        self._cursors = count()

    @staticmethod
    def run_key(run_id: str) -> str:
        """As in `Connection`: this column takes only text."""
        return run_id

    @property
    def is_lost(self) -> bool:
        """Whether there is no connection now."""
        return self._db is None or self._db.closed

    @property
    def _was_lost_before(self) -> bool:
        """Whether a failed query may have met a connection lost earlier, so that it can be repeated."""
        return self._only_reads and self.is_lost and not (self._db is not None and self._db.has_timed_out)

    @property
    def process(self) -> int | None:
        """The process id of the server's backend for this connection."""
        return None if self._db is None else self._db.info.backend_pid

    def open(self) -> psycopg.Connection[Row]:
        """Connect, unless connected.

        Raises:
            UnavailableError: the server does not answer, or does not let us in.
        """
        if self._db is not None and not self.is_lost:
            return self._db
        if self._is_closed:
            raise UnavailableError("the database does not answer: the connection to it is closed")
        self._db = self._connecting.attempt()
        try:
            self._opened()
        except BaseException:
            self.hang_up()
            raise
        return self._db

    def _connected(self) -> "_ConnectionWithTimeout":
        parameters = cast(dict[str, Any], self._address.parameters)
        try:
            db = _ConnectionWithTimeout.connect(autocommit=True, client_encoding="utf8", **parameters)
            db.patience_s = self._patience_s
            self._set_up(db)
        except psycopg.Error as fault:
            raise self._unavailable(fault) from None
        return db

    def _set_up(self, db: "_ConnectionWithTimeout") -> None:
        db.adapters.register_dumper(str, _TextDumper)
        db.adapters.register_loader("text", _TextLoader)
        try:
            db.execute(_SETTINGS + _ONLY_READS if self._only_reads else _SETTINGS)
        except BaseException:
            db.close()
            raise

    def answers_within(self, seconds: float) -> None:
        """As in `Connection`; a time-out closes the connection, as the server may still execute the statement."""
        self._patience_s = seconds
        if self._db is not None:
            self._db.patience_s = seconds

    def migrate(self, steps: Sequence[str]) -> None:
        """Upgrade the tables to the newest version, all at once or not at all.

        Raises:
            SetupError: the server is too old, the database is not ours, or has a newer shape; says what to do.
        """
        db = self.open()
        if db.info.server_version < _OLDEST:
            raise SetupError(f"the server of the database ({self._address}) is too old: Headwater needs PostgreSQL 14")
        if db.info.parameter_status("server_encoding") != "UTF8":
            raise SetupError(f"the database ({self._address}) must be created with ENCODING 'UTF8'")
        try:
            with db.transaction():
                db.execute(_MIGRATES_ALONE)
                db.execute("CREATE TABLE IF NOT EXISTS shape (version BIGINT NOT NULL)")
                version = db.execute("SELECT version FROM shape").fetchone()
                missing = _missing(version, steps, f"the database ({self._address})")
                for step in missing:
                    db.execute(step)
            if version is not None and missing:  # older services would go on; they find out as they reconnect
                self._run(_END_OTHERS, (_CLAIMS,))
        except ReadOnlySqlTransaction:
            raise SetupError(
                f"the server of the database ({self._address}) takes no writes, as a standby does: name the primary, "
                "or all servers with target_session_attrs=read-write (docs/stores.md)"
            ) from None
        except psycopg.Error as fault:
            raise SetupError(
                f"cannot make Headwater's tables in the database ({self._address}): {self._in_words(fault)}; "
                "is it a database of Headwater's own, and does its user own it?"
            ) from None

    def rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """As in `Connection`."""
        try:
            return iter(self._run(sql, values))
        except psycopg.Error as fault:
            if not self._was_lost_before:
                raise self._unavailable(fault) from None
        try:
            return iter(self._run(sql, values))
        except psycopg.Error as fault:
            raise self._unavailable(fault) from None

    def many_rows(self, sql: str) -> Iterator[Row]:
        """As in `Connection`."""
        try:
            # A cursor of the server's: between two of its fetches the connection answers other questions. The moment
            # ends it where not all is read; rows that Python collects, perhaps within a question, must ask for nothing.
            cursor = f"rows_{next(self._cursors)}"
            self._run(f"DECLARE {cursor} NO SCROLL CURSOR FOR {sql}", ())
            while rows := self._run(f"FETCH {_ROWS_AT_ONCE} FROM {cursor}", ()):
                yield from rows
            self._run(f"CLOSE {cursor}", ())
        except psycopg.Error as fault:
            raise self._unavailable(fault) from None

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """As in `Connection`."""
        self.rows("SELECT 1")  # comes back if it was lost
        db = self._current()
        try:
            db.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        except psycopg.Error as fault:
            raise self._unavailable(fault) from None
        finally:
            _roll_back(db)

    def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """As in `Connection`."""
        return self._run(sql, values)

    def others_claim(self, text: str) -> bool:
        """Claim a text for this session; returns whether another session claims another one."""
        self._run("SELECT pg_advisory_lock_shared(?, ?)", (_CLAIMS, _mark(text)))
        [(others,)] = self._run(_OTHERS.format("<>"), (_CLAIMS, _mark(text)))
        return bool(others)

    def is_claimed(self, text: str) -> bool:
        """Whether another session claims this text."""
        [(others,)] = self._run(_OTHERS.format("="), (_CLAIMS, _mark(text)))
        return bool(others)

    def claim_no_longer(self, text: str) -> None:
        """Take a claim of this session back."""
        self._run("SELECT pg_advisory_unlock_shared(?, ?)", (_CLAIMS, _mark(text)))

    @contextmanager
    def transaction(self, *, is_acknowledged: bool) -> Iterator[None]:
        """As in `Connection`; other processes are notified of acknowledged entries."""
        db = self._current()
        try:
            db.execute(_BEGIN + ("" if is_acknowledged else _NOT_FLUSHED) + _ALONE)
            yield
            db.execute(f"NOTIFY {CHANNEL}; COMMIT" if is_acknowledged else "COMMIT")
        except (psycopg.DataError, psycopg.IntegrityError, ProgramLimitExceeded) as fault:
            raise InvalidEventError(f"event: the store rejects it: {_kind(fault)}") from None
        except psycopg.Error as fault:
            raise UnavailableError(f"the event could not be stored, try again: {self._in_words(fault)}") from None
        finally:
            _roll_back(db)

    def forget_freed(self) -> None:
        """As in `Connection`; left to the server's vacuum."""

    def hang_up(self) -> None:
        """Close the connection; it may be opened again."""
        if self._db is not None:
            self._db.close()

    def close(self) -> None:
        """As in `Connection`."""
        self.hang_up()
        self._is_closed = True

    def _current(self) -> psycopg.Connection[Row]:
        if self._only_reads or self._db is None:
            return self.open()
        if self.is_lost:
            raise UnavailableError("the connection to the database was lost; try again in a second")
        return self._db

    def _run(self, sql: str, values: Sequence[object]) -> list[Row]:
        cursor = self._current().execute(in_postgres(sql), values)
        return cursor.fetchall() if cursor.description else []

    def _unavailable(self, fault: psycopg.Error) -> UnavailableError:
        return UnavailableError(f"the database does not answer: {self._in_words(fault)}")

    def _in_words(self, fault: psycopg.Error) -> str:
        """The error's first line; later lines may show values."""
        return self._address.without_secrets(fault.diag.message_primary or str(fault).strip().partition("\n")[0])


def _missing(stored: Row | None, steps: Sequence[str], where: str) -> Sequence[str]:
    version = 0 if stored is None else stored[0]
    missing = missing_steps(version, steps, where)
    if not missing:
        return []
    now = "INSERT INTO shape VALUES" if stored is None else "UPDATE shape SET version ="
    return [*steps_in_postgres(steps)[version:], f"{now} ({len(steps)})"]


def _kind(fault: psycopg.Error) -> str:
    """The kind of an error caused by a value; its message might show the value."""
    return f"{type(fault).__name__} ({fault.sqlstate})"


def _roll_back(db: psycopg.Connection[Row]) -> None:
    if not db.closed and db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        with suppress(psycopg.Error):
            db.execute("ROLLBACK")


class _ConnectionWithTimeout(psycopg.Connection[Row]):
    """A connection with a time-out for a server that is reachable but does not respond."""

    patience_s: float | None = None
    """How long to wait for the next response."""
    has_timed_out = False
    """Whether it timed out, and is closed."""

    def wait(self, gen: PQGen[_Value], *arguments: Any, **named: Any) -> _Value:  # noqa: ANN401  psycopg's own
        steps = gen if self.patience_s is None else self._in_time(gen, self.patience_s)
        return super().wait(steps, *arguments, **named)

    def _in_time(self, steps: PQGen[_Value], patience_s: float) -> PQGen[_Value]:
        """The same steps with a time-out; psycopg polls ten times a second."""
        until_s = time.monotonic() + patience_s
        ready: Ready | int | None = None
        while True:
            try:
                awaited: Wait = next(steps) if ready is None else steps.send(ready)
            except StopIteration as end:
                return cast(_Value, end.value)
            ready = yield awaited
            now_s = time.monotonic()
            if ready:
                until_s = now_s + patience_s
            elif now_s > until_s:
                self.close()
                self.has_timed_out = True
                raise psycopg.OperationalError(f"no answer for {patience_s:g} seconds")


class _TextDumper(Dumper):
    """Text as the server takes it; without a type of its own, so it takes its column's type."""

    def dump(self, obj: str) -> Buffer:
        return text_in_postgres(obj).encode()


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return text_from_postgres(bytes(data).decode())
