"""Files of dashboards: their content, their problems, and the events made from them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from headwater.capture.dashboards.events import events_of, withdrawals
from headwater.capture.dashboards.reading import read_dashboards
from headwater.capture.dashboards.resolved import asked
from headwater.capture.dashboards.spec import DirectTable, Owner
from headwater.errors import InvalidInputError
from headwater.model.names import DatasetId, JobId
from tests.support.spec import Specification

FILE = """\
    engine: trino://127.0.0.1:8080
    catalog: lake
    schema: sales
    dashboards:
      - name: revenue
        title: Revenue by supplier
        description: what each supplier sold
        url: https://bi.example.org/revenue
        owners: [team:finance, {name: ann, type: STEWARD}]
        queries:
          - name: by_supplier
            sql: SELECT supplier, sum(price) AS total FROM orders WHERE hour > 3 GROUP BY supplier
          - name: all
            file: all.sql
        tables:
          - {table: suppliers, columns: [country]}
    """
PAGE = Path(__file__).parents[3] / "docs" / "dashboards.md"
NOW = datetime(2026, 11, 22, tzinfo=UTC)
KNOWN = {DatasetId("trino://127.0.0.1:8080", "lake.sales.stats"): ["supplier", "total_price"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "all.sql").write_text("SELECT * FROM lake.sales.stats")
    path = tmp_path / "dashboards.yaml"
    path.write_text(dedent(FILE))
    return path


def events(file: Path) -> list[dict[str, Any]]:
    read = read_dashboards(file)
    return [json.loads(each) for each in events_of(NOW, read, asked(read, lambda name: KNOWN.get(name, ())))]


def edges(lineage: dict[str, Any], kind: str = "DIRECT") -> dict[str, list[str]]:
    """The inputs of each column with this kind of transformation."""
    return {
        column: [
            f"{each['name']}.{each['field']}"
            for each in column_lineage["inputFields"]
            if any(step["type"] == kind for step in each["transformations"])
        ]
        for column, column_lineage in lineage["fields"].items()
    }


def test_a_file_has_a_dashboards_owners_queries_and_tables(file: Path) -> None:
    read = read_dashboards(file)

    (revenue,) = read.dashboards
    assert (read.dialect, read.namespace) == ("trino", "dashboards")
    assert revenue.owners == (Owner("team:finance"), Owner("ann", "STEWARD"))
    assert [(query.name, query.line) for query in revenue.queries] == [("by_supplier", 12), ("all", 14)]
    assert revenue.tables == (DirectTable(("suppliers",), ("country",)),)
    assert read.full_name(("orders",)) == "lake.sales.orders"
    assert read.full_name(("other", "orders")) == "lake.other.orders"
    assert read.full_name(("a", "b", "c")) == "a.b.c"


def test_a_dashboard_and_its_queries_become_valid_events(file: Path, shared: Path) -> None:
    specification = Specification(shared / "openlineage")

    withdrawn = [json.loads(each) for each in withdrawals(NOW, [JobId("dashboards", "revenue.gone")])]
    assert [
        complaint for event in (*events(file), *withdrawn) for complaint in specification.complaints_about_ours(event)
    ] == []


def test_a_withdrawal_deletes_every_facet_that_a_query_declares(file: Path) -> None:
    declared = events(file)[1]["job"]

    (withdrawn,) = [json.loads(each) for each in withdrawals(NOW, [JobId(declared["namespace"], declared["name"])])]

    facets = withdrawn["job"]["facets"]
    assert facets.keys() == declared["facets"].keys()
    assert [facet["_deleted"] for facet in facets.values()] == [True] * len(facets)
    assert (withdrawn.get("inputs", []), withdrawn.get("outputs", [])) == ([], [])


def test_a_dashboard_is_a_dataset_with_the_result_columns_of_its_queries(file: Path) -> None:
    declared = events(file)[0]["dataset"]

    assert (declared["namespace"], declared["name"]) == ("dashboards", "revenue")
    facets = declared["facets"]
    assert [field["name"] for field in facets["schema"]["fields"]] == [
        "by_supplier.supplier",
        "by_supplier.total",
        "all.supplier",
        "all.total_price",
        "country",
    ]
    assert facets["documentation"]["description"] == "Revenue by supplier: what each supplier sold"
    assert [owner["name"] for owner in facets["ownership"]["owners"]] == ["team:finance", "ann"]
    assert facets["datasetType"]["datasetType"] == "DASHBOARD"


def test_each_query_is_a_job_that_feeds_the_dashboard_column_by_column(file: Path) -> None:
    jobs = events(file)[1:]

    assert [event["job"]["name"] for event in jobs] == ["revenue.by_supplier", "revenue.all", "revenue.tables"]
    assert [[each["name"] for each in event["inputs"]] for event in jobs] == [
        ["lake.sales.orders"],
        ["lake.sales.stats"],
        ["lake.sales.suppliers"],
    ]
    assert {event["inputs"][0]["namespace"] for event in jobs} == {"trino://127.0.0.1:8080"}
    lineage = [event["outputs"][0]["facets"]["columnLineage"] for event in jobs]
    assert [edges(each) for each in lineage] == [
        {"by_supplier.supplier": ["lake.sales.orders.supplier"], "by_supplier.total": ["lake.sales.orders.price"]},
        {"all.supplier": ["lake.sales.stats.supplier"], "all.total_price": ["lake.sales.stats.total_price"]},
        {"country": ["lake.sales.suppliers.country"]},
    ]
    assert all(event["job"]["facets"]["ownership"]["owners"][0]["name"] == "team:finance" for event in jobs)


def test_a_querys_indirect_inputs_are_those_of_its_own_columns_only(file: Path) -> None:
    lineage = [event["outputs"][0]["facets"]["columnLineage"] for event in events(file)[1:]]

    filtering = ["lake.sales.orders.hour", "lake.sales.orders.supplier"]
    assert [edges(each, "INDIRECT") for each in lineage] == [
        {"by_supplier.supplier": filtering, "by_supplier.total": filtering},
        {"all.supplier": [], "all.total_price": []},
        {"country": []},
    ]
    assert [each.get("dataset", []) for each in lineage] == [[], [], []]


def test_the_indirect_inputs_of_a_very_wide_query_are_reported_once(tmp_path: Path) -> None:
    sql = ", ".join(f"c{number}" for number in range(101)).join(["SELECT DISTINCT ", " FROM t"])
    text = {"engine": "trino://t:1", "dashboards": [{"name": "a", "queries": [{"sql": sql}]}]}
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))

    lineage = events(file)[1]["outputs"][0]["facets"]["columnLineage"]

    assert len(lineage["dataset"]) == 101
    assert {len(column_lineage["inputFields"]) for column_lineage in lineage["fields"].values()} == {1}


def test_tables_without_known_columns_feed_the_dashboard_without_column_lineage(tmp_path: Path) -> None:
    queries = [
        {"name": "counted", "sql": "SELECT count(*) AS n FROM orders"},
        {"name": "cross_joined", "sql": "SELECT o.id FROM orders o CROSS JOIN (SELECT count(*) AS n FROM customers) c"},
        {"name": "star", "sql": "SELECT * FROM nowhere"},
        {"name": "partly", "sql": "SELECT *, price * 2 AS twice FROM nowhere"},
    ]
    text = {
        "engine": "trino://t:1",
        "catalog": "lake",
        "schema": "s",
        "dashboards": [{"name": "d", "queries": queries}],
    }
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))

    counted, cross_joined, star, partly = events(file)[1:]

    assert [each["name"] for each in cross_joined["inputs"]] == ["lake.s.orders", "lake.s.customers"]
    assert all("columnLineage" not in each["outputs"][0].get("facets", {}) for each in (counted, cross_joined, star))
    assert edges(partly["outputs"][0]["facets"]["columnLineage"]) == {"partly.twice": ["lake.s.nowhere.price"]}


def test_a_query_that_cannot_be_parsed_is_reported_without_tables(file: Path) -> None:
    file.with_name("all.sql").write_text("DELETE FROM lake.sales.stats")

    broken = events(file)[2]

    assert broken["job"]["name"] == "revenue.all"
    assert broken.get("inputs", []) == []


def test_the_documented_example_names_its_tables_in_full(tmp_path: Path) -> None:
    text = PAGE.read_text().partition("## A file\n")[2].partition("    headwater dashboards lint")[0]
    (tmp_path / "dashboards.yaml").write_text(dedent(text))
    (tmp_path / "by_hour.sql").write_text("SELECT 1")

    reads = [[each["name"] for each in event.get("inputs", [])] for event in events(tmp_path / "dashboards.yaml")]

    assert reads[1:] == [["lake.sales.supplier_stats"], [], ["lake.sales.suppliers", "lake.sales.countries"]]


@pytest.mark.parametrize(
    ("left_out", "table", "full_name"),
    [
        ({"catalog": "lake"}, "sales.orders", "lake.sales.orders"),
        ({"catalog": "lake"}, "other.sales.orders", "other.sales.orders"),
        ({"catalog": "lake"}, '"sales 1"."a.b"', "lake.sales 1.a.b"),
        ({"schema": "sales"}, "orders", "sales.orders"),
        ({"schema": "sales"}, '"or.ders"', "sales.or.ders"),
        ({"schema": "sales"}, "other.orders", "other.orders"),
        ({"schema": "sales"}, "lake.other.orders", "lake.other.orders"),
        ({"catalog": "lake", "schema": "sales"}, "orders", "lake.sales.orders"),
        ({"catalog": "lake", "schema": "sales"}, "other.orders", "lake.other.orders"),
        ({"catalog": "lake", "schema": "sales"}, "a.b.c", "a.b.c"),
        ({}, "orders", "orders"),
        ({}, "sales.orders", "sales.orders"),
        ({}, "lake.sales.orders", "lake.sales.orders"),
    ],
)
def test_a_tables_name_is_completed_with_the_missing_parts(
    left_out: dict[str, str], table: str, full_name: str, tmp_path: Path
) -> None:
    queries = [{"sql": f"TABLE {table}"}]
    text = {"engine": "trino://t:1", **left_out, "dashboards": [{"name": "a", "queries": queries}]}
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))

    (_, query) = events(file)

    assert [each["name"] for each in query["inputs"]] == [full_name]


@pytest.mark.parametrize(
    ("dialect", "read", "name"),
    [
        ("duckdb", "'s3://Lake/Raw/orders.parquet'", ("s3://Lake", "Raw/orders.parquet")),
        ("spark", "parquet.`s3a://lake/raw/Orders/`", ("s3://lake", "raw/Orders")),
        (
            "databricks",
            "Delta.`abfss://raw@lake.dfs.core.windows.net/o`",
            ("abfss://raw@lake.dfs.core.windows.net", "o"),
        ),
        ("trino", '"s3://lake/orders"', ("t://e:1", "lake.sales.s3://lake/orders")),
    ],
)
def test_a_file_that_a_query_names_by_its_address_is_that_file(
    dialect: str, read: str, name: tuple[str, str], tmp_path: Path
) -> None:
    queries = [{"sql": f"SELECT price FROM {read}"}]  # noqa: S608
    defaults = {"engine": "t://e:1", "dialect": dialect, "catalog": "lake", "schema": "sales"}
    text = {**defaults, "dashboards": [{"name": "a", "queries": queries}]}
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))

    (_, query) = events(file)

    assert [(each["namespace"], each["name"]) for each in query["inputs"]] == [name]
    assert edges(query["outputs"][0]["facets"]["columnLineage"]) == {"price": [f"{name[1]}.price"]}


def test_a_query_of_a_table_without_a_schema_is_reported_without_its_tables(tmp_path: Path) -> None:
    sql = "WITH c AS (SELECT * FROM sales.stats) SELECT * FROM c JOIN orders USING (id)"
    text = {"engine": "trino://t:1", "catalog": "lake", "dashboards": [{"name": "a", "queries": [{"sql": sql}]}]}
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))
    looked_up: list[DatasetId] = []

    def columns(name: DatasetId) -> tuple[str, ...]:
        looked_up.append(name)
        return ()

    (query,) = asked(read_dashboards(file), columns)

    assert query.statement is None
    assert query.fault == "orders has no schema; set schema next to catalog, or write SCHEMA.orders"
    assert {name.name for name in looked_up} == {"lake.sales.stats"}
    assert events(file)[1].get("inputs", []) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dashboards: []", "1: engine: missing; expected text"),
        ("engine: trino://t:1\ndashboards: {}", "2: dashboards: expected a list"),
        ("engine: looker://t:1", "1: dialect: expected the SQL dialect of this engine, for example trino"),
        ("engine: trino://t:1\nowner: ann", "2: owner: unknown key; expected one of"),
        ("engine: trino://t:1\nengine: trino://t:2", "2: engine: duplicate key"),
        (
            "engine: trino://t:1\ndashboards:\n- name: a",
            "3: dashboards.0: expected queries or tables: the data that the dashboard uses",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- name: a\n  queries:\n  - {name: x}",
            "5: dashboards.0.queries.0: expected either sql or file",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- name: a\n  queries:\n  - {file: none.sql}",
            "5: dashboards.0.queries.0.file: No such file or directory",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- name: a\n  queries:\n  - sql: SELECT 1\n  - {name: b, sql: SELECT 2}",
            "3: dashboards.0.queries: expected a name for each query, as there are several",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- {name: a, tables: [x.y]}\n- {name: a, tables: [x.y]}",
            "3: dashboards: the name 'a' is used twice",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- {name: 'a', owners: [~], tables: [x]}",
            "dashboards.0.owners.0: expected",
        ),
        (
            "engine: trino://t:1\ncatalog: lake\ndashboards:\n- name: a\n  tables:\n  - a.b\n  - orders",
            "7: dashboards.0.tables.1: orders has no schema; set schema next to catalog, or write SCHEMA.orders",
        ),
        (
            "engine: trino://t:1\ncatalog: lake\ndashboards:\n- name: a\n  tables:\n  - {table: orders, columns: [id]}",
            "6: dashboards.0.tables.0.table: orders has no schema; set schema next to catalog, or write SCHEMA.orders",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- name: a\n  queries:\n  - {name: tables, sql: SELECT 1}\n"
            "  tables: [x.y]",
            "5: dashboards.0.queries.0.name: gives the job 'a.tables', the same as dashboards.0.tables; expected",
        ),
        (
            "engine: trino://t:1\ndashboards:\n- name: a\n  queries:\n  - {name: b, sql: SELECT 1}\n"
            "- name: a.b\n  queries:\n  - sql: SELECT 2",
            "8: dashboards.1.queries.0.name: gives the job 'a.b', the same as dashboards.0.queries.0.name; expected",
        ),
        (
            "engine: acme://t:1\ndialect: acme\ndashboards:\n- name: a\n  queries:\n  - sql: SELECT 1",
            "2: dialect: unknown dialect 'acme'; expected one of athena, bigquery, ",
        ),
        ("engine: trino://ann:s3cret@t:1", "1: engine: must not contain a password"),
        (
            "engine: trino://t:1\ndashboards:\n- {name: a, url: 'https://bi/a?token=s3cret', tables: [x.y]}",
            "3: dashboards.0.url: must not contain a password",
        ),
        ("engine: [", "not YAML"),
        ("", "empty; expected"),
    ],
)
def test_a_problem_of_a_file_is_reported_with_line_and_field(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "dashboards.yaml"
    file.write_text(text)

    with pytest.raises(InvalidInputError) as refusal:
        read_dashboards(file)

    assert problem in str(refusal.value)
    assert "s3cret" not in str(refusal.value)


def test_a_password_in_a_query_or_a_description_is_in_no_event(file: Path) -> None:
    address = "https://ann:s3cret@wiki/a"
    text = file.read_text().replace("what each supplier sold", f"see {address}")
    file.write_text(text.replace("hour > 3", f"'{address}' > 'Server=db;PWD=s3cret'"))

    found = events(file)

    assert "s3cret" not in json.dumps(found)
    assert "https://wiki/a" in found[1]["job"]["facets"]["sql"]["query"]
    assert found[1]["job"]["facets"]["documentation"]["description"].endswith("see https://wiki/a")


def test_a_query_can_have_the_name_tables_if_no_tables_are_listed(tmp_path: Path) -> None:
    queries = [{"name": "tables", "sql": "SELECT 1"}]
    text = {"engine": "trino://t:1", "dashboards": [{"name": "a", "queries": queries}]}
    (file := tmp_path / "dashboards.yaml").write_text(json.dumps(text))

    assert [event["job"]["name"] for event in events(file)[1:]] == ["a.tables"]


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    file = tmp_path / "dashboards.yaml"
    file.write_text(
        "engine: trino://t:1\ncatalog:\ndashboards:\n- {nam: a}\n- {name: b}\n- {name: c, tables: [orders]}\n"
    )

    with pytest.raises(InvalidInputError) as refusal:
        read_dashboards(file)

    assert [line.partition("yaml:")[2].partition(":")[0] for line in str(refusal.value).splitlines()] == ["2", "4", "5"]
