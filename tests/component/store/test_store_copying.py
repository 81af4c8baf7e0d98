"""A store is copied completely, from either kind of database to either, and the two are compared."""

import json
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import SetupError, UnavailableError
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.store.copying import copy, digest
from headwater.store.entries import Entry, entry_of
from headwater.store.opening import open_store
from headwater.store.packing import packed, unpacked
from headwater.store.retiring import retire
from headwater.store.store import Store
from tests.component.store.test_store import entry, event
from tests.support.app import event as app_event
from tests.support.app import facet
from tests.support.disk import full_disk
from tests.support.postgres import Cluster
from tests.support.program import COMMAND
from tests.support.rights import limited
from tests.support.service import eventually

Database = str | Path
SALT = bytes(16)
"""The salt of every entry, so that entries that were copied before have the same leaves."""


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite", "sqlite to sqlite", "postgres to postgres"])
def databases(request: pytest.FixtureRequest, tmp_path: Path, cluster: Cluster) -> tuple[Database, Database]:
    """The database to copy from, and the one to copy to."""
    first, second = request.param.split(" to ")
    return _named(first, tmp_path / "from.db", cluster), _named(second, tmp_path / "to.db", cluster)


def _named(kind: str, path: Path, cluster: Cluster) -> Database:
    return path if kind == "sqlite" else cluster.new_database()


def entries() -> Iterator[Entry]:
    """Events and edits, verified and not; a job deleted and restored; text that PostgreSQL cannot hold."""
    odd = app_event(run={"runId": "odd", "facets": {"n\0": facet(text="\0\1")}}, outputs=[])
    for number in range(40):
        yield entry_of(parse_event(event(number % 60, number % 4)), "ok", "a key", number, SALT)
    yield entry_of(parse_event(json.dumps(odd).encode()), "unsigned", None, 1, SALT)
    yield entry_of(
        edit_entry("1", 5, "ann", [EditItem(("job", "etl", "load"), "deleted", True)]), "unsigned", None, 6, SALT
    )
    yield entry_of(parse_event(event(59, 3)), "tampered", None, 7, SALT)


def fill(database: Database, log: list[Entry]) -> None:
    with closing(open_store(database)) as store:
        for each in log:
            store.add([each])


def ignore_progress(done: int, total: int) -> None:
    """Take a report of progress, and ignore it."""


def contents(store: Store) -> tuple[list[object], dict[object, object]]:
    return list(store.logged(range(1000))), {fact.key: fact for fact in store.facts()}


def test_a_copy_holds_the_same_log_and_facts(databases: tuple[Database, Database]) -> None:
    fill(databases[0], list(entries()))

    with closing(open_store(databases[0])) as source, closing(open_store(databases[1])) as target:
        result = copy(source, target, ignore_progress)

        assert result.is_same
        assert (result.copied, result.target.entries) == (43, 43)
        assert contents(target) == contents(source)
        assert [row[:3] for row in sorted(target.verdicts().rows, key=str)] == [
            row[:3] for row in sorted(source.verdicts().rows, key=str)
        ]


def test_an_event_that_would_be_refused_today_belongs_to_its_run_in_the_copy_too(
    databases: tuple[Database, Database],
) -> None:
    raw = event(1, 2).replace(b'"load"', b'"lo\\u0000ad"')
    accepted = entry(event(1, 2))
    fill(databases[0], [accepted._replace(digest=sha256(raw).digest(), frame=packed(raw), facts=(), named=())])

    with closing(open_store(databases[0])) as source, closing(open_store(databases[1])) as target:
        assert copy(source, target, ignore_progress).is_same

        assert [logged.raw for logged in target.run_events(accepted.run_id or "")] == [raw]


def test_an_interrupted_copy_is_continued(databases: tuple[Database, Database]) -> None:
    everything = list(entries())
    fill(databases[0], everything)
    fill(databases[1], everything[:17])

    with closing(open_store(databases[0])) as source, closing(open_store(databases[1])) as target:
        result = copy(source, target, ignore_progress)

    assert result.is_same
    assert result.copied == 26


def test_a_full_target_is_named_and_the_copy_continues_once_it_has_space(tmp_path: Path) -> None:
    fill(tmp_path / "from.db", list(entries()))

    with closing(open_store(tmp_path / "from.db")) as source, closing(open_store(tmp_path / "to.db")) as target:
        with full_disk(), pytest.raises(UnavailableError, match=r"^TO: "):
            copy(source, target, ignore_progress)

        assert copy(source, target, ignore_progress).is_same


def test_the_command_says_that_an_interrupted_copy_is_not_complete(tmp_path: Path) -> None:
    fill(tmp_path / "from.db", list(entries()))
    with closing(open_store(tmp_path / "from.db")) as store:
        store.catch_up()
        retire(store, 1 << 60, each=10)
    (tmp_path / "from.db.segments").rename(tmp_path / "elsewhere")

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert isinstance(result.exception, UnavailableError)
    assert str(result.exception) == (
        f"the bytes of event 0 are in a segment that is not in {tmp_path / 'from.db.segments'}: put it there; "
        "TO is not complete: the same command continues the copy"
    )


def test_a_home_that_the_user_may_not_enter_matters_only_for_events_in_its_segments(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, first, second = (over_tcp(cluster, cluster.new_database()) for _ in range(3))
    home = tmp_path / "home"
    fill(source, list(entries()))
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    home.mkdir()

    with limited(home):
        copied = CliRunner().invoke(app, ["store", "copy", source, first])
    with closing(open_store(source, home / "segments")) as store:
        store.catch_up()
        retire(store, 1 << 60, each=10)
    with limited(home):
        refused = CliRunner().invoke(app, ["store", "copy", source, second])

    assert copied.exit_code == 0
    assert "set HEADWATER_HOME to the folder that has `segments`" in str(refused.exception)


@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_copy_that_is_stopped_says_that_it_is_not_complete(
    cluster: Cluster, tmp_path: Path, stop: signal.Signals, status: int
) -> None:
    fill(tmp_path / "from.db", list(entries()))
    url = cluster.new_database()
    open_store(url).close()

    with closing(psycopg.connect(url)) as blocking, closing(psycopg.connect(url, autocommit=True)) as watching:
        blocking.execute("LOCK TABLE log IN SHARE MODE")
        command = [*COMMAND, "store", "copy", str(tmp_path / "from.db"), url]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as program:
            assert eventually(
                lambda: watching.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone() is not None
            )
            program.send_signal(stop)
            _, errors = program.communicate()

    assert (program.returncode, errors) == (status, "TO is not complete: the same command continues the copy\n")


def over_tcp(cluster: Cluster, url: str) -> str:
    """The same database for a user who may not enter the folder with the server's socket."""
    return url.replace(quote(str(cluster.folder), safe=""), "127.0.0.1")


@pytest.mark.parametrize("other", [[9], [0, 1, 3], list(range(44))], ids=["another", "a gap", "longer"])
def test_a_target_with_other_entries_is_left_unchanged(databases: tuple[Database, Database], other: list[int]) -> None:
    everything = [*entries(), entry(event(58, 3).replace(b"load", b"mart"))]
    fill(databases[0], everything[:43])
    fill(databases[1], [everything[number] for number in other])

    with closing(open_store(databases[0])) as source, closing(open_store(databases[1])) as target:
        before = contents(target)
        with pytest.raises(SetupError, match=f"TO differs from FROM from log entry {len(other) - 1}|entry 0"):
            copy(source, target, ignore_progress)

        assert contents(target) == before


def test_stores_that_differ_in_one_fact_have_different_digests(database: Database) -> None:
    fill(database, list(entries()))
    with closing(open_store(database)) as store:
        before = digest(store)
        with store._writer.transaction(is_acknowledged=True):
            store._writer.execute("UPDATE run_times SET last_us = last_us + 1 WHERE run = 1")

        after = digest(store)

    assert after.log == before.log
    assert after.of_facts != before.of_facts


def test_the_command_copies_and_reports_the_result(tmp_path: Path, cluster: Cluster) -> None:
    fill(tmp_path / "from.db", list(entries()))
    url = cluster.new_database()
    command = CliRunner()

    first = command.invoke(app, ["store", "copy", str(tmp_path / "from.db"), url, "--json"])
    again = command.invoke(app, ["store", "copy", url, str(tmp_path / "to.db")])

    copied = json.loads(first.stdout)
    assert (first.exit_code, copied["same"], copied["copied"], copied["warnings"]) == (0, True, 43, [])
    assert copied["from"] == copied["to"]
    assert again.exit_code == 0
    assert again.stdout.startswith("43 entries copied; FROM and TO are identical: 43 entries sha256:")
    assert "copying: 43 of 43" in again.stderr


def test_a_copy_that_differs_is_reported_by_the_exit_status(tmp_path: Path) -> None:
    fill(tmp_path / "from.db", list(entries()))
    with closing(sqlite3.connect(tmp_path / "from.db")) as damaged:
        damaged.execute("UPDATE run_times SET last_us = last_us + 1 WHERE run = 1")
        damaged.commit()

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert (result.exit_code, result.stdout[:14]) == (1, "NOT IDENTICAL:")


@pytest.mark.parametrize(
    "edit",
    ["DELETE FROM log WHERE idx = 10", "UPDATE log SET packed = (SELECT packed FROM log WHERE idx = 9) WHERE idx = 10"],
)
def test_a_log_that_differs_from_what_was_received_is_not_copied(tmp_path: Path, edit: str) -> None:
    fill(tmp_path / "from.db", [*entries()])
    with closing(sqlite3.connect(tmp_path / "from.db")) as database, database:
        database.execute(edit)

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert isinstance(result.exception, SetupError)
    assert "FROM lacks log entry 10, or its bytes are not those received" in str(result.exception)


def test_an_event_that_was_replaced_along_with_its_digest_is_not_copied(tmp_path: Path) -> None:
    fill(tmp_path / "from.db", [*entries()])
    with closing(sqlite3.connect(tmp_path / "from.db")) as database, database:
        [(frame,)] = database.execute("SELECT packed FROM log WHERE idx = 10")
        raw = unpacked(frame).replace(b"eventTime", b"eventtime")
        database.execute("UPDATE log SET packed = ?, digest = ? WHERE idx = 10", (packed(raw), sha256(raw).digest()))

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert isinstance(result.exception, SetupError)
    assert "FROM lacks log entry 10, or its bytes are not those received" in str(result.exception)


def test_a_log_without_one_of_its_leaves_is_not_copied(tmp_path: Path) -> None:
    fill(tmp_path / "from.db", [*entries()])
    with closing(sqlite3.connect(tmp_path / "from.db")) as database, database:
        database.execute("DELETE FROM leaf WHERE idx = 10")

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert isinstance(result.exception, UnavailableError)
    assert "the tree lacks leaves of entries 0 to" in str(result.exception)


@pytest.mark.parametrize("edit", ["event_us = event_us - 1", "run = (SELECT run FROM log WHERE idx = 1)", "run = NULL"])
def test_an_event_under_a_wrong_time_or_run_is_reported_and_copied_as_received(tmp_path: Path, edit: str) -> None:
    fill(tmp_path / "from.db", [*entries()])
    with closing(sqlite3.connect(tmp_path / "from.db")) as database, database:
        database.execute(f"UPDATE log SET {edit} WHERE idx IN (8, 12)")  # noqa: S608  our own text

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db"), "--json"])

    (warning,) = json.loads(result.stdout)["warnings"]
    assert "the database has 2 events under a time or run that differs from the bytes" in warning
    assert "entries: 8, 12; the copy uses the bytes" in warning
    assert f"warning: {warning}" in result.stderr


def create_another_programs_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE person (name TEXT)")
        db.commit()


NOT_STORES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.touch(),
    "text": lambda path: path.write_text("no database " * 99),
    "another's": create_another_programs_table,
}


@pytest.mark.parametrize("kind", NOT_STORES)
def test_a_file_that_is_not_a_store_is_neither_copied_nor_written_to(tmp_path: Path, kind: str) -> None:
    NOT_STORES[kind](tmp_path / "from.db")
    before = (tmp_path / "from.db").read_bytes()

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert (result.exit_code, "is not a Headwater store" in str(result.exception)) == (1, True)
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("from.db", before)]


def test_an_empty_database_is_not_a_store_to_copy_from(tmp_path: Path, cluster: Cluster) -> None:
    result = CliRunner().invoke(app, ["store", "copy", cluster.new_database(), str(tmp_path / "to.db")])

    assert (result.exit_code, "is not a Headwater store" in str(result.exception)) == (1, True)


def test_tables_are_not_created_among_those_of_another_program(tmp_path: Path) -> None:
    create_another_programs_table(tmp_path / "to.db")
    fill(tmp_path / "from.db", list(entries()))

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "from.db"), str(tmp_path / "to.db")])

    assert (result.exit_code, "to.db belongs to another program" in str(result.exception)) == (1, True)


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / "no.db"), str(tmp_path / "to.db")])

    assert isinstance(result.exception, SetupError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("from.db", "from.db", "FROM and TO are the same database"),
        ("folder/../from.db", "from.db", "FROM and TO are the same database"),
        ("from.db", "folder", "folder is a folder: name a file"),
        ("folder", "to.db", "folder is not a Headwater store"),
    ],
)
def test_an_impossible_copy_is_refused_with_the_reason(tmp_path: Path, source: str, target: str, message: str) -> None:
    fill(tmp_path / "from.db", list(entries())[:1])
    (tmp_path / "folder").mkdir()

    result = CliRunner().invoke(app, ["store", "copy", str(tmp_path / source), str(tmp_path / target)])

    assert (type(result.exception), message in str(result.exception)) == (SetupError, True)
