"""A SQLite store is backed up while a service writes to it, and the backup is a store like any other."""

import json
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import SetupError, UnavailableError
from headwater.model.events import parse_event
from headwater.store.backup import back_up
from headwater.store.copying import digest
from headwater.store.entries import Entry, entry_of
from headwater.store.erasing import Erasure, erase
from headwater.store.opening import open_store
from headwater.store.packing import packed
from headwater.store.retiring import retire
from headwater.store.store import Store
from tests.support.app import event, facet

SALT = bytes(16)
OLD_US, NEW_US = 1_000, 9_000


def entry(number: int) -> Entry:
    facets = {"n": facet(text=f"{number} " * 400)}
    raw = json.dumps(event(run={"runId": f"run {number}", "facets": facets})).encode()
    return entry_of(parse_event(raw), "unsigned", None, OLD_US, SALT)


def ignore_progress(what: str, done: int, total: int) -> None:
    """Take a report of progress, and ignore it."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with some events in a segment, and some not."""
    with closing(open_store(tmp_path / "headwater.db")) as store:
        store.add([entry(number) for number in range(200)])
        store.catch_up()
        assert retire(store, NEW_US, each=128) == 128
        yield store


@pytest.mark.parametrize("text", [b"", b"no database " * 99])
def test_a_file_that_is_not_a_store_is_not_backed_up(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "headwater.db").write_bytes(text)

    with pytest.raises(SetupError, match=r"headwater\.db is not a Headwater store"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)

    assert [path.name for path in tmp_path.iterdir()] == ["headwater.db"]


def test_a_backup_is_the_store_as_it_was(store: Store, tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()

    backup = back_up(tmp_path / "headwater.db", tmp_path / "away" / "copy.db", ignore_progress)
    before = digest(store)
    store.add([entry(200)])

    with closing(open_store(tmp_path / "away" / "copy.db")) as copy:
        assert digest(copy) == before
        assert (backup.entries, backup.tree) == (200, before.tree)
        copy.add([entry(201)])
        assert copy.size() == 201
    assert sorted(path.name for path in (tmp_path / "away").iterdir()) == [
        "copy.db",
        "copy.db.lock",
        "copy.db.segments",
    ]
    assert (tmp_path / "away" / "copy.db").stat().st_mode & 0o077 == 0


def test_a_backup_beside_the_write_ahead_log_of_a_killed_service_is_refused_with_what_to_remove(tmp_path: Path) -> None:
    path, backup, wal = (tmp_path / name for name in ("headwater.db", "backup.db", "headwater.db-wal"))
    with closing(open_store(path)) as store:
        store.add([entry(number) for number in range(100)])
        back_up(path, backup, ignore_progress)
        store.add([entry(number) for number in range(100, 900)])
    with closing(open_store(path)) as store:
        store.add([entry(number) for number in range(900, 950)])
        store.catch_up()
        shutil.copy(wal, tmp_path / "left")
    shutil.copy(backup, path)
    shutil.copy(tmp_path / "left", wal)

    with pytest.raises(SetupError, match=r"damaged: remove its -wal and -shm files, and replace it with a backup"):
        open_store(path)


def test_a_backup_is_of_one_moment_while_events_are_stored(tmp_path: Path) -> None:
    path, is_over = tmp_path / "headwater.db", threading.Event()
    with closing(open_store(path)) as store:
        store.add([entry(number) for number in range(2_000)])
        store.catch_up()
        has_written = threading.Event()
        done: list[int] = []

        def write() -> None:
            for number in count(2_000):
                store.add([entry(number)])
                has_written.set()
                if is_over.is_set():
                    return

        def copying(what: str, through: int, total: int) -> None:
            if what == "copying pages":
                done.append(through)
                has_written.clear()
                assert has_written.wait(60)  # another event is stored while pages are copied

        writer = threading.Thread(target=write)
        writer.start()
        assert has_written.wait(60)
        backup = back_up(path, tmp_path / "copy.db", copying)
        is_over.set()
        writer.join()

        assert store.size() >= backup.entries + len(done) > backup.entries >= 2_000
        assert len(done) > 1
        assert done == sorted(set(done))  # it did not start again
        assert backup.tree == store.tree.frontier(backup.entries).root.hex()
    with closing(open_store(tmp_path / "copy.db")) as copy:
        assert copy.size() == backup.entries


def test_a_missing_segment_is_reported_by_the_folder_that_lacks_it(store: Store, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "headwater.db.segments")

    with pytest.raises(UnavailableError, match=rf"not in {tmp_path}/headwater\.db\.segments: put it there"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)


@pytest.mark.parametrize("existing", ["copy.db", "copy.db.segments"])
def test_an_existing_file_is_not_overwritten(store: Store, tmp_path: Path, existing: str) -> None:
    (tmp_path / existing).mkdir()

    with pytest.raises(SetupError, match=f"{existing} already exists: name a new file"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)


def test_a_missing_folder_is_not_created(store: Store, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"there is no folder {tmp_path / 'bakcup'}: create it, or name a file in an"):
        back_up(tmp_path / "headwater.db", tmp_path / "bakcup" / "copy.db", ignore_progress)

    assert not (tmp_path / "bakcup").exists()


def test_a_store_of_another_version_is_refused_before_anything_is_copied(tmp_path: Path) -> None:
    open_store(tmp_path / "headwater.db").close()
    with closing(sqlite3.connect(tmp_path / "headwater.db")) as database:
        database.execute("PRAGMA user_version = 1")
    progress: list[str] = []

    with pytest.raises(SetupError, match=r"headwater\.db has schema version 1, not yet \d+"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", lambda what, *_: progress.append(what))

    assert progress == []
    assert not list(tmp_path.glob("*copy*"))


def test_an_incomplete_copy_is_not_left_behind(store: Store, tmp_path: Path) -> None:
    [segment] = (tmp_path / "headwater.db.segments").iterdir()
    segment.write_bytes(segment.read_bytes()[:-3_000])
    (tmp_path / "away").mkdir()

    with pytest.raises(UnavailableError, match="cannot be read"):
        back_up(tmp_path / "headwater.db", tmp_path / "away" / "copy.db", ignore_progress)

    assert list((tmp_path / "away").iterdir()) == []


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "headwater.db")) as store:
        store.add([entry(number) for number in range(200)])
    content = bytearray((tmp_path / "headwater.db").read_bytes())
    content[4096 * 8 : 4096 * 20] = bytes(4096 * 12)
    (tmp_path / "headwater.db").write_bytes(content)

    with pytest.raises(SetupError, match="is damaged"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)

    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("UPDATE log SET packed = (SELECT packed FROM log WHERE idx = 150) WHERE idx = 151", "lacks entry 151, or"),
        ("DELETE FROM log WHERE idx = 160", "lacks entry 160, or"),
        ("DELETE FROM log WHERE idx > 290", "the log has 291 entries, but its tree has 300"),
        ("UPDATE leaf SET hash = zeroblob(32) WHERE idx = 12", "a leaf of entries 0 to 300 is not what the log says"),
        ("UPDATE log SET verdict = 'ok' WHERE idx = 12", "a leaf of entries 0 to 300 is not what the log says"),
        ("UPDATE tile_root SET hash = zeroblob(32)", "a node above entries 0 to 300 does not follow from its leaves"),
        ("UPDATE tree SET frontier = zeroblob(128)", "the head of the log's tree does not follow from its leaves"),
    ],
)
def test_a_log_that_differs_from_what_was_received_is_reported(tmp_path: Path, edit: str, message: str) -> None:
    with closing(open_store(tmp_path / "headwater.db")) as store:
        store.add([entry(number) for number in range(300)])
    with closing(sqlite3.connect(tmp_path / "headwater.db")) as database, database:
        database.execute(edit)

    with pytest.raises(SetupError, match=message):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)

    assert not list(tmp_path.glob("*copy*"))


def test_an_event_that_was_replaced_along_with_its_digest_is_reported(store: Store, tmp_path: Path) -> None:
    erase(store, Erasure(12, "run.facets.n", "asked for", "ann", "1", 7))
    back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)  # what was erased is no fault
    raw = store.at([150])[150].raw.replace(b"150", b"999")
    with closing(sqlite3.connect(tmp_path / "headwater.db")) as database, database:
        replaced = packed(raw), sha256(raw).digest()
        database.execute("UPDATE log SET packed = ?, digest = ? WHERE idx = 150", replaced)

    with pytest.raises(SetupError, match="lacks entry 150, or its bytes are not those received"):
        back_up(tmp_path / "headwater.db", tmp_path / "later.db", ignore_progress)

    assert not list(tmp_path.glob("*later*"))


def test_a_log_without_one_of_its_leaves_is_reported(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "headwater.db")) as store:
        store.add([entry(number) for number in range(200)])
    with closing(sqlite3.connect(tmp_path / "headwater.db")) as database, database:
        database.execute("DELETE FROM leaf WHERE idx = 12")

    with pytest.raises(UnavailableError, match="the tree lacks leaves of entries 0 to 200"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)

    assert not list(tmp_path.glob("*copy*"))


def test_the_command_reports_what_is_in_the_backup(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    command = CliRunner()

    result = command.invoke(app, ["store", "backup", str(tmp_path / "one.db")])
    answer = json.loads(command.invoke(app, ["store", "backup", str(tmp_path / "two.db"), "--json"]).stdout)

    tree = store.tree.frontier(200).root.hex()
    assert result.stdout.startswith(f"200 entries tree:{tree} are in {tmp_path / 'one.db'}, ")
    assert "reading back: 200 of 200" in result.stderr
    assert (answer["entries"], answer["tree"]) == (200, tree)


def test_a_postgresql_store_is_referred_to_pg_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_DATABASE_URL", "postgresql://u:secret@h/d")

    result = CliRunner().invoke(app, ["store", "backup", str(tmp_path / "copy.db")])

    assert isinstance(result.exception, SetupError)
    assert "pg_dump" in str(result.exception)
    assert "secret" not in str(result.exception)


def test_no_store_is_created_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"there is no database.*: set HEADWATER_HOME"):
        back_up(tmp_path / "headwater.db", tmp_path / "copy.db", ignore_progress)

    assert list(tmp_path.iterdir()) == []
