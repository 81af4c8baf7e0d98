"""Open a store by what a person calls it: the path of a SQLite file, or the URL of a PostgreSQL database."""

from pathlib import Path

from headwater.store.sqlite import SqliteStore
from headwater.store.store import Store


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
