"""A table that a Spark pipeline writes, a real Trino over it, and dashboards at the end: one graph.

One story in one lab, since Trino takes half a minute to start. What comes out must be what is written here by hand.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from headwater.lab.kafka import ANY_CREDENTIALS
from headwater.lab.lab import Lab
from tests.support.app import Body
from tests.support.ports import free_ports
from tests.support.service import Service, eventually, running
from tests.support.trino import ask

pytestmark = pytest.mark.spark

PIPELINE = """
name: orders
namespace: lab
schema_version: 1
input:
  file: {paths: [ORDERS], format: csv, options: {header: "true"}}
pipeline:
  processors:
    - sql: >
        SELECT CAST(order_id AS BIGINT) AS order_id, supplier, CAST(price AS DECIMAL(10,2)) AS price,
        CAST(hour AS INT) AS hour FROM input
output:
  iceberg: {table: lake.sales.orders, mode: overwrite}
catalogs:
  lake:
    type: glue
    warehouse: s3://lake/warehouse
    options:
      io-impl: org.apache.iceberg.hadoop.HadoopFileIO
      http-client.type: urlconnection
      glue.endpoint: S3_URL
      client.region: us-east-1
spark:
  spark.hadoop.fs.s3a.endpoint: S3_URL
  spark.hadoop.fs.s3a.path.style.access: true
  spark.hadoop.fs.s3a.endpoint.region: us-east-1
lineage:
  http: {endpoint: SERVICE_URL/api/v1/lineage}
"""
ORDERS = "order_id,supplier,price,hour\n1,a,2.50,1\n2,b,3.00,2\n3,a,4.00,3\n"

STATEMENTS = (
    "CREATE TABLE lake.sales.stats AS SELECT supplier, sum(price) AS total_price, count(*) AS orders"
    " FROM lake.sales.orders WHERE hour < 10 GROUP BY supplier",
    "INSERT INTO lake.sales.stats (supplier, total_price) SELECT supplier, price FROM lake.sales.orders",
    "UPDATE lake.sales.stats SET orders = orders + 1 WHERE supplier = 'a'",
    "MERGE INTO lake.sales.stats t USING lake.sales.orders o ON t.supplier = o.supplier AND t.orders = o.order_id"
    " WHEN MATCHED THEN UPDATE SET total_price = t.total_price + o.price"
    " WHEN NOT MATCHED THEN INSERT (supplier, total_price, orders) VALUES (o.supplier, o.price, o.order_id)",
    "/* dashboard: revenue, query: by_supplier */ SELECT supplier, sum(total_price) AS total"
    " FROM lake.sales.stats GROUP BY supplier",
)
DASHBOARDS = """
engine: TRINO
dashboards:
  - name: revenue
    title: Revenue by supplier
    owners: [team:finance]
    queries:
      - name: by_hour
        sql: SELECT hour, price FROM lake.sales.orders
"""

FILE, TABLE = "ORDERS.csv", "lake.sales.orders"
STATS, REVENUE = "lake.sales.stats", "revenue"
DIRECT = {f"{FILE}.{column} > {TABLE}.{column}" for column in ("order_id", "supplier", "price", "hour")} | {
    f"{TABLE}.supplier > {STATS}.supplier",
    f"{TABLE}.price > {STATS}.total_price",
    f"{STATS}.total_price > {STATS}.total_price",
    f"{STATS}.orders > {STATS}.orders",
    f"{TABLE}.order_id > {STATS}.orders",
    f"{STATS}.supplier > {REVENUE}.by_supplier.supplier",
    f"{STATS}.total_price > {REVENUE}.by_supplier.total",
    f"{TABLE}.hour > {REVENUE}.by_hour.hour",
    f"{TABLE}.price > {REVENUE}.by_hour.price",
}
"""Which column's value is made from which; of a table the name that its catalog has for it."""


@dataclass
class Story:
    lab: Lab
    service: Service
    folder: Path

    @property
    def trino(self) -> str:
        return self.lab.address("trino")

    @property
    def endpoint(self) -> str:
        return f"{self.service.url}/api/v1/lineage"

    def catalog(self) -> Iterator[str]:
        """The catalog `lake` as pyiceberg is told of it."""
        s3 = self.lab.address("s3")
        keys = {f"{of}.{key}": "lab" for of in ("s3", "glue") for key in ("access-key-id", "secret-access-key")}
        places = {"s3.endpoint": s3, "glue.endpoint": s3, "s3.region": "us-east-1", "glue.region": "us-east-1"}
        said = {"type": "glue", "warehouse": "s3://lake/warehouse", **keys, **places}
        return (word for key, value in said.items() for word in ("--catalog", f"lake.{key}={value}"))

    def headwater(self, *arguments: str) -> str:
        variables = {**os.environ, **ANY_CREDENTIALS, "HEADWATER_HOME": str(self.folder / "node")}
        done = subprocess.run(
            [sys.executable, "-m", "headwater.cli.main", *arguments], env=variables, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def file(self, name: str, text: str, **names: str) -> str:
        for word, value in names.items():
            text = text.replace(word, value)
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def get(self, path: str) -> Body:
        answer = httpx.get(f"{self.service.url}/api/v1{path}", timeout=60)
        answer.raise_for_status()
        body: Body = answer.json()
        return body

    def datasets(self) -> set[tuple[str, str]]:
        """Every dataset that the service shows, by the name that it shows."""
        names = [each["name"] for each in self.get("/namespaces?limit=100")["namespaces"]]
        shown = [
            each for name in names for each in self.get(f"/namespaces/{quote(name, safe='')}/datasets")["datasets"]
        ]
        return {(each["id"]["namespace"], each["id"]["name"]) for each in shown}

    def direct(self, start: str) -> set[str]:
        """Which column's value is made from which, in all that hangs together with a dataset."""
        graph = self.get(f"/column-lineage?nodeId={quote(start, safe='')}&withDownstream=true")["graph"]
        return {
            f"{_called(source)}.{source['field']} > {_called(node['data'])}.{node['data']['field']}"
            for node in graph
            for source in node["data"]["inputFields"]
            if any(step["type"] == "DIRECT" for step in source["transformations"])
        }


def _called(name: Mapping[str, str]) -> str:
    """The last part of a name, with that of its catalog for tables."""
    whole = name.get("dataset") or name["name"]
    table = re.fullmatch(r"warehouse/sales\.db/(\w+?)(-[0-9a-f]{32})?", whole)
    return f"lake.sales.{table[1]}" if table else whole.rpartition("/")[2]


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    lab = Lab("trino", tmp_path / "lab", dict(zip(("s3", "trino"), free_ports(2), strict=True)))
    with running(tmp_path / "home") as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_ENDPOINT", f"{service.url}/api/v1/lineage")
        try:
            lab.up([], lambda _: None)
            yield Story(lab, service, tmp_path)
        finally:
            lab.down(lambda _: None)


def test_from_a_file_through_spark_and_trino_to_the_dashboard_is_one_graph(story: Story) -> None:
    orders = story.file("ORDERS.csv", ORDERS)
    places = {"S3_URL": story.lab.address("s3"), "SERVICE_URL": story.service.url}
    story.headwater("run", story.file("orders.yaml", PIPELINE.replace("ORDERS", orders), **places))
    for statement in STATEMENTS:
        ask(story.trino, statement)
    told = story.headwater(
        *("watch", "trino", "--once", "--etc", str(story.folder / "lab" / "lab" / "trino" / "etc")),
        *("--endpoint", story.endpoint),
    )
    engine = story.trino.replace("http", "trino")
    dashboards = story.file("dashboards.yaml", DASHBOARDS, TRINO=engine)
    story.headwater("dashboards", "push", dashboards, "--url", story.service.url)

    assert told == "lake: glue at s3://lake/warehouse\n"
    start = "dataset:s3://lake:warehouse/sales.db/orders"
    assert eventually(lambda: story.direct(start) == DIRECT, 20), story.direct(start) ^ DIRECT
    assert story.datasets() == {
        ("file", orders),
        ("s3://lake", "warehouse/sales.db/orders"),
        (engine, "lake.sales.stats"),
        (engine, "lake"),
        ("dashboards", "revenue"),
    }
    price = quote("datasetField:s3://lake:warehouse/sales.db/orders:price", safe="")
    reached = story.get(f"/impact?nodeId={price}")["reached"]
    (end,) = (each for each in reached if each["type"] == "DATASET" and each["namespace"] == "dashboards")
    assert [owner["name"] for owner in end["owners"]] == ["team:finance"]

    asked = story.headwater(*("sql", "run", "-e", STATEMENTS[-1]), *story.catalog(), "--endpoint", story.endpoint)

    assert sorted(asked.split()) == ["a,19.50", "b,9.00", "supplier,total"]  # of a: 6.50 + 4 merged, 2.50, 4 and 2.50
    runs = "/namespaces/dashboards/jobs/revenue.by_supplier/runs"
    assert eventually(lambda: len(story.get(runs)["runs"]) == 2, 20)
    assert [run["state"] for run in story.get(runs)["runs"]] == ["COMPLETED", "COMPLETED"]
    assert story.direct(start) == DIRECT  # DuckDB's graph is Trino's: it reads the table where it lies
    assert len(story.datasets()) == 5
