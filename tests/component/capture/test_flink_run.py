"""`headwater flink run` against a real session cluster: what it submits, and what the service then shows."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from headwater.capture.flink.run_ids import run_of_job
from headwater.lab.lab import Lab
from tests.support.service import Service, running

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


@dataclass(frozen=True)
class Work:
    """A folder with orders, a service, and a cluster."""

    home: Path
    service: Service
    flink: Lab

    def run(self, file: str, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (self.home / file).write_text(text)
        command = [sys.executable, "-m", "headwater.cli.main", "flink", "run", str(self.home / file), "--json"]
        there = ["--url", self.flink.address("jobmanager"), "--endpoint", f"{self.service.url}/api/v1/lineage"]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home / "headwater")}
        return subprocess.run(
            [*command, *there, *arguments], env=environment, capture_output=True, text=True, timeout=300
        )

    def edges(self, route: str, dataset: str) -> set[tuple[str, str]]:
        node = quote(f"dataset:{dataset}", safe="")
        answer = httpx.get(f"{self.service.url}/api/v1/{route}?nodeId={node}&depth=9&withDownstream=true", timeout=60)
        nodes = answer.raise_for_status().json()["graph"]
        return {
            (edge["origin"], edge["destination"]) for node in nodes for edge in (*node["inEdges"], *node["outEdges"])
        }

    def get(self, path: str) -> Any:  # noqa: ANN401
        return httpx.get(f"{self.service.url}/api/v1/{path}", timeout=60).raise_for_status().json()

    def job_in_flink(self, job_id: str) -> dict[str, Any]:
        answer = httpx.get(f"{self.flink.address('jobmanager')}/jobs/{job_id}", timeout=60)
        found: dict[str, Any] = answer.raise_for_status().json()
        return found


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
    """Until then it holds slots that other tests need."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if httpx.get(f"{url}/jobs/{job_id}", timeout=60).json()["state"] in ("CANCELED", "FAILED", "FINISHED"):
            return
        time.sleep(0.1)


def test_a_file_of_sql_is_a_graph_of_physical_names_and_columns(work: Work) -> None:
    done = work.run("job.sql", _SQL.format(home=work.home))

    assert done.returncode == 0, done.stderr
    (told,) = json.loads(done.stdout)
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
    flink_job = work.job_in_flink(told["jobId"])
    (run,) = work.get(f"namespaces/flink-jobs/jobs/{quote('orders to lake')}/runs")["runs"]
    assert (told["name"], run["id"], told["gaps"]) == (flink_job["name"], told["runId"], [])
    assert told["runId"] == run_of_job(told["jobId"], flink_job["start-time"])
    log = httpx.get(f"{work.service.url}/api/v1/events/lineage?limit=100", timeout=60).text
    assert "hunter2" not in log + done.stdout + done.stderr


def test_a_programs_own_calls_are_seen_whichever_way_it_makes_them(work: Work) -> None:
    done = work.run("job.py", _PROGRAM, "--", str(work.home))

    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    beyond = ["a DataStream program is not seen through: OpenLineage's listener tells its datasets"]
    assert [(job["name"], job["inputs"], job["outputs"], job["columns"], job["gaps"]) for job in told] == [
        ("by expressions", 1, 1, 3, []),
        ("by a set", 1, 1, 3, []),
        ("by a stream", 1, 1, 3, beyond),
    ]
    orders, copy = f"datasetField:file:{work.home}/orders", f"datasetField:file:{work.home}/copy"
    assert work.edges("column-lineage", f"file:{work.home}/copy") == {
        *((f"{orders}:{column}", f"{copy}:{column}") for column in ("id", "price", "supplier")),
        *((f"{orders}:price", f"{copy}:{column}") for column in ("id", "supplier")),  # the filter
    }


def test_what_flink_refuses_is_told_with_the_line_of_the_file(work: Work) -> None:
    sql = "CREATE TABLE s (id INT) WITH ('connector'='datagen');\n\n-- here\nSELECT\n  nope\nFROM s;"

    done = work.run("bad.sql", sql)

    assert done.returncode == 1
    assert f"{work.home}/bad.sql, line 4: SQL validation failed. From line 5, column 3" in done.stderr
    assert "Column 'nope' not found in any table" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_cluster_the_error_says_where_it_was_looked_for(work: Work) -> None:
    done = work.run("job.sql", "SELECT 1;", "--url", "http://127.0.0.1:9")

    assert (done.returncode, done.stdout) == (1, "")
    assert "no Flink session cluster at http://127.0.0.1:9" in done.stderr
