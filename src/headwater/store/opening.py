"""Open a store by what a person calls it: the path of a SQLite file, or the URL of a PostgreSQL database."""

from pathlib import Path
from typing import Final

from headwater.errors import SetupError
from headwater.store.reader import Reader
from headwater.store.segments import Segments
from headwater.store.sqlite import SqliteStore, is_sqlite_store, open_to_read, segments_of
from headwater.store.store import Known, Store, WriterHandover

WHERE_ONE_IS: Final = "set HEADWATER_HOME, or HEADWATER_DATABASE_URL, as for `headwater serve`"
"""Advice where there is no database."""


def open_store(where: str | Path, segments: Path | None = None) -> Store:
    """Open the store, and make it if there is nothing yet; the caller closes it.

    `segments` is the folder that raw events of a PostgreSQL database are moved to; a SQLite file's stands beside it.

    Raises:
        SetupError: it cannot be opened; the message says what to do, and shows no password.
    """
    if isinstance(where, Path) or "://" not in where:
        return SqliteStore(Path(where))
    from headwater.store.postgres import PostgresStore  # its driver takes 27 MB, and 0.2 s to load

    return PostgresStore(where, segments=segments)


def open_as_writer(handover: WriterHandover, known: Known | None) -> Store:
    """Open a store that another process lent to this one, who knows that of the log; the caller closes it.

    Raises:
        SetupError: it cannot be opened, or holds less than the other knows.
    """
    if isinstance(handover.where, Path):
        return SqliteStore(handover.where, lock=handover.lock, known=known)
    from headwater.store.postgres import PostgresStore  # as in `open_store`

    store = PostgresStore(handover.where, segments=handover.segments, known=known)
    try:
        if handover.log_key is not None:
            store.signs_with(handover.log_key)
    except BaseException:
        store.close()
        raise
    return store


def open_existing(where: str | Path, segments: Path | None) -> Store:
    """Open a store that is there already; none is made, and the caller closes it.

    Raises:
        SetupError: it is none, or cannot be opened.
    """
    if not _holds_store(where):
        if "://" not in str(where) and not Path(where).exists():
            raise SetupError(f"there is no database {where}: name the one that `headwater serve` created")
        raise SetupError(
            f"{_description(where)} is not a Headwater store: name the database that `headwater serve` created"
        )
    return open_store(where, segments)


def _holds_store(where: str | Path) -> bool:
    if isinstance(where, Path) or "://" not in where:
        return is_sqlite_store(Path(where))
    from headwater.store.postgres import is_postgres_store  # as in `open_store`

    return is_postgres_store(where)


def _description(where: str | Path) -> str:
    if isinstance(where, Path) or "://" not in where:
        return str(where)
    from headwater.store.postgres_url import database_address  # as in `open_store`

    return f"the database ({database_address(where)})"


def open_reader(where: str | Path, segments: Path) -> Reader:
    """Open a store to read from it only, beside a service that may use it; the caller closes it.

    Raises:
        SetupError: there is none, it cannot be opened, or a Headwater of another version uses it.
    """
    if isinstance(where, Path) or "://" not in where:
        path = Path(where)
        if not path.exists():
            raise SetupError(f"there is no database {path}: {WHERE_ONE_IS}")
        return Reader(open_to_read(path), Segments(segments_of(path)))
    from headwater.store.postgres import open_postgres_reader  # as in `open_store`

    return open_postgres_reader(where, segments)
