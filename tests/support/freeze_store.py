"""Dump databases of the newest schema, which later versions must still open.

    .venv/bin/python -m tests.support.freeze_store

Run once for each schema, before it is released; the dumps never change afterwards.
"""

import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

from headwater.store.postgres import PostgresStore
from headwater.store.schema import STEPS
from headwater.store.sqlite import SqliteStore
from headwater.store.store import Store
from tests.component.store.test_store import entry
from tests.component.store.test_store_migrations import EVENTS, RELEASED
from tests.support.postgres import PROGRAMS, running_cluster

_OF_NO_TABLE = ("--", "SET ", "SELECT pg_catalog.set_config", "\\")


def main() -> None:
    """Write a dump of each kind of database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "headwater.db"
        with closing(SqliteStore(path)) as store:
            _fill(store)
            with closing(sqlite3.connect(path)) as database:
                lines = [*database.iterdump(), f"PRAGMA user_version = {len(STEPS)};"]
    _write("sqlite", lines)
    with running_cluster() as cluster, closing(PostgresStore(cluster.url("postgres"))) as store:
        _fill(store)
        dump: list[str | Path] = [
            PROGRAMS[-1] / "pg_dump",
            "--no-owner",
            "--no-privileges",
            "--inserts",
            cluster.url("postgres"),
        ]
        lines = subprocess.run(dump, check=True, capture_output=True, text=True).stdout.splitlines()
    _write("postgres", [line.replace("public.", "") for line in lines if line and not line.startswith(_OF_NO_TABLE)])


def _fill(store: Store) -> None:
    """Events with their facts, and some whose facts are not stored yet."""
    half = len(EVENTS) // 2
    store.add([entry(raw) for raw in EVENTS[:half]])
    store.catch_up()
    store.add([entry(raw) for raw in EVENTS[half:]])


def _write(kind: str, lines: list[str]) -> None:
    (RELEASED / f"{kind}-{len(STEPS)}.sql").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
