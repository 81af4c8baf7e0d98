"""Stores that tests reuse, since creating one takes longer than the test; and databases that somebody edits."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from headwater.store.schema import STEPS
from headwater.store.store import Store


def _stored_tables() -> list[str]:
    """The tables that the migrations create and keep, except the count of folded entries."""
    tables: set[str] = set()
    for table_created, dropped in re.findall(r"CREATE TABLE (\w+)|DROP TABLE (\w+)", "".join(STEPS)):
        tables = (tables | {table_created} if table_created else tables) - {dropped}
    return sorted(tables - {"folded"})


_TABLES = _stored_tables()


def empty_stores(*stores: Store) -> None:
    """Empty the stores."""
    for store in stores:
        if any(store._rows("SELECT 1 FROM log LIMIT 1")):
            with store._writer.transaction(is_acknowledged=False):
                for table in _TABLES:
                    store._writer.execute(f"DELETE FROM {table}")  # noqa: S608  names of ours
                store._writer.execute("UPDATE folded SET events = 0")
    for store in stores:
        store._reported = 0
        store._begin()


def edit(database: str | Path, *statements: str) -> None:
    """Change a database as a person could."""
    with closing(sqlite3.connect(database) if isinstance(database, Path) else psycopg.connect(database)) as db:
        for each in statements:
            db.execute(each)  # type: ignore[call-overload, unused-ignore]
        db.commit()


def binary(database: str | Path, digits: str) -> str:
    """A value of hexadecimal digits in SQL."""
    return f"x'{digits}'" if isinstance(database, Path) else f"'\\x{digits}'"
