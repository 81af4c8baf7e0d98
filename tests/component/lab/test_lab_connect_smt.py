"""`OpenLineageLifecycleSmt` in a real Connect worker: what it reports about connectors with three tasks."""

import json
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from headwater.lab.kafka import TRANSFORM
from headwater.lab.lab import Lab
from headwater.signing.keyfile import key_path, load_or_create
from headwater.signing.verify import verify_event
from tests.support.kafka_lab import running_kafka
from tests.support.service import eventually, running
from tests.support.spec import Specification

ENGINE = "4.3.1"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
VERSION_1: list[dict[str, Any]] = [
    {"field": "id", "type": "int32"},
    {"field": "note", "type": "string", "optional": True},
]
VERSION_2 = [*VERSION_1, {"field": "price", "type": "double"}]

AVRO_1 = [{"name": "id", "type": "long"}]
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
AVRO_2 = [*AVRO_1, {"name": "price", "type": ["null", DECIMAL], "default": None}]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A broker, a schema registry, and a worker that has the transform."""
    assert TRANSFORM.is_dir(), "the transform is not built: make build/connect-smt.stamp"
    with running_kafka(tmp_path_factory.mktemp("lab-connect"), "broker", "registry", "connect") as lab:
        yield lab


def test_a_connectors_events_show_its_start_and_end_its_topics_and_each_schema_change(
    lab: Lab, tmp_path: Path, shared: Path
) -> None:
    topic, connector = _topic(lab), f"archive-{uuid.uuid4().hex}"
    key = load_or_create(tmp_path)
    reader = _events_of(lab, connector)
    create = {"tasks.max": 3, "topics": topic, "file": str(tmp_path / "out")}
    _create(lab, connector, SINK, create, {"node.key": str(key_path(tmp_path))})

    _produce(lab, topic, VERSION_1, {"id": 1, "note": None})
    _until(reader, lambda event: _fields(event) == ["id int32", "note string"])
    _produce(lab, topic, VERSION_2, {"id": 2, "note": "x", "price": 2.5})
    _until(reader, lambda event: len(_fields(event)) == 3)
    _until(reader, lambda event: _facet(event)["recordsSeen"] == 60)
    httpx.delete(f"{lab.address('connect')}/connectors/{connector}").raise_for_status()
    events = _until(reader, lambda event: event["eventType"] == "ABORT")

    dataset = f"kafka://{lab.address('broker')} {topic}"
    types = [event["eventType"] for event in events]
    assert (types[0], set(types[1:-1]), types[-1]) == ("START", {"RUNNING"}, "ABORT")
    assert len({event["run"]["runId"] for event in events}) == 1
    assert {(event["job"]["namespace"], event["job"]["name"]) for event in events} == {("kafka-connect", connector)}
    assert {_names(event["inputs"]) for event in events} == {(), (dataset,)}
    assert {_names(event["outputs"]) for event in events} == {()}
    assert _without_repetitions([_fields(event) for event in events if _fields(event)]) == [
        ["id int32", "note string"],
        ["id int32", "note string", "price float64"],
    ]
    assert max((_facet(event)["tasks"] for event in events), key=len) == [{"id": 0}, {"id": 1}, {"id": 2}]
    assert _facet(events[-1])["recordsSeen"] == 60
    assert _facet(events[-1])["kind"] == "sink"
    assert events[-1]["run"]["facets"]["processing_engine"]["version"] == ENGINE
    assert _facet(events[-1])["connectorClass"] == SINK

    trusted = {key.key_id: key.public_key}
    specification = Specification(shared / "openlineage")
    assert {verify_event(raw, trusted).verdict for raw in reader.raw} == {"ok"}
    assert [violation for raw in reader.raw for violation in specification.complaints(raw)] == []


def test_a_service_that_requires_signed_events_shows_source_and_sink_as_one_flow(lab: Lab, tmp_path: Path) -> None:
    topic, suffix = _topic(lab), uuid.uuid4().hex
    read, archive = f"read-{suffix}", f"archive-{suffix}"
    load_or_create(tmp_path)
    (tmp_path / "in").write_text("".join(f"line {number}\n" for number in range(40)))
    with running(tmp_path, "--require-signed") as service:
        transform = {"openlineage.url": service.url, "node.key": str(key_path(tmp_path))}
        source_file = {"dataset.namespace": "file", "dataset.names": str(tmp_path / "in")}
        _create(lab, read, SOURCE, {"file": str(tmp_path / "in"), "topic": topic}, transform | source_file)
        _create(lab, archive, SINK, {"tasks.max": 3, "topics": topic, "file": str(tmp_path / "out")}, transform)
        jobs = f"{service.url}/api/v1/namespaces/kafka-connect/jobs"

        def job(name: str) -> dict[str, Any]:
            response = httpx.get(f"{jobs}/{name}")
            body: dict[str, Any] = response.json() if response.status_code == 200 else {}
            return body

        assert eventually(lambda: bool(job(read).get("outputs") and job(archive).get("inputs")))
        for connector in (read, archive):
            httpx.delete(f"{lab.address('connect')}/connectors/{connector}").raise_for_status()
        assert eventually(lambda: {job(name)["latestRun"]["state"] for name in (read, archive)} == {"ABORTED"})

        dataset = {"namespace": f"kafka://{lab.address('broker')}", "name": topic}
        assert job(read)["inputs"] == [{"namespace": "file", "name": str(tmp_path / "in")}]
        assert job(read)["outputs"] == [dataset]
        assert job(archive)["inputs"] == [dataset]
        assert job(archive)["outputs"] == []
        runs = httpx.get(f"{jobs}/{archive}/runs").json()["runs"]
        assert [run["state"] for run in runs] == ["ABORTED"]
        # Source and sink share a key and a target, so their events are one record, and it is complete.
        (node,) = httpx.get(f"{service.url}/api/v1/nodes").json()["nodes"]
        stored = httpx.get(f"{service.url}/api/v1/events/lineage?limit=1000").json()["totalCount"]
        assert (node["epochs"], node["unproved"], node["events"]) == (1, 0, stored)
        assert node["lastSequence"] == stored - 1
        assert not any(node["troubles"].values())
    assert (tmp_path / "out").read_text().count("line") == 40


def test_byte_values_are_reported_with_each_version_of_their_schema_in_the_registry(lab: Lab, tmp_path: Path) -> None:
    topic, connector = _topic(lab), f"raw-{uuid.uuid4().hex}"
    reader = _events_of(lab, connector)
    create = {"topics": topic, "file": str(tmp_path / "out"), "value.converter": BYTES}
    transform = {"value.converter.schema.read": "true", "schema.registry.url": lab.address("registry")}
    _create(lab, connector, SINK, create, transform)

    ids = []
    for fields in (AVRO_1, AVRO_2):
        with SchemaRegistryClient({"url": lab.address("registry")}) as registry:
            avro = json.dumps({"type": "record", "name": "Order", "fields": fields})
            ids.append(registry.register_schema(f"{topic}-value", Schema(avro, "AVRO")))
        producer = Producer({"bootstrap.servers": lab.address("broker")})
        producer.produce(topic, b"\0" + ids[-1].to_bytes(4, "big") + b"whatever")
        producer.flush(30)
        _until(reader, partial(_has_columns, len(fields)))
    httpx.delete(f"{lab.address('connect')}/connectors/{connector}").raise_for_status()
    events = _until(reader, lambda event: event["eventType"] == "ABORT")

    versions = [
        (facet["subject"], facet["version"], facet["schemaId"], facet["schemaType"])
        for event in events
        for dataset in event["inputs"]
        if (facet := dataset["facets"].get("headwater_topic_schema"))
    ]
    assert sorted(set(versions)) == [(f"{topic}-value", number, ids[number - 1], "AVRO") for number in (1, 2)]
    assert _without_repetitions([_fields(event) for event in events if _fields(event)]) == [
        ["id int64"],
        ["id int64", "price decimal(10,2)"],
    ]


class _EventReader:
    """The events of one connector in the lineage topic."""

    def __init__(self, consumer: Consumer, connector: str) -> None:
        self.raw: list[bytes] = []
        self._consumer = consumer
        self._connector = connector.encode()

    def read(self) -> list[dict[str, Any]]:
        """All events so far."""
        for message in self._consumer.consume(100, timeout=0.2):
            value = message.value()
            if message.error() is None and message.key() == self._connector and value is not None:
                self.raw.append(value)
        return [json.loads(raw) for raw in self.raw]


def _events_of(lab: Lab, connector: str) -> _EventReader:
    consumer = Consumer(
        {
            "bootstrap.servers": lab.address("broker"),
            "group.id": connector,
            "auto.offset.reset": "earliest",
            "topic.metadata.refresh.interval.ms": 500,
        }
    )
    consumer.subscribe(["headwater-lineage"])
    return _EventReader(consumer, connector)


def _until(reader: _EventReader, condition: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """All events so far, once one of them meets the condition."""
    assert eventually(lambda: any(map(condition, reader.read())), 60), [event["eventType"] for event in reader.read()]
    return reader.read()


def _topic(lab: Lab) -> str:
    name = f"orders-{uuid.uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": lab.address("broker")})
    for created in admin.create_topics([NewTopic(name, num_partitions=3, replication_factor=1)]).values():
        created.result(30)
    return name


def _produce(lab: Lab, topic: str, fields: list[dict[str, Any]], payload: dict[str, Any]) -> None:
    """Ten records into each of three partitions, with their schema."""
    schema = {"type": "struct", "fields": fields, "optional": False, "name": "shop.Order"}
    producer = Producer({"bootstrap.servers": lab.address("broker")})
    for number in range(30):
        producer.produce(topic, json.dumps({"schema": schema, "payload": payload}), partition=number % 3)
    assert producer.flush(30) == 0


def _create(lab: Lab, name: str, kind: str, config: dict[str, Any], transform: dict[str, str]) -> None:
    defaults = {
        "type": "headwater.connect.OpenLineageLifecycleSmt",
        "emission.interval": "500ms",
        "restart.within": "1s",
    }
    settings = {f"transforms.lineage.{key}": value for key, value in (defaults | transform).items()}
    body = {"name": name, "config": {"connector.class": kind, "transforms": "lineage", **config, **settings}}
    url = f"{lab.address('connect')}/connectors"
    # Connect answers 409 while the workers assign their tasks.
    assert eventually(lambda: httpx.post(url, json=body, timeout=30).status_code == 201, 60)


def _facet(event: dict[str, Any]) -> dict[str, Any]:
    facet: dict[str, Any] = event["run"]["facets"]["headwater_connect"]
    return facet


def _has_columns(count: int, event: dict[str, Any]) -> bool:
    return len(_fields(event)) == count


def _fields(event: dict[str, Any]) -> list[str]:
    facets = [dataset["facets"] for dataset in event["inputs"]]
    return [
        f"{field['name']} {field['type']}" for facet in facets for field in facet.get("schema", {}).get("fields", [])
    ]


def _names(datasets: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(f"{dataset['namespace']} {dataset['name']}" for dataset in datasets)


def _without_repetitions(values: list[list[str]]) -> list[list[str]]:
    """The values without immediate repetitions."""
    return [value for number, value in enumerate(values) if number == 0 or values[number - 1] != value]
