"""The lab of `labs/02-end-to-end`: six programs on four engines, from the connector to the dashboard, in one graph.

One story in one lab, since the start of its parts takes half a minute; so Trino also changes a table here in all the
ways it has, and DuckDB asks what Trino was asked. What comes out must be what is written here by hand: every flow,
every run's state, every column's value and what it is made from.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from confluent_kafka import Consumer, TopicPartition

from headwater.lab.kafka import ANY_CREDENTIALS
from headwater.lab.lab import Lab
from tests.support.app import Body
from tests.support.connect_lab import ConnectLab, Edge, generated_orders
from tests.support.ports import free_ports
from tests.support.script import loaded
from tests.support.service import Service, eventually, running
from tests.support.spec import Specification
from tests.support.watch import Watch

pytestmark = pytest.mark.spark

FOLDER = Path(__file__).parents[2] / "labs" / "02-end-to-end"
play = loaded(FOLDER / "play.py")
TASKS, EACH = 3, 40
ORDER = ("order_id", "supplier", "quantity", "price", "ordered_at")

ENDS = {
    "job:kafka-connect:auction": "RUNNING",
    "job:kafka-connect:archive": "RUNNING",
    "job:flink-jobs:orders-to-lake": "COMPLETED",
    "job:flink-jobs:suppliers-live": "ABORTED",
    "job:default:nightly.create.lake.default.supplier_stats": "COMPLETED",
    "job:default:nightly.lake.default.supplier_stats": "COMPLETED",
    "job:dashboards:revenue.by_supplier": "COMPLETED COMPLETED",
    "job:trino:": "COMPLETED COMPLETED COMPLETED COMPLETED",
}
"""How the runs of each job stand at the end: Flink's were stopped with a savepoint, and cancelled; the query of the
dashboard was asked of Trino and of DuckDB; of Trino's others each is a job by its id, which is left out here."""

RANKING = (
    "CREATE TABLE lake.default.ranking AS SELECT supplier, sum(total_price) AS total_price, count(*) AS hours"
    " FROM lake.default.supplier_stats WHERE hour < 10 GROUP BY supplier",
    "INSERT INTO lake.default.ranking (supplier, total_price) SELECT supplier, price FROM lake.default.orders",
    "UPDATE lake.default.ranking SET hours = hours + 1 WHERE supplier = 'acme'",
    "MERGE INTO lake.default.ranking t USING lake.default.orders o ON t.supplier = o.supplier AND t.hours = o.order_id"
    " WHEN MATCHED THEN UPDATE SET total_price = t.total_price + o.price"
    " WHEN NOT MATCHED THEN INSERT (supplier, total_price, hours) VALUES (o.supplier, o.price, o.order_id)",
)
"""Each way of Trino to write."""


@dataclass
class Story:
    lab: Lab
    service: Service
    folder: Path

    @property
    def kafka(self) -> str:
        return f"kafka://{self.lab.address('broker')}"

    @property
    def engine(self) -> str:
        """The namespace of Trino's names."""
        return self.lab.address("trino").replace("http", "trino")

    def placed(self, file: str) -> str:
        """A file of the lab with this lab's addresses in it."""
        places = {part: self.lab.address(part) for part in ("broker", "registry", "s3")}
        text: str = play.with_addresses(file, **places, trino=self.engine, service=self.service.url)
        path = self.folder / file
        path.write_text(text)
        return str(path)

    def run(self, *command: str) -> str:
        addresses = {"LAB_S3": self.lab.address("s3"), "HEADWATER_ENDPOINT": f"{self.service.url}/api/v1/lineage"}
        environment = {**os.environ, **ANY_CREDENTIALS, **addresses}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def headwater(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "headwater.cli.main", *arguments)

    def catalog(self) -> Iterator[str]:
        """The catalog `lake` as pyiceberg is told of it."""
        s3 = self.lab.address("s3")
        keys = {f"{of}.{key}": "lab" for of in ("s3", "glue") for key in ("access-key-id", "secret-access-key")}
        places = {"s3.endpoint": s3, "glue.endpoint": s3, "s3.region": "us-east-1", "glue.region": "us-east-1"}
        said = {"type": "glue", "warehouse": "s3://lake/warehouse", **keys, **places}
        return (word for key, value in said.items() for word in ("--catalog", f"lake.{key}={value}"))

    def flink_job(self, name: str) -> str:
        jobs = httpx.get(f"{self.lab.address('jobmanager')}/jobs/overview", timeout=60).json()["jobs"]
        return next(str(job["jid"]) for job in jobs if job["name"] == name)

    def get(self, path: str) -> Body:
        answer = httpx.get(f"{self.service.url}/api/v1{path}", timeout=60)
        answer.raise_for_status()
        body: Body = answer.json()
        return body

    # What the service shows

    def shown_ends(self) -> dict[str, str]:
        """The states of all runs that touch a dataset, by job; of a job with several they stand side by side."""
        jobs = [job for job in self.get("/jobs?limit=100")["jobs"] if job["inputs"] or job["outputs"]]
        states: dict[str, list[str]] = {}
        for job in jobs:
            path = f"/namespaces/{job['namespace']}/jobs/{quote(job['name'], safe='')}/runs"
            named = states.setdefault(_without_query_id(f"job:{job['namespace']}:{job['name']}"), [])
            named += [each["state"] for each in self.get(path)["runs"]]
        return {job: " ".join(each) for job, each in states.items()}

    def shown_flows(self) -> set[Edge]:
        """All that hangs together with the orders' topic, and with the last table: what else is written to it."""
        found: set[Edge] = set()
        for namespace, name in (self.datasets()["orders"], self.datasets()["stats"]):
            start = quote(f"dataset:{namespace}:{name}", safe="")
            for node in self.get(f"/lineage?nodeId={start}&depth=20")["graph"]:
                edges = (*node["inEdges"], *node["outEdges"])
                found |= {tuple(map(_without_query_id, (edge["origin"], edge["destination"]))) for edge in edges}
        return found

    def signed_by_listener(self, job: str) -> set[bool]:
        """Whether what OpenLineage's listener told of a job is signed."""
        events = self.get("/events/lineage?limit=1000")["events"]
        told = [each for each in events if each["job"]["name"] == job and "/OpenLineage/" in each["producer"]]
        return {"signature" in each["run"]["facets"] for each in told}

    def gaps(self, node: str) -> set[str]:
        """The kinds of gaps that are known of a node."""
        return {gap["kind"] for gap in self.get("/coverage?limit=100")["gaps"] if gap["nodeId"] == node}

    def shown_columns(self) -> set[str]:
        """Which column's value is made from which."""
        start = quote(f"dataset:{self.kafka}:orders", safe="")
        graph = self.get(f"/column-lineage?nodeId={start}&withDownstream=true")["graph"]
        return {
            f"{_called(source)}.{source['field']} > {_called(node['data'])}.{node['data']['field']}"
            for node in graph
            for source in node["data"]["inputFields"]
            if any(step["type"] == "DIRECT" for step in source["transformations"])
        }

    def shown_names(self) -> list[tuple[str, str]]:
        """Every dataset of the service, by the name that it shows."""
        spaces = [each["name"] for each in self.get("/namespaces?limit=100")["namespaces"]]
        assert "" not in spaces
        found = [
            each for name in spaces for each in self.get(f"/namespaces/{quote(name, safe='')}/datasets")["datasets"]
        ]
        return sorted((each["id"]["namespace"], each["id"]["name"]) for each in found)

    # What is written by hand

    def datasets(self) -> dict[str, tuple[str, str]]:
        return {
            "orders": (self.kafka, "orders"),
            "bids": (self.kafka, "bids"),
            "live": (self.kafka, "suppliers_live"),
            "archived orders": ("s3://archive", "raw/orders"),
            "archived bids": ("s3://archive", "raw/bids"),
            "table": ("s3://lake", "warehouse/default.db/orders"),
            "stats": ("s3://lake", "warehouse/default.db/supplier_stats"),
            "ranking": (self.engine, "lake.default.ranking"),
            "revenue": ("dashboards", "revenue"),
        }

    def flows(self) -> set[Edge]:
        auction, archive, lake, live, create, nightly, revenue, trino = ENDS
        named = {key: f"dataset:{namespace}:{name}" for key, (namespace, name) in self.datasets().items()}
        return {
            (auction, named["orders"]),
            (auction, named["bids"]),
            (named["orders"], archive),
            (named["bids"], archive),
            (archive, named["archived orders"]),
            (archive, named["archived bids"]),
            (named["orders"], lake),
            (lake, named["table"]),
            (named["orders"], live),
            (live, named["live"]),
            (create, named["stats"]),
            (named["table"], nightly),
            (nightly, named["stats"]),
            (named["stats"], revenue),
            (revenue, named["revenue"]),
            (named["stats"], trino),
            (named["table"], trino),
            (trino, named["ranking"]),
        }


COLUMNS = {
    *(f"orders.{name} > raw/orders.{name}" for name in ORDER),
    *(f"orders.{name} > default.db/orders.{name}" for name in ORDER),
    "orders.supplier > suppliers_live.supplier",
    "orders.ordered_at > suppliers_live.hour",
    "orders.price > suppliers_live.turnover",
    "orders.quantity > suppliers_live.turnover",
    "default.db/orders.supplier > default.db/supplier_stats.supplier",
    "default.db/orders.ordered_at > default.db/supplier_stats.day",
    "default.db/orders.ordered_at > default.db/supplier_stats.hour",
    "default.db/orders.price > default.db/supplier_stats.total_price",
    "default.db/orders.quantity > default.db/supplier_stats.total_price",
    "default.db/supplier_stats.supplier > revenue.by_supplier.supplier",
    "default.db/supplier_stats.total_price > revenue.by_supplier.total",
    "default.db/supplier_stats.supplier > lake.default.ranking.supplier",
    "default.db/supplier_stats.total_price > lake.default.ranking.total_price",
    "default.db/orders.supplier > lake.default.ranking.supplier",
    "default.db/orders.price > lake.default.ranking.total_price",
    "default.db/orders.order_id > lake.default.ranking.hours",
    "lake.default.ranking.total_price > lake.default.ranking.total_price",
    "lake.default.ranking.hours > lake.default.ranking.hours",
}


def _called(name: Mapping[str, str]) -> str:
    """The last two parts of a name."""
    return "/".join((name.get("dataset") or name["name"]).split("/")[-2:])


def _without_query_id(node: str) -> str:
    return "job:trino:" if node.startswith("job:trino:") else node


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    names = ("broker", "registry", "s3", "connect", "jobmanager", "taskmanager", "trino")
    lab = Lab("all", tmp_path / "lab", dict(zip(names, free_ports(len(names)), strict=True)))
    with running(tmp_path / "home") as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_ENDPOINT", f"{service.url}/api/v1/lineage")
        environment.setenv("HEADWATER_HOME", str(tmp_path / "node"))
        try:
            lab.up([], lambda _: None)
            play.make_buckets(lab.address("s3"))
            yield Story(lab, service, tmp_path)
        finally:
            lab.down(lambda _: None)


@pytest.fixture
def watches(story: Story) -> Iterator[None]:
    bootstrap, url = story.lab.address("broker"), story.lab.address("jobmanager")
    all_of_them = [
        Watch(story.folder / "connect", story.service, "connect", "--bootstrap", bootstrap),
        Watch(story.folder / "flink", story.service, "flink", "--url", url),
    ]
    for watch in all_of_them:
        watch.start()
    yield
    for watch in all_of_them:
        watch.end(signal.SIGTERM)


@pytest.mark.usefixtures("watches")
def test_from_the_connector_to_the_dashboard_is_one_graph(story: Story, shared: Path) -> None:
    flows_into_the_lake(story)
    is_counted_as_it_comes(story)
    is_counted_and_looked_at(story)
    ends_as_it_should(story)

    assert eventually(lambda: story.shown_ends() == ENDS, 60), story.shown_ends()
    assert eventually(lambda: story.shown_flows() == story.flows(), 20), sorted(story.shown_flows() ^ story.flows())
    assert story.shown_columns() == COLUMNS, sorted(story.shown_columns() ^ COLUMNS)
    # No dataset is named twice; Trino's word for its catalog is the only name besides.
    assert story.shown_names() == sorted([*story.datasets().values(), (story.engine, "lake")])
    price = quote(f"datasetField:{story.kafka}:orders:price", safe="")
    (end,) = (each for each in story.get(f"/impact?nodeId={price}")["reached"] if each["namespace"] == "dashboards"
              and each["type"] == "DATASET")  # fmt: skip
    assert [owner["name"] for owner in end["owners"]] == ["team:finance"]
    specification, told = Specification(shared / "openlineage"), story.get("/events/lineage?limit=1000")["events"]
    assert [complaint for event in told for complaint in specification.complaints_about_ours(event)] == []


def flows_into_the_lake(story: Story) -> None:
    connect = ConnectLab(story.lab)
    connect.put("auction", orders_per_second="200", orders_per_task=str(EACH))
    assert eventually(lambda: connect.count("orders") == TASKS * EACH)
    connect.put("archive")
    story.headwater("flink", "run", story.placed("lake.sql"), "--url", story.lab.address("jobmanager"))
    assert eventually(lambda: len(connect.rows("default.orders")) == TASKS * EACH)
    assert eventually(lambda: len(connect.archived("raw/orders")) == TASKS * EACH)


def is_counted_as_it_comes(story: Story) -> None:
    """By a DataStream program: OpenLineage's own listener tells its topics, signed, and its author its columns."""
    play.submit(Path(story.placed("suppliers-live.run.json")).read_text(), story.lab.address("jobmanager"))
    live = f"dataset:{story.kafka}:suppliers_live"
    assert eventually(lambda: _last_by_supplier(story) == pytest.approx(_sold("price", "quantity")), 60)
    assert eventually(lambda: "edge-without-columns" in story.gaps(live), 30)
    assert story.signed_by_listener("suppliers-live") == {True}
    play.declare(Path(story.placed("suppliers-live.columns.json")).read_text(), story.service.url)
    assert story.gaps(live) == set()


def _last_by_supplier(story: Story) -> dict[str, float]:
    """What the topic says last of each supplier's turnover: of one hour, since there are no more."""
    consumer = Consumer({"bootstrap.servers": story.lab.address("broker"), "group.id": "live"})
    try:
        consumer.assign([TopicPartition("suppliers_live", 0, 0)])
        said = [
            json.loads(value) for each in consumer.consume(1000, 2.0) if (value := each.value()) and not each.error()
        ]
    finally:
        consumer.close()
    return {each["supplier"]: each["turnover"] for each in said}


def _sold(*factors: str) -> dict[str, float]:
    """By supplier the sum of the product of these fields of all orders."""
    sums: dict[str, float] = {}
    for order in (order for task in range(TASKS) for order in generated_orders(0, task, EACH)):
        sums[order["supplier"]] = sums.get(order["supplier"], 0) + prod(order[factor] for factor in factors)
    return sums


def is_counted_and_looked_at(story: Story) -> None:
    story.run(str(Path(sys.executable).with_name("headwater-spark")), str(FOLDER / "supplier_stats.py"))
    trino = story.lab.address("trino")
    totals = play.ask_trino((FOLDER / "revenue.sql").read_text(), trino)
    assert dict(totals) == pytest.approx(_sold("price", "quantity"))
    for statement in RANKING:
        play.ask_trino(statement, trino)
    etc, told = story.folder / "lab" / "lab" / "trino" / "etc", f"{story.service.url}/api/v1/lineage"
    found = story.headwater("watch", "trino", "--once", "--etc", str(etc), "--endpoint", told)
    assert found == "lake: glue at s3://lake/warehouse\n"
    # DuckDB answers what Trino did, with the same lineage: it reads the table where it lies.
    asked = story.headwater("sql", "run", "-e", (FOLDER / "revenue.sql").read_text(), *story.catalog())
    assert [line.partition(",")[0] for line in asked.splitlines()] == ["supplier", *(name for name, _ in totals)]
    story.placed("revenue.sql")
    story.headwater("dashboards", "push", story.placed("dashboards.yaml"), "--url", story.service.url)


def ends_as_it_should(story: Story) -> None:
    url = story.lab.address("jobmanager")
    stop = httpx.post(f"{url}/jobs/{story.flink_job('orders-to-lake')}/stop", json={"drain": False}, timeout=60)
    stop.raise_for_status()
    httpx.patch(f"{url}/jobs/{story.flink_job('suppliers-live')}?mode=cancel", timeout=60).raise_for_status()
