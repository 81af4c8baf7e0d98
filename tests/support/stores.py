"""Stores that tests reuse, since creating one takes longer than the test."""

import re

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
