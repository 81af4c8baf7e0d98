"""The parts of Kafka pipelines that need neither a broker nor a JVM."""

import json
from collections.abc import Mapping

import orjson
import pytest

from headwater.errors import SetupError
from headwater.graph.sparkplan.leaves import leaves
from headwater.graph.sparkplan.plan import parse_plan
from headwater.pipeline.kafka.connection import client_properties, spark_options
from headwater.pipeline.kafka.evolution import READ_MARK, reader_schema
from headwater.pipeline.kafka.read import PAYLOAD, beginnings
from headwater.pipeline.kafka.registry import Registry, Version
from headwater.pipeline.reporting.topics import cut_at_payloads
from headwater.pipeline.spec import KafkaInput, KafkaSecurity, SchemaRegistry

PACKAGE = "org.apache.spark.sql.catalyst"


def version(number: int, *fields: Mapping[str, object]) -> Version:
    return Version("orders-value", number, 10 + number, "AVRO", json.dumps({**RECORD, "fields": fields}))


RECORD = {"type": "record", "name": "order"}
ORDER_ID = {"name": "order_id", "type": "long"}
PRICE = {"name": "price", "type": "double"}
SUPPLIER = {"name": "supplier", "type": ["string", "null"], "default": "nobody"}


def test_a_dropped_field_is_read_as_null_and_a_field_with_a_default_keeps_it() -> None:
    schema = json.loads(reader_schema([version(1, ORDER_ID, PRICE), version(2, ORDER_ID, SUPPLIER)]))

    assert schema["fields"] == [
        ORDER_ID,
        SUPPLIER,
        {"name": "price", "type": ["null", "double"], "default": None},
        {"name": READ_MARK, "type": "boolean", "default": True},
    ]


def test_a_single_version_is_read_as_it_is() -> None:
    schema = json.loads(reader_schema([version(1, ORDER_ID, PRICE)]))

    assert schema["fields"][:-1] == [ORDER_ID, PRICE]


def test_every_partition_has_a_start_and_that_of_a_batch_is_never_the_latest() -> None:
    requested, ends = {"a": {"0": 17, "1": -1}}, {"a": {"0": 40, "1": 50, "2": 60}, "b": {"0": 7}}

    batch, stream = (beginnings(requested, ends, follow=follow) for follow in (False, True))

    assert batch == {"a": {"0": 17, "1": 50, "2": -2}, "b": {"0": -2}}
    assert stream == {"a": {"0": 17, "1": -1, "2": -2}, "b": {"0": -2}}


def test_user_and_password_are_from_the_environment_and_their_quotes_are_escaped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_USER", "shop")
    monkeypatch.setenv("SHOP_PASSWORD", 'a"b\\c')
    reads = input_over(KafkaSecurity(protocol="SASL_SSL", user_env="SHOP_USER", password_env="SHOP_PASSWORD"))  # noqa: S106

    properties = client_properties(reads)

    assert properties["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="shop" password="a\\"b\\\\c";'
    )
    assert properties["bootstrap.servers"] == "one:9092,two:9092"
    assert spark_options(reads)["kafka.security.protocol"] == "SASL_SSL"


def test_a_missing_password_is_reported_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_USER", "shop")
    monkeypatch.delenv("SHOP_PASSWORD", raising=False)
    reads = input_over(KafkaSecurity(protocol="SASL_SSL", user_env="SHOP_USER", password_env="SHOP_PASSWORD"))  # noqa: S106

    with pytest.raises(SetupError, match="security needs the environment variable SHOP_PASSWORD, which is not set"):
        client_properties(reads)


def test_the_reading_of_records_is_cut_out_of_a_plan_and_of_its_subqueries() -> None:
    subquery = [{"class": f"{PACKAGE}.ScalarSubquery", "num-children": 0, "plan": payload("suppliers", 7)}]
    plan = [
        {"class": f"{PACKAGE}.Filter", "num-children": 1, "condition": subquery, "child": 0},
        *payload("orders", 3),
    ]

    plan_leaves = leaves(parse_plan(cut_at_payloads(orjson.dumps(plan).decode())))

    assert [(leaf.source, leaf.key) for leaf in plan_leaves] == [("kafka:orders", 3), ("kafka:suppliers", 7)]


def payload(name: str, key: int) -> list[dict[str, object]]:
    """The plan of `read_kafka`, as Spark writes it: an alias, a projection, and the topic's own columns."""

    def column(name: str, number: int, kind: str = "AttributeReference") -> dict[str, object]:
        return {"class": f"{PACKAGE}.{kind}", "num-children": 0, "name": name, "exprId": {"id": number}}

    return [
        {"class": f"{PACKAGE}.SubqueryAlias", "num-children": 1, "identifier": {"name": f"{PAYLOAD}{name}"}},
        {"class": f"{PACKAGE}.Project", "num-children": 1, "projectList": [[column("order_id", key, "Alias")]]},
        {"class": f"{PACKAGE}.LogicalRelation", "num-children": 0, "output": [[column("value", key + 1)]]},
    ]


def input_over(security: KafkaSecurity) -> KafkaInput:
    return KafkaInput(addresses=("one:9092", "two:9092"), topics=("orders",), format="raw", security=security)


def test_a_proxy_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:hush@127.0.0.1:9")

    with pytest.raises(SetupError, match=r"^ALL_PROXY holds no valid proxy address") as found:
        Registry(SchemaRegistry(url="http://registry.example.org"))

    assert "hush" not in str(found.value)
