"""Streams over topics of a real broker: schemas that change meanwhile, and a process that is killed."""

import contextlib
import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from headwater.pipeline.stop import StopSignal
from tests.component.pipeline.pipeline_bench import Bench
from tests.support.topics import Topics

pytestmark = pytest.mark.spark

FIRST = {
    "type": "record",
    "name": "order",
    "fields": [{"name": "order_id", "type": "long"}, {"name": "price", "type": ["null", "double"], "default": None}],
}
WITH_SUPPLIER = {
    **FIRST,
    "fields": [*FIRST["fields"], {"name": "supplier", "type": ["null", "string"], "default": None}],
}
PRICE_IS_TEXT = {**FIRST, "fields": [FIRST["fields"][0], {"name": "price", "type": "string"}]}


def test_a_stream_picks_up_new_fields_and_topics_and_fails_at_an_incompatible_version(
    bench: Bench, topics: Topics
) -> None:
    topic = topics.named("orders")
    topics.put_avro(topic, FIRST, {"order_id": 1, "price": 1.5})
    topics.put(topic, b"\x00\x00\x0f\x42\x40 of nobody's schema")

    def change_schemas() -> None:
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 1)
        topics.put_avro(topic, WITH_SUPPLIER, {"order_id": 2, "price": None, "supplier": "acme"})
        topics.put_avro(topic, FIRST, {"order_id": 3, "price": 3.5})
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 3)
        topics.put_avro(f"{topic}-late", FIRST, {"order_id": 5, "price": 5.5})
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 4)
        with topics.no_rule():
            topics.put_avro(topic, PRICE_IS_TEXT, {"order_id": 4, "price": "dear"})

    stop = StopSignal()
    changing = in_background(change_schemas, on_error=lambda: stop.request("the test failed"))
    run = bench.run(
        f"""
        mode: stream
        input:
          kafka:
            addresses: ["{topics.broker}"]
            pattern: {topic}.*
            format: avro
            schema_registry: {{url: "{topics.registry_url}"}}
            options: {{kafka.metadata.max.age.ms: 500}}
            dead_letter: {{iceberg: lake.dead.orders}}
        output: {{iceberg: lake.sales.orders}}
        stream: {{interval: 200ms}}
        lineage: {{running_interval: 1s}}
    """,
        stop,
    )
    changing.join()

    incompatible = f"{topic}-value: version 3 cannot follow version 2 under BACKWARD: TYPE_MISMATCH at /fields/1/type"
    assert incompatible in (run.result.error or "")
    assert bench.rows("lake.sales.orders") == [(1, 1.5, None), (2, None, "acme"), (3, 3.5, None), (5, 5.5, None)]
    assert [row[-1] for row in bench.rows("lake.dead.orders")] == [
        "the versions of the topic's subject read here do not include its schema id 1000000"
    ]
    assert run.states[0] == "START"
    assert set(run.states[1:-1]) == {"RUNNING"}
    assert run.states[-1] == "FAIL"
    assert len({event["run"]["runId"] for event in run.events}) == 1
    assert incompatible in run.last["run"]["facets"]["errorMessage"]["message"]
    read = run.input(topic)["facets"]
    assert read["headwater_topic_schema"]["version"] == 2
    assert [field["name"] for field in read["schema"]["fields"]] == ["order_id", "price", "supplier"]
    written = run.output("sales/orders")["facets"]
    assert [field["name"] for field in written["schema"]["fields"]] == ["order_id", "price", "supplier"]
    assert written["columnLineage"]["fields"]["supplier"]["inputFields"][0]["field"] == "supplier"
    assert written["version"]["datasetVersion"] == str(bench.table("lake.sales.orders").metadata.current_snapshot_id)
    assert b"dear" not in b"".join(run.raw_events)


def test_running_events_have_offsets_and_lag_and_a_stop_is_an_abort(bench: Bench, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put_json(topic, ({"order_id": number} for number in range(30)))
    stop, events = StopSignal(), list[bytes]()

    def is_behind() -> bool:
        return any(b'"lag"' in event for event in events) and b'"numInputRows":10' in events[-1].replace(b" ", b"")

    stopping = in_background(lambda: wait_for(is_behind), on_error=lambda: None, at_end=lambda: stop.request("SIGTERM"))
    run = bench.run(
        f"""
        mode: stream
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: json
            schema: order_id BIGINT
            options: {{maxOffsetsPerTrigger: 10}}
        output: {{iceberg: lake.sales.orders}}
        stream: {{interval: 2s}}
        lineage: {{running_interval: 500ms}}
        """,
        stop,
        events,
    )
    stopping.join()

    stream_facets = [event["run"]["facets"].get("headwater_stream") for event in run.events]
    sources = [facet["sources"][0] for facet in stream_facets if facet]
    assert run.states[-1] == "ABORT"
    assert sources
    assert {(source["endOffset"][topic]["0"], source["lag"]) for source in sources} <= {(10, 20), (20, 10), (30, 0)}


def test_after_a_kill_9_each_record_of_the_topic_is_in_the_table_once(bench: Bench, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put_json(topic, ({"order_id": number, "price": number / 4} for number in range(3000)))
    text = f"""
        name: orders
        namespace: test
        schema_version: 1
        mode: stream
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: json
            schema: order_id BIGINT, price DOUBLE
            options: {{maxOffsetsPerTrigger: 100}}
        output: {{iceberg: lake.sales.orders}}
        lineage: {{enabled: false}}
    """
    killed = _running(bench.write("killed.yaml", text), bench.home)
    wait_for(lambda: len(bench.rows("lake.sales.orders")) >= 300)

    _kill(killed)
    half = len(bench.rows("lake.sales.orders"))
    _, _, rest = textwrap.dedent(text).partition("schema_version: 1\n")
    run = bench.run(f"{rest}stream: {{available_now: true}}\n")

    assert 0 < half < 3000
    assert run.result.error is None
    assert bench.rows("lake.sales.orders") == sorted(((n, n / 4) for n in range(3000)), key=repr)


def _running(path: Path, home: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "headwater.cli.main", "run", str(path), "--master", "local[2]"]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill the command and its JVM, which is in a session of its own."""
    for child in psutil.Process(process.pid).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # it may end with the one before
            child.kill()
    process.kill()
    process.wait(30)


def in_background(
    task: Callable[[], None], *, on_error: Callable[[], None], at_end: Callable[[], None] = lambda: None
) -> threading.Thread:
    """Run a task while a stream runs; if it fails, `on_error` ends the stream, so that the test does not hang."""

    def work() -> None:
        try:
            task()
        except BaseException:
            on_error()
            raise
        finally:
            at_end()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_for(is_so: Callable[[], Any], within_s: float = 120) -> None:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        with contextlib.suppress(Exception):  # the table does not exist yet
            if is_so():
                return
        time.sleep(0.3)
    raise AssertionError(f"not so within {within_s} s")
