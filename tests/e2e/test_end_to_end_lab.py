"""The lab of `labs/02-end-to-end`: six programs on four engines, from the connector to the dashboard, in one graph.

One scenario in one lab, since the start of its parts takes 30 s; so Trino also changes a table here in all the
ways it has, and DuckDB runs the query that Trino ran. The result must be what is written here by hand: every flow,
every run's state, every column's value and what it is made from.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
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
play = loaded(FOLDER / "play_end_to_end.py")
TASKS, EACH = 3, 40
ORDER = ("order_id", "supplier", "quantity", "price", "ordered_at")

RUN_STATES = {
    "job:kafka-connect:auction": "RUNNING",
    "job:kafka-connect:archive": "RUNNING",
    "job:flink-jobs:orders-to-lake": "COMPLETED",
    "job:flink-jobs:suppliers-live": "ABORTED",
    "job:default:nightly.create.lake.default.supplier_stats": "COMPLETED",
    "job:default:nightly.lake.default.supplier_stats": "COMPLETED",
    "job:dashboards:revenue.by_supplier": "COMPLETED COMPLETED",
    "job:trino:": "COMPLETED COMPLETED COMPLETED COMPLETED",
}
"""The states of each job's runs at the end: Flink's were stopped with a savepoint, and cancelled; the query of the
dashboard ran on Trino and on DuckDB; each of Trino's other queries is a job by its id, which is left out here."""

RANKING = (
    "CREATE TABLE lake.default.ranking AS SELECT supplier, sum(total_price) AS total_price, count(*) AS hours"
    " FROM lake.default.supplier_stats WHERE hour < 10 GROUP BY supplier",
    "INSERT INTO lake.default.ranking (supplier, total_price) SELECT supplier, price FROM lake.default.orders",
    "UPDATE lake.default.ranking SET hours = hours + 1 WHERE supplier = 'acme'",
    "MERGE INTO lake.default.ranking t USING lake.default.orders o ON t.supplier = o.supplier AND t.hours = o.order_id"
    " WHEN MATCHED THEN UPDATE SET total_price = t.total_price + o.price"
    " WHEN NOT MATCHED THEN INSERT (supplier, total_price, hours) VALUES (o.supplier, o.price, o.order_id)",
)
"""Each way in which Trino can write."""


@dataclass
class Scenario:
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

    def with_addresses(self, file: str) -> str:
        """The path of a copy of a file of the lab, with this lab's addresses in it."""
        addresses = {part: self.lab.address(part) for part in ("broker", "registry", "s3")}
        text: str = play.with_addresses(file, **addresses, trino=self.engine, service=self.service.url)
        path = self.folder / file
        path.write_text(text)
        return str(path)

    def run(self, *command: str) -> str:
        addresses = {"LAB_S3": self.lab.address("s3"), "HEADWATER_ENDPOINT": f"{self.service.url}/api/v1/lineage"}
        environment = {**os.environ, **ANY_CREDENTIALS, **addresses}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def headwater(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "headwater.cli.main", *arguments)

    def catalog(self) -> Iterator[str]:
        """The options that declare the catalog `lake` to pyiceberg."""
        s3 = self.lab.address("s3")
        keys = {
            f"{service}.{key}": "lab" for service in ("s3", "glue") for key in ("access-key-id", "secret-access-key")
        }
        endpoints = {"s3.endpoint": s3, "glue.endpoint": s3, "s3.region": "us-east-1", "glue.region": "us-east-1"}
        properties = {"type": "glue", "warehouse": "s3://lake/warehouse", **keys, **endpoints}
        return (word for key, value in properties.items() for word in ("--catalog", f"lake.{key}={value}"))

    def flink_job(self, name: str) -> str:
        jobs = httpx.get(f"{self.lab.address('jobmanager')}/jobs/overview", timeout=60).json()["jobs"]
        return next(str(job["jid"]) for job in jobs if job["name"] == name)

    def get(self, path: str) -> Body:
        response = httpx.get(f"{self.service.url}/api/v1{path}", timeout=60)
        response.raise_for_status()
        body: Body = response.json()
        return body

    # What the service shows

    def shown_states(self) -> dict[str, str]:
        """The states of all runs that touch a dataset, by job; those of several runs are joined by spaces."""
        jobs = [job for job in self.get("/jobs?limit=100")["jobs"] if job["inputs"] or job["outputs"]]
        states: dict[str, list[str]] = {}
        for job in jobs:
            path = f"/namespaces/{job['namespace']}/jobs/{quote(job['name'], safe='')}/runs"
            states_of_job = states.setdefault(_without_query_id(f"job:{job['namespace']}:{job['name']}"), [])
            states_of_job += [run["state"] for run in self.get(path)["runs"]]
        return {job: " ".join(of_job) for job, of_job in states.items()}

    def shown_flows(self) -> set[Edge]:
        """All flows that are connected to the orders' topic, or to the last table, which has other inputs, too."""
        flows: set[Edge] = set()
        for namespace, name in (self.datasets()["orders"], self.datasets()["stats"]):
            start = quote(f"dataset:{namespace}:{name}", safe="")
            for node in self.get(f"/lineage?nodeId={start}&depth=20")["graph"]:
                edges = (*node["inEdges"], *node["outEdges"])
                flows |= {(_without_query_id(edge["origin"]), _without_query_id(edge["destination"])) for edge in edges}
        return flows

    def signed_by_listener(self, job: str) -> set[bool]:
        """Whether the events of OpenLineage's listener about a job are signed: True, False or both."""
        events = self.get("/events/lineage?limit=1000")["events"]
        from_listener = [
            event for event in events if event["job"]["name"] == job and "/OpenLineage/" in event["producer"]
        ]
        return {"signature" in event["run"]["facets"] for event in from_listener}

    def gaps(self, node: str) -> set[str]:
        """The kinds of gaps that the service knows of a node."""
        return {gap["kind"] for gap in self.get("/coverage?limit=100")["gaps"] if gap["nodeId"] == node}

    def shown_columns(self) -> set[str]:
        """Which column's value is made from which, as `source > target`."""
        start = quote(f"dataset:{self.kafka}:orders", safe="")
        graph = self.get(f"/column-lineage?nodeId={start}&withDownstream=true")["graph"]
        return {
            f"{_short_name(source)}.{source['field']} > {_short_name(node['data'])}.{node['data']['field']}"
            for node in graph
            for source in node["data"]["inputFields"]
            if any(step["type"] == "DIRECT" for step in source["transformations"])
        }

    def shown_names(self) -> list[tuple[str, str]]:
        """The names of all datasets that the service shows."""
        namespaces = [namespace["name"] for namespace in self.get("/namespaces?limit=100")["namespaces"]]
        assert "" not in namespaces
        datasets = [
            dataset
            for name in namespaces
            for dataset in self.get(f"/namespaces/{quote(name, safe='')}/datasets")["datasets"]
        ]
        return sorted((dataset["id"]["namespace"], dataset["id"]["name"]) for dataset in datasets)

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
        auction, archive, lake, live, create, nightly, revenue, trino = RUN_STATES
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


def _short_name(name: Mapping[str, str]) -> str:
    """The last two parts of a name."""
    return "/".join((name.get("dataset") or name["name"]).split("/")[-2:])


def _without_query_id(node: str) -> str:
    return "job:trino:" if node.startswith("job:trino:") else node


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[Scenario]:
    names = ("broker", "registry", "s3", "connect", "jobmanager", "taskmanager", "trino")
    lab = Lab("all", tmp_path / "lab", dict(zip(names, free_ports(len(names)), strict=True)))
    with running(tmp_path / "home") as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_ENDPOINT", f"{service.url}/api/v1/lineage")
        environment.setenv("HEADWATER_HOME", str(tmp_path / "node"))
        try:
            lab.up([], lambda _: None)
            play.make_buckets(lab.address("s3"))
            yield Scenario(lab, service, tmp_path)
        finally:
            lab.down(lambda _: None)


@pytest.fixture
def watches(scenario: Scenario) -> Iterator[None]:
    bootstrap, url = scenario.lab.address("broker"), scenario.lab.address("jobmanager")
    watchers = [
        Watch(scenario.folder / "connect", scenario.service, "connect", "--bootstrap", bootstrap),
        Watch(scenario.folder / "flink", scenario.service, "flink", "--url", url),
    ]
    for watch in watchers:
        watch.start()
    yield
    for watch in watchers:
        watch.end(signal.SIGTERM)


@pytest.mark.usefixtures("watches")
def test_from_the_connector_to_the_dashboard_is_one_graph(scenario: Scenario, shared: Path) -> None:
    write_orders_to_the_lake(scenario)
    sum_by_supplier_live(scenario)
    sum_and_query(scenario)
    stop_flink_jobs(scenario)

    assert eventually(lambda: scenario.shown_states() == RUN_STATES, 60), scenario.shown_states()
    assert eventually(lambda: scenario.shown_flows() == scenario.flows(), 20), sorted(
        scenario.shown_flows() ^ scenario.flows()
    )
    assert scenario.shown_columns() == COLUMNS, sorted(scenario.shown_columns() ^ COLUMNS)
    # No dataset has two names; the only other dataset is Trino's catalog itself.
    assert scenario.shown_names() == sorted([*scenario.datasets().values(), (scenario.engine, "lake")])
    price = quote(f"datasetField:{scenario.kafka}:orders:price", safe="")
    reached = scenario.get(f"/impact?nodeId={price}")["reached"]
    (dashboard,) = (node for node in reached if (node["namespace"], node["type"]) == ("dashboards", "DATASET"))
    assert [owner["name"] for owner in dashboard["owners"]] == ["team:finance"]
    specification, events = Specification(shared / "openlineage"), scenario.get("/events/lineage?limit=1000")["events"]
    assert [violation for event in events for violation in specification.complaints_about_ours(event)] == []


def write_orders_to_the_lake(scenario: Scenario) -> None:
    connect = ConnectLab(scenario.lab)
    connect.put("auction", orders_per_second="200", orders_per_task=str(EACH))
    assert eventually(lambda: connect.count("orders") == TASKS * EACH)
    connect.put("archive")
    scenario.headwater("flink", "run", scenario.with_addresses("lake.sql"), "--url", scenario.lab.address("jobmanager"))
    assert eventually(lambda: len(connect.rows("default.orders")) == TASKS * EACH)
    assert eventually(lambda: len(connect.archived("raw/orders")) == TASKS * EACH)


def sum_by_supplier_live(scenario: Scenario) -> None:
    """By a DataStream program: OpenLineage's listener reports its topics, signed; its author declares its columns."""
    begun = datetime.now(UTC).isoformat(timespec="milliseconds")
    play.submit(
        Path(scenario.with_addresses("suppliers-live.run.json")).read_text(), scenario.lab.address("jobmanager")
    )
    live = f"dataset:{scenario.kafka}:suppliers_live"
    assert eventually(lambda: _last_turnovers(scenario) == pytest.approx(_totals("price", "quantity")), 60)
    assert eventually(lambda: "edge-without-columns" in scenario.gaps(live), 30)
    assert scenario.signed_by_listener("suppliers-live") == {True}
    play.declare(Path(scenario.with_addresses("suppliers-live.columns.json")).read_text(), scenario.service.url)
    assert scenario.gaps(live) == set()
    shown = scenario.get(f"/namespaces/{quote(scenario.kafka, safe='')}/datasets/suppliers_live")
    assert shown["createdAt"] >= begun


def _last_turnovers(scenario: Scenario) -> dict[str, float]:
    """The last turnover of each supplier in the topic: of one hour, since there are no more."""
    consumer = Consumer({"bootstrap.servers": scenario.lab.address("broker"), "group.id": "live"})
    try:
        consumer.assign([TopicPartition("suppliers_live", 0, 0)])
        rows = [
            json.loads(value)
            for message in consumer.consume(1000, 2.0)
            if (value := message.value()) and not message.error()
        ]
    finally:
        consumer.close()
    return {row["supplier"]: row["turnover"] for row in rows}


def _totals(*factors: str) -> dict[str, float]:
    """The sum by supplier, over all orders, of the product of these fields."""
    sums: dict[str, float] = {}
    for order in (order for task in range(TASKS) for order in generated_orders(0, task, EACH)):
        sums[order["supplier"]] = sums.get(order["supplier"], 0) + prod(order[factor] for factor in factors)
    return sums


def sum_and_query(scenario: Scenario) -> None:
    scenario.run(str(Path(sys.executable).with_name("headwater-spark")), str(FOLDER / "supplier_stats.py"))
    trino = scenario.lab.address("trino")
    totals = play.ask_trino((FOLDER / "revenue.sql").read_text(), trino)
    assert dict(totals) == pytest.approx(_totals("price", "quantity"))
    for statement in RANKING:
        play.ask_trino(statement, trino)
    etc, endpoint = scenario.folder / "lab" / "lab" / "trino" / "etc", f"{scenario.service.url}/api/v1/lineage"
    catalogs = scenario.headwater("watch", "trino", "--once", "--etc", str(etc), "--endpoint", endpoint)
    assert catalogs == "lake: glue at s3://lake/warehouse\n"
    # DuckDB gives the same answer as Trino, with the same lineage: it reads the same table in place.
    csv = scenario.headwater("sql", "run", "-e", (FOLDER / "revenue.sql").read_text(), *scenario.catalog())
    assert [line.partition(",")[0] for line in csv.splitlines()] == ["supplier", *(name for name, _ in totals)]
    scenario.with_addresses("revenue.sql")
    scenario.headwater("dashboards", "push", scenario.with_addresses("dashboards.yaml"), "--url", scenario.service.url)


def stop_flink_jobs(scenario: Scenario) -> None:
    url = scenario.lab.address("jobmanager")
    stop = httpx.post(f"{url}/jobs/{scenario.flink_job('orders-to-lake')}/stop", json={"drain": False}, timeout=60)
    stop.raise_for_status()
    httpx.patch(f"{url}/jobs/{scenario.flink_job('suppliers-live')}?mode=cancel", timeout=60).raise_for_status()
