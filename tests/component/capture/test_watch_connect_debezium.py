"""A watcher of Connect and the real Debezium: which table is behind each topic, and which column behind each field."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from headwater.lab.kafka import TRANSFORM
from headwater.lab.lab import Lab
from tests.support.kafka_lab import running_kafka
from tests.support.postgres import USER, Cluster, running_cluster
from tests.support.service import Service, eventually, running
from tests.support.watch import Watch

pytestmark = pytest.mark.spark

TABLES = """
CREATE SCHEMA sales;
CREATE TABLE sales."Customers" (id int PRIMARY KEY, email text, name text, note text);
CREATE TABLE sales.orders_1 (id int PRIMARY KEY, price numeric(10, 2));
CREATE TABLE sales.orders_2 (id int PRIMARY KEY, price numeric(10, 2));
INSERT INTO sales."Customers" VALUES (1, 'ann@example.org', 'Ann', 'regular');
INSERT INTO sales.orders_1 VALUES (1, 9.5);
INSERT INTO sales.orders_2 VALUES (2, 3.5);
"""
DEBEZIUM = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "plugin.name": "pgoutput",
    "database.hostname": "127.0.0.1",
    "database.user": USER,
    "database.password": "hunter2",
    "database.dbname": "postgres",
    "transforms.lineage.type": "headwater.connect.OpenLineageLifecycleSmt",
    "transforms.lineage.emission.interval": "500ms",
}
UNWRAP = {"transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState"}
ENVELOPES = {**DEBEZIUM, "topic.prefix": "cdc", "schema.include.list": "sales", "transforms": "lineage"}
ROWS = {
    **DEBEZIUM,
    **UNWRAP,
    "topic.prefix": "rows",
    "table.include.list": "sales.Customers",
    "column.exclude.list": "sales.Customers.note",
    "column.mask.hash.v2.SHA-256.with.salt.pepper": "sales.Customers.name",
    "transforms": "unwrap,route,lineage",
    "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.route.regex": r"([^.]+)\.([^.]+)\.([^.]+)",
    "transforms.route.replacement": "$3",
}
MERGED = {
    **DEBEZIUM,
    **UNWRAP,
    "topic.prefix": "merged",
    "table.include.list": r"sales\.orders_1,sales\.orders_2",
    "transforms": "merge,unwrap,lineage",
    "transforms.merge.type": "io.debezium.transforms.ByLogicalTableRouter",
    "transforms.merge.topic.regex": r"(.*)orders_\d",
    "transforms.merge.topic.replacement": "$1orders",
}


@pytest.fixture(scope="module")
def database() -> Iterator[Cluster]:
    """A database with three tables, whose changes can be captured."""
    with running_cluster("wal_level=logical") as cluster:
        with closing(psycopg.connect(cluster.url("postgres"), autocommit=True)) as db:
            db.execute(TABLES)
        yield cluster


@pytest.fixture(scope="module")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A broker, and a worker with Debezium and the transform."""
    assert TRANSFORM.is_dir(), "the transform is not built: make build/connect-smt.stamp"
    with running_kafka(tmp_path_factory.mktemp("lab"), "broker", "connect") as lab:
        yield lab


def test_a_topic_of_debezium_is_made_from_its_table_column_by_column(
    database: Cluster, connect: Lab, tmp_path: Path
) -> None:
    expected = {
        "envelopes": (
            {"postgres.sales.Customers", "postgres.sales.orders_1", "postgres.sales.orders_2"},
            {"cdc.sales.Customers", "cdc.sales.orders_1", "cdc.sales.orders_2"},
        ),
        "rows": ({"postgres.sales.Customers"}, {"Customers"}),
        "merged": ({"postgres.sales.orders_1", "postgres.sales.orders_2"}, {"merged.sales.orders"}),
    }
    with running(tmp_path) as service, watching(tmp_path, service, connect) as watch:
        for name, settings in (("envelopes", ENVELOPES), ("rows", ROWS), ("merged", MERGED)):
            own = {"slot.name": name, "publication.name": name}  # several that create the same one would fail
            config = {**settings, **own, "database.port": str(database.port), "tasks.max": "1"}
            answer = httpx.put(f"{connect.address('connect')}/connectors/{name}/config", json=config, timeout=60)
            assert answer.is_success, answer.text
        assert eventually(lambda: {name: flows(watch, name) for name in expected} == expected, 300), {
            name: flows(watch, name) for name in expected
        }
        assert eventually(lambda: bool(columns(watch, "rows", "Customers")), 60)
        assert eventually(lambda: bool(columns(watch, "envelopes", "cdc.sales.Customers")), 60)

    table = f"postgres://127.0.0.1:{database.port} postgres.sales.Customers"
    assert columns(watch, "rows", "Customers") == {
        "id": [(table, "id", "IDENTITY", False)],
        "email": [(table, "email", "IDENTITY", False)],
        "name": [(table, "name", "TRANSFORMATION", True)],
    }
    assert columns(watch, "envelopes", "cdc.sales.Customers") == {
        f"{side}.{name}": [(table, name, "IDENTITY", False)]
        for side in ("before", "after")
        for name in ("id", "email", "name", "note")
    }
    assert columns(watch, "merged", "merged.sales.orders") == {}  # which of the tables has which column is unknown
    reported = watch.file.read_bytes()
    assert b"hunter2" not in reported
    assert b"pepper" not in reported


@contextmanager
def watching(home: Path, service: Service, connect: Lab) -> Iterator[Watch]:
    """A watcher of the worker, which reports to the service."""
    watch = Watch(home, service, "connect", "--bootstrap", connect.address("broker"))
    watch.start()
    try:
        yield watch
    finally:
        watch.end()


def flows(watch: Watch, connector: str) -> tuple[set[str], set[str]]:
    """The names of the inputs and outputs of a connector's newest event."""
    if not watch.events(connector):
        return set(), set()
    inputs, outputs = watch.flows(connector)
    return {*inputs}, {*outputs}


def columns(watch: Watch, connector: str, topic: str) -> dict[str, list[tuple[str, str, str, bool]]]:
    """For each field of the topic, the columns that it is made from, and how."""
    outputs: list[dict[str, Any]] = watch.events(connector)[-1].get("outputs", [])
    (found,) = (each["facets"] for each in outputs if each["name"] == topic)
    fields = found.get("columnLineage", {}).get("fields", {})
    return {
        name: [
            (f"{each['namespace']} {each['name']}", each["field"], step["subtype"], step["masking"])
            for each in column["inputFields"]
            for step in each["transformations"]
        ]
        for name, column in fields.items()
    }
