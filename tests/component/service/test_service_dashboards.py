"""From a table that Spark writes, through Trino, to a dashboard: one graph, whoever reports first."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner, Result

from headwater.capture.dashboards.events import events_of
from headwater.capture.dashboards.reading import read_dashboards
from headwater.capture.dashboards.resolved import asked as asked_by
from headwater.capture.outlet import Outlet
from headwater.capture.trino import TrinoWatcher
from headwater.cli.main import app
from headwater.errors import UnavailableError
from tests.support.app import dataset, event, facet, get, post, schema
from tests.support.service import Service, running

TRINO = "trino://127.0.0.1:8080"
LISTENER = "https://github.com/trinodb/trino/plugin/trino-openlineage"
GLUE = facet(framework="iceberg", type="glue", name="glue", warehouseUri="s3://warehouse", source="spark")
FILE = """\
engine: trino://127.0.0.1:8080
dashboards:
  - name: revenue
    title: Revenue by supplier
    owners: [team:finance]
    queries:
      - name: by_supplier
        sql: SELECT * FROM lake.sales.stats
"""


def spark_write() -> dict[str, Any]:
    """Spark writes `orders`, as openlineage-spark reports it: by its location, with its catalog."""
    orders = dataset("sales.db/orders", "s3://warehouse", catalog=GLUE, schema=schema("order_id", "supplier", "price"))
    return event(eventType="COMPLETE", outputs=[orders])


def trino(run: int, sql: str, reads: Mapping[str, list[str]], write: dict[str, Any] | None = None) -> dict[str, Any]:
    """A query as Trino reports it: only the columns that it read, without types."""
    inputs = [
        dataset(name, TRINO, schema=facet(fields=[{"name": column} for column in columns]))
        for name, columns in reads.items()
    ]
    return event(
        eventType="COMPLETE",
        eventTime=f"2026-05-22T15:00:{run:02d}Z",
        producer=LISTENER,
        run={"runId": f"480e3a6f-a5b6-3183-b238-9b64a87491e{run}"},
        job={"namespace": "trino", "name": f"2026_{run}", "facets": {"sql": facet(query=sql)}},
        inputs=inputs,
        outputs=[write] if write else [],
    )


def created_table() -> dict[str, Any]:
    lineage = facet(
        fields={
            column: {"inputFields": [{"namespace": TRINO, "name": "lake.sales.orders", "field": source}]}
            for column, source in (("supplier", "supplier"), ("total_price", "price"))
        },
        dataset=[],
    )
    stats = dataset("lake.sales.stats", TRINO, columnLineage=lineage, schema=schema("supplier", "total_price"))
    sql = (
        "CREATE TABLE lake.sales.stats AS SELECT supplier, sum(price) AS total_price FROM lake.sales.orders GROUP BY 1"
    )
    return trino(1, sql, {"lake.sales.orders": ["supplier", "price"]}, stats)


def dashboard_query() -> dict[str, Any]:
    sql = "/* dashboard: revenue, query: by_supplier */ SELECT supplier, total_price FROM lake.sales.stats"
    return trino(2, sql, {"lake.sales.stats": ["supplier", "total_price"]})


def catalog_declaration(folder: Path) -> dict[str, Any]:
    (folder / "catalog").mkdir(parents=True)
    glue = (
        "connector.name=iceberg",
        "iceberg.catalog.type=glue",
        "hive.metastore.glue.default-warehouse-dir=s3://warehouse/",
    )
    (folder / "catalog" / "lake.properties").write_text("\n".join(glue))
    payloads: list[bytes] = []
    TrinoWatcher(folder, TRINO, Outlet(payloads.append, lambda: True)).poll()
    declaration: dict[str, Any] = json.loads(payloads[0])
    return declaration


@pytest.mark.parametrize("seed", range(4))
def test_spark_trino_and_the_dashboard_make_one_graph_in_any_order(
    seed: int, client: TestClient, tmp_path: Path
) -> None:
    events = [spark_write(), created_table(), dashboard_query(), catalog_declaration(tmp_path / "etc")]
    random.Random(seed).shuffle(events)  # noqa: S311  an order, no secret

    post(client, *events)

    found = get(client, "/api/v1/impact?nodeId=datasetField:s3%3A%2F%2Fwarehouse:sales.db%2Forders:price")
    reached = [(each["namespace"], each["name"], each["field"]) for each in found["reached"] if each["field"]]
    assert reached == [
        (TRINO, "lake.sales.stats", "total_price"),
        ("dashboards", "revenue", "by_supplier.total_price"),
    ]
    orders = get(client, "/api/v1/namespaces/s3%3A%2F%2Fwarehouse/datasets/sales.db%2Forders")
    assert [field["name"] for field in orders["fields"]] == ["order_id", "supplier", "price"]
    (evidence,) = get(client, f"/api/v1/identity?namespace={TRINO}&name=lake.sales.orders")["evidence"]
    assert evidence["reason"] == "configuration"


TWO = """\
engine: trino://127.0.0.1:8080
dashboards:
  - name: two
    queries:
      - {name: a, sql: SELECT country FROM lake.sales.suppliers}
      - {name: b, sql: SELECT price FROM lake.sales.orders WHERE hour > 1}
"""


def push_events(client: TestClient, file: Path, text: str, second: int) -> None:
    """Post the events of a push of the file, `second` seconds after midnight."""
    file.write_text(text)
    read = read_dashboards(file)
    now = datetime(2026, 5, 22, 0, 0, second, tzinfo=UTC)
    post(client, *(json.loads(each) for each in events_of(now, read, asked_by(read, lambda _: ()))))


def test_a_filter_of_one_query_does_not_reach_columns_of_another(client: TestClient, tmp_path: Path) -> None:
    push_events(client, tmp_path / "two.yaml", TWO, 1)

    found = get(client, f"/api/v1/impact?nodeId=datasetField:{quote(TRINO, safe='')}:lake.sales.orders:hour")

    assert [each["field"] for each in found["reached"] if each["field"]] == ["b.price"]


def test_a_table_whose_rows_are_only_counted_reaches_the_dashboard(client: TestClient, tmp_path: Path) -> None:
    counted = TWO.replace("SELECT country FROM", "SELECT count(*) AS n FROM")
    ran = trino(3, "/* dashboard: ran */ SELECT count(*) AS n FROM lake.sales.suppliers", {"lake.sales.suppliers": []})
    push_events(client, tmp_path / "two.yaml", counted, 1)
    post(client, ran)

    found = get(client, f"/api/v1/impact?nodeId=dataset:{quote(TRINO, safe='')}:lake.sales.suppliers")

    assert {each["name"] for each in found["reached"] if each["namespace"] == "dashboards"} >= {"two", "ran"}


def push_output(service: Service, folder: Path, text: str, *arguments: str) -> str:
    """The output of a push of the file."""
    (file := folder / "dashboards.yaml").write_text(text)
    runner = CliRunner(env={"HEADWATER_HOME": str(folder / "node")})
    push = ["dashboards", "push", str(file), "--url", service.url, *arguments]
    return runner.invoke(app, push, catch_exceptions=False).stdout


def test_queries_removed_from_a_dashboard_are_withdrawn_by_the_next_push(tmp_path: Path) -> None:
    full = TWO + "    tables: [lake.sales.stats]\n  - name: other\n    queries: [{sql: SELECT 1 AS one}]\n"
    ran = dashboard_query()
    ran["job"]["facets"]["sql"] = facet(
        query="/* dashboard: two, query: seen */ SELECT total_price FROM lake.sales.stats"
    )
    with running(tmp_path / "home") as service:

        def reached(column: str) -> list[str]:
            node = f"datasetField:{TRINO}:lake.sales.{column}"
            answer = httpx.get(f"{service.url}/api/v1/impact", params={"nodeId": node})
            return [each["field"] for each in answer.json()["reached"] if each["field"]] if answer.is_success else []

        httpx.post(f"{service.url}/api/v1/lineage", json=ran).raise_for_status()
        push_output(service, tmp_path, full)
        before = reached("orders:price")

        output = push_output(service, tmp_path, TWO.rpartition("      - {name: b")[0])
        again = json.loads(push_output(service, tmp_path, TWO.rpartition("      - {name: b")[0], "--json"))
        feeding = httpx.get(
            f"{service.url}/api/v1/neighbours",
            params={"nodeId": "dataset:dashboards:two", "way": "upstream", "type": "JOB"},
        ).json()
        after = reached("orders:price")
        other = httpx.get(f"{service.url}/api/v1/namespaces/dashboards/jobs/other").json()

    assert (before, after) == (["b.price"], [])
    assert output.splitlines() == [
        "two.a: 1 column from lake.sales.suppliers",
        "two.b: no longer in the file: its declaration is withdrawn",
        "two.tables: no longer in the file: its declaration is withdrawn",
    ]
    assert [each["name"] for each in feeding["neighbours"]] == ["two.a", "two.seen"]
    assert [(each["query"], each["isGone"]) for each in again] == [("a", False)]
    assert other["facets"]["jobType"]["integration"] == "DASHBOARD"


def test_withdrawn_queries_are_listed_in_json_too(tmp_path: Path) -> None:
    with running(tmp_path / "home") as service:
        push_output(service, tmp_path, TWO)
        queries = json.loads(push_output(service, tmp_path, TWO.replace("name: b", "name: c"), "--json"))

    assert [(each["dashboard"], each["query"], each["isGone"]) for each in queries] == [
        ("two", "a", False),
        ("two", "c", False),
        ("two", "b", True),
    ]


def test_impact_finds_the_dashboard_with_its_owner(tmp_path: Path) -> None:
    (file := tmp_path / "dashboards.yaml").write_text(FILE)
    with running(tmp_path / "home") as service:
        for each in (spark_write(), created_table(), catalog_declaration(tmp_path / "etc")):
            httpx.post(f"{service.url}/api/v1/lineage", json=each).raise_for_status()

        first = CliRunner(env={"HEADWATER_HOME": str(tmp_path / "node")}).invoke(
            app, ["dashboards", "push", str(file), "--url", service.url], catch_exceptions=False
        )
        again = CliRunner(env={"HEADWATER_HOME": str(tmp_path / "node")}).invoke(
            app, ["dashboards", "push", str(file), "--url", service.url, "--json"], catch_exceptions=False
        )
        impact = CliRunner().invoke(app, ["impact", "sales.db/orders:price", "--change", "drop", "--url", service.url])

    assert first.stdout == "revenue.by_supplier: 2 columns from lake.sales.stats\n"
    (query,) = json.loads(again.stdout)
    assert (query["dashboard"], query["query"], query["fault"], query["gaps"]) == ("revenue", "by_supplier", None, [])
    assert query["reads"] == [{"namespace": TRINO, "name": "lake.sales.stats"}]
    assert len(query["columns"]) == 2
    assert "revenue:by_supplier.total_price" in impact.stdout
    assert "team:finance" in impact.stdout


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, dict[str, str]]]:
    """A service with access control, and API keys by role."""
    home = tmp_path_factory.mktemp("guarded")
    with running(home, "--access") as service:

        def key(role: str) -> str:
            create = ["access", "key", "create", role, "--role", role, "--scope", "*", "--url", service.url]
            made: str = CliRunner(env={"HEADWATER_HOME": str(home)}).invoke(app, create, catch_exceptions=False).stdout
            return made.strip()

        yield service, {role: key(role) for role in ("admin", "read", "ingest")}


def push_result(folder: Path, service: Service, *arguments: str, **variables: str) -> Result:
    """Push dashboards in a namespace named like the folder."""
    (file := folder / "dashboards.yaml").write_text(f"namespace: {folder.name}\n{FILE}")
    environment = {"HEADWATER_HOME": str(folder / "node"), "HEADWATER_URL": service.url, **variables}
    return CliRunner(env=environment).invoke(app, ["dashboards", "push", str(file), *arguments])


def known_dashboards(folder: Path, service: Service, key: str) -> list[str]:
    """The folder's dashboards that the service knows."""
    headers = {"authorization": f"Bearer {key}"}
    answer = httpx.get(f"{service.url}/api/v1/namespaces/{folder.name}/datasets", headers=headers)
    return [each["name"] for each in answer.json().get("datasets", ())]


def test_a_push_that_the_service_refuses_fails(guarded: tuple[Service, dict[str, str]], tmp_path: Path) -> None:
    service, keys = guarded

    result = push_result(tmp_path, service, HEADWATER_TOKEN=keys["read"])

    assert isinstance(result.exception, UnavailableError)
    waiting = r"\d+ events not sent yet, in .*/node/spool: .* 403 .* its role is read"
    assert re.match(waiting, str(result.exception))
    assert result.stdout == ""
    assert known_dashboards(tmp_path, service, keys["admin"]) == []


def test_a_push_uses_one_key_to_ask_and_to_send(guarded: tuple[Service, dict[str, str]], tmp_path: Path) -> None:
    service, keys = guarded

    result = push_result(tmp_path, service, HEADWATER_TOKEN=keys["admin"])

    assert result.exit_code == 0
    assert known_dashboards(tmp_path, service, keys["admin"]) == ["revenue"]


@pytest.mark.parametrize("default_role", ["read", ""])
def test_a_push_takes_its_key_from_the_named_variable(
    guarded: tuple[Service, dict[str, str]], default_role: str, tmp_path: Path
) -> None:
    service, keys = guarded
    variables = {"MINE": keys["ingest" if default_role else "admin"]}

    result = push_result(
        tmp_path, service, "--token-env", "MINE", HEADWATER_TOKEN=keys.get(default_role, ""), **variables
    )

    assert result.exit_code == 0, result.exception
