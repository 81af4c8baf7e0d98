"""What only the SQLite store has: a file, and one process at a time."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.graph.fold import fold
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.store.connection import Row
from headwater.store.entries import LoggedEvent, as_today, entry_today, facts_of
from headwater.store.opening import open_existing, open_reader
from headwater.store.sqlite import SqliteConnection, SqliteStore
from tests.component.store.test_store import entry, event
from tests.support.disk import full_disk
from tests.support.rights import limited


def test_facts_lost_in_a_crash_are_folded_again_from_the_log(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    raws = [event(second, run) for second in range(3) for run in range(2)]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add([entry(raw) for raw in raws])
        for file in tmp_path.glob("headwater.db*"):  # as they are on disk before the facts are stored
            shutil.copy(file, crashed)
    with sqlite3.connect(crashed / "headwater.db") as database:
        assert database.execute("SELECT events, (SELECT count(*) FROM run_times) FROM folded").fetchone() == (0, 0)
    database.close()

    with closing(SqliteStore(crashed / "headwater.db")) as store:
        stored_facts = {fact.key: fact for fact in store.facts()}

    assert stored_facts == fold(fact for raw in raws for fact in facts(parse_event(raw)))


class OneUnreadable(SqliteStore):
    """A store where reading the second entry raises an unexpected error."""

    def _unpacked(self, place: int, digest: bytes, frame: bytes) -> bytes:
        return cast(bytes, None) if place == 1 else super()._unpacked(place, digest, frame)


def test_an_entry_that_raises_an_unexpected_error_adds_no_facts_and_does_not_prevent_a_start(tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    raws = [event(0, run) for run in range(3)]
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add([entry(raw) for raw in raws])
        for file in tmp_path.glob("headwater.db*"):  # as they are on disk before the facts are stored
            shutil.copy(file, crashed)

    with closing(OneUnreadable(crashed / "headwater.db")) as store:
        stored_facts = {fact.key: fact for fact in store.facts()}

    assert stored_facts == fold(fact for raw in (raws[0], raws[2]) for fact in facts(parse_event(raw)))


def test_an_entry_that_raises_an_unexpected_error_is_left_out_of_copies_and_pasts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logged = LoggedEvent(0, b"", 0, 0, "START", "unsigned", None, cast(bytes, None))

    assert (as_today("START", logged.raw), facts_of(logged), entry_today(logged)) == (None, (), None)
    assert "TypeError" in caplog.text


def test_rows_abandoned_after_their_database_was_closed_raise_no_error(tmp_path: Path) -> None:
    connection = SqliteConnection(tmp_path / "headwater.db")
    with closing(cast(Generator[Row], connection.rows("VALUES (1), (2)"))) as rows:  # as when it is garbage collected
        first = next(rows)
        connection.close()

    assert first == (1,)


def test_a_second_process_on_one_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)), pytest.raises(SetupError, match=r"another process \(pid \d+\) serves"):
        SqliteStore(path)


def test_a_second_process_on_one_database_is_refused_also_by_a_link_to_its_file(tmp_path: Path) -> None:
    path, link = tmp_path / "headwater.db", tmp_path / "home" / "headwater.db"
    link.parent.mkdir()
    link.symlink_to(path)
    with closing(SqliteStore(link)), pytest.raises(SetupError, match=r"another process \(pid \d+\) serves"):
        SqliteStore(path)


def test_files_are_accessible_to_their_user_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        store = SqliteStore(tmp_path / "headwater.db")
        store.add([entry(event())])
    finally:
        os.umask(before)

    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    store.close()

    assert {"headwater.db", "headwater.db-wal"} <= modes.keys()
    assert set(modes.values()) == {0o600}, modes


def test_a_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    path.write_bytes(b"no database at all" * 100)

    with pytest.raises(SetupError, match="is it a Headwater database"):
        SqliteStore(path)


_READ_ONLY = 0o555


def test_a_folder_that_cannot_be_written_is_named_with_what_to_do(open_folder: Path) -> None:
    with limited(open_folder, to=_READ_ONLY), pytest.raises(SetupError) as error:
        SqliteStore(open_folder / "home" / "headwater.db")

    assert str(error.value) == (
        f"cannot write {open_folder}/home: Permission denied; "
        "let this user write there, or set HEADWATER_HOME to another folder"
    )


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")

    with pytest.raises(SetupError, match=f"cannot write {tmp_path}/home: File exists; let this user write there"):
        SqliteStore(tmp_path / "home" / "headwater.db")


def test_a_database_that_cannot_be_written_is_named_with_what_to_do(open_folder: Path) -> None:
    path = open_folder / "headwater.db"
    SqliteStore(path).close()
    path.with_name("headwater.db.lock").chmod(0o666)

    with limited(open_folder, path, to=_READ_ONLY), pytest.raises(SetupError) as error:
        SqliteStore(path)

    assert str(error.value).startswith(f"cannot open the database {path}: attempt to write a readonly database; let")


def test_a_damaged_database_is_reported_with_the_advice_to_restore_a_backup(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    SqliteStore(path).close()
    raw = path.read_bytes()
    path.write_bytes(raw[:100] + b"\xff" * 4_000 + raw[4_100:])

    with pytest.raises(SetupError, match="replace it with a backup"):
        SqliteStore(path)


def test_a_damaged_page_is_not_blamed_on_an_event_and_no_event_loses_its_facts(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as database:
        [(page,)] = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'run_times'")
        [(size,)] = database.execute("PRAGMA page_size")
    with closing(SqliteStore(path)) as store:
        with path.open("r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"\xff" * size)
        store.add([entry(event(0))])

        with pytest.raises(UnavailableError, match="malformed"):
            store.catch_up()

    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT events FROM folded").fetchone() == (0,)


def test_a_disk_without_room_for_facts_lost_in_a_crash_is_reported_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(SqliteStore(path)) as store:
        store.add([entry(event(0, 0))])
    with closing(sqlite3.connect(path, isolation_level=None)) as database:  # the files next to the database stay there
        database.execute("UPDATE folded SET events = 0")

        with full_disk(), pytest.raises(SetupError) as error:
            SqliteStore(path)

    assert str(error.value).startswith(f"cannot open the database {path}: disk I/O error; check its disk")
    SqliteStore(path).close()


def test_a_store_without_read_permission_is_not_reported_as_missing(open_folder: Path) -> None:
    path = open_folder / "headwater.db"
    SqliteStore(path).close()

    path.chmod(0)
    with limited(open_folder, to=_READ_ONLY):
        for open_store in (open_existing, open_reader):
            with pytest.raises(SetupError, match=r"cannot (write|open).*; let this user write there"):
                open_store(path, open_folder)


def test_the_store_of_a_killed_process_can_be_opened_once_its_child_processes_have_ended(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    code = f"""
import os, subprocess
from pathlib import Path
from headwater.store.sqlite import SqliteStore
lock = SqliteStore(Path({str(path)!r})).hand_over_writing().lock
subprocess.Popen(["sleep", "1"], pass_fds=[lock], stdout=subprocess.DEVNULL)
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)

    with closing(SqliteStore(path)) as store:
        store.add([entry(event())])
        with pytest.raises(
            SetupError, match=rf"another process \(pid {os.getpid()}\) serves the database .*: stop it first$"
        ):
            SqliteStore(path)
