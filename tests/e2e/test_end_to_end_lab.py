"""The lab of `labs/02-end-to-end`: six programs on four engines, from the connector to the dashboard, in one graph.

One story in one lab, since the start of its parts takes half a minute. What comes out must be what is written here by
hand: every flow, every run's state, every column's value and what it is made from.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from headwater.lab.lab import Lab
from tests.support.app import Body
from tests.support.connect_lab import ConnectLab, Edge, made
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
    "job:default:nightly.create.lake.sales.supplier_stats": "COMPLETED",
    "job:default:nightly.lake.sales.supplier_stats": "COMPLETED",
    "job:dashboards:revenue.by_supplier": "COMPLETED",
}
"""How the one run of each job stands at the end: Flink's were stopped with a savepoint, and cancelled."""


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
        text: str = play.placed(file, **places, trino=self.engine)
        path = self.folder / file
        path.write_text(text)
        return str(path)

    def run(self, *command: str) -> str:
        addresses = {"LAB_S3": self.lab.address("s3"), "HEADWATER_ENDPOINT": f"{self.service.url}/api/v1/lineage"}
        environment = {**os.environ, **play.CREDENTIALS, **addresses, "HEADWATER_HOME": str(self.folder / "node")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=400)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def headwater(self, *arguments: str) -> str:
        return self.run(sys.executable, "-m", "headwater.cli.main", *arguments)

    def submit(self, file: str) -> None:
        url = self.lab.address("jobmanager")
        self.headwater("flink", "run", self.placed(file), "--url", url)

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
        states = {}
        for job in jobs:
            path = f"/namespaces/{job['namespace']}/jobs/{quote(job['name'], safe='')}/runs"
            states[f"job:{job['namespace']}:{job['name']}"] = " ".join(each["state"] for each in self.get(path)["runs"])
        return states

    def shown_flows(self) -> set[Edge]:
        """All that hangs together with the orders' topic, and with the last table: what else is written to it."""
        found: set[Edge] = set()
        for namespace, name in (self.datasets()["orders"], self.datasets()["stats"]):
            start = quote(f"dataset:{namespace}:{name}", safe="")
            for node in self.get(f"/lineage?nodeId={start}&depth=20")["graph"]:
                edges = (*node["inEdges"], *node["outEdges"])
                found |= {(edge["origin"], edge["destination"]) for edge in edges}
        return found

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
            "table": ("s3://lake", "warehouse/sales.db/orders"),
            "stats": ("s3://lake", "warehouse/sales.db/supplier_stats"),
            "revenue": ("dashboards", "revenue"),
        }

    def flows(self) -> set[Edge]:
        auction, archive, lake, live, create, nightly, revenue = ENDS
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
        }


COLUMNS = {
    *(f"orders.{name} > raw/orders.{name}" for name in ORDER),
    *(f"orders.{name} > sales.db/orders.{name}" for name in ORDER),
    "orders.supplier > suppliers_live.supplier",
    "orders.ordered_at > suppliers_live.hour_begins",
    "orders.price > suppliers_live.turnover",
    "orders.quantity > suppliers_live.turnover",
    "sales.db/orders.supplier > sales.db/supplier_stats.supplier",
    "sales.db/orders.ordered_at > sales.db/supplier_stats.day",
    "sales.db/orders.ordered_at > sales.db/supplier_stats.hour",
    "sales.db/orders.price > sales.db/supplier_stats.total_price",
    "sales.db/orders.quantity > sales.db/supplier_stats.total_price",
    "sales.db/supplier_stats.supplier > revenue.by_supplier.supplier",
    "sales.db/supplier_stats.total_price > revenue.by_supplier.total",
}


def _called(name: Mapping[str, str]) -> str:
    """The last two parts of a name."""
    return "/".join((name.get("dataset") or name["name"]).split("/")[-2:])


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    names = ("broker", "registry", "s3", "connect", "jobmanager", "taskmanager", "trino")
    lab = Lab("all", tmp_path / "lab", dict(zip(names, free_ports(len(names)), strict=True)))
    with running(tmp_path / "home") as service, pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADWATER_ENDPOINT", f"{service.url}/api/v1/lineage")
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
    assert eventually(lambda: _has(connect, "orders", TASKS * EACH))
    connect.put("archive")
    story.submit("live.sql")
    story.submit("lake.sql")
    assert eventually(lambda: len(connect.rows("sales.orders")) == TASKS * EACH)
    assert eventually(lambda: len(connect.archived("raw/orders")) == TASKS * EACH)


def _has(connect: ConnectLab, topic: str, records: int) -> bool:
    with suppress(KeyError):  # there is no such topic yet
        return sum(connect.ends(topic).values()) == records
    return False


def is_counted_and_looked_at(story: Story) -> None:
    story.run(str(Path(sys.executable).with_name("headwater-spark")), str(FOLDER / "supplier_stats.py"))
    trino = story.lab.address("trino")
    asked = play.ask_trino((FOLDER / "revenue.sql").read_text(), trino)
    sold = [order for task in range(TASKS) for order in made(0, task, EACH)]
    suppliers = {order["supplier"] for order in sold}
    totals = {
        name: sum(order["price"] * order["quantity"] for order in sold if order["supplier"] == name)
        for name in suppliers
    }
    assert {name: pytest.approx(total) for name, total in asked} == totals
    etc, told = story.folder / "lab" / "lab" / "trino" / "etc", f"{story.service.url}/api/v1/lineage"
    story.headwater("watch", "trino", "--once", "--etc", str(etc), "--endpoint", told)
    story.placed("revenue.sql")
    story.headwater("dashboards", "push", story.placed("dashboards.yaml"), "--url", story.service.url)


def ends_as_it_should(story: Story) -> None:
    url = story.lab.address("jobmanager")
    stop = httpx.post(f"{url}/jobs/{story.flink_job('orders-to-lake')}/stop", json={"drain": False}, timeout=60)
    stop.raise_for_status()
    httpx.patch(f"{url}/jobs/{story.flink_job('suppliers-live')}?mode=cancel", timeout=60).raise_for_status()
