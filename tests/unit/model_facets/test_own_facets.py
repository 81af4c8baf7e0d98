"""The JSON Schemas of our own facets, and events of every component that writes such facets."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import jsonschema_rs
import pytest
from openlineage.client.event_v2 import StaticDataset
from openlineage.client.generated.base import DatasetFacet

from headwater.capture.connect.events import event_of as connect_event
from headwater.capture.connect.records import Committed, Delivered, Status
from headwater.capture.flink.events import event_of as flink_event
from headwater.capture.flink.jobs import Failure
from headwater.capture.flink.lifecycle import RunUpdate
from headwater.capture.trino import meant
from headwater.emit.chain import Chain
from headwater.emit.heartbeats import Heartbeats
from headwater.emit.metrics import EmitMetrics
from headwater.model import declared, slim
from headwater.model.build import dataset_event
from headwater.model.events import RunEvent, parse_event
from headwater.model.folders import with_folders
from headwater.model.iceberg import without_metadata_columns
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import HEADWATER_FACETS
from headwater.signing.chain import Checkpoint
from headwater.signing.keys import NodeKey
from tests.support.spec import OUR_FACETS, Specification
from tests.unit.capture import test_connect_events as connect
from tests.unit.capture import test_flink_events as flink

ROOT = Path(__file__).resolve().parents[3]
RUN_ID = "01a1fd63-6104-72d6-a825-d5132f7ddac9"
JOB, ORDERS = JobId("etl", "load"), DatasetId("lake", "orders")


def by_flink() -> Iterator[bytes]:
    failure = Failure("java.io.IOException: no", 1_899_000, "Source: orders")
    for update in (
        RunUpdate(flink.RUN, "RUNNING", 1_900_000),
        RunUpdate(flink.RUN, "FAIL", 1_900_000, failure=failure),
        RunUpdate(flink.RUN, "FAIL", 1_900_000, stop_reason="cluster unreachable", silence="no answer for 6 s"),
        RunUpdate(flink.RUN, "RUNNING", 1_900_000, is_retraction=True),
    ):
        yield flink_event(update, flink.CONTEXT)


def by_connect() -> Iterator[bytes]:
    failed = Status("lake", 2020, 0, "FAILED", "java.io.IOException: no", "w")
    committed = Committed("lake", 2010, "c-1", "sales.orders", "77")
    _, updates = connect.lifecycles_of(Delivered("lake", 2000, {"orders/0": 349}), committed, failed)
    yield from (connect_event(each, connect.CONTEXT) for each in updates)


def by_trino() -> Iterator[bytes]:
    for properties in (
        {"connector.name": "iceberg", "hive.metastore.uri": "thrift://ms:9083"},
        {"connector.name": "postgresql", "connection-url": "jdbc:postgresql://db:5433/shop"},
    ):
        meaning = meant("lake", properties)
        assert meaning is not None
        assert meaning.facet is not None
        facets: dict[str, DatasetFacet] = {"headwater_engine_catalog": meaning.facet}
        yield dataset_event(datetime.now(UTC), StaticDataset(namespace="trino://t:8080", name="lake", facets=facets))


def by_the_service() -> Iterator[bytes]:
    """Facets that the service adds: on an Iceberg table without its metadata column, and on a folder's output."""
    listed = {"fields": [{"name": "id", "type": "long"}, {"name": "_file", "type": "string"}]}
    facets = {"storage": slim.facet("1-0-1/StorageDatasetFacet", storageLayer="iceberg", fileFormat="parquet")}
    facets["schema"] = slim.facet("1-2-0/SchemaDatasetFacet", **listed)
    read = slim.Described(ORDERS, facets)
    event_with = partial(slim.run_event, "COMPLETE", datetime.now(UTC), RUN_ID, JOB, run_facets={}, job_facets={})
    event = parse_event(event_with(inputs=[read], outputs=[]))
    assert isinstance(event, RunEvent)
    [stored] = without_metadata_columns(event).inputs
    facets["headwater_metadata_columns"] = dict(stored.facets["headwater_metadata_columns"])
    yield event_with(inputs=[read], outputs=[])
    folder, file = (DatasetId("file", name) for name in ("/in", "/in/part-1"))
    fields = {"id": {"inputFields": [{**file._asdict(), "field": "id"}]}}
    written = slim.Described(ORDERS, {"columnLineage": slim.facet("1-2-0/ColumnLineageDatasetFacet", fields=fields)})
    event = parse_event(event_with(inputs=[slim.Described(folder, {})], outputs=[written]))
    assert isinstance(event, RunEvent)
    [stored] = with_folders(event).outputs
    written.facets["headwater_folder_reads"] = dict(stored.facets["headwater_folder_reads"])
    yield event_with(inputs=[], outputs=[written])


def by_the_api() -> Iterator[bytes]:
    column = declared.Column("id", "long", "which")
    put = declared.DatasetPut(
        ORDERS,
        is_stream=True,
        physical_name="orders",
        source_name="kafka",
        source_uri="kafka://broker:9092",
        columns=[column],
        description="what was sold",
        schema_location="http://registry/1",
    )
    yield declared.dataset_event(0, put)
    yield declared.job_event(0, declared.JobPut(JOB, "SERVICE", [ORDERS], [], "https://git.example/load", "loads"))
    yield declared.created_run_event(
        0, declared.RunPut(RUN_ID, JOB, [ORDERS], "2026-05-22T14:30:00Z", None, {"a": "b"})
    )
    yield declared.run_event(0, "COMPLETE", RUN_ID, JOB, touched=declared.written(put))


def by_emitters(folder: Path) -> Iterator[bytes]:
    """Events of an emitter, and of the next one, which has a checkpoint, an unsigned event and a gap."""
    key, start = NodeKey.from_seed("edge-1", bytes(32)), declared.run_event(0, "START", RUN_ID, JOB)
    before = Chain(key, RUN_ID, folder, print)
    yield before.sign(start)
    before.record()
    before.close()
    chain = Chain(key, "01a1fd63-6104-72d6-a825-d5132f7ddaca", folder, print)
    chain.note(Checkpoint("log.example", 5, "A" * 43 + "="))
    chain.sign(declared.dataset_event(0, declared.DatasetPut(ORDERS, False, "orders", "lake", None, [])))
    yield chain.sign(start)
    metrics = EmitMetrics(clock=lambda: 0.0)
    metrics.dropped("queue full", 3)
    beat = Heartbeats(chain, 60.0, metrics).due_event(0.0, is_last=True)
    assert beat is not None
    yield chain.sign(beat)
    chain.close()


@pytest.mark.parametrize("events_of", [by_flink, by_connect, by_trino, by_the_service, by_the_api])
def test_our_events_are_valid_by_the_standards_schemas_and_by_ours(
    events_of: Callable[[], Iterator[bytes]], shared: Path
) -> None:
    specification = Specification(shared / "openlineage")

    assert [complaint for event in events_of() for complaint in specification.complaints(event)] == []


def test_facets_that_emitters_add_are_valid_by_our_schemas(shared: Path, tmp_path: Path) -> None:
    specification = Specification(shared / "openlineage")

    events = [*by_emitters(tmp_path)]

    assert [complaint for event in events for complaint in specification.complaints(event)] == []
    first, second, beat = (json.loads(event)["run"]["facets"] for event in events)
    assert {"follows", "unsigned"} <= second["headwater_chain"].keys() - first["headwater_chain"].keys()
    assert second["headwater_chain"]["lastCheckpoint"]["size"] == 5
    assert beat["headwater_heartbeat"]["gap"]["events"] == 3


def test_the_schemas_are_those_that_python_or_java_names() -> None:
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "jvm").glob("*/src/main/**/*.java")]
    pattern = re.compile(
        r'(?:HEADWATER_FACETS\}/|facets/1-0-0/|OURS \+ "|own_facet\(\s*")(\w+|\{DECLARED\})(?:\.json)?"'
    )

    names_in_code = {name for source in sources for name in pattern.findall(source.read_text())}

    names = {declared.DECLARED if name == "{DECLARED}" else name for name in names_in_code}
    assert names == {path.stem for path in OUR_FACETS.glob("*.json")}


@pytest.mark.parametrize("path", sorted(OUR_FACETS.glob("*.json")), ids=lambda path: path.stem)
def test_a_schema_is_in_the_style_of_the_standards(path: Path) -> None:
    schema = json.loads(path.read_text())

    jsonschema_rs.meta.validate(schema)
    (key,) = schema["properties"]
    of_key = schema["properties"][key]["$ref"].removeprefix("#/$defs/")
    base, own = schema["$defs"][of_key]["allOf"]
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"{HEADWATER_FACETS}/{path.name}"
    assert re.fullmatch(r"https://openlineage.io/spec/2-0-2/OpenLineage.json#/\$defs/\w*Facet", base["$ref"])
    assert schema["$defs"][of_key]["description"]
    assert all(member.get("description") or "$ref" in member for member in own["properties"].values())
