"""Streams over topics of a real broker: schemas that change meanwhile, and a process that is killed."""

import contextlib
import os
import signal
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
from pipeline_bench import Bench

from headwater.pipeline.stop import StopSignal
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


def test_a_stream_takes_up_new_fields_and_topics_and_fails_at_an_incompatible_version_which_it_names(
    bench: Bench, topics: Topics
) -> None:
    topic = topics.named("orders")
    topics.put_avro(topic, FIRST, {"order_id": 1, "price": 1.5})
    topics.put(topic, b"\x00\x00\x0f\x42\x40 of nobody's schema")

    def schemas_change() -> None:
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 1)
        topics.put_avro(topic, WITH_SUPPLIER, {"order_id": 2, "price": None, "supplier": "acme"})
        topics.put_avro(topic, FIRST, {"order_id": 3, "price": 3.5})
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 3)
        topics.put_avro(f"{topic}-late", FIRST, {"order_id": 5, "price": 5.5})
        wait_for(lambda: len(bench.rows("lake.sales.orders")) == 4)
        with topics.no_rule():
            topics.put_avro(topic, PRICE_IS_TEXT, {"order_id": 4, "price": "dear"})

    stop = StopSignal()
    changing = beside(schemas_change, or_else=lambda: stop.request("the test failed"))
    ran = bench.run(
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

    broke = f"{topic}-value: version 3 cannot follow version 2 under BACKWARD: TYPE_MISMATCH at /fields/1/type"
    assert broke in (ran.result.error or "")
    assert bench.rows("lake.sales.orders") == [(1, 1.5, None), (2, None, "acme"), (3, 3.5, None), (5, 5.5, None)]
    assert [row[-1] for row in bench.rows("lake.dead.orders")] == [
        "the versions of the topic's subject read here do not include its schema id 1000000"
    ]
    assert ran.states[0] == "START"
    assert set(ran.states[1:-1]) == {"RUNNING"}
    assert ran.states[-1] == "FAIL"
    assert len({event["run"]["runId"] for event in ran.events}) == 1
    assert broke in ran.last["run"]["facets"]["errorMessage"]["message"]
    read = ran.input(topic)["facets"]
    assert read["headwater_topic_schema"]["version"] == 2
    assert [one["name"] for one in read["schema"]["fields"]] == ["order_id", "price", "supplier"]
    written = ran.output("sales/orders")["facets"]
    assert [one["name"] for one in written["schema"]["fields"]] == ["order_id", "price", "supplier"]
    assert written["columnLineage"]["fields"]["supplier"]["inputFields"][0]["field"] == "supplier"
    assert written["version"]["datasetVersion"] == str(bench.table("lake.sales.orders").metadata.current_snapshot_id)
    assert b"dear" not in b"".join(ran.raw_events)


def test_running_tells_offsets_and_lag_and_a_stop_is_an_abort(bench: Bench, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put_json(topic, ({"order_id": number} for number in range(30)))
    stop, events = StopSignal(), list[bytes]()

    def behind() -> bool:
        return any(b'"lag"' in event for event in events) and b'"numInputRows":10' in events[-1].replace(b" ", b"")

    stopping = beside(lambda: wait_for(behind), or_else=lambda: None, at_last=lambda: stop.request("SIGTERM"))
    ran = bench.run(
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

    told = [event["run"]["facets"].get("headwater_stream") for event in ran.events]
    sources = [facet["sources"][0] for facet in told if facet]
    assert ran.states[-1] == "ABORT"
    assert sources
    assert {(one["endOffset"][topic]["0"], one["lag"]) for one in sources} <= {(10, 20), (20, 10), (30, 0)}


def test_what_is_in_the_table_after_a_kill_9_is_what_is_in_the_topic_once_each(bench: Bench, topics: Topics) -> None:
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
    ran = bench.run(f"{rest}stream: {{available_now: true}}\n")

    assert 0 < half < 3000
    assert ran.result.error is None
    assert bench.rows("lake.sales.orders") == sorted(((n, n / 4) for n in range(3000)), key=repr)


def _running(path: Path, home: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "headwater.cli.main", "run", str(path), "--master", "local[2]"]
    environment = {**os.environ, "HEADWATER_HOME": str(home)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The command and its JVM, which is in a session of its own, at once."""
    for each in [*psutil.Process(process.pid).children(recursive=True), process]:
        each.send_signal(signal.SIGKILL)
    process.wait(30)


def beside(
    task: Callable[[], None], *, or_else: Callable[[], None], at_last: Callable[[], None] = lambda: None
) -> threading.Thread:
    """Do something while a stream runs; should that fail, `or_else` ends the stream, so that the test does not hang."""

    def work() -> None:
        try:
            task()
        except BaseException:
            or_else()
            raise
        finally:
            at_last()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def wait_for(happened: Callable[[], Any], within_s: float = 120) -> None:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        with contextlib.suppress(Exception):  # the table is not there yet
            if happened():
                return
        time.sleep(0.3)
    raise AssertionError("it did not come to be in time")
