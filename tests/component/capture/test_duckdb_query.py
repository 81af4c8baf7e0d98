"""Queries of real Iceberg tables by DuckDB: their rows, their runs, and the graph, which is the same as Trino's."""

import json
import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from typer.testing import CliRunner

from headwater.capture.duckdb_query import QueryRequest, run_query
from headwater.cli.main import app
from headwater.errors import InvalidInputError, NotFoundError, SetupError, UnavailableError
from headwater.model.names import JobId
from headwater.observe.run_reporter import EventOutput
from tests.support.refusing_catalog import refusing_catalog
from tests.support.spec import Specification

JOB = JobId("duckdb", "query")
REVENUE = "/* dashboard: revenue, query: by_supplier */ SELECT supplier, sum(price) AS total FROM lake.sales.orders"


@pytest.fixture
def lake(tmp_path: Path) -> Catalog:
    warehouse = tmp_path / "lake" / "warehouse"
    warehouse.mkdir(parents=True)
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/lake/catalog.db", "warehouse": f"file://{warehouse}"}
    catalog = load_catalog("lake", **properties)
    catalog.create_namespace("sales")
    rows = [("a", Decimal("2.50"), 1), ("b", Decimal("3.00"), 2), ("a", Decimal("4.00"), 30)]
    schema = pa.schema([("supplier", pa.string()), ("price", pa.decimal128(10, 2)), ("hour", pa.int32())])
    orders = catalog.create_table("sales.orders", schema=schema)
    orders.append(pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema))
    return catalog


class EventRecorder:
    """Collects the events that a query emits, parsed."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.output = EventOutput(lambda: datetime.now(UTC), lambda raw: self.events.append(json.loads(raw)))


def query(lake: Catalog, sql: str, recorder: EventRecorder, dialect: str = "trino") -> list[tuple[Any, ...]]:
    run = "0198f7d0-1111-7222-8333-444455556666"
    return list(run_query(QueryRequest(sql, dialect, JOB), lambda _: lake, run, recorder.output).rows)


def test_a_query_returns_its_rows_and_its_run_reads_the_table_named_by_its_location(
    lake: Catalog, tmp_path: Path, shared: Path
) -> None:
    recorder = EventRecorder()

    rows = query(lake, "SELECT supplier, price FROM lake.sales.orders WHERE hour < 10 ORDER BY 1", recorder)

    assert rows == [("a", Decimal("2.50")), ("b", Decimal("3.00"))]
    assert [event["eventType"] for event in recorder.events] == ["START", "COMPLETE"]
    (orders,) = recorder.events[-1]["inputs"]
    assert (orders["namespace"], orders["name"]) == ("file", f"{tmp_path}/lake/warehouse/sales/orders")
    facets = orders["facets"]
    assert (facets["catalog"]["type"], facets["catalog"]["metadataUri"]) == (
        "jdbc",
        f"sqlite:{tmp_path}/lake/catalog.db",
    )
    assert [field["name"] for field in facets["schema"]["fields"]] == ["supplier", "price", "hour"]
    figures = recorder.events[-1]["run"]["facets"]["headwater_run"]
    assert (figures["recordsIn"], figures["recordsOut"]) == (3, 2)
    assert "outputs" not in recorder.events[-1] or not recorder.events[-1]["outputs"]
    specification = Specification(shared / "openlineage")
    assert [violation for event in recorder.events for violation in specification.complaints_about_ours(event)] == []


def test_a_dashboards_query_feeds_the_same_job_and_columns_as_on_trino(lake: Catalog, tmp_path: Path) -> None:
    recorder = EventRecorder()

    rows = query(lake, f"{REVENUE} GROUP BY supplier", recorder)

    assert sorted(rows) == [("a", Decimal("6.50")), ("b", Decimal("3.00"))]
    complete = recorder.events[-1]
    assert (complete["job"]["namespace"], complete["job"]["name"]) == ("dashboards", "revenue.by_supplier")
    (dashboard,) = complete["outputs"]
    assert (dashboard["namespace"], dashboard["name"]) == ("dashboards", "revenue")
    lineage = dashboard["facets"]["columnLineage"]
    orders = f"{tmp_path}/lake/warehouse/sales/orders"
    assert {
        column: {
            (source["name"], source["field"], source["transformations"][0]["subtype"])
            for source in field["inputFields"]
        }
        for column, field in lineage["fields"].items()
    } == {
        "by_supplier.supplier": {(orders, "supplier", "IDENTITY")},
        "by_supplier.total": {(orders, "price", "AGGREGATION"), (orders, "supplier", "GROUP_BY")},
    }
    assert lineage.get("dataset", []) == []


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT count(*) FROM lake.sales.orders", [(3,)]),
        ("SELECT count(*) FROM LAKE.Sales.Orders WHERE Hour > 10", [(1,)]),
        ("SELECT approx_distinct(supplier) FROM lake.sales.orders", [(2,)]),  # Trino's name of the function
        ("SELECT a.hour FROM lake.sales.orders a JOIN lake.sales.orders b ON a.hour = b.hour + 1", [(2,)]),
    ],
)
def test_queries_in_trinos_dialect_return_their_rows(sql: str, answer: list[tuple[Any, ...]], lake: Catalog) -> None:
    assert query(lake, sql, EventRecorder()) == answer


ROW = {"supplier": "a", "price": Decimal("4.00"), "hour": 30}


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        ("SELECT o FROM lake.sales.orders o WHERE price > 3", [(ROW,)]),
        ("SELECT max(o) FROM lake.sales.orders o WHERE price > 3", [(ROW,)]),
        ("SELECT struct_pack(x := o) FROM lake.sales.orders o WHERE price > 3", [({"x": ROW},)]),
        ("SELECT orders FROM lake.sales.orders WHERE price > 3", [(ROW,)]),
        ("SELECT max(COLUMNS(*)) FROM lake.sales.orders", [("b", Decimal("4.00"), 30)]),
        ("SELECT max(COLUMNS('pri.*')) FROM lake.sales.orders", [(Decimal("4.00"),)]),
        ("SELECT * EXCLUDE (price) FROM lake.sales.orders WHERE hour = 30", [("a", 30)]),
        ("SELECT #3 FROM lake.sales.orders WHERE price > 3", [(30,)]),
        ("SELECT #2 FROM (SELECT price, hour FROM lake.sales.orders) WHERE price > 3", [(30,)]),
        (
            "SELECT k, v FROM (SELECT price, hour FROM lake.sales.orders WHERE price > 3) UNPIVOT (v FOR k IN (hour))",
            [("hour", 30)],
        ),
        ("SELECT v FROM lake.sales.orders UNPIVOT (v FOR k IN (hour)) WHERE v > 2", [(30,)]),
        ("SELECT supplier FROM lake.sales.orders ORDER BY 1 LIMIT (SELECT min(hour) FROM lake.sales.orders)", [("a",)]),
        (
            "SELECT x.supplier, y.supplier FROM lake.sales.orders x JOIN lake.sales.orders y USING (hour)"
            " WHERE hour = 2 UNION ALL SELECT supplier, hour::VARCHAR FROM lake.sales.orders WHERE price > 3",
            [("b", "b"), ("a", "30")],
        ),
        ("SELECT count(*) FROM lake.sales.orders x NATURAL JOIN lake.sales.orders y", [(3,)]),
        ("WITH t0 AS (SELECT max(hour) AS h FROM lake.sales.orders) SELECT h FROM t0", [(30,)]),
        ("WITH t0 AS (SELECT 7 AS hour) SELECT max(o.hour) FROM lake.sales.orders o CROSS JOIN t0", [(30,)]),
        (
            "WITH t1 AS (SELECT * FROM lake.sales.orders), t0 AS (SELECT 'a' AS supplier)"
            " SELECT max(t1.hour) FROM t1 JOIN t0 USING (supplier)",
            [(30,)],
        ),
    ],
)
def test_queries_in_duckdbs_own_syntax_return_their_rows(
    sql: str, answer: list[tuple[Any, ...]], lake: Catalog
) -> None:
    assert query(lake, sql, EventRecorder(), "duckdb") == answer


def test_only_columns_that_a_query_names_are_read(lake: Catalog) -> None:
    recorder = EventRecorder()

    with pytest.raises(duckdb.BinderException) as error:
        query(
            lake, "SELECT max(hour) AS h FROM lake.sales.orders WHERE nobody > 0 GROUP BY supplier", recorder, "duckdb"
        )

    assert "supplier" in str(error.value)
    assert "price" not in str(error.value)


def test_a_password_in_a_query_is_in_no_event(lake: Catalog) -> None:
    recorder = EventRecorder()

    query(lake, "SELECT supplier FROM lake.sales.orders WHERE supplier > 'https://ann:s3cret@host/a'", recorder)

    assert "s3cret" not in json.dumps(recorder.events)
    assert "https://host/a" in recorder.events[0]["job"]["facets"]["sql"]["query"]


def test_a_query_that_fails_is_a_failed_run_and_shows_no_values(lake: Catalog) -> None:
    recorder = EventRecorder()

    with pytest.raises(Exception, match="Could not convert"):
        query(lake, "SELECT CAST(supplier AS INTEGER) FROM lake.sales.orders", recorder)

    assert [event["eventType"] for event in recorder.events] == ["START", "FAIL"]
    message = recorder.events[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("ConversionException in ")


@pytest.mark.parametrize(
    ("sql", "error", "pattern"),
    [
        ("SELECT 1 FROM orders", InvalidInputError, "catalog.schema.table"),
        ("SELECT 1 FROM 'orders.csv'", InvalidInputError, "catalog.schema.table"),
        ("DELETE FROM lake.sales.orders", InvalidInputError, "expected a query"),
        ("SELECT 1; SELECT 2", InvalidInputError, "not one statement"),
        ("SELECT 1 FROM lake.sales.none", NotFoundError, "lake.sales.none"),
        ("SELECT * FROM read_csv('/etc/passwd')", duckdb.PermissionException, "file system operations are disabled"),
    ],
)
def test_a_statement_that_is_not_a_query_of_known_tables_is_refused(
    sql: str, error: type[Exception], pattern: str, lake: Catalog
) -> None:
    with pytest.raises(error, match=pattern):
        query(lake, sql, EventRecorder(), "duckdb")


def test_an_unknown_dialect_is_refused(lake: Catalog) -> None:
    with pytest.raises(InvalidInputError, match="sql: unknown dialect 'nosuch'; expected one of "):
        query(lake, "SELECT 1", EventRecorder(), "nosuch")


def test_the_command_queries_the_lake_of_this_machine_and_prints_csv(lake: Catalog, tmp_path: Path) -> None:
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_ENDPOINT": "http://127.0.0.1:1/api/v1/lineage"}

    result = CliRunner(env=environment).invoke(
        app, ["sql", "run", "-e", "SELECT supplier, hour FROM lake.sales.orders ORDER BY hour"], catch_exceptions=False
    )

    assert result.stdout.splitlines() == ["supplier,hour", "a,1", "b,2", "a,30"]
    assert lake.table_exists("sales.orders")


def test_without_a_lake_the_command_fails_and_creates_none(tmp_path: Path) -> None:
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_ENDPOINT": "http://127.0.0.1:1/api/v1/lineage"}

    result = CliRunner(env=environment).invoke(app, ["sql", "run", "-e", "SELECT 1 FROM lake.raw.flights"])

    assert isinstance(result.exception, NotFoundError)
    assert str(result.exception).startswith(f"no lake at {tmp_path}/")
    assert "it is created by the first pipeline that writes an Iceberg table" in str(result.exception)
    assert not [*tmp_path.glob("lake/*.db")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (["type=rest", "uri=$REST", "token=not-the-token"], "it refuses the login (UnauthorizedError); check its"),
        (
            ["type=rest", "uri=$REST", "oauth2-server-uri=$REST/oauth/tokens", "credential=a:not-the-token"],
            "it refuses the login (OAuthError); check its",
        ),
        (["type=rest", "uri=http://127.0.0.1:1"], "no answer (ConnectionError); check its uri, user and password"),
        (["type=sql", "uri=sqlite:////no/such/not-the-token.db"], "no answer (OperationalError); check its uri"),
        (
            ["type=sql", "uri=postgresql+psycopg2://a:not-the-token@b/c"],
            "SQLAlchemy support not installed: pip install",
        ),
        (["type=sql", "uri=nosuch://a:not-the-token@b/c"], "no answer (NoSuchModuleError); check its uri"),
    ],
)
def test_a_catalog_that_refuses_the_login_or_does_not_answer_is_reported_in_a_sentence(
    settings: list[str], expected: str, tmp_path: Path
) -> None:
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_ENDPOINT": "http://127.0.0.1:1/api/v1/lineage"}

    with refusing_catalog() as url:
        options = [part for each in settings for part in ("--catalog", f"other.{each.replace('$REST', url)}")]
        result = CliRunner(env=environment).invoke(
            app, ["sql", "run", "-e", "SELECT * FROM other.sales.orders", *options]
        )

    assert isinstance(result.exception, SetupError | UnavailableError)
    assert str(result.exception).startswith(f"catalog other: {expected}")
    assert "not-the-token" not in str(result.exception)


def test_a_query_in_place_of_a_file_gets_a_hint_to_the_option_for_queries() -> None:
    result = CliRunner().invoke(app, ["sql", "run", "select 1"])

    assert result.exit_code == 1
    assert str(result.exception) == "select 1: No such file or directory; to pass the query itself, use -e"


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT nope FROM lake.sales.orders", 'Referenced column "nope" not found in FROM clause!'),
        ("SELECT no_such(hour) FROM lake.sales.orders", "Function with name no_such does not exist!"),
        ("SELECT CAST(supplier AS INTEGER) FROM lake.sales.orders", "cannot be converted to the type in the query"),
        ("SELECT ln(-hour) FROM lake.sales.orders", "too large or too small for its type or its function"),
        ("SELECT date_parse(supplier, '%Y') FROM lake.sales.orders", "got a value that it does not accept"),
    ],
)
def test_a_failed_query_is_reported_in_one_sentence_without_values(sql: str, expected: str, tmp_path: Path) -> None:
    environment = {"HEADWATER_HOME": str(tmp_path), "HEADWATER_ENDPOINT": "http://127.0.0.1:1/api/v1/lineage"}

    result = CliRunner(env=environment).invoke(app, ["sql", "run", "-e", sql])

    message, spooled, *more = result.stderr.splitlines()
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert message.startswith("headwater: sql: ")
    assert expected in message
    assert not re.search(r"'[ab]'|\"[ab]\"", message)
    assert spooled.startswith(f"2 lineage events not sent yet, in {tmp_path}/spool: ")
    assert more == []
