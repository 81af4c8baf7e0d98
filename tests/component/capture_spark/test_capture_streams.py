"""Streaming programs: each start of a query is a run, with all that its micro-batches did."""

import json
from pathlib import Path

import pytest
from captured import Program, newest_version
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming import DataStreamWriter

from tests.support.topics import Topics

pytestmark = pytest.mark.spark

MERGE = """MERGE INTO lake.sales.orders t USING batch s ON t.id = s.id
    WHEN MATCHED THEN UPDATE SET price = s.p WHEN NOT MATCHED THEN INSERT (id, price) VALUES (s.id, s.p)"""


@pytest.fixture
def arriving(program: Program) -> Path:
    """A folder with two orders; one of them is in the table already."""
    folder = program.folder / "in"
    folder.mkdir()
    (folder / "a.json").write_text(
        '{"id": 1, "price": 9.0, "supplier": "7"}\n{"id": 99, "price": 1.0, "supplier": "x"}\n'
    )
    return folder


def followed(program: Program, folder: Path) -> DataFrame:
    return program.spark.readStream.schema("id BIGINT, price DOUBLE, supplier STRING").json(str(folder))


def at_once(frame: DataFrame, program: Program, name: str) -> DataStreamWriter:
    """A query that ends when it has seen all."""
    checkpoint = f"{program.folder}/checkpoints/{name}"
    return frame.writeStream.option("checkpointLocation", checkpoint).trigger(availableNow=True)


def merge(frame: DataFrame, _: int) -> None:
    frame.createOrReplaceTempView("batch")
    frame.sparkSession.sql(MERGE)


def test_a_query_into_iceberg_has_outputs_columns_offsets_counts_and_the_version(
    program: Program, arriving: Path
) -> None:
    frame = followed(program, arriving).selectExpr("id", "price * 2 AS price", "supplier")
    query = at_once(frame, program, "live").queryName("live").toTable("lake.sales.orders")
    query.awaitTermination()

    live = program.ended()["shop.live"]

    assert live.states == ["START", "RUNNING", "COMPLETE"]
    assert live.last["run"]["runId"] == str(query.runId)
    assert (live.inputs(), live.outputs()) == ([f"{program.folder.name}/in"], {"sales/orders": 2})
    assert live.columns()["price"] == [f"{program.folder.name}/in.price"]
    assert live.facet("headwater_run")["recordsIn"] == 2
    assert live.facet("headwater_stream")["sources"][0]["endOffset"] == {"logOffset": 0}
    version = live.last["outputs"][0]["facets"]["version"]["datasetVersion"]
    assert version == newest_version(program, "lake.sales.orders")


def test_what_a_micro_batch_merges_comes_from_what_the_query_follows(program: Program, arriving: Path) -> None:
    frame = followed(program, arriving).selectExpr("id", "price * 2 AS p")
    at_once(frame, program, "merge").foreachBatch(merge).start().awaitTermination()

    told = program.ended()

    (name,) = set(told) - {"shop"}  # what a micro-batch does is told by the query's run alone
    assert name == f"shop.foreach.{arriving}"
    assert told[name].states == ["START", "RUNNING", "COMPLETE"]
    assert (told[name].inputs(), told[name].outputs()) == ([f"{program.folder.name}/in"], {"sales/orders": 2})
    assert told[name].columns() == {
        "id": [f"{program.folder.name}/in.id"],
        "price": [f"{program.folder.name}/in.price"],
        "supplier": [],
    }


def test_what_a_function_of_micro_batches_raised_is_told_by_its_class_and_place(
    program: Program, arriving: Path
) -> None:
    def refuse(_batch: DataFrame, _number: int) -> None:
        raise LookupError("4929-1234-5678-9012")

    query = at_once(followed(program, arriving), program, "refuse").queryName("live").foreachBatch(refuse).start()
    with pytest.raises(StreamingQueryException):
        query.awaitTermination()

    live = program.ended()["shop.live"]

    message = live.facet("errorMessage")["message"]
    assert message.startswith("LookupError in a Python function, at refuse(")
    assert "4929" not in json.dumps(live.last)


def test_rows_of_a_micro_batch_that_went_through_an_rdd_are_not_made_from_nothing(
    program: Program, arriving: Path
) -> None:
    def through_rdd(frame: DataFrame, _: int) -> None:
        frame.rdd.map(lambda row: (row.id,)).toDF("key BIGINT").write.parquet(f"{program.folder}/keys")

    query = at_once(followed(program, arriving), program, "keys").queryName("keys")
    query.foreachBatch(through_rdd).start().awaitTermination()

    told = program.ended()["shop.keys"]

    assert told.inputs() == [f"{program.folder.name}/in"]
    assert "columnLineage" not in told.last["outputs"][0]["facets"]
    assert [one["errorMessage"] for one in told.facet("extractionError")["errors"]] == [
        "the source of an RDD's rows is unknown"
    ]


def test_rows_of_a_micro_batch_that_are_made_up_have_no_source_and_are_no_gap(program: Program) -> None:
    def keep(frame: DataFrame, _: int) -> None:
        frame.select("value").write.mode("append").parquet(f"{program.folder}/values")

    made_up = program.spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 2).load()
    at_once(made_up, program, "values").queryName("values").foreachBatch(keep).start().awaitTermination()

    told = program.ended()["shop.values"]

    assert told.columns() == {"value": []}
    assert "extractionError" not in told.last["run"]["facets"]


def test_queries_at_once_are_told_apart_by_how_they_end(program: Program, arriving: Path) -> None:
    frame = followed(program, arriving)
    endless = frame.writeStream.format("parquet").queryName("endless")
    endless = endless.option("checkpointLocation", f"{program.folder}/c").start(f"{program.folder}/out")
    bad = at_once(frame.selectExpr("CAST(supplier AS BIGINT) AS id"), program, "bad").queryName("bad")
    failing = bad.format("parquet").start(f"{program.folder}/bad")
    with pytest.raises(StreamingQueryException):
        failing.awaitTermination()
    endless.processAllAvailable()
    endless.stop()
    left = frame.writeStream.format("noop").queryName("left").start()

    told = program.ended()

    left.stop()
    ends = {name: (one.states[0], one.states[-1]) for name, one in told.items()}
    assert ends == {
        "shop": ("START", "COMPLETE"),
        "shop.endless": ("START", "ABORT"),
        "shop.bad": ("START", "FAIL"),
        "shop.left": ("START", "ABORT"),
    }
    assert "CAST_INVALID_INPUT" in told["shop.bad"].facet("errorMessage")["message"]
    assert told["shop.endless"].facet("headwater_run")["stopReason"] == "stopped"
    assert told["shop.left"].facet("headwater_run")["stopReason"] == "the program ended"
    assert told["shop.endless"].outputs() == {f"{program.folder.name}/out": None}


def test_a_topic_merged_by_micro_batches_stays_an_input(program: Program, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put_json(topic, [{"id": 1, "price": 3.5}, {"id": 50, "price": 1.5}])
    read = program.spark.readStream.format("kafka").option("kafka.bootstrap.servers", topics.broker)
    records = read.option("subscribe", topic).option("startingOffsets", "earliest").load()
    parsed = records.selectExpr("from_json(CAST(value AS STRING), 'id BIGINT, price DOUBLE') AS order")
    frame = parsed.selectExpr("order.id AS id", "order.price AS p")
    at_once(frame, program, "topic").queryName("live").foreachBatch(merge).start().awaitTermination()

    live = program.ended()["shop.live"]

    assert [(one["namespace"], one["name"]) for one in live.last["inputs"]] == [(f"kafka://{topics.broker}", topic)]
    assert live.columns()["price"] == [f"{topic}.price"]
    assert live.outputs() == {"sales/orders": 2}
    assert live.facet("headwater_stream")["sources"][0]["endOffset"] == {topic: {"0": 2}}
