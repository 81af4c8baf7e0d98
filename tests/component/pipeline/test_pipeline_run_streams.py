"""Streams: read to the end of the available data, restarted, stopped; each micro-batch counted once."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.pipeline.stop import StopSignal
from tests.component.pipeline.pipeline_bench import Bench
from tests.support.spec import Specification

pytestmark = pytest.mark.spark

FOLLOW = "{file: {paths: [in], format: csv, schema: 'id BIGINT, v STRING'}}"


@pytest.fixture
def arrivals(bench: Bench) -> Callable[[int, int], None]:
    """A function that adds an input file with rows of these numbers."""

    def arrive(first: int, end: int) -> None:
        bench.write(f"in/{first:03}.csv", "".join(f"{number},v{number}\n" for number in range(first, end)))

    return arrive


def stop_when(stop: StopSignal, happened: Callable[[], bool], seconds: float = 240) -> None:
    """Request a stop once something has happened, or after a time, so that the test fails instead of hanging."""

    def watch() -> None:
        until = time.monotonic() + seconds
        while not happened() and time.monotonic() < until:
            time.sleep(0.1)
        stop.request("SIGTERM")

    threading.Thread(target=watch, daemon=True).start()


def test_files_stream_into_a_table_and_a_restart_reads_only_new_files(
    bench: Bench, arrivals: Callable[[int, int], None]
) -> None:
    text = f"mode: stream\ninput: {FOLLOW}\noutput: {{iceberg: {{table: lake.a.t}}}}\nstream: {{available_now: true}}"
    arrivals(0, 10)
    first = bench.run(text)
    arrivals(10, 15)

    second = bench.run(text)

    assert [row[0] for row in bench.rows("lake.a.t")] == sorted(
        range(15), key=lambda number: repr((number, f"v{number}"))
    )
    assert (first.counters(), second.counters()) == ((10, 10), (5, 5))
    assert first.states == ["START", "RUNNING", "COMPLETE"]
    assert first.result.run_id != second.result.run_id
    assert first.input("/in")["inputFacets"]["inputStatistics"]["rowCount"] == 10
    assert second.output("/t")["outputFacets"]["outputStatistics"]["rowCount"] == 5


@pytest.mark.parametrize(
    "followed", [FOLLOW, "{iceberg: {table: lake.raw.rows}}"], ids=["files", "a table of the catalog"]
)
def test_a_table_joined_to_a_stream_is_not_credited_with_the_streams_rows(
    bench: Bench, arrivals: Callable[[int, int], None], followed: str
) -> None:
    arrivals(0, 10)
    bench.run("""
        inputs: {rows: {file: {paths: [in], format: csv, schema: 'id BIGINT, v STRING'}}, few: {generate: {rows: 3}}}
        outputs: [{from: rows, iceberg: {table: lake.raw.rows}}, {from: few, iceberg: {table: lake.raw.few}}]
    """)

    joined = 'pipeline: {processors: [sql: "SELECT f.id, f.v FROM followed f LEFT JOIN few USING (id)"]}'
    run = bench.run(f"""
        mode: stream
        inputs: {{followed: {followed}, few: {{iceberg: {{table: lake.raw.few, static: true}}}}}}
        {joined}
        output: {{iceberg: {{table: lake.out.joined}}}}
        stream: {{available_now: true}}
    """)

    facets = {dataset["name"].rpartition("/")[2]: dataset.get("inputFacets", {}) for dataset in run.last["inputs"]}
    assert facets["in" if followed == FOLLOW else "rows"]["inputStatistics"]["rowCount"] == 10
    assert "inputStatistics" not in facets["few"]


def test_a_stream_is_in_the_graph_with_its_columns_from_its_first_events(
    bench: Bench, arrivals: Callable[[int, int], None]
) -> None:
    arrivals(0, 3)
    stop, events = StopSignal(), list[bytes]()
    stop_when(stop, lambda: b'"recordsOut":3' in events[-1] if events else False)

    run = bench.run(
        f"""
        mode: stream
        input: {FOLLOW}
        output: {{iceberg: {{table: lake.a.t}}}}
        lineage: {{running_interval: 500ms}}
        """,
        stop,
        events,
    )

    assert run.states[:2] == ["START", "RUNNING"]
    have_columns = ["columnLineage" in event["outputs"][0]["facets"] for event in run.events]
    have_rows = [event["run"]["facets"]["headwater_run"]["recordsOut"] == 3 for event in run.events]
    assert have_columns.index(True) <= have_rows.index(True)
    assert (run.states[-1], run.result.stop_reason) == ("ABORT", "SIGTERM")
    assert run.counters() == (3, 3)
    assert run.last["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    sources = run.last["run"]["facets"]["headwater_stream"]["sources"]
    assert [(source["batchId"], source["numInputRows"]) for source in sources] == [(0, 3)]
    assert len(bench.rows("lake.a.t")) == 3


def test_several_outputs_write_the_same_micro_batches(bench: Bench, arrivals: Callable[[int, int], None]) -> None:
    arrivals(0, 4)

    run = bench.run(f"""
        mode: stream
        input: {FOLLOW}
        pipeline: {{processors: [{{mapping: {{columns: {{id: id, draw: rand()}}}}}}]}}
        outputs:
          - {{iceberg: {{table: lake.a.t}}}}
          - {{file: {{path: out, format: json, mode: append}}}}
          - {{iceberg: {{table: lake.a.newest, mode: merge, 'on': [id]}}}}
        stream: {{available_now: true}}
    """)

    lines = [line for part in (bench.folder / "out").glob("part-*") for line in part.read_text().splitlines()]
    in_files = sorted((tuple(json.loads(line).values()) for line in lines), key=repr)
    assert in_files == bench.rows("lake.a.t") == bench.rows("lake.a.newest")
    assert run.counters() == (4, 12)


def test_a_stream_of_files_into_files_is_counted(bench: Bench, arrivals: Callable[[int, int], None]) -> None:
    arrivals(0, 6)

    run = bench.run(f"""
        mode: stream
        input: {FOLLOW}
        pipeline: {{processors: [{{filter: id > 0}}]}}
        output: {{file: {{path: out, format: parquet, mode: append}}}}
        stream: {{available_now: true}}
    """)

    assert run.counters() == (6, 5)
    assert run.output("/out")["outputFacets"]["outputStatistics"]["rowCount"] == 5


def test_a_micro_batch_that_is_in_the_table_already_is_not_appended_again(
    bench: Bench, arrivals: Callable[[int, int], None]
) -> None:
    """As after a crash between the commit of the table and that of the stream checkpoint."""
    text = f"""
        mode: stream
        input: {FOLLOW}
        outputs: [{{iceberg: {{table: lake.a.t}}}}, {{stdout: {{rows: 1}}}}]
        stream: {{available_now: true}}
    """
    arrivals(0, 4)
    bench.run(text)
    checkpoint = bench.home / "checkpoints/test/orders/input"
    for committed in (checkpoint / "commits").iterdir():
        committed.unlink()

    run = bench.run(text)

    assert len(bench.rows("lake.a.t")) == 4
    assert run.result.state == "COMPLETE"


def test_a_deduplicated_stream_remembers_keys_for_as_long_as_its_watermark_says(bench: Bench) -> None:
    bench.write("in/0.json", '{"id": 1, "at": "2013-01-01T00:00:00Z"}\n{"id": 1, "at": "2013-01-01T00:00:01Z"}\n')

    run = bench.run("""
        mode: stream
        input: {file: {paths: [in], format: json, schema: 'id BIGINT, at TIMESTAMP'}}
        pipeline: {processors: [{dedupe: {keys: [id], watermark: {column: at, delay: 1m}}}]}
        output: {iceberg: {table: lake.a.t}}
        stream: {available_now: true}
    """)

    assert run.result.state == "COMPLETE"
    assert [row[0] for row in bench.rows("lake.a.t")] == [1]


def test_a_failed_stream_reports_the_error_without_the_value(
    bench: Bench, arrivals: Callable[[int, int], None]
) -> None:
    arrivals(0, 1)

    run = bench.run(f"""
        mode: stream
        input: {FOLLOW}
        pipeline: {{processors: [{{mapping: {{columns: {{n: CAST(v AS INT)}}}}}}]}}
        outputs: [{{iceberg: {{table: lake.a.t}}}}, {{iceberg: {{table: lake.a.u}}}}]
        stream: {{available_now: true}}
    """)

    assert run.states[-1] == "FAIL"
    assert "CAST_INVALID_INPUT" in (run.result.error or "")
    assert "'v0'" not in json.dumps(run.events)


def test_generated_rows_stream_until_the_stream_is_stopped(bench: Bench, shared: Path) -> None:
    stop, events = StopSignal(), list[bytes]()
    stop_when(stop, lambda: len(events) > 3)

    run = bench.run(
        """
        mode: stream
        input: {generate: {rows_per_second: 50, columns: {id: id}}}
        output: {iceberg: {table: lake.a.t}}
        stream: {interval: 500ms}
        lineage: {running_interval: 1s}
        """,
        stop,
        events,
    )

    specification = Specification(shared / "openlineage")
    assert [violation for event in run.raw_events for violation in specification.complaints(event)] == []
    assert run.states[-1] == "ABORT"
    assert run.counters()[1] == len(bench.rows("lake.a.t"))
    rows_out = [event["run"]["facets"]["headwater_run"]["recordsOut"] for event in run.events]
    assert rows_out == sorted(rows_out)
