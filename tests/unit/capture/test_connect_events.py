"""Events of a connector's run, as far as they depend on more than its lifecycle."""

import json
from typing import Any

import pytest

from headwater.capture.connect.classes import deciding_properties
from headwater.capture.connect.connectors import RunUpdate, Workers
from headwater.capture.connect.events import ClusterContext, event_of
from headwater.capture.connect.lifecycle import Lifecycles
from headwater.capture.connect.records import Committed, Configured, Delivered, Record, Status, TaskCount, TopicActive
from headwater.capture.fields import Field, TopicSchema

ORDERS = TopicSchema((Field("order_id", "long"), Field("price", "double")))
CONTEXT = ClusterContext("kafka-connect", "broker:9092", {"orders": ORDERS}.get, 60)
SINK = {
    "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
    "topics": "orders",
    "iceberg.tables": "sales.orders",
    "iceberg.catalog": "lake",
    "iceberg.catalog.type": "glue",
    "iceberg.catalog.warehouse": "s3://lake/warehouse",
}


def lifecycles_of(*records: Record, **changes: str) -> tuple[Lifecycles, list[RunUpdate]]:
    properties = {**SINK, **{name.replace("_", "."): value for name, value in changes.items()}}
    return applied(*started("lake", properties, "orders"), *records)


def started(connector: str, properties: dict[str, str], topic: str) -> list[Record]:
    """The records of a connector that starts, with one task and one topic."""
    return [
        Configured(connector, 1000, properties),
        Status(connector, 1010, None, "RUNNING", None, "w"),
        TaskCount(connector, 1020, 1),
        Status(connector, 1030, 0, "RUNNING", None, "w"),
        TopicActive(connector, 1040, topic),
    ]


def applied(*records: Record) -> tuple[Lifecycles, list[RunUpdate]]:
    lifecycles = Lifecycles("kafka-connect", deciding_properties())
    return lifecycles, [update for record in records for update in lifecycles.apply(record)]


def newest(*records: Record, **changes: str) -> dict[str, Any]:
    _, updates = lifecycles_of(*records, **changes)
    event: dict[str, Any] = json.loads(event_of(updates[-1], CONTEXT))
    return event


def test_a_commit_is_reported_with_its_snapshot_its_offsets_and_the_tables_version() -> None:
    event = newest(Delivered("lake", 2000, {"orders/0": 349}), Committed("lake", 2010, "c-1", "sales.orders", "77"))

    (table,) = event["outputs"]
    assert event["run"]["facets"]["headwater_iceberg_commits"]["commits"] == [
        {
            "table": "sales.orders",
            "snapshotId": "77",
            "commitId": "c-1",
            "committedAt": "1970-01-01T00:00:02.010000+00:00",
            "offsets": {"orders/0": 349},
        }
    ]
    assert (table["namespace"], table["name"]) == ("s3://lake", "warehouse/sales.db/orders")
    assert table["facets"]["version"]["datasetVersion"] == "77"


def test_an_event_says_how_often_the_next_one_comes_and_that_only_all_together_are_complete() -> None:
    assert newest()["job"]["facets"]["jobType"]["emissionPattern"] == {
        "eventTrigger": "PERIODIC",
        "eventContentMode": "ACCUMULATIVE",
        "windowDuration": 60,
    }


def test_before_the_first_commit_there_is_no_version() -> None:
    event = newest()

    assert "headwater_iceberg_commits" not in event["run"]["facets"]
    assert "version" not in event["outputs"][0]["facets"]


def test_a_connector_with_unstructured_values_has_no_columns() -> None:
    event = newest(value_converter="org.apache.kafka.connect.storage.StringConverter")

    assert "columnLineage" not in event["outputs"][0]["facets"]
    assert set(newest()["outputs"][0]["facets"]["columnLineage"]["fields"]) == {"order_id", "price"}


@pytest.mark.parametrize(
    ("topic", "outputs"),
    [
        ("rejected", [("s3://lake", "warehouse/sales.db/orders"), ("kafka://broker:9092", "rejected")]),
        ("", [("s3://lake", "warehouse/sales.db/orders")]),
        ("${env:STAGE}-rejected", [("s3://lake", "warehouse/sales.db/orders")]),
    ],
)
def test_a_sinks_dead_letters_are_an_output(topic: str, outputs: list[tuple[str, str]]) -> None:
    event = newest(errors_deadletterqueue_topic_name=topic)

    assert [(each["namespace"], each["name"]) for each in event["outputs"]] == outputs


def test_a_source_has_no_dead_letters() -> None:
    source = {
        "connector_class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": "/in",
        "topic": "orders",
    }

    event = newest(**source, errors_deadletterqueue_topic_name="rejected")

    assert [each["name"] for each in event["outputs"]] == ["orders"]


def test_a_sink_that_writes_only_some_fields_has_only_their_columns() -> None:
    jdbc = {
        "connector_class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "connection_url": "jdbc:postgresql://db/shop",
        "fields_whitelist": "price",
    }

    (table,) = newest(**jdbc)["outputs"]
    (with_key,) = newest(**jdbc, pk_fields="order_id")["outputs"]

    assert set(table["facets"]["columnLineage"]["fields"]) == {"price"}
    assert set(with_key["facets"]["columnLineage"]["fields"]) == {"order_id", "price"}


JDBC_SOURCE = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:postgresql://db/shop",
    "topic.prefix": "",
    "table.whitelist": "sales.orders",
    "transforms": "mask,to_text",
    "transforms.mask.type": "org.apache.kafka.connect.transforms.MaskField$Value",
    "transforms.mask.fields": "price",
    "transforms.to_text.type": "org.apache.kafka.connect.transforms.Cast$Value",
    "transforms.to_text.spec": "order_id:string",
}
ENVELOPE = TopicSchema(
    (
        Field("before", "struct", (Field("id", "long"),)),
        Field("after", "struct", (Field("id", "long"), Field("city", "struct", (Field("name", "string"),)))),
        Field("source", "struct", (Field("lsn", "long"),)),
        Field("op", "string"),
    )
)
DEBEZIUM = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "db",
    "database.dbname": "shop",
    "topic.prefix": "cdc",
}
DEBEZIUM_SINK = {
    "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
    "connection.url": "jdbc:postgresql://db/copy",
}


def columns(properties: dict[str, str], topic: str, schema: TopicSchema) -> dict[str, list[str]]:
    """The inputs of each column of the only output, `NAME.FIELD KIND`, of a connector with this one topic."""
    lifecycles = Lifecycles("kafka-connect", deciding_properties())
    records: list[Record] = [
        Configured("c", 1000, {"topics": topic, **properties}),
        Status("c", 1010, None, "RUNNING", None, "w"),
        TopicActive("c", 1020, topic),
    ]
    update = [update for record in records for update in lifecycles.apply(record)][-1]
    (output,) = json.loads(event_of(update, CONTEXT._replace(schema_of={topic: schema}.get)))["outputs"]
    found = output["facets"].get("columnLineage", {"fields": {}})["fields"]
    return {
        column: [
            f"{each['name']}.{each['field']} {how['subtype']}{' masked' if how.get('masking') else ''}"
            for each in lineage["inputFields"]
            for how in each["transformations"]
        ]
        for column, lineage in found.items()
    }


def test_the_fields_of_a_sources_topic_come_from_the_columns_of_its_table() -> None:
    schema = TopicSchema((*ORDERS.fields, Field("hour", "int")))

    assert columns(JDBC_SOURCE, "orders", schema) == {
        "order_id": ["shop.sales.orders.order_id TRANSFORMATION"],
        "price": ["shop.sales.orders.price TRANSFORMATION masked"],
        "hour": ["shop.sales.orders.hour IDENTITY"],
    }


def test_the_fields_of_a_topic_from_one_of_several_tables_have_no_known_column() -> None:
    assert columns({**JDBC_SOURCE, "table.whitelist": "sales.orders, eu.orders"}, "orders", ORDERS) == {}


def test_the_rows_in_debeziums_envelope_come_from_the_table_and_the_rest_does_not() -> None:
    unwrapping = {"transforms": "u", "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState"}

    assert columns(DEBEZIUM, "cdc.sales.orders", ENVELOPE) == {
        "before.id": ["shop.sales.orders.id IDENTITY"],
        "after.id": ["shop.sales.orders.id IDENTITY"],
        "after.city": ["shop.sales.orders.city IDENTITY"],
        "after.city.name": ["shop.sales.orders.city.name IDENTITY"],
    }
    assert columns({**DEBEZIUM, **unwrapping}, "cdc.sales.orders", TopicSchema((Field("id", "long"),))) == {
        "id": ["shop.sales.orders.id IDENTITY"]
    }


def test_debeziums_sink_writes_the_new_row_of_an_envelope_or_a_plain_record() -> None:
    assert columns(DEBEZIUM_SINK, "orders", ENVELOPE) == {
        "id": ["orders.after.id IDENTITY"],
        "city": ["orders.after.city IDENTITY"],
        "city.name": ["orders.after.city.name IDENTITY"],
    }
    assert columns(DEBEZIUM_SINK, "orders", TopicSchema((Field("after", "long"), Field("id", "long")))) == {
        "after": ["orders.after IDENTITY"],
        "id": ["orders.id IDENTITY"],
    }


def test_an_iceberg_table_has_its_catalog() -> None:
    catalog = newest()["outputs"][0]["facets"]["catalog"]

    assert (catalog["framework"], catalog["type"], catalog["name"]) == ("iceberg", "glue", "lake")
    assert catalog["warehouseUri"] == "s3://lake/warehouse"


def test_a_topics_new_schema_is_reported_for_every_run_that_uses_the_topic() -> None:
    lifecycles, _ = lifecycles_of()

    assert [update.connector for update in lifecycles.updates_for_topics({"orders", "other"}, 3000)] == ["lake"]
    assert lifecycles.updates_for_topics({"other"}, 3000) == []


def test_a_table_named_by_a_config_provider_is_a_gap_instead_of_a_dataset() -> None:
    event = newest(iceberg_tables="${env:DB}.orders")

    (error,) = event["run"]["facets"]["extractionError"]["errors"]
    assert "outputs" not in event
    assert [topic["name"] for topic in event["inputs"]] == ["orders"]
    assert error["errorMessage"] == (
        "the datasets other than topics are unknown: a config provider supplies iceberg.tables"
    )
    assert "extractionError" not in newest()["run"]["facets"]


def test_the_error_of_a_failed_run_and_task_is_the_root_cause_and_not_what_connect_wraps_it_in() -> None:
    trace = (
        "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded in error handler\n"
        "\tat org.apache.kafka.connect.runtime.WorkerTask.run(WorkerTask.java:298)\n"
        "Caused by: java.net.ConnectException: Connection refused\n"
    )

    facets = newest(Status("lake", 2000, 0, "FAILED", trace, "w"))["run"]["facets"]

    assert facets["errorMessage"]["message"] == "java.net.ConnectException: Connection refused"
    assert facets["errorMessage"]["stackTrace"] == trace.rstrip()
    assert facets["headwater_connect"]["tasks"][0]["message"] == "java.net.ConnectException: Connection refused"


def test_an_inferred_end_is_retracted_when_the_connector_is_seen_again() -> None:
    lifecycles, updates = lifecycles_of()
    updates += lifecycles.tick(
        90_000, Workers(are_there=False, seen_ms=50_000), heartbeat_ms=60_000, lost_after_ms=30_000
    )
    updates += lifecycles.apply(Status("lake", 100_000, 0, "RESTARTING", None, "w"))

    ended, back = (json.loads(event_of(each, CONTEXT)) for each in updates[-2:])

    assert (ended["eventType"], ended["run"]["facets"]["errorMessage"]["message"]) == ("FAIL", "workers lost")
    assert ended["run"]["facets"]["headwater_run"]["isInferred"] is True
    assert (back["eventType"], back["run"]["runId"]) == ("RUNNING", ended["run"]["runId"])
    assert back["run"]["facets"]["errorMessage"]["_deleted"] is True


CUSTOMERS = TopicSchema(tuple(Field(name, "string") for name in ("id", "email", "name", "note")))
ROW = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "database.hostname": "db",
    "database.dbname": "shop",
    "topic.prefix": "cdc",
    "table.include.list": "sales.customers",
    "transforms": "unwrap,route",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": r"cdc\.sales\.(.*)",
    "transforms.route.replacement": "$1",
}
"""Rows of a table, in a topic with its bare name."""


def steps_by_column(**changes: str) -> dict[str, dict[str, Any]]:
    """For each field of the topic of `ROW`, how it is made from the column of the same name."""
    lifecycles, updates = applied(*started("pg", {**ROW, **changes}, "customers"))
    written = event_of(updates[-1], CONTEXT._replace(schema_of={"customers": CUSTOMERS}.get))
    assert b"pepper" not in written + repr(lifecycles.connectors).encode()
    event = json.loads(written)
    (table,) = event["inputs"]
    (topic,) = event["outputs"]
    steps = {}
    for name, column in topic["facets"]["columnLineage"]["fields"].items():
        (source,) = column["inputFields"]
        assert (source["namespace"], source["name"], source["field"]) == (table["namespace"], table["name"], name)
        (steps[name],) = source["transformations"]
    return steps


def test_columns_that_debezium_masks_or_shortens_are_no_copies() -> None:
    copied = {"type": "DIRECT", "subtype": "IDENTITY", "masking": False}
    masked = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True}
    shortened = {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": False}

    steps = steps_by_column(
        **{
            "column.mask.with.8.chars": r"sales\.customers\.name,sales.other.id",
            "column.mask.hash.v2.SHA-256.with.salt.pepper": "SALES.customers.e.*",
            "column.truncate.to.20.chars": "sales.customers.note",
        }
    )

    assert steps == {"id": copied, "email": masked, "name": masked, "note": shortened}
    assert steps_by_column() == dict.fromkeys(("id", "email", "name", "note"), copied)
