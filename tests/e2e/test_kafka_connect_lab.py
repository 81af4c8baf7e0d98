"""The lab of `labs/01-kafka-connect`, from its start through everything that happens to connectors.

One story in one lab, since a start takes a quarter of a minute. After each step the service's graph must be the one
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
from tests.support.connect_lab import FOLDER, ConnectLab, Edge, Graph, contents, generated_orders, play, shown
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
TABLE = "s3://lake:warehouse/raw.db/orders"
SOLD = "s3://lake:warehouse/sales.db/orders"
SUPPLIERS = "s3://lake:warehouse/sales.db/suppliers"
ENDED = {"copy": "ABORTED ABORTED ABORTED", "broken": "FAILED"}
QUICK = {"transforms_lineage_emission_interval": "500ms"}


@dataclass
class Story:
    """The lab, its watcher, its service, and how the source is configured by now."""

    lab: ConnectLab
    service: Service
    watch: Watch
    files: Path
    auction: dict[str, str] = field(
        default_factory=lambda: {**QUICK, "orders_per_second": "200", "orders_per_task": "40"}
    )

    def sell(self, **changes: str) -> None:
        """Configure the source anew; it keeps these settings."""
        self.auction |= changes
        self.lab.put("auction", **self.auction)

    def copy(self, name: str, topic: str, file: Path, **changes: str) -> None:
        """A sink of one of Kafka's own classes, without the transform."""
        text = "org.apache.kafka.connect.storage.StringConverter"
        wanted = {"connector.class": "FileStreamSink", "tasks.max": "1", "topics": topic, "file": str(file)}
        wanted |= {"value.converter": text, "key.converter": text} | changes
        self.lab.ask("PUT", f"/{name}/config", wanted)

    def shows(self, runs: dict[str, str], flows: set[Edge], columns: set[Edge]) -> None:
        """The service comes to show exactly this; of each job the states of its runs, oldest first."""
        wanted = Graph({job: states.split() for job, states in runs.items()}, frozenset(flows), frozenset(columns))
        assert eventually(lambda: self.shown() == wanted, 90), self.shown().unlike(wanted)

    def shown(self) -> Graph:
        return shown(self.service, f"{self.kafka}:orders", TABLE)

    def tells(self, connector: str, *transitions: str) -> None:
        assert eventually(lambda: self.watch.transitions(connector) == [*transitions], 180), self.watch.transitions(
            connector
        )

    def has_made(self, orders: int) -> bool:
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
        """What `copy` had to do with in its lives: an edge goes stale, it does not vanish."""
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
def story(tmp_path: Path) -> Iterator[Story]:
    assert CONNECTORS.is_dir(), "the lab's connectors are not built: make build/lab-connectors.stamp"
    names = ("broker", "registry", "s3", "connect")
    lab = Lab("kafka", tmp_path / "lab", dict(zip(names, free_ports(len(names)), strict=True)))
    try:
        lab.up([], lambda _: None)
        play.make_buckets(lab.address("s3"))
        with running(tmp_path / "home", "--require-signed") as service:
            arguments = ("connect", "--bootstrap", lab.address("broker"))
            watch = Watch(
                tmp_path / "home", service, *arguments, lost_after_s=15
            )  # a worker takes long to find its broker
            watch.start()
            try:
                yield Story(ConnectLab(lab), service, watch, tmp_path)
            finally:
                watch.end(signal.SIGTERM)
    finally:
        lab.down(lambda _: None)


def test_the_graph_and_the_data_are_right_through_all_that_connectors_go_through(story: Story, shared: Path) -> None:
    starts(story)
    pauses_and_resumes(story)
    loses_one_task_of_three(story)
    evolves_its_schema(story)
    has_a_schema_refused(story)
    is_stopped_while_nobody_watches(story)
    is_deleted_and_created_anew_with_another_topic(story)
    fails_before_the_first_record(story)
    survives_its_broker(story)
    loses_its_worker(story)
    is_read_by_spark(story)
    the_data_are_complete(story)
    every_event_is_signed_and_valid(story, shared)


def starts(story: Story) -> None:
    story.sell()
    assert story.has_made(TASKS * 40)
    story.lab.put("archive", **QUICK)
    story.lab.put("lake", **QUICK, iceberg_control_commit_interval_ms="1000")

    story.shows(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, story.flows(), story.columns(VERSION_1)
    )
    assert eventually(lambda: len(story.lab.rows("raw.orders")) == TASKS * 40)
    # The snapshot is the table's own, by its own word; all that is in the topic is in it.
    snapshot = story.lab.table("raw.orders").current_snapshot()
    assert snapshot is not None
    ends = {f"orders/{number}": end for number, end in story.lab.ends("orders").items()}
    assert eventually(lambda: commit_of(story).get("snapshotId") == str(snapshot.snapshot_id)), commit_of(story)
    assert commit_of(story)["offsets"] == ends
    assert snapshot.summary is not None
    assert commit_of(story)["commitId"] == snapshot.summary.additional_properties["kafka.connect.commit-id"]


def pauses_and_resumes(story: Story) -> None:
    story.lab.ask("PUT", "/auction/pause")
    assert eventually(lambda: story.watch.newest("auction")["headwater_connect"]["state"] == "PAUSED")
    story.lab.ask("PUT", "/auction/resume")
    assert eventually(lambda: story.watch.newest("auction")["headwater_connect"]["state"] == "RUNNING")

    story.shows(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, story.flows(), story.columns(VERSION_1)
    )


def loses_one_task_of_three(story: Story) -> None:
    story.lab.put("auction", **story.auction, fail_task="1")

    def states() -> list[str]:
        return [task["state"] for task in story.watch.newest("auction")["headwater_connect"]["tasks"]]

    assert eventually(lambda: states() == ["RUNNING", "FAILED", "RUNNING"]), states()
    story.shows(
        {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, story.flows(), story.columns(VERSION_1)
    )


def evolves_its_schema(story: Story) -> None:
    for version, limit, columns in (("2", 60, VERSION_2), ("3", 80, VERSION_3)):
        story.sell(schema_version=version, orders_per_task=str(limit))

        assert story.has_made(TASKS * limit)
        story.shows(
            {"auction": "RUNNING", "archive": "RUNNING", "lake": "RUNNING"}, story.flows(), story.columns(columns)
        )


def has_a_schema_refused(story: Story) -> None:
    before = story.lab.ends("orders")
    story.lab.put("auction", **story.auction | {"schema_version": "4", "orders_per_task": "100"})

    story.tells("auction", "START", "FAIL")
    story.shows({"auction": "FAILED", "archive": "RUNNING", "lake": "RUNNING"}, story.flows(), story.columns(VERSION_3))
    assert "RuleViolationException" in story.watch.newest("auction")["errorMessage"]["stackTrace"]
    assert story.lab.ends("orders") == before
    story.sell()
    story.tells("auction", "START", "FAIL", "START")


def is_stopped_while_nobody_watches(story: Story) -> None:
    story.watch.end(signal.SIGKILL)
    story.lab.ask("PUT", "/archive/stop")
    story.sell(orders_per_task="100")
    assert story.has_made(TASKS * 100)
    story.watch.start()

    story.shows(
        {"auction": "FAILED RUNNING", "archive": "ABORTED", "lake": "RUNNING"}, story.flows(), story.columns(VERSION_3)
    )
    story.lab.ask("PUT", "/archive/resume")
    story.shows(
        {"auction": "FAILED RUNNING", "archive": "ABORTED RUNNING", "lake": "RUNNING"},
        story.flows(),
        story.columns(VERSION_3),
    )


def is_deleted_and_created_anew_with_another_topic(story: Story) -> None:
    story.copy("copy", "bids", story.files / "bids.txt")
    story.tells("copy", "START")
    assert eventually(lambda: story.watch.flows("copy") == (["bids"], [str(story.files / "bids.txt")]))
    story.lab.ask("DELETE", "/copy")
    story.tells("copy", "START", "ABORT deleted")

    story.copy("copy", "orders", story.files / "orders.txt")
    story.tells("copy", "START", "ABORT deleted", "START")
    # Nothing of the run before is in the new one.
    assert eventually(lambda: story.watch.flows("copy") == (["orders"], [str(story.files / "orders.txt")]))
    story.copy("copy", "orders", story.files / "others.txt")
    story.tells("copy", "START", "ABORT deleted", "START", "ABORT superseded", "START")
    assert eventually(lambda: story.watch.flows("copy") == (["orders"], [str(story.files / "others.txt")]))
    story.shows(
        {
            "auction": "FAILED RUNNING",
            "archive": "ABORTED RUNNING",
            "lake": "RUNNING",
            "copy": "ABORTED ABORTED RUNNING",
        },
        story.flows() | story.copies(),
        story.columns(VERSION_3),
    )


def fails_before_the_first_record(story: Story) -> None:
    story.copy("broken", "bids", Path("/nowhere/at/all"), **{"tasks.max": "2"})

    story.tells("broken", "START", "FAIL")
    assert "FileStreamSinkTask.java" in story.watch.newest("broken")["errorMessage"]["stackTrace"]
    assert story.watch.flows("broken") == ([], [])
    story.lab.ask("DELETE", "/broken")
    story.lab.ask("DELETE", "/copy")
    story.tells("copy", "START", "ABORT deleted", "START", "ABORT superseded", "START", "ABORT deleted")


def survives_its_broker(story: Story) -> None:
    story.sell(orders_per_task="400", orders_per_second="30")
    (pid,) = story.lab.pids("broker")
    os.kill(pid, signal.SIGTERM)
    assert eventually(lambda: not psutil.pid_exists(pid))
    story.lab.lab.up(["broker"], lambda _: None)

    assert story.has_made(TASKS * 150)
    story.shows(
        {"auction": "FAILED RUNNING", "archive": "ABORTED RUNNING", "lake": "RUNNING", **ENDED},
        story.flows() | story.copies(),
        story.columns(VERSION_3),
    )


def loses_its_worker(story: Story) -> None:
    connectors = ("auction", "archive", "lake")  # a worker that lost its broker takes them up again
    assert eventually(lambda: all(map(story.lab.is_running, connectors)))
    story.lab.kill("connect")
    story.tells("lake", "START", "FAIL workers lost")
    story.lab.lab.up(["connect"], lambda _: None)

    story.tells("lake", "START", "FAIL workers lost", "START")
    story.shows(
        {
            "auction": "FAILED FAILED RUNNING",
            "archive": "ABORTED FAILED RUNNING",
            "lake": "FAILED RUNNING",
            **ENDED,
        },
        story.flows() | story.copies(),
        story.columns(VERSION_3),
    )
    lost = next(event for event in story.watch.events("lake") if event["eventType"] == "FAIL")
    assert lost["run"]["facets"]["headwater_connect"]["isInferred"] is True
    assert story.has_made(TASKS * 400)


def has_all_in_the_lake(story: Story) -> None:
    def landed() -> tuple[int, int]:
        return len(story.lab.rows("raw.orders")), sum(story.lab.ends("orders").values())

    def is_complete() -> bool:
        rows, records = landed()
        return rows == records

    if not eventually(is_complete, within_s=60.0):
        # The sink's coordinator can be without a task after a lost worker: https://github.com/apache/iceberg/issues/17637
        story.lab.ask("POST", "/lake/restart?includeTasks=true")
    assert eventually(is_complete), (landed(), story.lab.ask("GET", "/lake/status"))


def is_read_by_spark(story: Story) -> None:
    has_all_in_the_lake(story)
    command = [sys.executable, "-m", "headwater.cli.main", "run", str(FOLDER / "orders.yaml")]
    addresses = {"LAB_S3": story.lab.lab.address("s3"), "LAB_SERVICE": story.service.url}
    environment = {**os.environ, **play.CREDENTIALS, **addresses, "HEADWATER_HOME": str(story.watch.home)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)

    assert done.returncode == 0, done.stderr
    job = "job:lab:orders"
    story.shows(
        {
            "auction": "FAILED FAILED RUNNING",
            "archive": "ABORTED FAILED RUNNING",
            "lake": "FAILED RUNNING",
            **ENDED,
        },
        story.flows()
        | story.copies()
        | {(f"dataset:{TABLE}", job), (job, f"dataset:{SOLD}"), (job, f"dataset:{SUPPLIERS}")},
        story.columns(VERSION_3) | columns_of_spark(),
    )


def columns_of_spark() -> set[Edge]:
    """Each column, what it is made from and what decides its rows: one of an order, all of a supplier."""
    into = {SOLD: VERSION_1, SUPPLIERS: ("supplier", "orders", "turnover")}
    found = {(name, SOLD, name) for name in VERSION_1}
    found |= {(name, SUPPLIERS, "turnover") for name in ("price", "quantity")}
    found |= {(key, table, name) for key in ("order_id", "ordered_at") for table in into for name in into[table]}
    found |= {("supplier", SUPPLIERS, name) for name in into[SUPPLIERS]}
    return {(f"datasetField:{TABLE}:{key}", f"datasetField:{table}:{name}") for key, table, name in found}


def the_data_are_complete(story: Story) -> None:
    orders, bids = story.lab.records("orders"), story.lab.records("bids")
    sold = [order for stream in range(TASKS) for order in generated_orders(0, stream, 400)]
    once = {order["order_id"]: order for order in orders}

    assert contents(once.values(), *VERSION_1) == contents(sold, *VERSION_1)
    assert eventually(lambda: len(story.lab.archived("raw/orders")) == len(orders))
    assert eventually(lambda: len(story.lab.archived("raw/bids")) == len(bids))
    assert contents(story.lab.archived("raw/orders"), "_at", *VERSION_3) == contents(orders, "_at", *VERSION_3)
    assert contents(story.lab.archived("raw/bids"), "_at", *BID) == contents(bids, "_at", *BID)
    assert contents(story.lab.rows("raw.orders"), *VERSION_3) == contents(orders, *VERSION_3)


def every_event_is_signed_and_valid(story: Story, shared: Path) -> None:
    raw = story.watch.file.read_bytes().splitlines()
    specification, keys = Specification(shared / "openlineage"), trusted_keys(story.watch.home)

    assert {verify_event(event, keys).verdict for event in raw} == {"ok"}
    assert [complaint for event in raw for complaint in specification.complaints(event)] == []
    # Exactly one run a life: as many as there were starts.
    told = [json.loads(event) for event in raw]
    lives = {"auction": 3, "archive": 3, "lake": 2, "copy": 3, "broken": 1}
    assert {
        name: len({event["run"]["runId"] for event in told if event["job"]["name"] == name}) for name in lives
    } == lives


def commit_of(story: Story) -> dict[str, object]:
    """What the sink committed last, as it was told; nothing before it was."""
    commits: list[dict[str, object]] = story.watch.newest("lake").get("headwater_iceberg_commits", {}).get("commits")
    return commits[0] if commits else {}
