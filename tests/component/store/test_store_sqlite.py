"""What only the SQLite store has: a file, and one process at a time."""

import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from headwater.errors import SetupError
from headwater.graph.fold import fold
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.store.connection import Row
from headwater.store.sqlite import SqliteConnection, SqliteStore
from tests.component.store.test_store import entry, event


def test_facts_that_a_crash_took_are_folded_again_from_the_log(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    raws = [event(second, run) for second in range(3) for run in range(2)]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add([entry(raw) for raw in raws])
        for file in tmp_path.glob("headwater.db*"):  # as they are on disk before the facts follow
            shutil.copy(file, crashed)
    with sqlite3.connect(crashed / "headwater.db") as database:
        assert database.execute("SELECT events, (SELECT count(*) FROM run_times) FROM folded").fetchone() == (0, 0)
    database.close()

    with closing(SqliteStore(crashed / "headwater.db")) as store:
        kept = {fact.key: fact for fact in store.facts()}

    assert kept == fold(fact for raw in raws for fact in facts(parse_event(raw)))


def test_rows_that_are_given_up_after_their_database_was_closed_say_nothing(tmp_path: Path) -> None:
    connection = SqliteConnection(tmp_path / "headwater.db")
    with closing(cast(Generator[Row], connection.rows("VALUES (1), (2)"))) as rows:  # as when nobody has it any more
        first = next(rows)
        connection.close()

    assert first == (1,)


def test_a_second_process_on_one_database_is_told_so(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)), pytest.raises(SetupError, match=r"another process \(number \d+\) serves"):
        SqliteStore(path)


def test_a_file_that_is_no_database_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(SetupError, match="is it a Headwater database"):
        SqliteStore(path)
