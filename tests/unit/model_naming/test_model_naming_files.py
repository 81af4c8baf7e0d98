"""Names of files, objects, tables of a warehouse and topics.

The expected values are from the table of https://openlineage.io/docs/spec/naming, from recorded events of the official
agents for the same things, and from the official Java client's own tests.
"""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidNameError
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset, kafka_dataset, warehouse_table, without_secrets


@pytest.mark.parametrize(
    ("location", "namespace", "name"),
    [
        ("/warehouse/location", "file", "/warehouse/location"),
        ("/warehouse//location/./", "file", "/warehouse/location"),
        ("//warehouse", "file", "/warehouse"),
        ("/", "file", "/"),
        ("file:/warehouse/location/", "file", "/warehouse/location"),
        ("file:///warehouse/location", "file", "/warehouse/location"),
        ("file://localhost/warehouse", "file", "/warehouse"),
        ("file:///with%20space/a", "file", "/with space/a"),
        ("file:/orders#2/line?/a", "file", "/orders#2/line?/a"),
        ("file:///orders%232", "file", "/orders#2"),
        ("/with%20percent", "file", "/with%20percent"),
        ("file://nas.example/warehouse", "file://nas.example", "/warehouse"),
        ("s3://bucket", "s3://bucket", "/"),
        ("s3://bucket/warehouse/location/", "s3://bucket", "warehouse/location"),
        ("s3a://bucket/warehouse/location/", "s3://bucket", "warehouse/location"),
        ("s3n://bucket/warehouse/location/", "s3://bucket", "warehouse/location"),
        ("S3://bucket/Key//two", "s3://bucket", "Key//two"),
        ("gs://bucket/warehouse", "gs://bucket", "warehouse"),
        ("hdfs://namenode:8020/warehouse/location", "hdfs://namenode:8020", "/warehouse/location"),
        ("hdfs://namenode:8020", "hdfs://namenode:8020", "/"),
        ("hdfs://namenode:8020/", "hdfs://namenode:8020", "/"),
        ("dbfs:/mnt/raw", "dbfs", "/mnt/raw"),
        (
            "abfss://container@account.dfs.core.windows.net/warehouse/",
            "abfss://container@account.dfs.core.windows.net",
            "warehouse",
        ),
        (
            "wasbs://container@bucket.dfs.core.windows.net/warehouse",
            "wasbs://container@bucket.dfs.core.windows.net",
            "warehouse",
        ),
    ],
)
def test_a_location_is_named_by_the_spec(location: str, namespace: str, name: str) -> None:
    assert file_dataset(location) == DatasetId(namespace, name)


@pytest.mark.parametrize(
    "location",
    [
        "s3a://AKIAKEY:wJalr@bucket/k",
        "s3://bucket/k?X-Amz-Signature=wJalr",
        "https://me:wJalr@host/k?token=wJalr#wJalr",
    ],
)
def test_credentials_in_a_location_do_not_reach_the_name(location: str) -> None:
    dataset = file_dataset(location)

    assert "wJalr" not in dataset.node_id
    assert "AKIAKEY" not in dataset.node_id


@pytest.mark.parametrize(
    "location", ["", "flights.csv", "file:flights.csv", "s3:///key", "s3://AKIAKEY:wJa/lr@bucket/k", "hdfs://a:b:c/x"]
)
def test_a_location_that_cannot_be_parsed_is_refused_without_repeating_it(location: str) -> None:
    with pytest.raises(InvalidNameError) as refusal:
        file_dataset(location)

    assert "lr@" not in str(refusal.value)
    assert "wJa" not in str(refusal.value)


@pytest.mark.parametrize(
    "location",
    [
        "jdbc:postgresql://fred:s3cret@hostname/mydb?user=fred&password=s3cret",
        "jdbc:oracle:thin:fred/s3cret@hostname:1521/svc",
        "jdbc:sqlserver://hostname;user=fred;password=s3cret",
        "jdbc:mysql:fred:s3cret@hostname",
        "mongodb:fred:s3cret@hostname/mydb",
        "postgres:/fred:s3cret@hostname/mydb",
        "oracle:thin:fred/s3cret@hostname",
        "hive2://hostname:10000/mydb;user=fred;password=s3cret",
    ],
)
@pytest.mark.parametrize("name", [file_dataset, lambda location: warehouse_table(location, "t1"), without_secrets])
def test_an_address_with_its_own_syntax_for_passwords_is_refused_as_a_location(
    name: Callable[[str], object], location: str
) -> None:
    with pytest.raises(InvalidNameError) as refusal:
        name(location)

    assert "s3cret" not in str(refusal.value)


@given(st.text())
def test_any_text_is_named_or_refused(location: str) -> None:
    try:
        dataset = file_dataset(location)
    except InvalidNameError:
        return

    assert dataset.namespace
    assert dataset.name


@pytest.mark.parametrize(
    ("warehouse", "namespace"),
    [
        ("file:///lab/wh", "file:/lab/wh"),
        ("/lab/wh/", "file:/lab/wh"),
        ("/", "file"),
        ("s3a://bucket/warehouse", "s3://bucket/warehouse"),
        ("s3://warehouse", "s3://warehouse"),
        ("hdfs://namenode:8020/wh", "hdfs://namenode:8020/wh"),
    ],
)
def test_a_warehouse_table_has_the_warehouse_as_its_namespace(warehouse: str, namespace: str) -> None:
    assert warehouse_table(warehouse, "sales.orders") == DatasetId(namespace, "sales.orders")


@pytest.mark.parametrize(
    ("servers", "namespace"),
    [
        ("127.0.0.1:21510", "kafka://127.0.0.1:21510"),
        ("Broker-1:9092, broker-2:9092", "kafka://broker-1:9092"),
        (["broker-1", "broker-2:9093"], "kafka://broker-1:9092"),
        ("SASL_SSL://broker:9094", "kafka://broker:9094"),
        ("[::1]:9092", "kafka://[::1]:9092"),
    ],
)
def test_a_topic_is_named_by_the_first_bootstrap_server(servers: str | list[str], namespace: str) -> None:
    assert kafka_dataset(servers, "orders") == DatasetId(namespace, "orders")


@pytest.mark.parametrize("servers", ["", [], "user:secret@broker:9092", "broker:port"])
def test_bootstrap_servers_that_cannot_be_parsed_are_refused(servers: str | list[str]) -> None:
    with pytest.raises(InvalidNameError) as refusal:
        kafka_dataset(servers, "orders")

    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize(
    ("url", "cleaned"),
    [
        ("http://localhost:5000/api/v1/lineage", "http://localhost:5000/api/v1/lineage"),
        ("https://me:pa%40ss@Host.example/p?api_key=k#f", "https://host.example/p"),
        ("https://token@host", "https://host"),
    ],
)
def test_a_url_loses_its_secrets_and_nothing_else(url: str, cleaned: str) -> None:
    assert without_secrets(url) == cleaned
