"""The store on PostgreSQL: one database, any number of service processes.

Each process appends to the one log, and learns of others' entries by notifications, or at the latest by polling.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import psycopg

from headwater.errors import SetupError, UnavailableError
from headwater.store.connection import Row
from headwater.store.entries import Entry
from headwater.store.migrations import missing_steps
from headwater.store.postgres_connection import CHANNEL, PostgresConnection
from headwater.store.postgres_url import database_address
from headwater.store.reader import Reader
from headwater.store.schema import STEPS
from headwater.store.segments import Segments
from headwater.store.store import Known, News, Store, WriterHandover

log = logging.getLogger(__name__)

_LOOK_EVERY_S: Final = 0.5
"""Polling interval, in case a notification was lost."""
_LISTENS_WITHIN_S: Final = 5.0
"""Time-out for the command to listen for notifications."""
_ERASES: Final = "erases"
"""What an erasure claims instead of a log's key."""
_ADVICE: Final = "start its server, create it with createdb, or correct its URL"


class PostgresStore(Store):
    """Keeps events and facts in one PostgreSQL database, which other processes may write to at the same time."""

    def __init__(
        self, url: str, steps: Sequence[str] = STEPS, segments: Path | None = None, known: Known | None = None
    ) -> None:
        self._url = url
        self._folder = segments
        self._address = database_address(url)
        self._server = PostgresConnection(self._address)
        self._steps = steps
        self._listener: _Listener | None = None
        self._log_key: str | None = None
        self._refusal: str | None = None
        """Why the database connected to last is refused."""
        try:
            self._connect_first()
            self._server.migrate(steps)
            connection = self.opened_connection(self.see_to_facts)
            super().__init__(self._server, connection, None if segments is None else Segments(segments), known)
        except UnavailableError as fault:
            self._server.close()
            raise SetupError(f"cannot use the database ({self._address}): {fault}") from None
        except BaseException:
            self._server.close()
            raise

    def _connect_first(self) -> None:
        try:
            self._server.open()
        except UnavailableError as fault:
            raise SetupError(f"cannot use the database ({self._address}): {fault}; {_ADVICE}") from None

    def opened_connection(self, opened: Callable[[], None]) -> PostgresConnection:
        """As in any open store; each new connection may follow a crash of the server."""
        return PostgresConnection(self._address, only_reads=True, opened=opened)

    @property
    def fault(self) -> str | None:
        """As in `Store`; the listener notices a fault within a second."""
        return self._refusal or ("the database does not answer" if self._server.is_lost else super().fault)

    def signs_with(self, log_key: str) -> None:
        """As in `Store`: claims the key by a session lock."""
        self._log_key = log_key
        if self._server.others_claim(log_key):
            if self._server.is_claimed(_ERASES):
                raise SetupError(f"a facet is being erased from the database ({self._address}): start again afterwards")
            raise SetupError(
                f"another service on the database ({self._address}) signs the log's heads with a different key: "
                "copy its HEADWATER_HOME/keys/log.key into this service's HEADWATER_HOME"
            )

    def replace(self, log_index: int, raw: bytes, salt: bytes, entry: Entry) -> int:
        """As in `Store`; a running service would go on to show what it read before.

        Raises:
            SetupError: a service uses the database.
        """
        try:
            if self._server.others_claim(_ERASES):
                raise SetupError(f"a service uses the database ({self._address}): stop it first")
            return super().replace(log_index, raw, salt, entry)
        finally:
            with suppress(UnavailableError):
                self._server.claim_no_longer(_ERASES)

    def watch(self, news: News, wake: Callable[[], None]) -> None:
        """As in `Store`."""
        super().watch(news, wake)
        connection = PostgresConnection(self._address)
        connection.answers_within(_LISTENS_WITHIN_S)
        self._listener = _Listener(connection, lambda: self._server.process, wake)

    def close(self) -> None:
        """Store the backlog, and close the connections."""
        if self._listener is not None:
            self._listener.close()
        super().close()

    def _handover(self) -> WriterHandover:
        return WriterHandover(self._url, self._folder, self._log_key, None)

    def see_to_facts(self) -> None:
        """As in any open store."""
        with self._own_turn():
            with suppress(UnavailableError):
                self._server.rows("SELECT 1")  # so that it finds out whether it was lost, too
            self._be_ready()

    def _be_ready(self) -> None:
        """After a lost connection, begin anew: the server may have lost facts that it had not flushed.

        It may be another server, too, or a copy that was restored: then nothing is gone on with.
        """
        if not self._server.is_lost:
            return
        self._server.open()
        try:
            if refusal := self._why_not_go_on():
                if refusal != self._refusal:
                    log.error("cannot go on with the database", extra={"fault": refusal})
                self._refusal = refusal
                raise UnavailableError(refusal)
            self._refusal = None
            self._begin(self._taken_in)
        except BaseException:
            self._server.hang_up()  # so that the next call reconnects
            raise

    def _why_not_go_on(self) -> str | None:
        if self._log_key is not None and self._server.others_claim(self._log_key):
            if self._server.is_claimed(_ERASES):
                return "a facet is being erased from the log"
            return "another service now signs this log with a different key; stop one of the two"
        [(shape,)] = self._server.rows("SELECT version FROM shape")
        try:
            if missing_steps(shape, self._steps, "the database"):
                return f"the database has schema version {shape} again: was it restored? Restart the service"
        except SetupError as newer:
            return str(newer)
        return self._is_another_log()

    def _log_size(self) -> int:
        """As in `Store`; a log that became shorter is handled like a new connection."""
        size = super()._log_size()
        if size < self._reported:
            self._server.hang_up()
        return size


def open_postgres_reader(url: str, segments: Path) -> Reader:
    """Open a database to read from it only."""
    return Reader(PostgresConnection(database_address(url), only_reads=True), Segments(segments))


def is_postgres_store(url: str) -> bool:
    """Whether the database is a store of any version; True also if it does not answer, which opening it reports."""
    with closing(PostgresConnection(database_address(url), only_reads=True)) as connection:
        try:
            [(shape, log_)] = connection.execute("SELECT to_regclass('shape') IS NULL, to_regclass('log') IS NULL")
        except UnavailableError:
            return True
    return not (shape or log_)


class _Listener:
    """A thread that calls `wake` when another process may have appended to the log."""

    def __init__(
        self, connection: PostgresConnection, own_process: Callable[[], int | None], wake: Callable[[], None]
    ) -> None:
        self._connection = connection
        self._own_process = own_process
        self._wake = wake
        self._is_cut_off = False
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._listen_until_closed, name="headwater-listener", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._is_over.set()
        self._thread.join()
        self._connection.close()

    def _listen_until_closed(self) -> None:
        while not self._is_over.is_set():
            try:
                self._listen()
            except (psycopg.Error, UnavailableError) as fault:
                if not self._is_cut_off:  # told once, however long it lasts
                    why = str(fault).partition("\n")[0]
                    log.warning("no connection for the database's notifications; reconnecting", extra={"fault": why})
                self._is_cut_off = True
                self._wake()  # whoever writes finds out, too
                self._is_over.wait(_LOOK_EVERY_S)

    def _listen(self) -> None:
        db = self._connection.open()
        db.execute(f"SET idle_session_timeout = 0; LISTEN {CHANNEL}")  # it sends nothing while it waits
        if self._is_cut_off:
            log.warning("listening for the database's notifications again")
        self._is_cut_off = False
        while not self._is_over.is_set():
            self._wake()
            while not self._is_over.is_set() and self._notified_by_self(db):
                pass

    def _notified_by_self(self, db: psycopg.Connection[Row]) -> bool:
        """Wait for a notification, with a time-out; returns whether it came from this process."""
        notification = next(db.notifies(timeout=_LOOK_EVERY_S, stop_after=1), None)
        return notification is not None and notification.pid == self._own_process()
