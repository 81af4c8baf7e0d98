"""Streaming programs: each start of a query is a run, with everything that its micro-batches did."""

import json
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import DataStreamWriter

from tests.component.capture_spark.captured import Program, newest_version
from tests.support.topics import Topics

pytestmark = pytest.mark.spark

MERGE = """MERGE INTO lake.sales.orders t USING batch s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET price = s.p WHEN NOT MATCHED THEN INSERT (id, price) VALUES (s.id, s.p)"""


@pytest.fixture
def incoming(program: Program) -> Path:
    """A folder with two orders; one of them is in the table already."""
    folder = program.folder / "in"
    folder.mkdir()
    (folder / "a.json").write_text(
        '{"id": 1, "price": 9.0, "supplier": "7"}\n{"id": 99, "price": 1.0, "supplier": "x"}\n'
    )
    return folder


def stream_of(program: Program, folder: Path) -> DataFrame:
    return program.spark.readStream.schema("id BIGINT, price DOUBLE, supplier STRING").json(str(folder))


def until_all_is_read(frame: DataFrame, program: Program, name: str) -> DataStreamWriter:
    """A query that ends when it has read all that is there."""
    checkpoint = f"{program.folder}/checkpoints/{name}"
    return frame.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)


def merge(frame: DataFrame, _: int) -> None:
    frame.createOrReplaceTempView("batch")
    frame.sparkSession.sql(MERGE)


def test_a_query_into_iceberg_has_outputs_columns_offsets_counts_and_the_version(
    program: Program, incoming: Path
) -> None:
    frame = stream_of(program, incoming).selectExpr("id", "price * 2 AS price", "supplier")
    query = until_all_is_read(frame, program, "live").queryName("live").toTable("lake.sales.orders")
    query.awaitTermination()

    live = program.end()["shop.live"]

    assert live.states == ["START", "RUNNING", "COMPLETE"]
    assert live.last["run"]["runId"] == str(query.runId)
    assert (live.inputs(), live.outputs()) == ([f"{program.folder.name}/in"], {"sales/orders": 2})
    assert live.columns()["price"] == [f"{program.folder.name}/in.price"]
    assert live.facet("headwater_run")["recordsIn"] == 2
    assert live.facet("headwater_stream")["sources"][0]["endOffset"] == {"logOffset": 0}
    version = live.last["outputs"][0]["facets"]["version"]["datasetVersion"]
    assert version == newest_version(program, "lake.sales.orders")


def test_rows_merged_by_a_micro_batch_come_from_the_querys_stream(program: Program, incoming: Path) -> None:
    frame = stream_of(program, incoming).selectExpr("id", "price * 2 AS p")
    until_all_is_read(frame, program, "merge").foreachBatch(merge).start().awaitTermination()

    runs = program.end()

    (name,) = set(runs) - {"shop"}  # only the query's run reports what a micro-batch does
    assert name == f"shop.foreach.{incoming}"
    assert runs[name].states == ["START", "RUNNING", "COMPLETE"]
    assert (runs[name].inputs(), runs[name].outputs()) == ([f"{program.folder.name}/in"], {"sales/orders": 2})
    assert runs[name].columns() == {
        "id": [f"{program.folder.name}/in.id"],
        "price": [f"{program.folder.name}/in.price"],
        "supplier": [],
    }


def test_an_error_in_a_micro_batch_function_is_reported_by_its_class_and_place(
    program: Program, incoming: Path
) -> None:
    def refuse(_batch: DataFrame, _number: int) -> None:
        raise LookupError("4929-1234-5678-9012")

    query = (
        until_all_is_read(stream_of(program, incoming), program, "refuse")
        .queryName("live")
        .foreachBatch(refuse)
        .start()
    )
    with pytest.raises(StreamingQueryException):
        query.awaitTermination()

    live = program.end()["shop.live"]

    message = live.facet("errorMessage")["message"]
    assert message.startswith("LookupError in a Python function, at refuse(")
    assert "4929" not in json.dumps(live.last)


def test_micro_batch_rows_through_an_rdd_are_a_gap_and_not_made_from_nothing(program: Program, incoming: Path) -> None:
    def through_rdd(frame: DataFrame, _: int) -> None:
        frame.rdd.map(lambda row: (row.id,)).toDF("key BIGINT").write.parquet(f"{program.folder}/keys")

    query = until_all_is_read(stream_of(program, incoming), program, "keys").queryName("keys")
    query.foreachBatch(through_rdd).start().awaitTermination()

    run = program.end()["shop.keys"]

    assert run.inputs() == [f"{program.folder.name}/in"]
    assert "columnLineage" not in run.last["outputs"][0]["facets"]
    assert [error["errorMessage"] for error in run.facet("extractionError")["errors"]] == [
        "the source of an RDD's rows is unknown"
    ]


def test_generated_micro_batch_rows_have_no_source_and_are_not_a_gap(program: Program) -> None:
    def write(frame: DataFrame, _: int) -> None:
        frame.select("value").write.mode("append").parquet(f"{program.folder}/values")

    generated = program.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    until_all_is_read(generated, program, "values").queryName("values").foreachBatch(write).start().awaitTermination()

    run = program.end()["shop.values"]

    assert run.columns() == {"value": []}
    assert "extractionError" not in run.last["run"]["facets"]


def test_concurrent_queries_each_report_how_they_ended(program: Program, incoming: Path) -> None:
    frame = stream_of(program, incoming)
    endless = frame.writeStream.format("parquet").queryName("endless")
    endless = endless.option("checkpointLocation", f"{program.folder}/c").start(f"{program.folder}/out")
    bad = until_all_is_read(frame.selectExpr("CAST(supplier AS BIGINT) AS id"), program, "bad").queryName("bad")
    failing = bad.format("parquet").start(f"{program.folder}/bad")
    with pytest.raises(StreamingQueryException):
        failing.awaitTermination()
    endless.processAllAvailable()
    endless.stop()
    still_running = frame.writeStream.format("noop").queryName("left").start()

    runs = program.end()

    still_running.stop()
    first_and_last_states = {name: (run.states[0], run.states[-1]) for name, run in runs.items()}
    assert first_and_last_states == {
        "shop": ("START", "COMPLETE"),
        "shop.endless": ("START", "ABORT"),
        "shop.bad": ("START", "FAIL"),
        "shop.left": ("START", "ABORT"),
    }
    assert "CAST_INVALID_INPUT" in runs["shop.bad"].facet("errorMessage")["message"]
    assert runs["shop.endless"].facet("headwater_run")["stopReason"] == "stopped"
    assert runs["shop.left"].facet("headwater_run")["stopReason"] == "the program ended"
    assert runs["shop.endless"].outputs() == {f"{program.folder.name}/out": None}


def test_a_topic_merged_by_micro_batches_stays_an_input(program: Program, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put_json(topic, [{"id": 1, "price": 3.5}, {"id": 50, "price": 1.5}])
    read = program.spark.readStream.format("kafka").option("kafka.bootstrap.servers", topics.broker)
    records = read.option("subscribe", topic).option("startingOffsets", "earliest").load()
    parsed = records.selectExpr("from_json(CAST(value AS STRING), 'id BIGINT, price DOUBLE') AS order")
    frame = parsed.selectExpr("order.id AS id", "order.price AS p")
    until_all_is_read(frame, program, "topic").queryName("live").foreachBatch(merge).start().awaitTermination()

    live = program.end()["shop.live"]

    assert [(dataset["namespace"], dataset["name"]) for dataset in live.last["inputs"]] == [
        (f"kafka://{topics.broker}", topic)
    ]
    assert live.columns()["price"] == [f"{topic}.price"]
    assert live.outputs() == {"sales/orders": 2}
    assert live.facet("headwater_stream")["sources"][0]["endOffset"] == {topic: {"0": 2}}
