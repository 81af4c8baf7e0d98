"""What a run tells: the order of its events, names and facets of its datasets, and that telling never fails it."""

import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pipeline_bench import Bench, Ran

from headwater.model.events import RunEvent, parse_event
from headwater.pipeline.stop import StopSignal
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
        (source["field"], [way["subtype"] for way in source["transformations"]])
        for source in fields[column]["inputFields"]
    ]


def test_a_batch_tells_start_with_zeros_then_complete_with_what_it_moved(bench: Bench) -> None:
    ran = bench.run(TOTALS)

    assert ran.states == ["START", "COMPLETE"]
    start, complete = (event["run"]["facets"]["headwater_run"] for event in ran.events)
    assert {start[key] for key in ("recordsIn", "recordsOut", "bytesIn", "bytesOut", "errorCount", "durationMs")} == {0}
    assert (complete["recordsIn"], complete["recordsOut"], complete["stopReason"]) == (5, 2, "completed")
    assert complete["durationMs"] > 0
    assert {event["run"]["runId"] for event in ran.events} == {ran.result.run_id}
    times = [datetime.fromisoformat(event["eventTime"]) for event in ran.events]
    assert times[0] < times[1]


def test_start_names_all_datasets_before_any_is_touched(bench: Bench) -> None:
    ran = bench.run(TOTALS)

    start = ran.events[0]
    assert [one["name"] for one in start["inputs"]] == [str(bench.folder / "orders.csv")]
    assert [one["name"] for one in start["outputs"]] == [f"{bench.home}/lake/warehouse/marts/totals"]
    assert start["outputs"][0]["name"] == ran.last["outputs"][0]["name"]


def test_a_table_is_named_by_its_place_and_known_by_its_catalogs_name(bench: Bench) -> None:
    output = bench.run(TOTALS).output("/totals")

    assert output["namespace"] == "file"
    assert output["name"] == bench.table("lake.marts.totals").location().removeprefix("file://")
    links = {(one["namespace"], one["name"]) for one in output["facets"]["symlinks"]["identifiers"]}
    assert links == {
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
    rows_decided_by = {(one["field"], way["subtype"]) for one in lineage["dataset"] for way in one["transformations"]}
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


def gaps_of(ran: Ran) -> list[str]:
    return [error["errorMessage"] for error in ran.last["run"]["facets"]["extractionError"]["errors"]]


@pytest.mark.parametrize(
    ("function", "ends_at", "moved"),
    [
        ("in_batches", "MapInPandas", (5, 5)),
        ("by_group", "FlatMapGroupsInPandas", (5, 5)),
        ("through_rdd", "LogicalRDD", (None, 5)),
        ("in_memory", "LogicalRDD", (None, 2)),
        ("from_pandas", "LogicalRDD", (None, 2)),
        ("from_arrow", "LocalRelation", (None, 2)),
    ],
)
def test_columns_of_which_nothing_is_known_are_not_told_as_made_from_nothing(
    bench: Bench, function: str, ends_at: str, moved: tuple[int | None, int]
) -> None:
    bench.write("functions.py", FUNCTIONS)

    ran = bench.run(f"""
        input: $ORDERS
        pipeline: {{processors: [python: "functions:{function}"]}}
        output: {{iceberg: lake.a.made}}
    """)

    assert ran.result.state == "COMPLETE"
    assert "columnLineage" not in ran.output("/made")["facets"]
    assert [one["name"] for one in ran.last["inputs"]] == [str(bench.folder / "orders.csv")]
    assert gaps_of(ran) == [f"column lineage ends at {ends_at}"]
    assert ran.counters() == moved


def test_columns_that_are_known_stand_beside_a_gap_and_a_literal_is_made_from_nothing(bench: Bench) -> None:
    bench.write("functions.py", FUNCTIONS)

    ran = bench.run("""
        input: $ORDERS
        pipeline: {processors: [python: "functions:partly"]}
        output: {iceberg: lake.a.made}
    """)

    fields = ran.output("/made")["facets"]["columnLineage"]["fields"]
    assert {name: [one["field"] for one in told["inputFields"]] for name, told in fields.items()} == {
        "order_id": ["order_id"],
        "always": [],
    }
    assert gaps_of(ran) == ["column lineage ends at MapInPandas"]


def test_a_dataset_that_only_a_gap_leads_to_is_not_denied_by_the_columns_of_others(bench: Bench) -> None:
    bench.write("suppliers.csv", "name\nacme\nbrix\n")
    bench.write("functions.py", FUNCTIONS)

    ran = bench.run("""
        inputs:
          orders: $ORDERS
          suppliers: {file: {paths: [suppliers.csv], format: csv, options: {header: true}}}
        pipeline:
          processors:
            - {name: noted, from: suppliers, python: "functions:in_batches"}
            - sql: SELECT order_id, name FROM orders JOIN noted ON supplier = upper(name)
        output: {iceberg: lake.a.made}
    """)

    assert "columnLineage" not in ran.output("/made")["facets"]
    assert {Path(one["name"]).name for one in ran.last["inputs"]} == {"orders.csv", "suppliers.csv"}


def test_what_a_database_computes_and_what_a_function_reads_by_itself_is_not_known(bench: Bench) -> None:
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

    for ran in (computed, read):
        assert "columnLineage" not in ran.last["outputs"][0]["facets"]
        assert gaps_of(ran) == ["column lineage ends at LogicalRelation"]


def test_columns_of_several_files_are_those_of_each(bench: Bench, orders: Path) -> None:
    bench.write("more.csv", orders.read_text())

    ran = bench.run("""
        input: {file: {paths: [orders.csv, more.csv], format: csv, options: {header: true}}}
        pipeline: {processors: [sql: SELECT supplier FROM input]}
        output: {iceberg: lake.a.made}
    """)

    read = ran.output("/made")["facets"]["columnLineage"]["fields"]["supplier"]["inputFields"]
    assert {(Path(one["name"]).name, one["field"]) for one in read} == {
        ("orders.csv", "supplier"),
        ("more.csv", "supplier"),
    }
    assert "extractionError" not in ran.last["run"]["facets"]


def test_made_up_rows_are_made_from_nothing(bench: Bench) -> None:
    ran = bench.run("input: {generate: {rows: 3}}\noutput: {iceberg: lake.a.made}")

    assert ran.output("/made")["facets"]["columnLineage"]["fields"] == {"id": {"inputFields": []}}
    assert "extractionError" not in ran.last["run"]["facets"]


def test_the_job_tells_its_owners_words_and_queries(bench: Bench) -> None:
    facets = bench.run(TOTALS).last["job"]["facets"]

    assert (facets["jobType"]["processingType"], facets["jobType"]["integration"]) == ("BATCH", "HEADWATER")
    assert facets["sql"]["query"].startswith("SELECT supplier, sum(price)")
    assert facets["documentation"]["description"] == "what each supplier sold"
    assert [owner["name"] for owner in facets["ownership"]["owners"]] == ["team-sales"]
    assert [(tag["key"], tag["value"]) for tag in facets["tags"]["tags"]] == [("tier", "gold")]


def test_every_event_is_valid_by_the_specifications_own_schemas(bench: Bench, shared: Path) -> None:
    specification = Specification(shared / "openlineage")
    bench.write("bad.csv", "n\nx\n")
    ran = [
        bench.run(TOTALS),
        bench.run("""
            input: {file: {paths: [bad.csv], format: csv, options: {header: "true"}}}
            pipeline: {processors: [mapping: {columns: {n: CAST(n AS INT)}}]}
            outputs: [{iceberg: {table: lake.a.n}}, {file: {path: n, format: parquet}}]
        """),
    ]

    raw = [event for one in ran for event in one.raw_events]
    assert [complaint for event in raw for complaint in specification.complaints(event)] == []
    assert all(isinstance(parse_event(event), RunEvent) for event in raw)


def test_what_cannot_be_observed_does_not_fail_the_run(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Only the dataset is missing whose name cannot be read: SQL with a table function in place of a table."""
    bench.run('input: $ORDERS\noutput: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: orders}}')

    ran = bench.run("""
        input: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: "(SELECT 1 AS one FROM orders)"}}
        output: {iceberg: {table: lake.a.ones}}
    """)

    assert ran.result.state == "COMPLETE"
    assert ran.counters() == (5, 5)
    assert ran.last.get("inputs", []) == []
    assert "lineage observation failed" in caplog.messages


def test_lineage_off_tells_nothing_and_starts_no_thread(bench: Bench) -> None:
    before = {thread.ident for thread in threading.enumerate()}

    ran = bench.run("input: $ORDERS\noutput: {iceberg: {table: lake.a.t}}\nlineage: {enabled: false}")

    assert ran.raw_events == []
    assert ran.result.state == "COMPLETE"
    assert ran.result.counters is None
    assert {thread.ident for thread in threading.enumerate()} <= before
    assert len(bench.rows("lake.a.t")) == 5


def test_two_pipelines_at_once_share_the_lake(bench: Bench) -> None:
    texts = [f"input: $ORDERS\noutput: {{iceberg: {{table: lake.a.t{number}}}}}" for number in range(2)]
    benches = [
        Bench(bench.spark, bench.folder / str(number), bench.run_ids, lake_in=bench.folder) for number in range(2)
    ]
    ran: list[Ran] = []
    for one in benches:
        one.write("orders.csv", (bench.folder / "orders.csv").read_text())

    threads = [
        threading.Thread(target=lambda b=b, t=t: ran.append(b.run(t))) for b, t in zip(benches, texts, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert [one.result.error for one in ran] == [None, None]
    assert [one.counters() for one in ran] == [(5, 5), (5, 5)]
    assert [len(bench.rows(f"lake.a.t{number}")) for number in range(2)] == [5, 5]


def test_a_run_that_is_stopped_before_it_begins_tells_start_and_abort(bench: Bench) -> None:
    stop = StopSignal()
    stop.request("SIGTERM")

    ran = bench.run(TOTALS, stop)

    assert ran.states == ["START", "ABORT"]
    assert (ran.result.state, ran.result.stop_reason) == ("ABORT", "SIGTERM")
    assert ran.last["run"]["facets"]["headwater_run"]["stopReason"] == "SIGTERM"


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

    ran = bench.run(
        """
        input: {generate: {rows: 4}}
        pipeline: {processors: [python: {function: "steps:slow"}]}
        output: {iceberg: {table: lake.a.t}}
    """,
        stop,
    )

    assert ran.states[-1] == "ABORT"
    assert ran.result.stop_reason == "a colleague"
    assert ran.result.counters is not None
    assert ran.result.counters.duration_ms < 60_000
