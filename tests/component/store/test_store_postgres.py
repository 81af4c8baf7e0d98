"""What only the PostgreSQL store has: a server that may go away, and other processes on the same database."""

import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.graph.fold import fold
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import Edit
from headwater.store.connection import Row
from headwater.store.copying import copy
from headwater.store.entries import Stored, entry_of
from headwater.store.erasing import Erasure, erase
from headwater.store.opening import open_store
from headwater.store.postgres import PostgresStore
from headwater.store.postgres_connection import PostgresConnection
from headwater.store.postgres_url import database_address
from headwater.store.retiring import retire
from headwater.store.store import Store
from tests.component.store.test_store import entry, event
from tests.support.app import event as app_event
from tests.support.app import facet
from tests.support.logs import RUN_IDS
from tests.support.postgres import Cluster, running_cluster
from tests.support.service import eventually

JOB = ("job", "etl", "load")


@pytest.fixture
def url(cluster: Cluster) -> str:
    return cluster.new_database()


@pytest.fixture
def two_stores(url: str) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    with closing(PostgresStore(url)) as one, closing(PostgresStore(url)) as other:
        yield one, other


def all_facts(store: PostgresStore) -> dict[tuple[object, ...], object]:
    return {fact.key: fact for fact in store.facts()}


def query(url: str, sql: str) -> list[Row]:
    with closing(psycopg.connect(url)) as db:
        return db.execute(sql).fetchall()


def hang_up(url: str) -> None:
    """End every session of a store, as a lost network would."""
    query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'headwater'")


def try_to_follow(store: PostgresStore) -> None:
    follows(store)


def follows(store: PostgresStore) -> bool:
    try:
        store.follow()
    except UnavailableError:
        return False
    return True


def responds(store: PostgresStore) -> bool:
    try:
        return store.size() == 1
    except UnavailableError:
        return False


def test_two_services_that_sign_one_log_must_have_one_key(
    url: str, two_stores: tuple[PostgresStore, PostgresStore]
) -> None:
    one, other = two_stores
    one.signs_with("lineage.example.org+f0a1b2c3+AX")

    other.signs_with("lineage.example.org+f0a1b2c3+AX")
    with (
        closing(PostgresStore(url)) as third,
        pytest.raises(SetupError, match=r"copy its HEADWATER_HOME/keys/log\.key"),
    ):
        third.signs_with("lineage.example.org+00000000+AX")
    hang_up(url)  # the locks end with the sessions, and new sessions take them again

    assert eventually(lambda: follows(one) and follows(other))
    with closing(PostgresStore(url)) as third, pytest.raises(SetupError):
        third.signs_with("lineage.example.org+00000000+AX")


def test_nothing_is_erased_beside_a_running_service(
    url: str, two_stores: tuple[PostgresStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = two_stores
    one.add([entry(json.dumps(app_event(run={"runId": RUN_IDS[0], "facets": {"n": facet(n=1)}})).encode())])
    erasure = Erasure(0, "run.facets.n", "asked for", "ann", "1", 7)
    other.signs_with("lineage.example.org+f0a1b2c3+AX")

    with pytest.raises(SetupError, match=r"a service uses the database .*: stop it first"):
        erase(one, erasure)

    other.close()
    with closing(PostgresStore(url)) as third:  # a refused erasure is in nobody's way
        third.signs_with("lineage.example.org+f0a1b2c3+AX")
    _await_end_of_sessions(url)  # the server notices a closed session a moment later
    monkeypatch.setattr(Store, "replace", lambda *_: _starting_is_refused(url))
    assert erase(one, erasure)[1] == 1
    monkeypatch.undo()
    _await_end_of_sessions(url)
    assert erase(one, erasure)[1] == 1


def _await_end_of_sessions(url: str) -> None:
    claims = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 7521835"
    with psycopg.connect(url) as db:
        assert eventually(lambda: db.execute(claims).fetchone() == (0,))


def _starting_is_refused(url: str) -> int:
    with closing(PostgresStore(url)) as service, pytest.raises(SetupError, match="a facet is being erased"):
        service.signs_with("lineage.example.org+f0a1b2c3+AX")
    return 1


def test_the_log_of_two_writers_has_no_holes_and_each_event_once(
    two_stores: tuple[PostgresStore, PostgresStore],
) -> None:
    raws = [event(second, run) for second in range(60) for run in range(3)]
    added: list[list[Stored]] = [[], []]

    def write(number: int) -> None:
        for start in range(0, len(raws), 4):
            added[number] += two_stores[number].add([entry(raw) for raw in raws[start : start + 4]])

    threads = [threading.Thread(target=write, args=[number]) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    indexes = [[stored.log_index for stored in each] for each in added]
    assert indexes[0] == indexes[1]
    assert sorted(indexes[0]) == list(range(180))
    assert sorted(stored.log_index for each in added for stored in each if stored.is_new) == list(range(180))
    for store in two_stores:
        store.follow()
    folded = fold(fact for raw in raws for fact in facts(parse_event(raw)))
    assert [all_facts(store) for store in two_stores] == [folded, folded]


def test_a_job_deleted_by_one_process_is_restored_by_an_event_that_another_stores(
    two_stores: tuple[PostgresStore, PostgresStore],
) -> None:
    one, other = two_stores
    one.add([entry(event())])
    one.add([entry_of(edit_entry("1", 0, None, [EditItem(JOB, "deleted", True)]), "unsigned", None, 1)])

    (stored,) = other.add([entry(event(1))])

    assert [(fact.target, fact.value, fact.log_index) for fact in stored.facts if isinstance(fact, Edit)] == [
        (JOB, b"false", 2)
    ]


def test_facts_of_a_process_that_was_killed_are_stored_by_one_that_keeps_running(url: str) -> None:
    with closing(PostgresStore(url)) as alive, closing(PostgresStore(url)) as killed:
        killed.add([entry(event(second)) for second in range(3)])
        assert query(url, "SELECT events FROM folded") == [(0,)]

        hang_up(url)
        assert eventually(lambda: follows(alive))
        alive.catch_up()

        assert query(url, "SELECT events FROM folded") == [(3,)]
        assert query(url, "SELECT last_us - first_us FROM run_times") == [(2_000_000,)]


def test_facts_of_a_process_that_was_killed_are_stored_by_the_next_that_opens(url: str) -> None:
    with closing(PostgresStore(url)) as killed:
        killed.add([entry(event(second)) for second in range(3)])
        hang_up(url)

        with closing(PostgresStore(url)) as opened:
            stored_facts = all_facts(opened)

    assert stored_facts == fold(fact for second in range(3) for fact in facts(parse_event(event(second))))


def test_a_lost_connection_is_reported_as_unavailable_and_then_restored(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.add([entry(event())])
        hang_up(url)

        with pytest.raises(UnavailableError, match="try again"):
            store.add([entry(event(1))])
        added = store.add([entry(event(1)), entry(event(2))])

        assert [(stored.log_index, stored.is_new) for stored in added] == [(1, True), (2, True)]
        assert store.size() == 3
        assert len(list(store.facts())) == len(fold(facts(parse_event(event()))))


@contextmanager
def unresponsive(connection: PostgresConnection) -> Iterator[None]:
    """Stop the server's process behind the connection, which stays open."""
    process = connection.process
    assert process is not None
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_a_reader_does_not_wait_forever_for_an_unresponsive_server(url: str) -> None:
    with closing(PostgresConnection(database_address(url), only_reads=True)) as connection:
        connection.answers_within(3)
        assert [*connection.rows("SELECT pg_sleep(0.2), 1")] == [("", 1)]

        with unresponsive(connection):
            begin_s = time.monotonic()
            with pytest.raises(UnavailableError, match=r"the database does not answer: no answer for 3"):
                connection.rows("SELECT 1")
            took_s = time.monotonic() - begin_s
            again = [*connection.rows("SELECT 2")]

        assert took_s < 60
        assert again == [(2,)]


def test_an_event_that_an_unresponsive_server_did_not_store_is_refused_and_can_be_sent_again(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.add([entry(event())])
        store._writer.answers_within(0.5)

        with unresponsive(store._server):
            with pytest.raises(UnavailableError, match="try again"):
                store.add([entry(event(1))])
            assert store.fault == "the database does not answer"
        again = store.add([entry(event(1)), entry(event(2))])

        assert [stored.log_index for stored in again] == [1, 2]
        assert store.fault is None


def test_a_store_reconnects_to_a_server_that_was_stopped_and_started() -> None:
    with running_cluster() as cluster, closing(PostgresStore(cluster.url("postgres"))) as store:
        store.add([entry(event())])
        cluster.stop()
        with pytest.raises(UnavailableError, match="the database does not answer"):
            store.size()

        cluster.start()

        assert eventually(lambda: follows(store) and responds(store))
        assert store.add([entry(event()), entry(event(1))])[1].log_index == 1
        assert [logged.log_index for logged in store.logged(range(5))] == [0, 1]


def test_a_database_that_was_restored_from_an_older_copy_is_refused(url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.add([entry(event(second)) for second in range(3)])
        with closing(psycopg.connect(url, autocommit=True)) as db:
            db.execute("DELETE FROM log WHERE idx = 2")
        hang_up(url)
        with pytest.raises(UnavailableError, match="try again"):
            store.add([entry(event(9))])

        for _ in range(2):
            with pytest.raises(UnavailableError, match="has fewer events than before"):
                store.add([entry(event(9))])

    assert query(url, "SELECT max(idx) FROM log") == [(1,)]


def swap_databases(cluster: Cluster, one: str, other: str) -> None:
    """Swap the databases behind two URLs, as a fail-over does."""
    here, there = (url.rpartition("%3D")[2] for url in (other, one))
    for schema, new in ((here, "meanwhile"), (there, here), ("meanwhile", there)):
        with closing(psycopg.connect(cluster.url("postgres"), autocommit=True)) as db:
            db.execute(f"ALTER SCHEMA {schema} RENAME TO {new}")


@pytest.mark.parametrize("how", ["appended", "notified", "opened"])
def test_a_fail_over_that_lost_known_events_is_refused_however_many_come_after_it(
    cluster: Cluster, url: str, two_stores: tuple[PostgresStore, PostgresStore], how: str
) -> None:
    store, other = two_stores
    store.add([entry(event(second)) for second in range(2)])
    standby_url = cluster.new_database()
    with closing(PostgresStore(standby_url)) as standby:
        copy(store, standby, lambda *_: None)
        match how:
            case "appended":
                store.add([entry(event(2))])
            case "notified":
                other.add([entry(event(2))])
                store.follow()
            case _:  # it was there when the store was opened
                other.add([entry(event(2))])
                other.catch_up()
                store.close()
                store = PostgresStore(url)
        standby.add([entry(event(second)) for second in range(3, 3 + 3)])
    swap_databases(cluster, standby_url, url)
    hang_up(url)

    for _ in range(2):
        assert not follows(store)
        with pytest.raises(UnavailableError, match=r"has different events than before: .* Restart the service"):
            store.add([entry(event(9))])
        assert store.fault is not None
        assert "different events" in store.fault

    swap_databases(cluster, standby_url, url)
    assert eventually(lambda: follows(store))  # its tree proves that it is the same log again
    assert store.fault is None
    store.close()


def test_a_database_that_is_restored_while_a_store_is_connected_is_refused(cluster: Cluster, url: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.add([entry(event(second)) for second in range(3)])
        restored = cluster.new_database()
        with closing(PostgresStore(restored)) as other:
            other.add([entry(event(7))])
            swap_databases(cluster, restored, url)
            store.follow()
            other_again = PostgresStore(url)
        with closing(other_again):
            other_again.add([entry(event(second)) for second in range(20, 25)])

        with pytest.raises(UnavailableError, match="has different events than before"):
            store.follow()


@pytest.mark.parametrize(
    ("shape", "message"), [(99, "version 99, .* use a newer Headwater"), (1, "version 1 again: .* Restart")]
)
def test_a_database_whose_schema_version_changed_meanwhile_is_refused(url: str, shape: int, message: str) -> None:
    with closing(PostgresStore(url)) as store:
        store.add([entry(event())])
        with closing(psycopg.connect(url, autocommit=True)) as db:
            db.execute("UPDATE shape SET version = %s", [shape])
        hang_up(url)

        for _ in range(2):
            assert not follows(store)
            with pytest.raises(UnavailableError, match=message):
                store.add([entry(event(1))])
            assert store.fault is not None
            assert re.search(message, store.fault)


def test_an_error_not_about_the_server_is_reported_without_advice_about_the_server(url: str, tmp_path: Path) -> None:
    with closing(PostgresStore(url, segments=tmp_path / "segments")) as store:
        store.add([entry(event())])
        store.catch_up()
        retire(store, 10**16, each=1)
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute("UPDATE folded SET events = 0")

    with pytest.raises(SetupError, match=r"event 0 .* a segment that is not in .*elsewhere") as error:
        PostgresStore(url, segments=tmp_path / "elsewhere")

    assert "createdb" not in str(error.value)


def test_a_process_is_notified_in_log_order_of_what_another_stored(
    two_stores: tuple[PostgresStore, PostgresStore],
) -> None:
    one, other = two_stores
    indexes: list[int] = []
    one.watch(lambda news: indexes.extend(stored.log_index for stored in news), one.follow)

    for second in range(10):
        other.add([entry(event(second))])
        if second % 3 == 0:
            one.add([entry(event(second, run=1))])

    assert eventually(lambda: len(indexes) == 10)
    assert indexes == sorted(indexes)


def test_a_process_is_notified_again_after_its_connections_were_lost(
    url: str, two_stores: tuple[PostgresStore, PostgresStore]
) -> None:
    one, other = two_stores
    indexes: list[int] = []
    one.watch(lambda news: indexes.extend(stored.log_index for stored in news), partial(try_to_follow, one))
    hang_up(url)
    assert eventually(lambda: follows(other))

    other.add([entry(event())])

    assert eventually(lambda: indexes == [0])


def test_an_absent_server_is_logged_once_and_not_at_each_attempt(
    caplog: pytest.LogCaptureFixture,
) -> None:
    woken: list[bool] = []
    with running_cluster() as server, closing(PostgresStore(server.url("postgres"))) as store:
        store.watch(lambda _: None, lambda: woken.append(True))
        assert eventually(lambda: bool(woken))

        server.stop()
        before = len(woken)
        assert eventually(lambda: len(woken) > before + 3)
        server.start()
        assert eventually(lambda: "notifications again" in caplog.text)

    assert caplog.text.count("no connection for") == 1


def test_a_process_is_notified_of_events_from_while_it_was_cut_off_although_others_stored_the_facts(
    url: str, two_stores: tuple[PostgresStore, PostgresStore]
) -> None:
    one, other = two_stores
    notified: list[Stored] = []
    one.watch(notified.extend, lambda: None)
    one.add([entry(event())])
    one.catch_up()
    hang_up(url)
    assert eventually(lambda: follows(other))
    other.add([entry(event(1)), entry(event(2, run=1))])
    other.catch_up()

    assert eventually(lambda: follows(one))

    assert [stored.log_index for stored in notified] == [1, 2]
    assert all(stored.facts for stored in notified)


def test_facts_lost_in_a_crash_of_the_server_are_restored_for_the_first_reader() -> None:
    with running_cluster() as server:
        with closing(psycopg.connect(server.url("postgres"), autocommit=True)) as db:
            db.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
            db.execute("SELECT pg_reload_conf()")
        with closing(PostgresStore(server.new_database())) as store:
            store.add([entry(event())])
            before = all_facts(store)  # stored now, but not flushed
            server.stop()
            server.start()

            assert eventually(lambda: responds(store))
            assert all_facts(store) == before


def test_a_process_that_stops_in_the_middle_of_a_transaction_does_not_block_others_forever(url: str) -> None:
    with closing(PostgresStore(url)) as store, closing(PostgresConnection(database_address(url))) as stopped:
        transaction = stopped.transaction(is_acknowledged=True)
        transaction.__enter__()
        stopped.execute("SET LOCAL idle_in_transaction_session_timeout = '200ms'")

        (stored,) = store.add([entry(event())])  # waits for the other's end

        assert stored.is_new
        with pytest.raises(UnavailableError):
            transaction.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://u:hu5h@h/d", "unknown scheme; expected postgresql://"),
        ("postgresql://u:hu5h@hu5h@h/d", "a second '@'"),
        ("postgresql://u:hu5h/hu5h@h/d", "a second '@'"),
        ("postgresql://u:hu5h%zz@h/d", "cannot be read"),
        ("postgresql://u:hu5h@127.0.0.1:1/d", r"\(host=127.0.0.1 port=1 dbname=d user=u\): .*createdb"),
        ("postgresql://u:hu5h@no-such-host.invalid/d", "no-such-host.invalid"),
    ],
)
def test_a_url_that_leads_nowhere_is_reported_without_its_password(url: str, message: str) -> None:
    with pytest.raises(SetupError, match=message) as error:
        open_store(url)

    assert "hu5h" not in str(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None  # a traceback would not show it either


def test_a_missing_database_is_reported_with_what_to_do(cluster: Cluster) -> None:
    with pytest.raises(SetupError, match=r'database "lineage" does not exist.*createdb'):
        open_store(cluster.url("lineage"))


def test_a_server_that_takes_no_writes_is_reported_as_one(url: str) -> None:
    with pytest.raises(SetupError, match="takes no writes, as a standby does: name the primary"):
        open_store(f"{url}%20-c%20default_transaction_read_only%3Don")


def test_the_log_says_why_a_process_is_not_notified(
    cluster: Cluster, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute("CREATE ROLE narrow LOGIN SUPERUSER")
        store = PostgresStore(url.replace("shop@", "narrow@"))
        db.execute("ALTER ROLE narrow NOSUPERUSER CONNECTION LIMIT 1")
    with closing(store):
        store.watch(lambda _: None, partial(try_to_follow, store))
        assert eventually(lambda: "no connection for" in caplog.text)

    [fault] = {record.__dict__["fault"] for record in caplog.records if "no connection for" in record.message}
    assert 'too many connections for role "narrow"' in fault


def test_a_process_keeps_listening_where_the_server_ends_idle_sessions(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    impatient = f"{url}%20-c%20idle_session_timeout%3D1s"
    with closing(PostgresStore(impatient)) as store:
        store.watch(lambda _: None, partial(try_to_follow, store))

        time.sleep(2.5)

    assert "no connection for" not in caplog.text


def test_a_database_with_tables_of_another_program_is_left_unchanged(url: str) -> None:
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute("CREATE TABLE log (line text)")

    with pytest.raises(SetupError, match=r"relation .log. already exists; is it a database of Headwater's own"):
        open_store(url)

    with closing(psycopg.connect(url)) as db:
        assert db.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()").fetchall() == [
            ("log",)
        ]


def test_a_database_of_another_encoding_is_refused(cluster: Cluster) -> None:
    with closing(psycopg.connect(cluster.url("postgres"), autocommit=True)) as db:
        db.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")

    with pytest.raises(SetupError, match="ENCODING 'UTF8'"):
        open_store(cluster.url("latin"))


def test_acknowledged_events_are_flushed_whatever_the_default_of_the_database(url: str) -> None:
    with closing(PostgresConnection(database_address(url + "%20-c%20synchronous_commit%3Doff"))) as connection:
        assert list(connection.rows("SHOW synchronous_commit")) == [("on",)]


def test_unread_rows_do_not_block_when_they_are_garbage_collected(url: str) -> None:
    with closing(PostgresConnection(database_address(url))) as connection:
        db = connection.open()
        with connection.one_moment():
            rows = connection.many_rows("SELECT generate_series(1, 5000)")
            assert next(rows) == (1,)
            with db.lock:  # as during a query; Python may collect garbage at any time
                collector = threading.Thread(target=rows.close, daemon=True)  # type: ignore[attr-defined]
                collector.start()
                collector.join(5)

                assert not collector.is_alive()
            assert sum(1 for _ in connection.many_rows("SELECT generate_series(1, 12000)")) == 12_000
        assert list(connection.rows("SELECT 1")) == [(1,)]
