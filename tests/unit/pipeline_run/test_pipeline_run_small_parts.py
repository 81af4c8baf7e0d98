"""The parts of a run that need no Spark: catalogs, stopping, sums, the order of events, names, classified failures."""

import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from openlineage.client.event_v2 import RunState

from headwater.errors import SetupError
from headwater.observe.guard import Guard
from headwater.observe.lifecycle import Lifecycle
from headwater.observe.spark.executions import Moved
from headwater.observe.spark.failure import failure_of, read_traceback
from headwater.observe.spark.tally import Tally, total
from headwater.pipeline.catalogs import embedded, lake_properties, prepare_lake, spark_conf
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.java import require_java
from headwater.pipeline.reporting.datasets import (
    database_tables,
    files_read,
    goes_beyond,
    has_columns_of_its_table,
)
from headwater.pipeline.reporting.job import job_of
from headwater.pipeline.reporting.run_figures import _followed_files
from headwater.pipeline.spec import CatalogSpec, FileInput, SqlInput, SqlOutput
from headwater.pipeline.stop import Stopped, StopSignal

NOON = datetime(2026, 5, 22, 12, tzinfo=UTC)


def java_of_version(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    return folder


def test_a_new_enough_java_is_accepted(tmp_path: Path) -> None:
    require_java({"JAVA_HOME": str(java_of_version(tmp_path, "21.0.2")), "PATH": "/bin:/usr/bin"})


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22"])
def test_an_old_java_is_refused_with_what_to_install(tmp_path: Path, version: str) -> None:
    with pytest.raises(SetupError, match="too old for Spark: install Java 17 or newer"):
        require_java({"JAVA_HOME": str(java_of_version(tmp_path, version)), "PATH": "/bin:/usr/bin"})


def test_a_java_home_without_java_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="which has no bin/java"):
        require_java({"JAVA_HOME": str(tmp_path), "PATH": "/bin:/usr/bin"})


def test_the_lake_is_one_database_for_spark_and_pyiceberg(tmp_path: Path) -> None:
    conf = spark_conf("lake", embedded(tmp_path))

    assert conf["spark.sql.catalog.lake.uri"].removeprefix("jdbc:sqlite:") == lake_properties(tmp_path)[
        "uri"
    ].removeprefix("sqlite:///")
    assert conf["spark.sql.catalog.lake.warehouse"] == lake_properties(tmp_path)["warehouse"]


def test_preparing_the_lake_in_many_threads_creates_it_once(tmp_path: Path) -> None:
    threads = [threading.Thread(target=prepare_lake, args=(tmp_path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with closing(sqlite3.connect(tmp_path / "lake" / "catalog.db")) as catalog:
        tables = {name for (name,) in catalog.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"iceberg_tables", "iceberg_namespace_properties"}
        assert catalog.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_home_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("a file")

    with pytest.raises(SetupError, match="set HEADWATER_HOME"):
        prepare_lake(tmp_path)


def test_a_jdbc_catalog_supports_views_unless_configured_otherwise() -> None:
    with_version = CatalogSpec(type="jdbc", uri="jdbc:x:y", options={"jdbc.schema-version": "V0"})
    without_version = CatalogSpec(type="jdbc", uri="jdbc:x:y")

    versions = [
        spark_conf("c", catalog).get("spark.sql.catalog.c.jdbc.schema-version")
        for catalog in (with_version, without_version)
    ]

    assert versions == ["V0", "V1"]
    assert not any("schema-version" in key for key in spark_conf("c", CatalogSpec(type="rest", uri="https://x.y")))


def test_a_catalogs_secret_is_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = CatalogSpec(type="rest", uri="https://catalog.example", options_env={"credential": "CATALOG_CREDENTIAL"})
    monkeypatch.delenv("CATALOG_CREDENTIAL", raising=False)

    with pytest.raises(SetupError, match="CATALOG_CREDENTIAL"):
        spark_conf("store", catalog)

    monkeypatch.setenv("CATALOG_CREDENTIAL", "id:secret")
    assert spark_conf("store", catalog)["spark.sql.catalog.store.credential"] == "id:secret"


def test_the_first_reason_to_stop_counts_and_late_listeners_are_called() -> None:
    stop, calls = StopSignal(), list[str]()
    stop.listen(lambda: calls.append("early"))
    stop.request("SIGTERM")
    stop.request("SIGINT")
    stop.listen(lambda: calls.append("late"))

    assert stop.reason == "SIGTERM"
    assert calls == ["early", "early", "late"]
    with pytest.raises(Stopped):
        stop.check()


def test_of_several_scans_of_a_source_the_largest_counts() -> None:
    tally = Tally()
    for rows in (3, 10, 7):
        tally.add_scan("table:lake.a.t", Moved(rows, rows * 100, 1))

    assert tally.read == {"table:lake.a.t": Moved(10, 1000, 1)}


def test_micro_batches_of_an_output_add_up_and_unknown_figures_remain_unknown() -> None:
    tally = Tally()
    tally.add_write("output", Moved(rows=2))
    tally.add_write("output", Moved(rows=3))

    assert tally.written == {"output": Moved(rows=5)}


def test_a_total_is_unknown_only_if_all_figures_are() -> None:
    assert [total(figures) for figures in ([], [None], [None, 2], [1, 2])] == [0, None, 2, 3]


def test_events_are_in_order_and_their_times_never_decrease() -> None:
    clock = iter([NOON + timedelta(seconds=1), NOON, NOON + timedelta(seconds=2)])
    sent = list[bytes]()
    lifecycle = Lifecycle(NOON, lambda: next(clock), sent.append)

    for state in (
        RunState.RUNNING,
        RunState.START,
        RunState.START,
        RunState.RUNNING,
        RunState.COMPLETE,
        RunState.RUNNING,
    ):
        lifecycle.emit(state, lambda state, time: f"{state.value} {time:%S.%f}".encode())

    assert sent == [b"START 00.000000", b"RUNNING 01.000000", b"COMPLETE 01.000001"]
    assert lifecycle.over


def test_the_terminal_event_is_sent_once_by_any_number_of_threads() -> None:
    sent = list[bytes]()
    lifecycle = Lifecycle(NOON, lambda: NOON, sent.append)
    lifecycle.emit(RunState.START, lambda state, _: state.value.encode())

    threads = [
        threading.Thread(target=lifecycle.emit, args=(state, lambda state, _: state.value.encode()))
        for state in (RunState.COMPLETE, RunState.ABORT, RunState.FAIL) * 5
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(sent) == 2


def test_a_guard_counts_and_logs_a_failure_without_its_message(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard()

    assert guard.attempt("schema", lambda: int("4929-1234"), 0) == 0
    assert guard.failures == 1
    assert caplog.messages == ["lineage observation failed"]
    assert "4929-1234" not in repr([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/data/orders.csv", "/data/orders.csv"),
        ("/data/2013-*/x.csv", "/data"),
        ("/data/day=[0-9]/", "/data"),
        ("/*.csv", "/"),
    ],
)
def test_a_path_is_named_up_to_its_first_glob(path: str, name: str) -> None:
    described = files_read(FileInput(paths=(path,), format="csv"))

    assert [(each.id.namespace, each.id.name) for each in described] == [("file", name)]


def test_a_password_in_a_processors_query_or_the_description_is_not_shown(tmp_path: Path) -> None:
    (file := tmp_path / "p.yaml").write_text(
        "name: p\nnamespace: n\ndescription: see https://ann:s3cret@wiki/p\n"
        "input: {file: {paths: [a.csv], format: csv}}\noutput: {stdout: {}}\n"
        "pipeline: {processors: [{sql: \"SELECT 'https://ann:s3cret@host/a' AS source,"
        " aes_decrypt(a, 's3cret') FROM input\"}]}\n"
    )

    job = job_of(load_pipeline(file))

    assert job.facets is not None
    sql, documentation = job.facets["sql"], job.facets["documentation"]
    assert sql.query == "SELECT 'https://host/a' AS source, aes_decrypt(a, '***') FROM input"  # type: ignore[attr-defined]
    assert documentation.description == "see https://wiki/p"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("url", "table", "names"),
    [
        ("jdbc:sqlserver://db;database=shop", "orders", ["shop.dbo.orders"]),
        ("jdbc:sqlserver://db;database=shop", "old..order-items", ["old.dbo.order-items"]),
        ("jdbc:sqlserver://db;database=shop", "far.shop.dbo.orders", []),
        ("jdbc:oracle:thin:@//db:1521/shop", "orders@far", []),
        ("jdbc:duckdb:/data/shop.db", "'orders.parquet'", []),
        ("jdbc:postgresql://db/shop", "order", ["shop.public.order"]),
    ],
)
def test_a_table_of_another_server_or_a_file_is_not_taken_for_the_databases(
    url: str, table: str, names: list[str]
) -> None:
    for database in (SqlInput(url=url, table=table), SqlOutput(url=url, table=table)):
        assert [each.id.name for each in database_tables(database)] == names
        assert goes_beyond(database) is not bool(names)


def test_a_query_reads_the_tables_that_it_names_and_not_its_common_tables() -> None:
    query = "WITH x AS (SELECT * FROM shop.orders) SELECT * FROM x JOIN suppliers s ON x.s = s.id"
    reads = SqlInput(url="jdbc:postgresql://ann:secret@db/shop", query=query)

    assert {each.id.name for each in database_tables(reads)} == {"shop.shop.orders", "shop.public.suppliers"}
    assert {each.id.namespace for each in database_tables(reads)} == {"postgres://db:5432"}


@pytest.mark.parametrize(
    ("url", "query", "tables"),
    [
        ("jdbc:mysql://db/shop", "SELECT * FROM `Orders` JOIN sales.`bids` USING (id)", ["shop.Orders", "sales.bids"]),
        ("jdbc:mariadb://db/shop", "SELECT `id` FROM `orders`", ["shop.orders"]),
        ("jdbc:sqlserver://db;database=shop", "SELECT TOP 5 * FROM [Orders] WITH (NOLOCK)", ["shop.dbo.Orders"]),
        ("jdbc:sqlserver://db;database=shop", "SELECT * FROM [sales].[Order items]", ["shop.sales.Order items"]),
        ("jdbc:sqlserver://db;database=shop", "SELECT * FROM old..[Orders] o", ["old.dbo.Orders"]),
        ("jdbc:sqlite:/shop.db", "SELECT * FROM [orders], `bids`", ["orders", "bids"]),
        ("jdbc:sqlite:/shop.db", "SELECT * FROM orders WHERE supplier IN preferred", ["orders", "preferred"]),
        ("jdbc:oracle:thin:@db:1521/ORCL", "SELECT * FROM hr.orders WHERE ROWNUM < 5", ["ORCL.HR.ORDERS"]),
        ("jdbc:unknown://db/shop", "SELECT * FROM orders", ["shop.orders"]),
        (
            "jdbc:postgresql://db/shop",
            'SELECT * FROM Orders, "Orders", orders',
            ["shop.public.orders", "shop.public.Orders"],
        ),
        ("jdbc:postgresql://db/shop", "SELECT * FROM orders o, generate_series(1, o.n)", ["shop.public.orders"]),
        (
            "jdbc:postgresql://db/shop",
            "WITH Recent AS (SELECT * FROM raw.orders) SELECT * FROM recent",
            ["shop.raw.orders"],
        ),
        (
            "jdbc:postgresql://db/shop",
            "WITH orders AS (SELECT * FROM orders WHERE id > 2) SELECT * FROM orders",
            ["shop.public.orders"],
        ),
        ("jdbc:sqlserver://db;database=shop", "EXEC recent_orders", []),
    ],
)
def test_a_querys_tables_are_read_in_the_databases_own_sql(url: str, query: str, tables: list[str]) -> None:
    assert list(dict.fromkeys(each.id.name for each in database_tables(SqlInput(url=url, query=query)))) == tables


@pytest.mark.parametrize(
    ("query", "has_its_columns"),
    [
        ("SELECT id, price FROM orders WHERE id > 2", True),
        ("SELECT id, [price] FROM `orders`", True),
        ("WITH new AS (SELECT 1 AS id) SELECT id FROM new", False),
        ("SELECT * FROM orders, json_each(orders.items)", False),
        ("SELECT * FROM orders, (SELECT 1)", False),
        ("SELECT * FROM orders", True),
        ("SELECT id AS number FROM orders", False),
        ("SELECT id, price * 2 FROM orders", False),
        ("SELECT id FROM orders UNION SELECT 1", False),
        ("SELECT id FROM orders JOIN suppliers USING (id)", False),
        ("SELECT count(*) FROM orders", False),
        ("this is no query", False),
    ],
)
def test_only_a_plain_selection_has_the_columns_of_its_table(query: str, has_its_columns: bool) -> None:
    assert has_columns_of_its_table(SqlInput(url="jdbc:sqlite:/x.db", query=query)) is has_its_columns


def test_a_followed_folder_is_the_same_in_a_plan_and_in_a_querys_progress() -> None:
    assert (
        _followed_files("stream:FileSource[/data/in]")
        == _followed_files("FileStreamSource[file:/data/in]")
        == "/data/in"
    )
    assert _followed_files("FileSource[s3://b/in/]") == _followed_files("FileStreamSource[s3://b/in]")
    assert _followed_files("RateStreamV2[rowsPerSecond=1]") is None


def test_a_workers_traceback_gives_class_and_place_even_with_a_message_of_many_lines() -> None:
    text = (
        "\n  An exception was thrown from the Python worker.\n"
        "Traceback (most recent call last):\n"
        '  File "/jobs/steps.py", line 7, in convert\n'
        "    raise CardError(card)\n"
        "shop.CardError: card 4929-1234\n"
        "4929-1234\n"
        "Refused: 4929-1234\n"
    )

    assert read_traceback(text) == ("shop.CardError", ["convert(/jobs/steps.py:7)"])


def test_an_exception_of_python_is_reported_by_class_and_place_in_the_file() -> None:
    try:
        int("4929-1234")
    except ValueError as error:
        error.add_note("pipeline.processors.0 (line 9)")
        failure = failure_of(error)

    assert failure.message.startswith("pipeline.processors.0 (line 9): ValueError in test_an_exception_of_python")
    assert "4929-1234" not in repr(failure)


def test_our_own_error_is_reported_with_its_message() -> None:
    assert failure_of(SetupError("Java is missing")).message == "Java is missing"
