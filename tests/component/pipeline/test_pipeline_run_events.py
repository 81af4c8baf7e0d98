"""The events of a run: their order, its datasets' names and facets, and that reporting them never fails the run."""

import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.model.events import RunEvent, parse_event
from headwater.pipeline.stop import StopSignal
from tests.component.pipeline.pipeline_bench import Bench, FinishedRun
from tests.support.spec import Specification

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("orders")]

TOTALS = """
    description: what each supplier sold
    owners: [team-sales]
    tags: {tier: gold}
    input: $ORDERS
    pipeline:
      processors:
        - sql: SELECT supplier, sum(price) AS total FROM input WHERE day > DATE'2012-12-31' GROUP BY supplier
    output: {iceberg: {table: lake.marts.totals, mode: overwrite}}
"""


def inputs_of(fields: dict[str, Any], column: str) -> list[tuple[str, list[str]]]:
    return [
        (source["field"], [transformation["subtype"] for transformation in source["transformations"]])
        for source in fields[column]["inputFields"]
    ]


def test_a_batch_emits_start_with_zeros_then_complete_with_its_counters(bench: Bench) -> None:
    run = bench.run(TOTALS)

    assert run.states == ["START", "COMPLETE"]
    start, complete = (event["run"]["facets"]["headwater_run"] for event in run.events)
    assert {start[key] for key in ("recordsIn", "recordsOut", "bytesIn", "bytesOut", "errorCount", "durationMs")} == {0}
    assert (complete["recordsIn"], complete["recordsOut"], complete["stopReason"]) == (5, 2, "completed")
    assert complete["durationMs"] > 0
    assert {event["run"]["runId"] for event in run.events} == {run.result.run_id}
    times = [datetime.fromisoformat(event["eventTime"]) for event in run.events]
    assert times[0] < times[1]


def test_the_start_event_names_all_datasets(bench: Bench) -> None:
    run = bench.run(TOTALS)

    start = run.events[0]
    assert [dataset["name"] for dataset in start["inputs"]] == [str(bench.folder / "orders.csv")]
    assert [dataset["name"] for dataset in start["outputs"]] == [f"{bench.home}/lake/warehouse/marts/totals"]
    assert start["outputs"][0]["name"] == run.last["outputs"][0]["name"]


def test_a_table_is_named_by_its_location_and_its_catalog_names_are_symlinks(bench: Bench) -> None:
    output = bench.run(TOTALS).output("/totals")

    assert output["namespace"] == "file"
    assert output["name"] == bench.table("lake.marts.totals").location().removeprefix("file://")
    symlinks = {
        (identifier["namespace"], identifier["name"]) for identifier in output["facets"]["symlinks"]["identifiers"]
    }
    assert symlinks == {
        (f"file:{bench.home}/lake/warehouse", "marts.totals"),
        (f"sqlite:{bench.home}/lake/catalog.db", "lake.marts.totals"),
    }
    assert output["facets"]["catalog"]["name"] == "lake"
    assert (output["facets"]["storage"]["storageLayer"], output["facets"]["storage"]["fileFormat"]) == (
        "iceberg",
        "parquet",
    )


def test_columns_are_traced_through_the_query(bench: Bench) -> None:
    lineage = bench.run(TOTALS).output("/totals")["facets"]["columnLineage"]

    assert inputs_of(lineage["fields"], "supplier") == [("supplier", ["IDENTITY"])]
    assert inputs_of(lineage["fields"], "total") == [("price", ["AGGREGATION"])]
    rows_decided_by = {
        (source["field"], transformation["subtype"])
        for source in lineage["dataset"]
        for transformation in source["transformations"]
    }
    assert rows_decided_by == {("day", "FILTER"), ("supplier", "GROUP_BY")}


FUNCTIONS = """
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import functions as F

    def in_batches(df):
        return df.mapInPandas(lambda batches: batches, df.schema)

    def by_group(df):
        return df.groupBy("supplier").applyInPandas(lambda group: group, df.schema)

    def through_rdd(df):
        return df.rdd.map(lambda row: (row[1],)).toDF("supplier STRING")

    def in_memory(df):
        return df.sparkSession.createDataFrame([("acme",), ("brix",)], "supplier STRING")

    def from_pandas(df):
        return df.sparkSession.createDataFrame(pd.DataFrame({"supplier": ["acme", "brix"]}))

    def from_arrow(df):
        return df.sparkSession.createDataFrame(pa.table({"supplier": ["acme", "brix"]}))

    def read_here(df, path):
        return df.sparkSession.read.option("header", "true").csv(path)

    def partly(df):
        noted = df.mapInPandas(lambda batches: batches, df.schema).select("order_id", F.col("supplier").alias("noted"))
        return df.join(noted, "order_id").select("order_id", "noted", F.lit("x").alias("always"))
"""


def gaps_of(run: FinishedRun) -> list[str]:
    return [error["errorMessage"] for error in run.last["run"]["facets"]["extractionError"]["errors"]]


@pytest.mark.parametrize(
    ("function", "ends_at", "counters"),
    [
        ("in_batches", "MapInPandas", (5, 5)),
        ("by_group", "FlatMapGroupsInPandas", (5, 5)),
        ("through_rdd", "LogicalRDD", (None, 5)),
        ("in_memory", "LogicalRDD", (None, 2)),
        ("from_pandas", "LogicalRDD", (None, 2)),
        ("from_arrow", "LocalRelation", (None, 2)),
    ],
)
def test_unknown_columns_are_a_gap_and_not_reported_as_made_from_nothing(
    bench: Bench, function: str, ends_at: str, counters: tuple[int | None, int]
) -> None:
    bench.write("functions.py", FUNCTIONS)

    run = bench.run(f"""
        input: $ORDERS
        pipeline: {{processors: [python: "functions:{function}"]}}
        output: {{iceberg: lake.a.made}}
    """)

    assert run.result.state == "COMPLETE"
    assert "columnLineage" not in run.output("/made")["facets"]
    assert [dataset["name"] for dataset in run.last["inputs"]] == [str(bench.folder / "orders.csv")]
    assert gaps_of(run) == [f"column lineage ends at {ends_at}"]
    assert run.counters() == counters


def test_known_columns_are_reported_next_to_a_gap_and_a_literal_has_no_inputs(bench: Bench) -> None:
    bench.write("functions.py", FUNCTIONS)

    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [python: "functions:partly"]}
        output: {iceberg: lake.a.made}
    """)

    fields = run.output("/made")["facets"]["columnLineage"]["fields"]
    assert {name: [source["field"] for source in field["inputFields"]] for name, field in fields.items()} == {
        "order_id": ["order_id"],
        "always": [],
    }
    assert gaps_of(run) == ["column lineage ends at MapInPandas"]


def test_column_lineage_is_left_out_if_a_gap_hides_all_columns_of_an_input(bench: Bench) -> None:
    bench.write("suppliers.csv", "name\nacme\nbrix\n")
    bench.write("functions.py", FUNCTIONS)

    run = bench.run("""
        inputs:
          orders: $ORDERS
          suppliers: {file: {paths: [suppliers.csv], format: csv, options: {header: true}}}
        pipeline:
          processors:
            - {name: noted, from: suppliers, python: "functions:in_batches"}
            - sql: SELECT order_id, name FROM orders JOIN noted ON supplier = upper(name)
        output: {iceberg: lake.a.made}
    """)

    assert "columnLineage" not in run.output("/made")["facets"]
    assert {Path(dataset["name"]).name for dataset in run.last["inputs"]} == {"orders.csv", "suppliers.csv"}


def test_columns_computed_in_a_database_or_read_by_a_function_are_a_gap(bench: Bench) -> None:
    bench.write("functions.py", FUNCTIONS)
    bench.write("others.csv", "order_id\n7\n")
    bench.run('input: $ORDERS\noutput: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: orders}}')

    computed = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", query: "SELECT upper(supplier) AS s FROM orders"}}
        output: {iceberg: lake.a.computed}
    """)
    read = bench.run("""
        input: $ORDERS
        pipeline: {processors: [python: {function: "functions:read_here", options: {path: $HERE/others.csv}}]}
        output: {iceberg: lake.a.read}
    """)

    for run in (computed, read):
        assert "columnLineage" not in run.last["outputs"][0]["facets"]
        assert gaps_of(run) == ["column lineage ends at LogicalRelation"]


def test_a_column_read_from_several_files_comes_from_each_of_them(bench: Bench, orders: Path) -> None:
    bench.write("more.csv", orders.read_text())

    run = bench.run("""
        input: {file: {paths: [orders.csv, more.csv], format: csv, options: {header: true}}}
        pipeline: {processors: [sql: SELECT supplier FROM input]}
        output: {iceberg: lake.a.made}
    """)

    sources = run.output("/made")["facets"]["columnLineage"]["fields"]["supplier"]["inputFields"]
    assert {(Path(source["name"]).name, source["field"]) for source in sources} == {
        ("orders.csv", "supplier"),
        ("more.csv", "supplier"),
    }
    assert "extractionError" not in run.last["run"]["facets"]


def test_generated_rows_have_no_inputs(bench: Bench) -> None:
    run = bench.run("input: {generate: {rows: 3}}\noutput: {iceberg: lake.a.made}")

    assert run.output("/made")["facets"]["columnLineage"]["fields"] == {"id": {"inputFields": []}}
    assert "extractionError" not in run.last["run"]["facets"]


def test_the_job_has_its_owners_description_tags_and_query(bench: Bench) -> None:
    facets = bench.run(TOTALS).last["job"]["facets"]

    assert (facets["jobType"]["processingType"], facets["jobType"]["integration"]) == ("BATCH", "HEADWATER")
    assert facets["sql"]["query"].startswith("SELECT supplier, sum(price)")
    assert facets["documentation"]["description"] == "what each supplier sold"
    assert [owner["name"] for owner in facets["ownership"]["owners"]] == ["team-sales"]
    assert [(tag["key"], tag["value"]) for tag in facets["tags"]["tags"]] == [("tier", "gold")]


def test_every_event_is_valid_by_the_specifications_schemas(bench: Bench, shared: Path) -> None:
    specification = Specification(shared / "openlineage")
    bench.write("bad.csv", "n\nx\n")
    runs = [
        bench.run(TOTALS),
        bench.run("""
            input: {file: {paths: [bad.csv], format: csv, options: {header: "true"}}}
            pipeline: {processors: [mapping: {columns: {n: CAST(n AS INT)}}]}
            outputs: [{iceberg: {table: lake.a.n}}, {file: {path: n, format: parquet}}]
        """),
    ]

    raw_events = [event for run in runs for event in run.raw_events]
    assert [violation for event in raw_events for violation in specification.complaints(event)] == []
    assert all(isinstance(parse_event(event), RunEvent) for event in raw_events)


def test_a_dataset_that_cannot_be_observed_does_not_fail_the_run(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the input is missing, because its name cannot be read: it is a query in place of a table."""
    bench.run('input: $ORDERS\noutput: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: orders}}')

    run = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: "(SELECT 1 AS one FROM orders)"}}
        output: {iceberg: {table: lake.a.ones}}
    """)

    assert run.result.state == "COMPLETE"
    assert run.counters() == (5, 5)
    assert run.last.get("inputs", []) == []
    assert "lineage observation failed" in caplog.messages


def test_with_lineage_disabled_no_event_is_emitted_and_no_thread_started(bench: Bench) -> None:
    before = {thread.ident for thread in threading.enumerate()}

    run = bench.run("input: $ORDERS\noutput: {iceberg: {table: lake.a.t}}\nlineage: {enabled: false}")

    assert run.raw_events == []
    assert run.result.state == "COMPLETE"
    assert run.result.counters is None
    new = [thread.name for thread in threading.enumerate() if thread.ident not in before]
    assert [name for name in new if name.startswith("headwater")] == []  # py4j starts threads of its own
    assert len(bench.rows("lake.a.t")) == 5


def test_two_pipelines_at_once_share_the_lake(bench: Bench) -> None:
    texts = [f"input: $ORDERS\noutput: {{iceberg: {{table: lake.a.t{number}}}}}" for number in range(2)]
    benches = [
        Bench(bench.spark, bench.folder / str(number), bench.run_ids, lake_in=bench.folder) for number in range(2)
    ]
    runs: list[FinishedRun] = []
    for each_bench in benches:
        each_bench.write("orders.csv", (bench.folder / "orders.csv").read_text())

    threads = [
        threading.Thread(target=lambda b=b, t=t: runs.append(b.run(t))) for b, t in zip(benches, texts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert [run.result.error for run in runs] == [None, None]
    assert [run.counters() for run in runs] == [(5, 5), (5, 5)]
    assert [len(bench.rows(f"lake.a.t{number}")) for number in range(2)] == [5, 5]


def test_a_run_that_is_stopped_before_it_starts_emits_start_and_abort(bench: Bench) -> None:
    stop = StopSignal()
    stop.request("SIGTERM")

    run = bench.run(TOTALS, stop)

    assert run.states == ["START", "ABORT"]
    assert (run.result.state, run.result.stop_reason) == ("ABORT", "SIGTERM")
    assert run.last["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"


def test_a_stop_from_another_thread_cancels_what_spark_is_doing(bench: Bench) -> None:
    bench.write(
        "steps.py",
        """\
        import time

        def slow(frame):
            return frame.rdd.map(lambda row: time.sleep(300) or row).toDF(frame.schema)
        """,
    )
    stop = StopSignal()
    threading.Timer(4, lambda: stop.request("a colleague")).start()

    run = bench.run(
        """
        input: {generate: {rows: 4}}
        pipeline: {processors: [python: {function: "steps:slow"}]}
        output: {iceberg: {table: lake.a.t}}
    """,
        stop,
    )

    assert run.states[-1] == "ABORT"
    assert run.result.stop_reason == "a colleague"
    assert run.result.counters is not None
    assert run.result.counters.duration_ms < 60_000
