"""The store on SQLite: one file, no set-up.

A lock file ensures that one process writes. What is acknowledged is on disk: WAL with `synchronous = FULL`.
"""

import fcntl
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from headwater.errors import InvalidEventError, SetupError, UnavailableError
from headwater.model.words import ELSEWHERE
from headwater.store.bulk import MOST_STATEMENTS
from headwater.store.connection import Row
from headwater.store.migrations import missing_steps
from headwater.store.numbers import run_key
from headwater.store.schema import STEPS
from headwater.store.segments import Segments
from headwater.store.store import Known, Store, WriterHandover

_CACHE_KB: Final = 32_768
_ENDING_S: Final = 10.0
"""How long the recorder process of a service that has ended may still hold the lock."""
_LOOK_EVERY_S: Final = 0.05
_CHECKPOINT_PAGES: Final = 4_000
"""Pages of 4 kB in the write-ahead log after which they are copied to the file."""

_OF_A_VALUE: Final = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""Errors caused by a value."""


class SqliteConnection:
    """A connection to one SQLite file, or to a temporary database."""

    run_key = staticmethod(run_key)

    def __init__(self, path: Path | None) -> None:
        where = "" if path is None else path  # "": a file without a name, made for what exceeds the cache
        self._db = sqlite3.connect(
            where, isolation_level=None, check_same_thread=False, cached_statements=MOST_STATEMENTS
        )
        self._db.execute("PRAGMA busy_timeout = 5000")
        self._db.execute("PRAGMA journal_mode = WAL" if path else "PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = FULL")

    @classmethod
    def temporary(cls) -> "SqliteConnection":
        """A connection to an empty database with all tables, which lasts as long as the connection.

        It is copied from a template: creating the tables takes eight times as long. What exceeds the cache is in a
        file without a name, in the folder for temporary files.
        """
        made = cls(None)
        with closing(sqlite3.connect(":memory:")) as empty:
            empty.deserialize(_empty())
            empty.backup(made._db)  # what is deserialised itself could not grow beyond 1 GB
        return made

    def writes_much(self) -> "SqliteConnection":
        """Tune for frequent writes to the same pages; returns itself.

        Each page is still written to the write-ahead log, but to the file less often.
        """
        self._db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        self._db.execute("PRAGMA temp_store = MEMORY")  # what a statement may take back: else 25 kB an event, in files
        return self

    def only_reads(self) -> "SqliteConnection":
        """Refuse writes from now on; returns itself."""
        self._db.execute("PRAGMA query_only = ON")
        return self

    def migrate(self, steps: Sequence[str], where: str) -> None:
        """Upgrade the tables to the newest version, all at once or not at all.

        Raises:
            SetupError: another program's tables are there.
        """
        [(version,)] = self.execute("PRAGMA user_version")
        if not _is_made(self._db) and self.execute("SELECT 1 FROM sqlite_schema LIMIT 1"):
            raise SetupError(f"{where} belongs to another program: name a new file")
        if missing := missing_steps(version, steps, where):
            try:
                self._db.executescript(f"BEGIN; {' '.join(missing)} PRAGMA user_version = {len(steps)}; COMMIT;")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")

    def expect_newest(self, where: str) -> None:
        """Refuse tables of any other version than the newest."""
        [(version,)] = self.execute("PRAGMA user_version")
        if missing_steps(version, STEPS, where):
            raise SetupError(
                f"{where} has schema version {version}, not yet {len(STEPS)}: start this version's service first"
            )

    def execute(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        """As in `Connection`."""
        return self._db.execute(sql, values).fetchall()

    def rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Row]:
        """As in `Connection`."""
        try:
            yield from chain(self._db.execute(sql, values))  # a cursor alone is closed, maybe after its database
        except sqlite3.Error as fault:
            raise UnavailableError(f"the database does not answer: {fault}") from fault

    many_rows = rows

    def one_moment(self) -> AbstractContextManager[None]:
        """As in `Connection`; only one process writes, so nothing needs guarding."""
        return nullcontext()

    @contextmanager
    def transaction(self, *, is_acknowledged: bool) -> Iterator[None]:
        """As in `Connection`."""
        if not is_acknowledged:
            self._db.execute("PRAGMA synchronous = NORMAL")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except _OF_A_VALUE as fault:
            raise InvalidEventError(f"event: the store rejects it: {fault}") from fault
        except (sqlite3.Error, OSError) as fault:  # where the file is damaged, no event is to blame
            raise UnavailableError(f"the event could not be stored, try again: {fault}") from fault
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            if not is_acknowledged:
                self._db.execute("PRAGMA synchronous = FULL")

    def forget_freed(self) -> None:
        """As in `Connection`: deleted data becomes zeros, and leaves the write-ahead log."""
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def answers_within(self, seconds: float) -> None:
        """As in `Connection`; ignored, as a file always answers."""

    def bring_in(self) -> None:
        """Checkpoint what a killed process left in the write-ahead log, which may contain erased data.

        On a full disk it stays there until there is room.
        """
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """As in `Connection`."""
        self._db.close()


_REMEDIES: Final = {
    sqlite3.SQLITE_READONLY: ELSEWHERE,
    sqlite3.SQLITE_CANTOPEN: ELSEWHERE,
    sqlite3.SQLITE_FULL: "free space on its disk",
    sqlite3.SQLITE_IOERR: "check its disk for errors and free space",
    sqlite3.SQLITE_CORRUPT: "the file is damaged: remove its -wal and -shm files, and replace it with a backup",
}


def _cannot_open(path: Path, fault: BaseException | None) -> SetupError:
    """The error for a file that does not open, with what to do."""
    if path.is_dir():
        return SetupError(f"{path} is a folder: name a file")
    remedy = _REMEDIES.get(_code(fault), "is it a Headwater database?")
    return SetupError(f"cannot open the database {path}: {fault}; {remedy}")


def _code(fault: BaseException | None) -> int:
    code: int = getattr(fault, "sqlite_errorcode", 0)
    return code & 0xFF  # the rest says more of the same kind


@cache
def _empty() -> bytes:
    with closing(SqliteConnection(None)) as template:
        template.migrate(STEPS, "memory")
        return template._db.serialize()


class SqliteStore(Store):
    """Keeps events and facts in one SQLite file."""

    def __init__(
        self, path: Path, steps: Sequence[str] = STEPS, *, lock: int | None = None, known: Known | None = None
    ) -> None:
        """Open or create the file; `lock` is the inherited lock of a handed-over store. `known`: as in `Store`."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _only_writer(path.resolve()) if lock is None else lock
            _keep_from_others(path)
        except OSError as fault:
            raise SetupError(f"cannot write {fault.filename or path}: {fault.strerror}; {ELSEWHERE}") from fault
        self._path = path
        try:
            writer = SqliteConnection(path).writes_much()
            writer.migrate(steps, f"the database {path}")
            writer.bring_in()
            super().__init__(writer, self.opened_connection(self.see_to_facts), Segments(segments_of(path)), known)
        except sqlite3.Error as fault:
            os.close(self._lock)
            raise _cannot_open(path, fault) from fault
        except BaseException as fault:
            os.close(self._lock)
            if isinstance(fault.__cause__, sqlite3.Error):  # of a transaction: facts that are missing are stored first
                raise _cannot_open(path, fault.__cause__) from fault
            if isinstance(fault, UnavailableError):
                raise SetupError(f"cannot use the database {path}: {fault}") from fault
            raise

    def close(self) -> None:
        """Store the backlog, close the file and release the lock."""
        super().close()
        os.close(self._lock)

    def _handover(self) -> WriterHandover:
        return WriterHandover(self._path, None, None, self._lock)

    def opened_connection(self, opened: Callable[[], None]) -> SqliteConnection:
        """As in any open store; `opened` is not needed, since SQLite loses nothing."""
        return SqliteConnection(self._path).only_reads()


def open_to_read(path: Path) -> SqliteConnection:
    """A connection to a store's file that does not write.

    Raises:
        SetupError: it cannot be opened, or its tables are of another shape than the newest.
    """
    try:
        connection = SqliteConnection(path).only_reads()
        connection.expect_newest(f"the database {path}")
    except sqlite3.Error as fault:
        raise _cannot_open(path, fault) from fault
    return connection


def is_sqlite_store(path: Path) -> bool:
    """Whether the file is a store of any version; True also if it cannot be read now, which opening it reports."""
    if not path.exists() or path.is_dir():
        return False
    try:
        with closing(sqlite3.connect(path)) as db:
            return _is_made(db)
    except sqlite3.DatabaseError as fault:
        return _code(fault) != sqlite3.SQLITE_NOTADB


def _is_made(db: sqlite3.Connection) -> bool:
    [(version,)] = db.execute("PRAGMA user_version")
    return version > 0 and db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'log'").fetchone() is not None


def segments_of(path: Path) -> Path:
    """The folder of a SQLite file's segments."""
    return path.with_name(path.name + ".segments")


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _holder(lock: int) -> str:
    return os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"


def _has_ended(process: str) -> bool:
    """Whether the process has ended; a child of it may still hold the lock, and ends soon."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except (ValueError, PermissionError):
        pass
    return False


def _keep_from_others(path: Path) -> None:
    """Create the file, if needed, readable for its user only; SQLite gives the files beside it the same mode."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _only_writer(path: Path) -> int:
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    until_s = time.monotonic() + _ENDING_S
    while not (is_ours := _locked(lock)) and _has_ended(_holder(lock)) and time.monotonic() < until_s:
        time.sleep(_LOOK_EVERY_S)
    if not is_ours:
        holder = _holder(lock)
        os.close(lock)
        raise SetupError(f"another process (pid {holder}) serves the database {path}: stop it first")
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    return lock
