"""Batches over topics of a real broker, compared with the records that Confluent's clients wrote."""

import json
import time
from datetime import UTC, datetime

import pytest
from confluent_kafka.schema_registry import Schema
from pyarrow import parquet

from tests.component.pipeline.pipeline_bench import Bench
from tests.support.topics import Topics

pytestmark = pytest.mark.spark

ORDER = {
    "type": "record",
    "name": "order",
    "fields": [
        {"name": "order_id", "type": "long"},
        {"name": "price", "type": ["null", "double"], "default": None},
    ],
}
SECRET = b"4111-1111-1111-1111"


def test_json_records_become_rows_with_keys_offsets_and_headers_as_columns(bench: Bench, topics: Topics) -> None:
    topic = topics.named("orders")
    topics.put(topic, b'{"order_id": 1, "price": "10.5"}', b'{"order_id": 2}', key=b"k")

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: json
            schema: order_id BIGINT, price DECIMAL(10,2)
            metadata: [key, offset, headers]
        pipeline:
          processors:
            - mapping:
                keep: true
                columns: {{k: CAST(_key AS STRING), trace: "CAST(_headers[0].value AS STRING)"}}
                drop: [_key, _headers]
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.result.error is None
    assert [(row[0], str(row[1]), *row[2:]) for row in bench.rows("lake.sales.orders")] == [
        (1, "10.50", 0, "k", "t-1"),
        (2, "None", 1, "k", "t-1"),
    ]
    assert run.counters() == (2, 2)


def test_a_topic_is_named_by_its_broker_has_its_payloads_schema_and_columns_come_from_its_fields(
    bench: Bench, topics: Topics
) -> None:
    topic = topics.named("orders")
    topics.put_avro(topic, ORDER, {"order_id": 7, "price": 2.5})

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: avro
            schema_registry: {{url: "{topics.registry_url}"}}
        pipeline:
          processors:
            - mapping: {{columns: {{id: order_id, cents: CAST(price * 100 AS INT)}}}}
        output: {{iceberg: lake.sales.orders}}
    """)

    read = run.input(topic)
    assert read["namespace"] == f"kafka://{topics.broker}"
    assert [(field["name"], field["type"]) for field in read["facets"]["schema"]["fields"]] == [
        ("order_id", "bigint"),
        ("price", "double"),
    ]
    version = topics.registry.get_latest_version(f"{topic}-value")
    topic_schema = read["facets"]["headwater_topic_schema"]
    assert (topic_schema["subject"], topic_schema["version"], topic_schema["schemaId"]) == (
        f"{topic}-value",
        version.version,
        version.schema_id,
    )
    columns = run.output("orders")["facets"]["columnLineage"]["fields"]
    assert {column: [source["field"] for source in field["inputFields"]] for column, field in columns.items()} == {
        "id": ["order_id"],
        "cents": ["price"],
    }
    assert {source["name"] for field in columns.values() for source in field["inputFields"]} == {topic}
    assert bench.rows("lake.sales.orders") == [(7, 250)]
    assert read["inputFacets"]["inputStatistics"]["rowCount"] == 1


def test_records_that_cannot_be_read_go_to_the_dead_letters_with_a_reason_and_are_counted(
    bench: Bench, topics: Topics
) -> None:
    topic = topics.named("orders")
    topics.put(topic, b'{"order_id": 1}', b'{"order_id": "' + SECRET + b'"}', SECRET, b"", None)

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: json
            schema: order_id BIGINT
            dead_letter: {{iceberg: lake.dead.orders}}
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.result.error is None
    assert bench.rows("lake.sales.orders") == [(1,), (None,)]  # the last is the record without a value
    dead = bench.table("lake.dead.orders").scan().to_arrow().sort_by("offset").to_pylist()
    assert [(row["offset"], row["value"], row["reason"]) for row in dead] == [
        (1, b'{"order_id": "' + SECRET + b'"}', "not JSON that matches the declared schema"),
        (2, SECRET, "not JSON that matches the declared schema"),
        (3, b"", "not JSON that matches the declared schema"),
    ]
    assert run.counters() == (5, 2)
    assert run.last["run"]["facets"]["headwater_run"]["errorCount"] == 3
    assert {dataset["name"].rpartition("/")[2] for dataset in run.last["outputs"]} == {"orders"}
    assert len(run.last["outputs"]) == 2
    assert SECRET not in b"".join(run.raw_events)


def test_each_record_of_an_avro_topic_becomes_a_row_or_a_dead_letter_with_a_reason(
    bench: Bench, topics: Topics
) -> None:
    topic = topics.named("orders")
    topics.put_avro(topic, ORDER, {"order_id": 1, "price": 2.5})
    schema_id = topics.registry.get_latest_version(f"{topic}-value").schema_id or 0
    framed = b"\x00" + schema_id.to_bytes(4, "big")
    no_such_union_branch, endless_number = framed + b"\x02\x63", framed + b"\xff" * 20
    topics.put(topic, b"", b"\x00", b"\x00\xff\xff\xff\xff", framed, no_such_union_branch, endless_number, SECRET)

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: avro
            schema_registry: {{url: "{topics.registry_url}"}}
            dead_letter: {{file: {{path: dead, format: parquet}}}}
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.result.error is None
    assert bench.rows("lake.sales.orders") == [(1, 2.5)]
    dead = parquet.read_table(bench.folder / "dead").sort_by("offset").to_pylist()
    assert [row["reason"] for row in dead] == [
        "not Avro with a schema id",
        "not Avro with a schema id",
        "the versions of the topic's subject read here do not include its schema id 4294967295",
        *[f"not valid Avro for its schema id {schema_id}"] * 3,
        "not Avro with a schema id",
    ]
    assert SECRET not in b"".join(run.raw_events)


def test_without_dead_letters_an_unreadable_record_fails_the_run_and_is_named_by_its_offset(
    bench: Bench, topics: Topics, caplog: pytest.LogCaptureFixture
) -> None:
    topic = topics.named("orders")
    topics.put(topic, b'{"order_id": 1}', SECRET)

    run = bench.run(f"""
        input:
          kafka: {{addresses: ["{topics.broker}"], topics: [{topic}], format: json, schema: order_id BIGINT}}
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.states[-1] == "FAIL"
    place = f"input: topic {topic}, partition 0, offset 1: not JSON that matches the declared schema"
    assert place in (run.result.error or "")
    assert place in run.last["run"]["facets"]["errorMessage"]["message"]
    assert SECRET not in b"".join(run.raw_events)
    assert SECRET.decode() not in caplog.text
    assert bench.rows("lake.sales.orders") == []


def test_json_is_read_by_the_registrys_schema_with_or_without_a_schema_id(bench: Bench, topics: Topics) -> None:
    topic = topics.named("orders")
    schema = {"type": "object", "properties": {"order_id": {"type": "integer"}, "note": {"type": "string"}}}
    schema_id = topics.registry.register_schema(f"{topic}-value", Schema(json.dumps(schema), "JSON"))
    framed = b"\x00" + schema_id.to_bytes(4, "big")
    topics.put(topic, framed + b'{"order_id": 1, "note": "a"}', b'{"order_id": 2}', b"\x00\x00\x0f\x42\x40{}")

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{topic}]
            format: json
            schema_registry: {{url: "{topics.registry_url}"}}
            dead_letter: {{iceberg: lake.dead.orders}}
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.result.error is None
    assert bench.rows("lake.sales.orders") == [(1, "a"), (2, None)]
    assert [row[-1] for row in bench.rows("lake.dead.orders")] == [
        "the versions of the topic's subject read here do not include its schema id 1000000"
    ]
    assert run.input(topic)["facets"]["headwater_topic_schema"]["schemaType"] == "JSON"


def test_a_pattern_reads_all_matching_topics_and_each_column_comes_from_the_topics_that_have_it(
    bench: Bench, topics: Topics
) -> None:
    first, second = topics.named("shop-a"), topics.named("shop-b")
    topics.put_avro(first, ORDER, {"order_id": 1, "price": 1.5})
    supplied = {**ORDER, "fields": [ORDER["fields"][0], {"name": "supplier", "type": "string"}]}
    topics.put_avro(second, supplied, {"order_id": 2, "supplier": "acme"})

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            pattern: "({first}|{second})"
            format: avro
            schema_registry: {{url: "{topics.registry_url}"}}
        output: {{iceberg: lake.sales.orders}}
    """)

    assert run.result.error is None
    assert bench.rows("lake.sales.orders") == [(1, 1.5, None), (2, None, "acme")]
    columns = run.output("orders")["facets"]["columnLineage"]["fields"]
    assert {column: {source["name"] for source in field["inputFields"]} for column, field in columns.items()} == {
        "order_id": {first, second},
        "price": {first},
        "supplier": {second},
    }


def test_a_batch_starts_at_the_configured_offsets_or_time(bench: Bench, topics: Topics) -> None:
    first, second, third = (topics.named(name) for name in ("first", "second", "third"))
    for topic in (first, second, third):
        topics.put(topic, f"{topic[:3]}-0".encode())
    time.sleep(0.05)
    since = datetime.now(UTC)
    time.sleep(0.05)
    for topic in (first, second, third):
        topics.put(topic, f"{topic[:3]}-1".encode())

    def read(start: str) -> list[str]:
        run = bench.run(f"""
            input:
              kafka:
                addresses: ["{topics.broker}"]
                topics: [{first}, {second}, {third}]
                format: raw
                {start}
            pipeline: {{processors: [{{mapping: {{columns: {{value: CAST(value AS STRING)}}}}}}]}}
            output: {{iceberg: {{table: lake.sales.raw, mode: overwrite}}}}
        """)
        assert run.result.error is None
        return [row[0] for row in bench.rows("lake.sales.raw")]

    by_offset = read(f"start_offsets: {{{first}: {{0: 1}}, {third}: {{0: -1}}}}")
    by_time = read(f"start_time: {since.isoformat()}")

    assert by_offset == ["fir-1", "sec-0", "sec-1"]  # the topic that is not named starts at its first record
    assert by_time == ["fir-1", "sec-1", "thi-1"]


def test_avro_output_is_read_by_confluents_deserializer(bench: Bench, topics: Topics) -> None:
    source, target = topics.named("raw"), topics.named("orders")
    topics.put(source, b"8", key=b"acme")

    run = bench.run(f"""
        input: {{kafka: {{addresses: ["{topics.broker}"], topics: [{source}], format: raw, metadata: [key]}}}}
        pipeline:
          processors:
            - mapping: {{columns: {{order_id: CAST(CAST(value AS STRING) AS INT), supplier: CAST(_key AS STRING)}}}}
        output:
          kafka:
            addresses: ["{topics.broker}"]
            topic: {target}
            format: avro
            key: supplier
            schema_registry: {{url: "{topics.registry_url}"}}
    """)

    assert run.result.error is None
    assert topics.avro_values(target, 1) == [{"order_id": 8}]
    assert topics.messages(target, 1)[0].key() == b"acme"
    written = run.output(target)
    assert [field["name"] for field in written["facets"]["schema"]["fields"]] == ["order_id"]


def test_json_is_written_and_dead_letters_in_a_topic_keep_key_value_and_headers(bench: Bench, topics: Topics) -> None:
    source, target, dead = topics.named("orders"), topics.named("clean"), topics.named("dead")
    topics.put(source, b'{"order_id": 1}', SECRET, key=b"k")

    run = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{source}]
            format: json
            schema: order_id BIGINT
            dead_letter: {{kafka: {{addresses: ["{topics.broker}"], topic: {dead}, format: raw}}}}
        output: {{kafka: {{addresses: ["{topics.broker}"], topic: {target}}}}}
    """)

    assert run.result.error is None
    assert [json.loads(message.value() or b"") for message in topics.messages(target, 1)] == [{"order_id": 1}]
    assert run.counters() == (2, None)
    assert "outputStatistics" not in run.output(target).get("outputFacets", {})
    (letter,) = topics.messages(dead, 1)
    assert (letter.key(), letter.value()) == (b"k", SECRET)
    assert dict(letter.headers() or {}) == {
        "trace": b"t-1",
        "headwater.reason": b"not JSON that matches the declared schema",
        "headwater.topic": source.encode(),
        "headwater.partition": b"0",
        "headwater.offset": b"1",
    }
    assert run.last["run"]["facets"]["headwater_run"]["errorCount"] == 1


def test_a_missing_topic_or_subject_is_named(bench: Bench, topics: Topics) -> None:
    empty = topics.named("empty")
    topics.put(empty, b"x")

    without_topic = bench.run(f"""
        input: {{kafka: {{addresses: ["{topics.broker}"], topics: [no-such-topic], format: raw}}}}
        output: {{stdout: {{rows: 1}}}}
    """)
    without_subject = bench.run(f"""
        input:
          kafka:
            addresses: ["{topics.broker}"]
            topics: [{empty}]
            format: avro
            schema_registry: {{url: "{topics.registry_url}"}}
        output: {{stdout: {{rows: 1}}}}
    """)

    assert f"no topic no-such-topic at {topics.broker}" in (without_topic.result.error or "")
    assert f"has no subject '{empty}-value'" in (without_subject.result.error or "")
