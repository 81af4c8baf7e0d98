"""`headwater flink run` against a real session cluster: what it submits, and what the service then shows."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from pyspark.sql import SparkSession

from headwater.capture.flink.rest import FlinkCluster
from headwater.capture.flink.run_ids import run_of_job
from headwater.capture.flink.watcher import WatchConfig, Watcher
from headwater.capture.outlet import Outlet
from headwater.capture.spark.application import CaptureContext
from headwater.capture.spark.capture import Capture
from headwater.emission import new_run_id
from headwater.lab.lab import Lab
from headwater.observe.run_reporter import EventOutput
from tests.support.service import Service, eventually, running

_SQL = """
-- Files into a topic; topic and files into the lake.
CREATE CATALOG lake WITH ('type'='iceberg', 'catalog-type'='hadoop', 'warehouse'='file://{home}/lake');
CREATE DATABASE lake.sales;
CREATE TABLE lake.sales.totals (supplier STRING, total DOUBLE, note STRING);
CREATE TEMPORARY TABLE orders (id BIGINT, price DOUBLE, supplier STRING) WITH (
  'connector' = 'filesystem', 'path' = 'file://{home}/orders', 'format' = 'json');
CREATE TEMPORARY TABLE topic (id BIGINT, who STRING) WITH (
  'connector' = 'kafka', 'topic' = 'who', 'properties.bootstrap.servers' = '127.0.0.1:1', 'format' = 'json',
  'properties.sasl.jaas.config' = 'hunter2');
SET 'pipeline.name' = 'orders to lake';
EXECUTE STATEMENT SET BEGIN
INSERT INTO lake.sales.totals (total, supplier) SELECT price * 2, supplier FROM orders WHERE id > 0;
INSERT INTO topic SELECT id, MD5(supplier) FROM orders;
END;
"""

_PROGRAM = """
import sys
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment
from pyflink.table.expressions import col

folder = sys.argv[1]

def declare(environment):
    for name in ("orders", "copy"):
        environment.execute_sql(
            f"CREATE TABLE {name} (id BIGINT, price DOUBLE, supplier STRING) WITH "
            f"('connector' = 'filesystem', 'path' = 'file://{folder}/{name}', 'format' = 'json')"
        )

environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
declare(environment)
environment.get_config().set("pipeline.name", "by expressions")
orders = environment.from_path("orders")
orders.select(col("id"), col("price") + 1, col("supplier")).execute_insert("copy").wait()
environment.get_config().set("pipeline.name", "by a set")
both = environment.create_statement_set()
both.add_insert_sql("INSERT INTO copy SELECT * FROM orders")
both.add_insert("copy", orders.filter(col("price") > 1))
both.execute()

stream = StreamExecutionEnvironment.get_execution_environment()
tables = StreamTableEnvironment.create(stream)
declare(tables)
attached = tables.create_statement_set()
attached.add_insert_sql("INSERT INTO copy SELECT * FROM orders")
attached.attach_as_datastream()
stream.execute("by a stream")
"""


_HINTS = """
CREATE TABLE orders (id BIGINT, supplier STRING) WITH ('connector' = 'kafka', 'topic' = 'orders', 'format' = 'json',
  'properties.bootstrap.servers' = '127.0.0.1:1', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE copy (id BIGINT, supplier STRING) WITH (
  'connector' = 'filesystem', 'path' = 'file://{home}/copy', 'format' = 'json');
EXECUTE STATEMENT SET BEGIN
INSERT INTO copy SELECT id, supplier FROM orders
  UNION ALL SELECT id, supplier
  FROM orders /*+ OPTIONS('topic' = 'older', 'properties.sasl.jaas.config' = 'hunter2') */;
INSERT INTO copy /*+ OPTIONS('path' = 'file://{home}/elsewhere') */ SELECT id, supplier FROM orders;
END;
COMPILE AND EXECUTE PLAN 'file://{home}/one.json' FOR INSERT INTO copy SELECT id, supplier FROM orders;
EXECUTE PLAN 'file://{home}/one.json';
"""

_WITHOUT_CATALOG = """
import sys
from pyflink.table import DataTypes, EnvironmentSettings, Schema, TableDescriptor, TableEnvironment

def files(name):
    schema = Schema.new_builder().column("id", DataTypes.BIGINT()).column("supplier", DataTypes.STRING()).build()
    described = TableDescriptor.for_connector("filesystem").schema(schema).format("json")
    return described.option("path", f"file://{sys.argv[1]}/{name}").build()

environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
environment.from_descriptor(files("orders")).execute_insert(files("copy"))
environment.from_elements([(1, "acme")], ["id", "supplier"]).execute_insert(files("copy"))
"""


_WINDOWS = """
CREATE CATALOG lake WITH ('type'='iceberg', 'catalog-impl'='org.apache.iceberg.jdbc.JdbcCatalog',
  'uri'='jdbc:sqlite:{home}/catalog.db', 'warehouse'='file://{home}/lake');
CREATE DATABASE lake.sales;
CREATE TABLE lake.sales.minutes (supplier STRING, started TIMESTAMP(6), total DOUBLE);
CREATE TEMPORARY TABLE topic (price DOUBLE, supplier STRING, at_ TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL,
  WATERMARK FOR at_ AS at_) WITH ('connector' = 'kafka', 'topic' = 'flink-orders', 'format' = 'json',
  'properties.bootstrap.servers' = '{broker}', 'scan.startup.mode' = 'earliest-offset');
INSERT INTO lake.sales.minutes SELECT supplier, window_start, SUM(price)
FROM TABLE(TUMBLE(TABLE topic, DESCRIPTOR(at_), INTERVAL '1' MINUTE)) GROUP BY supplier, window_start, window_end;
"""


@dataclass(frozen=True)
class Work:
    """A folder with orders, a service, and a cluster."""

    home: Path
    service: Service
    flink: Lab

    def run(self, file: str, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.home / file).write_text(text)
        command = [sys.executable, "-m", "headwater.cli.main", "flink", "run", str(self.home / file), "--json"]
        addresses = ["--url", self.flink.address("jobmanager"), "--endpoint", f"{self.service.url}/api/v1/lineage"]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home / "headwater")}
        return subprocess.run(
            [*command, *addresses, *arguments], env=environment, capture_output=True, text=True, timeout=300
        )

    def edges(self, route: str, dataset: str) -> set[tuple[str, str]]:
        node = quote(f"dataset:{dataset}", safe="")
        response = httpx.get(f"{self.service.url}/api/v1/{route}?nodeId={node}&depth=9&withDownstream=true", timeout=60)
        nodes = response.raise_for_status().json()["graph"]
        return {(edge["origin"], edge["destination"]) for node in nodes for edge in node["outEdges"]}

    def get(self, path: str) -> Any:  # noqa: ANN401
        return httpx.get(f"{self.service.url}/api/v1/{path}", timeout=60).raise_for_status().json()

    def state_of(self, job: str, run: str) -> str:
        """State of the job's only run."""
        (only_run,) = self.get(f"namespaces/flink-jobs/jobs/{quote(job)}/runs")["runs"]
        assert only_run["id"] == run
        return str(only_run["state"])

    def job_in_flink(self, job_id: str) -> dict[str, Any]:
        response = httpx.get(f"{self.flink.address('jobmanager')}/jobs/{job_id}", timeout=60)
        job: dict[str, Any] = response.raise_for_status().json()
        return job


@pytest.fixture
def work(flink: Lab, tmp_path: Path) -> Iterator[Work]:
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "a.json").write_text('{"id": 1, "price": 2.5, "supplier": "acme"}\n')
    with running(tmp_path / "service") as service:
        yield Work(tmp_path, service, flink)
    url = flink.address("jobmanager")
    for job in httpx.get(f"{url}/jobs", timeout=60).json()["jobs"]:
        httpx.patch(f"{url}/jobs/{job['id']}?mode=cancel", timeout=60)
        _await_end(url, job["id"])


def _await_end(url: str, job_id: str) -> None:
    """Wait for the job's end: until then it holds slots that other tests need."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if httpx.get(f"{url}/jobs/{job_id}", timeout=60).json()["state"] in ("CANCELED", "FAILED", "FINISHED"):
            return
        time.sleep(0.1)


def test_a_file_of_sql_becomes_a_graph_of_physical_names_and_columns(work: Work) -> None:
    result = work.run("job.sql", _SQL.format(home=work.home))

    assert result.returncode == 0, result.stderr
    (reported,) = json.loads(result.stdout)
    home = work.home
    orders, totals, topic = f"file:{home}/orders", f"file:{home}/lake/sales/totals", "kafka://127.0.0.1:1:who"
    job = "job:flink-jobs:orders to lake"
    assert work.edges("lineage", orders) == {
        (f"dataset:{orders}", job),
        (job, f"dataset:{totals}"),
        (job, f"dataset:{topic}"),
    }
    assert work.edges("column-lineage", totals) | work.edges("column-lineage", topic) == {
        (f"datasetField:{orders}:price", f"datasetField:{totals}:total"),
        (f"datasetField:{orders}:supplier", f"datasetField:{totals}:supplier"),
        (f"datasetField:{orders}:id", f"datasetField:{topic}:id"),
        (f"datasetField:{orders}:supplier", f"datasetField:{topic}:who"),
        # WHERE id > 0 decides about all of a row.
        *((f"datasetField:{orders}:id", f"datasetField:{totals}:{column}") for column in ("note", "supplier", "total")),
    }
    flink_job = work.job_in_flink(reported["jobId"])
    (run,) = work.get(f"namespaces/flink-jobs/jobs/{quote('orders to lake')}/runs")["runs"]
    assert (reported["name"], run["id"], reported["gaps"]) == (flink_job["name"], reported["runId"], [])
    assert reported["runId"] == run_of_job(reported["jobId"], flink_job["start-time"])
    log = httpx.get(f"{work.service.url}/api/v1/events/lineage?limit=100", timeout=60).text
    assert "hunter2" not in log + result.stdout + result.stderr


def test_hints_and_compiled_plans_decide_what_is_read_and_written(work: Work) -> None:
    result = work.run("job.sql", _HINTS.format(home=work.home), "--file", str(work.home / "events.jsonl"))

    assert result.returncode == 0, result.stderr
    of_set, compiled, planned = map(json.loads, (work.home / "events.jsonl").read_text().splitlines())
    kafka, copy, elsewhere = "kafka://127.0.0.1:1", f"{work.home}/copy", f"{work.home}/elsewhere"
    fields = {
        output["name"]: {(dataset["namespace"], dataset["name"]) for dataset in field["inputFields"]}
        for output in of_set["outputs"]
        for column, field in output["facets"]["columnLineage"]["fields"].items()
        if column == "id"
    }
    assert {(dataset["namespace"], dataset["name"]) for dataset in of_set["inputs"]} == {
        (kafka, "orders"),
        (kafka, "older"),
    }
    assert fields == {copy: {(kafka, "orders"), (kafka, "older")}, elsewhere: {(kafka, "orders")}}
    assert (
        [dataset["name"] for dataset in compiled["inputs"]],
        [dataset["name"] for dataset in compiled["outputs"]],
    ) == (
        ["orders"],
        [copy],
    )
    assert planned["run"]["facets"]["extractionError"]["failedTasks"] == 1
    assert "hunter2" not in (work.home / "events.jsonl").read_text()


def test_tables_outside_any_catalog_are_named_by_their_files(work: Work) -> None:
    result = work.run("job.py", _WITHOUT_CATALOG, "--file", str(work.home / "events.jsonl"), "--", str(work.home))

    assert result.returncode == 0, result.stderr
    from_files, from_elements = map(json.loads, (work.home / "events.jsonl").read_text().splitlines())
    assert [dataset["name"] for dataset in from_files["inputs"]] == [f"{work.home}/orders"]
    assert [[dataset["name"] for dataset in event["outputs"]] for event in (from_files, from_elements)] == [
        [f"{work.home}/copy"]
    ] * 2
    assert [job["columns"] for job in json.loads(result.stdout)] == [2, 0]  # none from a table without a name
    (error,) = from_elements["run"]["facets"]["extractionError"]["errors"]
    assert error["errorMessage"] == "cannot name a table of the connector 'python-input-format'"


def test_a_programs_own_calls_are_captured_and_the_watcher_reports_the_ends_of_its_jobs(work: Work) -> None:
    with _watched(work):
        result = work.run("job.py", _PROGRAM, "--", str(work.home))
        assert result.returncode == 0, result.stderr
        jobs = json.loads(result.stdout)
        assert eventually(lambda: {work.state_of(job["name"], job["runId"]) for job in jobs} == {"COMPLETED"}, 60)

    datastream_gap = ["a DataStream program is not analysed: OpenLineage's listener reports its datasets"]
    assert [(job["name"], job["inputs"], job["outputs"], job["columns"], job["gaps"]) for job in jobs] == [
        ("by expressions", 1, 1, 3, []),
        ("by a set", 1, 1, 3, []),
        ("by a stream", 1, 1, 3, datastream_gap),
    ]
    orders, copy = f"datasetField:file:{work.home}/orders", f"datasetField:file:{work.home}/copy"
    assert work.edges("column-lineage", f"file:{work.home}/copy") == {
        *((f"{orders}:{column}", f"{copy}:{column}") for column in ("id", "price", "supplier")),
        *((f"{orders}:price", f"{copy}:{column}") for column in ("id", "supplier")),  # the filter
    }
    sql = work.get(f"namespaces/flink-jobs/jobs/{quote('by a set')}")["facets"]["sql"]["query"]
    assert sql == "INSERT INTO copy SELECT * FROM orders"


@contextmanager
def _watched(work: Work) -> Iterator[None]:
    """While a watcher reports all jobs on the cluster to the service."""
    config = WatchConfig(
        namespace=None, state=work.home / "watch.json", interval_s=0.2, heartbeat_s=60, lost_after_s=30
    )
    stop, ready = threading.Event(), threading.Event()

    def put(raw: bytes) -> None:
        httpx.post(f"{work.service.url}/api/v1/lineage", content=raw, timeout=60).raise_for_status()

    with closing(FlinkCluster([work.flink.address("jobmanager")])) as cluster:
        watcher = Watcher(config, cluster, Outlet(put, lambda: True))
        thread = threading.Thread(target=watcher.run, args=(stop, lambda _: ready.set()))
        thread.start()
        assert ready.wait(60)
        yield
        stop.set()
        thread.join()


def test_a_topic_flows_into_a_table_that_spark_calls_by_the_same_names(
    work: Work, kafka: Lab, spark: SparkSession
) -> None:
    home, events = work.home, work.home / "events.jsonl"
    session = spark.newSession()
    catalog = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "jdbc", ".uri": f"jdbc:sqlite:{home}/catalog.db"}
    for key, value in {**catalog, ".warehouse": f"file://{home}/lake"}.items():
        session.conf.set(f"spark.sql.catalog.lake{value and key}", value)

    sql = _WINDOWS.format(home=home, broker=kafka.address("broker"))
    result = work.run("job.sql", sql, "--name", "by minute", "--file", str(events))
    read = _input_seen_by_spark(session, lambda: session.table("lake.sales.minutes").count())

    assert result.returncode == 0, result.stderr
    (written,) = json.loads(events.read_bytes())["outputs"]
    assert [_names(dataset) for dataset in (written, read)] == [
        [
            ("file", f"{home}/lake/sales/minutes"),
            (f"sqlite:{home}/catalog.db", "lake.sales.minutes"),
            (f"file:{home}/lake", "sales.minutes"),
        ]
    ] * 2
    topic, table = f"kafka://{kafka.address('broker')}:flink-orders", f"file:{home}/lake/sales/minutes"
    fields = ("supplier", "started", "total")
    assert work.edges("column-lineage", table) == {
        (f"datasetField:{topic}:price", f"datasetField:{table}:total"),
        *((f"datasetField:{topic}:supplier", f"datasetField:{table}:{field}") for field in fields),
        *((f"datasetField:{topic}:timestamp", f"datasetField:{table}:{field}") for field in fields),
    }


def _input_seen_by_spark(session: SparkSession, action: Callable[[], object]) -> dict[str, Any]:
    """The first input of an action, as our capture of Spark reports it."""
    events: list[bytes] = []
    out = EventOutput(lambda: datetime.now(UTC), events.append)
    context = CaptureContext(namespace="test", job="reader", new_run_id=new_run_id, out=out)
    capture = Capture(session, context, lambda: None)
    action()
    capture.end()
    dataset: dict[str, Any] = next(candidate for raw in events for candidate in json.loads(raw).get("inputs", []))
    return dataset


def _names(dataset: Mapping[str, Any]) -> list[tuple[str, str]]:
    links = dataset["facets"]["symlinks"]["identifiers"]
    return [(names["namespace"], names["name"]) for names in (dataset, *links)]


def test_a_statement_that_flink_refuses_is_reported_with_its_line_in_the_file(work: Work) -> None:
    sql = "CREATE TABLE s (id INT) WITH ('connector'='datagen');\n\n-- here\nSELECT\n  nope\nFROM s;"

    result = work.run("bad.sql", sql)

    assert result.returncode == 2
    assert f"{work.home}/bad.sql, line 4: SQL validation failed. From line 5, column 3" in result.stderr
    assert "Column 'nope' not found in any table" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_cluster_the_error_names_the_address(work: Work) -> None:
    result = work.run("job.sql", "SELECT 1;", "--url", "http://127.0.0.1:9")

    assert (result.returncode, result.stdout) == (2, "")
    assert (
        "no Flink session cluster: http://127.0.0.1:9: cannot connect; is it up, and is --url right?" in result.stderr
    )
