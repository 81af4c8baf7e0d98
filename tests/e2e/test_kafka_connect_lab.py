"""The lab of `labs/01-kafka-connect`, from its start through everything that happens to connectors.

One scenario in one lab, since a start takes 15 s. After each step the service's graph must be the one
that is written here by hand: runs, flows, columns.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from headwater.lab.kafka import CONNECTORS
from headwater.lab.lab import Lab
from headwater.signing.keyfile import trusted_keys
from headwater.signing.verify import verify_event
from tests.support.connect_lab import FOLDER, ConnectLab, Edge, Graph, contents, generated_orders, play, shown_graph
from tests.support.event_file import whole_lines
from tests.support.ports import free_ports
from tests.support.service import Service, eventually, running
from tests.support.spec import Specification
from tests.support.watch import Watch

pytestmark = pytest.mark.spark

VERSION_1 = ("order_id", "supplier", "quantity", "price", "ordered_at")
VERSION_2 = (*VERSION_1, "currency")
VERSION_3 = (*VERSION_2, "discount")
BID = ("bid_id", "order_id", "supplier", "amount", "bid_time")
TASKS = 3
RESTARTS = 4
TABLE = "s3://lake:warehouse/raw.db/orders"
SOLD = "s3://lake:warehouse/sales.db/orders"
SUPPLIERS = "s3://lake:warehouse/sales.db/suppliers"
ENDED = {"copy": "ABORTED ABORTED ABORTED", "broken": "FAILED"}
QUICK = {"transforms_lineage_emission_interval": "500ms"}


@dataclass
class Scenario:
    """The lab, its watcher, its service, and the current settings of the source."""

    lab: ConnectLab
    service: Service
    watch: Watch
    files: Path
    auction: dict[str, str] = field(
        default_factory=lambda: {**QUICK, "orders_per_second": "200", "orders_per_task": "40"}
    )

    def configure_auction(self, **changes: str) -> None:
        """Change settings of the source, for the rest of the scenario."""
        self.auction |= changes
        self.lab.put("auction", **self.auction)

    def copy(self, name: str, topic: str, file: Path, **changes: str) -> None:
        """Create a sink of one of Kafka's own classes, without the transform."""
        converter = "org.apache.kafka.connect.storage.StringConverter"
        config = {"connector.class": "FileStreamSink", "tasks.max": "1", "topics": topic, "file": str(file)}
        config |= {"value.converter": converter, "key.converter": converter} | changes
        self.lab.request("PUT", f"/{name}/config", config)

    def expect_graph(self, runs: dict[str, str], flows: set[Edge], columns: set[Edge]) -> None:
        """Wait until the service shows exactly this; for each job the states of its runs, oldest first."""
        expected = Graph({job: states.split() for job, states in runs.items()}, frozenset(flows), frozenset(columns))
        assert eventually(lambda: self.shown() == expected, 90), self.shown().differences(expected)

    def shown(self) -> Graph:
        return shown_graph(self.service, f"{self.kafka}:orders", TABLE)

    def expect_transitions(self, connector: str, *transitions: str) -> None:
        assert eventually(lambda: self.watch.transitions(connector) == [*transitions], 180), self.watch.transitions(
            connector
        )

    def has_produced(self, orders: int) -> bool:
        return eventually(lambda: self.lab.count("orders") >= orders)

    @property
    def kafka(self) -> str:
        return f"kafka://{self.lab.lab.address('broker')}"

    # What is written by hand

    def flows(self) -> set[Edge]:
        orders, bids = f"dataset:{self.kafka}:orders", f"dataset:{self.kafka}:bids"
        auction, archive, lake = (f"job:kafka-connect:{name}" for name in ("auction", "archive", "lake"))
        return {
            (auction, orders),
            (auction, bids),
            (orders, archive),
            (bids, archive),
            (archive, "dataset:s3://archive:raw/orders"),
            (archive, "dataset:s3://archive:raw/bids"),
            (orders, lake),
            (lake, f"dataset:{TABLE}"),
        }

    def copies(self) -> set[Edge]:
        """All edges of `copy`, also of its earlier runs: an edge becomes stale, it does not vanish."""
        topics = {(f"dataset:{self.kafka}:{topic}", "job:kafka-connect:copy") for topic in ("bids", "orders")}
        files = ("bids.txt", "orders.txt", "others.txt")
        return topics | {("job:kafka-connect:copy", f"dataset:file:{self.files / file}") for file in files}

    def columns(self, names: tuple[str, ...]) -> set[Edge]:
        topic = f"{self.kafka}:orders"
        return {
            (f"datasetField:{topic}:{name}", f"datasetField:{target}:{name}")
            for name in names
            for target in ("s3://archive:raw/orders", TABLE)
        }


@pytest.fixture
def scenario(tmp_path: Path) -> Iterator[Scenario]:
    assert CONNECTORS.is_dir(), "the lab's connectors are not built: make build/lab-connectors.stamp"
    names = ("broker", "registry", "s3", "connect")
    lab = Lab("kafka", tmp_path / "lab", dict(zip(names, free_ports(len(names)), strict=True)))
    try:
        lab.up([], lambda _: None)
        play.make_buckets(lab.address("s3"))
        with running(tmp_path / "home", "--require-signed") as service:
            arguments = ("connect", "--bootstrap", lab.address("broker"))
            # A worker takes long to find its broker.
            watch = Watch(tmp_path / "home", service, *arguments, lost_after_s=15)
            watch.start()
            try:
                yield Scenario(ConnectLab(lab), service, watch, tmp_path)
            finally:
                watch.end(signal.SIGTERM)
    finally:
        lab.down(lambda _: None)


def test_the_graph_and_the_data_stay_right_through_a_connectors_life(scenario: Scenario, shared: Path) -> None:
    starts(scenario)
    pauses_and_resumes(scenario)
    loses_one_task_of_three(scenario)
    evolves_its_schema(scenario)
    has_a_schema_refused(scenario)
    is_stopped_while_the_watcher_is_down(scenario)
    is_deleted_and_recreated_with_another_topic(scenario)
    fails_before_the_first_record(scenario)
    survives_its_broker(scenario)
    loses_its_worker(scenario)
    is_read_by_spark(scenario)
    the_data_are_complete(scenario)
    every_event_is_signed_and_valid(scenario, shared)


def starts(scenario: Scenario) -> None:
    scenario.configure_auction()
    assert scenario.has_produced(TASKS * 40)
    scenario.lab.put("archive", **QUICK)
    # One task: with several, a rebalance can leave Iceberg's sink with two coordinators, or with none.
    scenario.lab.put("lake", **QUICK, tasks_max="1", iceberg_control_commit_interval_ms="1000")

    scenario.expect_graph(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, scenario.flows(), scenario.columns(VERSION_1)
    )
    assert eventually(lambda: len(scenario.lab.rows("raw.orders")) == TASKS * 40)
    # The snapshot is the table's current one, and has every record of the topic.
    snapshot = scenario.lab.table("raw.orders").current_snapshot()
    assert snapshot is not None
    ends = {f"orders/{number}": end for number, end in scenario.lab.ends("orders").items()}
    assert eventually(lambda: commit_of(scenario).get("snapshotId") == str(snapshot.snapshot_id)), commit_of(scenario)
    assert commit_of(scenario)["offsets"] == ends
    assert snapshot.summary is not None
    assert commit_of(scenario)["commitId"] == snapshot.summary.additional_properties["kafka.connect.commit-id"]


def pauses_and_resumes(scenario: Scenario) -> None:
    scenario.lab.request("PUT", "/auction/pause")
    assert eventually(lambda: scenario.watch.newest("auction")["headwater_connect"]["state"] == "PAUSED")
    scenario.lab.request("PUT", "/auction/resume")
    assert eventually(lambda: scenario.watch.newest("auction")["headwater_connect"]["state"] == "RUNNING")

    scenario.expect_graph(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, scenario.flows(), scenario.columns(VERSION_1)
    )


def loses_one_task_of_three(scenario: Scenario) -> None:
    scenario.lab.put("auction", **scenario.auction, fail_task="1")

    def states() -> list[str]:
        return [task["state"] for task in scenario.watch.newest("auction")["headwater_connect"]["tasks"]]

    assert eventually(lambda: states() == ["RUNNING", "FAILED", "RUNNING"]), states()
    scenario.expect_graph(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, scenario.flows(), scenario.columns(VERSION_1)
    )


def evolves_its_schema(scenario: Scenario) -> None:
    for version, limit, columns in (("2", 60, VERSION_2), ("3", 80, VERSION_3)):
        scenario.configure_auction(schema_version=version, orders_per_task=str(limit))

        assert scenario.has_produced(TASKS * limit)
        scenario.expect_graph(
            {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, scenario.flows(), scenario.columns(columns)
        )


def has_a_schema_refused(scenario: Scenario) -> None:
    ends_before = scenario.lab.ends("orders")
    scenario.lab.put("auction", **scenario.auction | {"schema_version": "4", "orders_per_task": "100"})

    scenario.expect_transitions("auction", "START", "FAIL")
    scenario.expect_graph(
        {"auction": "FAILED", "archive": "RUNNING", "lake": "RUNNING"}, scenario.flows(), scenario.columns(VERSION_3)
    )
    assert "RuleViolationException" in scenario.watch.newest("auction")["errorMessage"]["stackTrace"]
    assert scenario.lab.ends("orders") == ends_before
    scenario.configure_auction()
    scenario.expect_transitions("auction", "START", "FAIL", "START")


def is_stopped_while_the_watcher_is_down(scenario: Scenario) -> None:
    scenario.watch.end(signal.SIGKILL)
    scenario.lab.request("PUT", "/archive/stop")
    scenario.configure_auction(orders_per_task="100")
    assert scenario.has_produced(TASKS * 100)
    scenario.watch.start()

    scenario.expect_graph(
        {"auction": "FAILED RUNNING", "archive": "ABORTED", "lake": "RUNNING"},
        scenario.flows(),
        scenario.columns(VERSION_3),
    )
    scenario.lab.request("PUT", "/archive/resume")
    scenario.expect_graph(
        {"auction": "FAILED RUNNING", "archive": "ABORTED RUNNING", "lake": "RUNNING"},
        scenario.flows(),
        scenario.columns(VERSION_3),
    )


def is_deleted_and_recreated_with_another_topic(scenario: Scenario) -> None:
    scenario.copy("copy", "bids", scenario.files / "bids.txt")
    scenario.expect_transitions("copy", "START")
    assert eventually(lambda: scenario.watch.flows("copy") == (["bids"], [str(scenario.files / "bids.txt")]))
    scenario.lab.request("DELETE", "/copy")
    scenario.expect_transitions("copy", "START", "ABORT deleted")

    scenario.copy("copy", "orders", scenario.files / "orders.txt")
    scenario.expect_transitions("copy", "START", "ABORT deleted", "START")
    # The new run has nothing of the run before.
    assert eventually(lambda: scenario.watch.flows("copy") == (["orders"], [str(scenario.files / "orders.txt")]))
    scenario.copy("copy", "orders", scenario.files / "others.txt")
    scenario.expect_transitions("copy", "START", "ABORT deleted", "START", "ABORT superseded", "START")
    assert eventually(lambda: scenario.watch.flows("copy") == (["orders"], [str(scenario.files / "others.txt")]))
    scenario.expect_graph(
        {
            "auction": "FAILED RUNNING",
            "archive": "ABORTED RUNNING",
            "lake": "RUNNING",
            "copy": "ABORTED ABORTED RUNNING",
        },
        scenario.flows() | scenario.copies(),
        scenario.columns(VERSION_3),
    )


def fails_before_the_first_record(scenario: Scenario) -> None:
    scenario.copy("broken", "bids", Path("/nowhere/at/all"), **{"tasks.max": "2"})

    scenario.expect_transitions("broken", "START", "FAIL")
    assert "FileStreamSinkTask.java" in scenario.watch.newest("broken")["errorMessage"]["stackTrace"]
    assert scenario.watch.flows("broken") == ([], [])
    scenario.lab.request("DELETE", "/broken")
    scenario.lab.request("DELETE", "/copy")
    scenario.expect_transitions("copy", "START", "ABORT deleted", "START", "ABORT superseded", "START", "ABORT deleted")


def survives_its_broker(scenario: Scenario) -> None:
    scenario.configure_auction(orders_per_task="400", orders_per_second="30")
    (pid,) = scenario.lab.pids("broker")
    os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not psutil.pid_exists(pid))
    scenario.lab.lab.up(["broker"], lambda _: None)

    assert scenario.has_produced(TASKS * 150)
    scenario.expect_graph(
        {"auction": "FAILED RUNNING", "archive": "ABORTED RUNNING", "lake": "RUNNING", **ENDED},
        scenario.flows() | scenario.copies(),
        scenario.columns(VERSION_3),
    )


def loses_its_worker(scenario: Scenario) -> None:
    connectors = ("auction", "archive", "lake")  # a worker that lost its broker starts them again
    assert eventually(lambda: all(map(scenario.lab.is_running, connectors)))
    scenario.lab.kill("connect")
    scenario.expect_transitions("lake", "START", "FAIL workers lost")
    scenario.lab.lab.up(["connect"], lambda _: None)

    scenario.expect_transitions("lake", "START", "FAIL workers lost", "START")
    scenario.expect_graph(
        {
            "auction": "FAILED FAILED RUNNING",
            "archive": "ABORTED FAILED RUNNING",
            "lake": "FAILED RUNNING",
            **ENDED,
        },
        scenario.flows() | scenario.copies(),
        scenario.columns(VERSION_3),
    )
    lost = next(event for event in scenario.watch.events("lake") if event["eventType"] == "FAIL")
    assert lost["run"]["facets"]["headwater_connect"]["isInferred"] is True
    assert scenario.has_produced(TASKS * 400)


def has_all_in_the_lake(scenario: Scenario) -> None:
    def rows_and_records() -> tuple[int, int]:
        return len(scenario.lab.rows("raw.orders")), sum(scenario.lab.ends("orders").values())

    def is_complete() -> bool:
        rows, records = rows_and_records()
        return rows == records

    restarts = 0
    while not eventually(is_complete, within_s=60.0):
        # After a lost worker the sink can be without its coordinator: https://github.com/apache/iceberg/issues/17637
        assert restarts < RESTARTS, f"{rows_and_records()} rows and records\n{what_the_sink_says(scenario)}"
        scenario.lab.request("POST", "/lake/restart?includeTasks=true")
        restarts += 1


def what_the_sink_says(scenario: Scenario) -> str:
    """Its status, and the end of what its coordinator logged: the lab's logs go with the lab."""
    status = json.dumps(scenario.lab.request("GET", "/lake/status"))
    lines = scenario.lab.lab.log("connect").read_text(errors="replace").splitlines()
    classes = ("(Coordinator)", "(CommitterImpl)", "(CommitState)")
    return "\n".join((status, *[line for line in lines if line.endswith(classes) or " ERROR " in line][-80:]))


def is_read_by_spark(scenario: Scenario) -> None:
    has_all_in_the_lake(scenario)
    command = [sys.executable, "-m", "headwater.cli.main", "run", str(FOLDER / "orders.yaml")]
    addresses = {"LAB_S3": scenario.lab.lab.address("s3"), "LAB_SERVICE": scenario.service.url}
    environment = {**os.environ, **play.CREDENTIALS, **addresses, "HEADWATER_HOME": str(scenario.watch.home)}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)

    assert result.returncode == 0, result.stderr
    job = "job:lab:orders"
    scenario.expect_graph(
        {
            "auction": "FAILED FAILED RUNNING",
            "archive": "ABORTED FAILED RUNNING",
            "lake": "FAILED RUNNING",
            **ENDED,
        },
        scenario.flows()
        | scenario.copies()
        | {(f"dataset:{TABLE}", job), (job, f"dataset:{SOLD}"), (job, f"dataset:{SUPPLIERS}")},
        scenario.columns(VERSION_3) | columns_of_spark(),
    )


def columns_of_spark() -> set[Edge]:
    """For each column, what it is made from and what decides its rows."""
    columns_of = {SOLD: VERSION_1, SUPPLIERS: ("supplier", "orders", "turnover")}
    edges = {(name, SOLD, name) for name in VERSION_1}
    edges |= {(name, SUPPLIERS, "turnover") for name in ("price", "quantity")}
    edges |= {
        (key, table, name) for key in ("order_id", "ordered_at") for table in columns_of for name in columns_of[table]
    }
    edges |= {("supplier", SUPPLIERS, name) for name in columns_of[SUPPLIERS]}
    return {(f"datasetField:{TABLE}:{key}", f"datasetField:{table}:{name}") for key, table, name in edges}


def the_data_are_complete(scenario: Scenario) -> None:
    orders, bids = scenario.lab.records("orders"), scenario.lab.records("bids")
    sold = [order for stream in range(TASKS) for order in generated_orders(0, stream, 400)]
    order_by_id = {order["order_id"]: order for order in orders}

    assert contents(order_by_id.values(), *VERSION_1) == contents(sold, *VERSION_1)
    assert eventually(lambda: len(scenario.lab.archived("raw/orders")) == len(orders))
    assert eventually(lambda: len(scenario.lab.archived("raw/bids")) == len(bids))
    assert contents(scenario.lab.archived("raw/orders"), "_at", *VERSION_3) == contents(orders, "_at", *VERSION_3)
    assert contents(scenario.lab.archived("raw/bids"), "_at", *BID) == contents(bids, "_at", *BID)
    assert contents(scenario.lab.rows("raw.orders"), *VERSION_3) == contents(orders, *VERSION_3)


def every_event_is_signed_and_valid(scenario: Scenario, shared: Path) -> None:
    raw = whole_lines(scenario.watch.file)
    specification, keys = Specification(shared / "openlineage"), trusted_keys(scenario.watch.home)

    assert {verify_event(event, keys).verdict for event in raw} == {"ok"}
    assert [violation for event in raw for violation in specification.complaints(event)] == []
    # Exactly one run per start.
    events = [json.loads(event) for event in raw]
    run_counts = {"auction": 3, "archive": 3, "lake": 2, "copy": 3, "broken": 1}
    assert {
        name: len({event["run"]["runId"] for event in events if event["job"]["name"] == name}) for name in run_counts
    } == run_counts


def commit_of(scenario: Scenario) -> dict[str, object]:
    """The sink's last reported commit; empty before the first."""
    commits: list[dict[str, object]] = scenario.watch.newest("lake").get("headwater_iceberg_commits", {}).get("commits")
    return commits[0] if commits else {}
