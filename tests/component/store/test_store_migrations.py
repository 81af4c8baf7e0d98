"""Databases of every released version are migrated, completely or not at all."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest

from headwater.errors import SetupError, UnavailableError
from headwater.graph.fold import fold
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.model.extract import facts
from headwater.model.facts import CatalogEntry, ChainLink, Deletion, JobFlow, RunTimes, UseEvidence
from headwater.model.names import DatasetId
from headwater.store.entries import entry_of
from headwater.store.opening import open_store
from headwater.store.postgres import PostgresStore
from headwater.store.schema import STEPS
from headwater.store.sqlite import SqliteStore
from headwater.store.store import Store
from tests.component.store.test_store import entry, event
from tests.support.chains import KEY, erased, record
from tests.support.logs import RUN_IDS
from tests.support.postgres import Cluster

RELEASED = Path(__file__).parent / "released"
EVENTS = [event(second, run) for second in range(2) for run in range(2)]
WITHOUT_STARTS = "ALTER TABLE run_times DROP COLUMN started_us"
WITHOUT_DELETIONS = "DROP TABLE deletion"
WITHOUT_USES = f"DROP TABLE use_evidence; DROP TABLE renaming; {WITHOUT_DELETIONS}"
"""Take away what versions before 16, before 20 and before 18 do not have."""
STEP = "CREATE TABLE note (name TEXT NOT NULL, text TEXT, PRIMARY KEY (name)) STRICT; UPDATE log SET received_us = 7;"


def stored(store: Store) -> tuple[list[bytes], object]:
    assert store.tree.size() == store.size()
    return [logged.raw for logged in store.logged(range(100))], {fact.key: fact for fact in store.facts()}


EVERYTHING = (EVENTS, fold(fact for raw in EVENTS for fact in facts(parse_event(raw))))


@contextmanager
def of_version(version: int, path: Path) -> Iterator[sqlite3.Connection]:
    """A database of an earlier version, to be changed before it is opened."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript((RELEASED / f"sqlite-{version}.sql").read_text())
        with db:
            yield db


def restored(cluster: Cluster, dump: Path) -> str:
    """The URL of a new database with the contents of a dump."""
    url = cluster.new_database()
    with closing(psycopg.connect(url, autocommit=True)) as db:
        db.execute(dump.read_text())
    return url


@pytest.mark.parametrize("dump", sorted(RELEASED.glob("sqlite-*.sql")), ids=lambda path: path.stem)
def test_a_sqlite_file_of_a_released_version_opens_with_everything(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(dump.read_text())

    with closing(SqliteStore(path)) as store:
        assert stored(store) == EVERYTHING


def test_aliases_that_an_earlier_version_read_in_retracted_facets_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with of_version(9, path) as db:
        db.execute("INSERT INTO alias SELECT min(id), max(id), 'symlinks', 1, 1 FROM name")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == EVERYTHING


def test_the_jobs_of_runs_are_read_again_where_an_earlier_version_read_less(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with of_version(12, path) as db:
        assert db.execute("DELETE FROM run_of_job").rowcount

    with closing(SqliteStore(path)) as store:
        assert stored(store) == EVERYTHING


def test_declarations_of_jobs_are_read_again_where_an_earlier_version_misread_them(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with of_version(14, path) as db:
        db.execute("INSERT INTO declaration SELECT 'job', min(id), x'00', 9e18, x'00' FROM name")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == EVERYTHING


def test_passwords_that_an_earlier_version_stored_in_names_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    with of_version(13, path) as db:
        assert db.execute("UPDATE name SET namespace = 's3://KEY:s3cret@' || namespace").rowcount

    with closing(SqliteStore(path)) as store:
        assert stored(store) == EVERYTHING


def test_which_run_data_came_from_is_read_again_where_an_earlier_version_did_not_read_it(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    target = {"type": "DATASET", "namespace": "lake", "name": "orders"}
    source = {"type": "JOB", "namespace": "etl", "name": "load", "runId": "018f0000-0000-7000-8000-000000000001"}
    facets = {"lineage": {"entries": [{**target, "inputs": [source]}]}}
    job_event = {
        "eventTime": "2026-05-22T10:00:00Z",
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "job": {"namespace": "etl", "name": "orchestrator", "facets": facets},
    }
    of_run = {"eventType": "COMPLETE", "run": {"runId": "018f0000-0000-7000-8000-000000000002"}}
    with closing(SqliteStore(path)) as store:
        store.add([entry(json.dumps(each).encode()) for each in ({**job_event, **of_run}, job_event)])
        everything = stored(store)
    with closing(sqlite3.connect(path)) as db, db:  # as the version before has it
        (tables,) = db.execute("SELECT group_concat(sql) FROM sqlite_schema WHERE name = 'job_flow'").fetchone()
        db.execute("DROP TABLE job_flow")
        db.execute(
            tables.replace("source_run TEXT, ", "")
            .replace(", target_run TEXT", "")
            .replace(", source_run", "")
            .replace(", target_run", "")
        )
        db.execute("INSERT INTO job_flow SELECT min(run), 'job', 1, 'dataset', 1, 1, 1 FROM run_of_job")
        db.execute("UPDATE declaration SET content = x'ff'")
        db.executescript(f"{WITHOUT_STARTS}; {WITHOUT_USES};")
        db.execute("PRAGMA user_version = 14")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == everything
        (flow,) = (fact for fact in store.facts() if isinstance(fact, JobFlow))
        assert flow.source_run == source["runId"]


def test_datasets_that_jobs_use_themselves_are_read_again_where_an_earlier_version_read_none(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    used = {"type": "DATASET", "namespace": "lake", "name": "orders", "field": "id"}
    job_event = {
        "eventTime": "2026-05-22T10:00:00Z",
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json",
        "job": {
            "namespace": "etl",
            "name": "send",
            "facets": {"lineage": {"entries": [{"type": "JOB", "inputs": [used]}]}},
        },
    }
    of_run = {"eventType": "COMPLETE", "run": {"runId": "018f0000-0000-7000-8000-000000000002"}}
    with closing(SqliteStore(path)) as store:
        store.add([entry(json.dumps(each).encode()) for each in ({**job_event, **of_run}, job_event)])
        everything = stored(store)
    with closing(sqlite3.connect(path)) as db, db:  # as the version before has it
        db.executescript(f"{WITHOUT_USES};")
        db.execute("UPDATE declaration SET content = x'ff'")
        db.execute("INSERT INTO alias SELECT min(id), max(id), 'rename', 1, 1 FROM name")
        db.execute("PRAGMA user_version = 17")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == everything
        assert any(isinstance(fact, UseEvidence) for fact in store.facts())


def test_the_catalog_table_of_a_dataset_is_read_again_where_an_earlier_version_did_not_store_it(tmp_path: Path) -> None:
    path = tmp_path / "headwater.db"
    catalog = {"type": "hadoop", "name": "ice", "warehouseUri": "s3a://lake/wh/"}
    dataset_event = {
        "eventTime": "2026-05-22T10:00:00Z",
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "s3://lake", "name": "wh/sales/orders", "facets": {"catalog": catalog}},
    }
    with closing(SqliteStore(path)) as store:
        store.add([entry(json.dumps(dataset_event).encode())])
        everything = stored(store)
    with closing(sqlite3.connect(path)) as db, db:  # as the version before has it
        assert db.execute("DELETE FROM catalog_entry").rowcount == 1
        db.executescript(f"{WITHOUT_DELETIONS};")
        db.execute("PRAGMA user_version = 18")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == everything
        assert [fact.table for fact in store.facts() if isinstance(fact, CatalogEntry)] == ["sales.orders"]


def test_an_event_whose_signature_was_erased_under_an_earlier_version_is_in_its_nodes_record_again(
    tmp_path: Path,
) -> None:
    raw = erased(record("018f0000-0000-7000-8000-000000000001", 1)[0]).raw
    erasure = edit_entry("1", 2, "ann", [EditItem(("entry", "0"), "erased:run.facets.owner", {"reason": "asked"})])
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        signed = entry_of(parse_event(raw), "ok", KEY.key_id, 1)
        store.add([signed, entry_of(erasure, "unsigned", None, 2)])
        everything = {fact.key for fact in store.facts()}
    with closing(sqlite3.connect(tmp_path / "headwater.db")) as db, db:
        assert db.execute("DELETE FROM chain_link").rowcount == 1
        db.execute("INSERT INTO run_facet SELECT run, 'headwater_chain', x'00', 1, x'00' FROM run_times")
        db.execute("DROP TABLE run_telling")
        db.executescript(f"{WITHOUT_STARTS}; {WITHOUT_USES};")
        db.execute("PRAGMA user_version = 10")

    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        assert {fact.key for fact in store.facts()} == everything
        assert any(isinstance(fact, ChainLink) for fact in store.facts())


def test_all_statements_about_a_key_are_known_where_an_earlier_version_stored_only_the_last(tmp_path: Path) -> None:
    path, target = tmp_path / "headwater.db", ("key", "node:1#sha256:x")
    tag = EditItem(("job", "etl", "load"), "tag:GOLD", True)
    revocations = [edit_entry(str(at), at, None, [EditItem(target, "revoked", at)]) for at in range(3)]
    with closing(SqliteStore(path)) as store:
        store.add([entry_of(each, "unsigned", None, 1) for each in (*revocations, edit_entry("3", 3, None, [tag]))])
        everything = stored(store)
        assert [edit.value for edit in store.edit_facts("key")] == [b"0", b"1", b"2"]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM edit WHERE what IN ('revoked:0', 'revoked:1')")
        db.execute("UPDATE edit SET what = 'revoked' WHERE what = 'revoked:2'")
        db.executescript(f"{WITHOUT_USES};")
        db.execute("PRAGMA user_version = 16")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == everything


@pytest.mark.parametrize("is_deleted_now", [False, True])
def test_each_deletion_is_known_where_an_earlier_version_stored_only_the_last(
    tmp_path: Path, is_deleted_now: bool
) -> None:
    path, job = tmp_path / "headwater.db", ("job", "etl", "load")
    deletions = [edit_entry(str(at), at, None, [EditItem(job, "deleted", True)]) for at in range(2)]
    runs = [entry(each) for each in EVENTS[:2]]
    log = [runs[0], entry_of(deletions[0], "unsigned", None, 1), runs[1], entry_of(deletions[1], "unsigned", None, 1)]
    log += [] if is_deleted_now else [entry(EVENTS[2])]
    with closing(SqliteStore(path)) as store:
        store.add(log)
        everything = stored(store)
        assert [fact.is_deleted for fact in store.facts() if isinstance(fact, Deletion)] == [
            *(True, False, True),
            *([] if is_deleted_now else [False]),
        ]
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(f"{WITHOUT_DELETIONS};")
        db.execute("PRAGMA user_version = 19")

    with closing(SqliteStore(path)) as store:
        assert stored(store) == everything


@pytest.mark.parametrize("dump", sorted(RELEASED.glob("postgres-*.sql")), ids=lambda path: path.stem)
def test_a_postgresql_database_of_a_released_version_opens_with_everything(dump: Path, cluster: Cluster) -> None:
    with closing(PostgresStore(restored(cluster, dump))) as store:
        assert stored(store) == EVERYTHING


def test_there_is_a_database_of_each_released_version() -> None:
    names = {path.name for path in RELEASED.iterdir()}

    assert names == {f"{kind}-{version}.sql" for kind in ("sqlite", "postgres") for version in range(1, len(STEPS) + 1)}


def opened(database: str | Path, *later: str) -> Store:
    """The store, opened by a Headwater that knows further migration steps."""
    steps = [*STEPS, *later]
    return SqliteStore(database, steps) if isinstance(database, Path) else PostgresStore(database, steps)


def test_a_new_version_is_reached_step_by_step_and_nothing_is_lost(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(raw) for raw in EVENTS])

    with closing(opened(database, STEP, "ALTER TABLE note ADD COLUMN number INTEGER;")) as store:
        assert stored(store) == EVERYTHING
        assert {logged.received_us for logged in store.logged(range(100))} == {7}
        assert list(store._rows("SELECT name, text, number FROM note")) == []
    with closing(opened(database, STEP, "ALTER TABLE note ADD COLUMN number INTEGER;")) as store:
        assert stored(store) == EVERYTHING


def test_when_a_run_started_is_read_from_the_log_where_an_earlier_version_did_not_store_it(
    database: str | Path,
) -> None:
    events = [("OTHER", 3, 0), ("START", 7, 0), ("RUNNING", 5, 0), ("OTHER", 4, 1), ("FAIL", 6, 1)]
    with closing(open_store(database)) as store:
        store.add([entry(event(second, run).replace(b"START", kind.encode())) for kind, second, run in events])
        everything = stored(store)

    with closing(opened(database, f"{WITHOUT_STARTS};", STEPS[15])) as store:
        assert stored(store) == everything
        starts = {fact.run_id: fact.started_us for fact in store.facts() if isinstance(fact, RunTimes)}
        assert starts == {RUN_IDS[0]: 1_779_459_785_000_000, RUN_IDS[1]: None}


def test_a_service_that_runs_while_a_newer_one_migrates_its_database_stores_nothing_more(cluster: Cluster) -> None:
    url = cluster.new_database()
    with closing(PostgresStore(url)) as older:
        older.signs_with("lineage.example.org+1")
        older.add([entry(EVENTS[0])])

        PostgresStore(url, [*STEPS, STEP]).close()

        for _ in range(3):
            with pytest.raises(UnavailableError):
                older.add([entry(EVENTS[1])])
        assert older.fault is not None
        assert "use a newer Headwater" in older.fault


def test_a_step_that_fails_leaves_the_database_unchanged(database: str | Path) -> None:
    with closing(open_store(database)) as store:
        store.add([entry(raw) for raw in EVENTS])

    with pytest.raises(SetupError, match="no_such_table"):
        opened(database, STEP, "UPDATE no_such_table SET x = 1;")

    with closing(open_store(database)) as store:
        assert stored(store) == EVERYTHING
        assert {logged.received_us for logged in store.logged(range(100))} == {1}


def test_a_database_of_a_newer_headwater_is_refused_with_both_versions(database: str | Path) -> None:
    opened(database, STEP).close()

    known = len(STEPS)
    with pytest.raises(SetupError, match=rf"version {known + 1}, this Headwater knows {known}; use a newer Headwater"):
        open_store(database)


def test_two_services_that_start_on_an_empty_database_make_its_tables_once(cluster: Cluster) -> None:
    url = cluster.new_database()
    code = f"from headwater.store.postgres import PostgresStore; PostgresStore({url!r}).close()"
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]

    assert [each.wait(60) for each in started] == [0, 0]


def test_a_table_that_a_new_version_adds_is_filled_from_the_log(tmp_path: Path) -> None:
    path, name = tmp_path / "headwater.db", DatasetId("lake", "orders")
    dataset = {"namespace": "lake", "name": "orders", "facets": {"schema": {"fields": [{"name": "id"}]}}}
    url = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent"
    dataset_event = {
        "eventTime": "2026-05-22T10:00:00Z",
        "producer": "https://example.org",
        "schemaURL": url,
        "dataset": dataset,
    }
    with closing(SqliteStore(path)) as store:
        store.add([entry(json.dumps(dataset_event).encode())])
        declared = store.declared_shapes(name)
    with closing(sqlite3.connect(path)) as db:  # as the first version has it
        new = (
            "leaf",
            "tile_root",
            "tree",
            "chain_link",
            "declared_shape",
            "engine_catalog",
            "declared_times",
            "telling",
            "run_telling",
            "use_evidence",
            "renaming",
            "deletion",
        )
        drops = "".join(f"DROP TABLE {table};" for table in ("named_job", *new))
        db.executescript(
            f"{drops} {WITHOUT_STARTS}; CREATE INDEX observed_shape ON observed_facet (run); PRAGMA user_version = 1;"
        )

    with closing(SqliteStore(path)) as store:
        assert store.declared_shapes(name) == declared != []
