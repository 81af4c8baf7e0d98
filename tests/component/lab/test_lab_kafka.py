"""The lab with a real broker and a real registry; the session's own lab is in `component/conftest.py`."""

import os
import signal
import socket
import uuid
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from headwater.errors import SetupError
from headwater.lab.lab import Lab
from tests.support.ports import free_ports
from tests.support.service import eventually


def test_a_record_produced_to_the_broker_can_be_consumed(kafka: Lab) -> None:
    topic = f"lab-{uuid.uuid4().hex}"
    producer = Producer({"bootstrap.servers": kafka.address("broker")})
    producer.produce(topic, key=b"7", value=b"seven")
    producer.flush(30)

    consumer = Consumer(
        {"bootstrap.servers": kafka.address("broker"), "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    message = consumer.poll(30)
    consumer.close()

    assert message is not None
    assert (message.key(), message.value()) == (b"7", b"seven")


def test_the_registry_works_with_confluents_client_and_rejects_an_incompatible_schema(kafka: Lab) -> None:
    subject = f"lab-{uuid.uuid4().hex}-value"
    first = '{"type":"record","name":"r","fields":[{"name":"a","type":"int"}]}'
    without_default = '{"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'

    with SchemaRegistryClient({"url": kafka.address("registry")}) as client:
        client.register_schema(subject, Schema(first, "AVRO"))
        compatible = client.test_compatibility(subject, Schema(without_default, "AVRO"))

        assert not compatible
        assert client.get_latest_version(subject).version == 1


def test_status_has_state_memory_and_start_up_time_of_each_part(kafka: Lab) -> None:
    parts = {part.name: part for part in kafka.status()}

    assert {name: part.state for name, part in parts.items()} == {
        "broker": "up",
        "registry": "up",
        "s3": "down",
        "connect": "down",
    }
    assert parts["broker"].rss_bytes > 50 << 20
    assert parts["broker"].ready_after_s is not None
    assert parts["s3"].pids == ()


def test_a_second_up_leaves_running_parts_alone(kafka: Lab) -> None:
    before = [part.pids for part in kafka.status()]
    progress: list[str] = []

    kafka.up(["broker", "registry"], progress.append)

    assert [part.pids for part in kafka.status()] == before
    assert [line.partition(" at ")[0] for line in progress] == ["broker: already running", "registry: already running"]


def test_a_port_in_use_is_reported_with_the_process_that_uses_it(kafka: Lab, tmp_path: Path) -> None:
    taken = kafka.ports["registry"]
    other = Lab("kafka", tmp_path, {"s3": taken})
    owner = next(part for part in kafka.status() if part.name == "registry").pids[0]

    with pytest.raises(SetupError, match=rf"port {taken} for s3 .*process {owner} \(java .*--port s3=PORT"):
        other.up(["s3"], lambda _: None)

    assert [part.state for part in other.status()] == ["down"] * 4


def test_a_second_port_of_a_part_that_is_in_use_is_reported_too(tmp_path: Path) -> None:
    (first,) = free_ports(1)
    taken = first + 1
    with socket.create_server(("127.0.0.1", taken)):
        lab = Lab("kafka", tmp_path, {"broker": first})

        with pytest.raises(SetupError, match=rf"port {taken} for broker .*process {os.getpid()} .*--port broker=PORT"):
            lab.up(["broker"], lambda _: None)

    assert [part.state for part in lab.status()] == ["down"] * 4


def test_a_part_that_does_not_respond_is_restarted_and_down_leaves_nothing_behind(tmp_path: Path) -> None:
    lab = Lab("kafka", tmp_path, {"s3": free_ports(1)[0]})
    lab.up(["s3"], lambda _: None)
    stuck = _pid_of(lab, "s3")
    os.kill(stuck, signal.SIGSTOP)  # alive, and does not answer
    progress: list[str] = []

    lab.up(["s3"], progress.append)
    restarted = _pid_of(lab, "s3")
    lab.down(progress.append)

    assert "s3: not responding; stopping its processes" in progress
    assert restarted != stuck
    assert not psutil.pid_exists(stuck)
    assert not psutil.pid_exists(restarted)
    assert not (tmp_path / "lab").exists()


def test_a_broker_that_was_killed_comes_back_with_its_data(kafka: Lab) -> None:
    topic = f"lab-{uuid.uuid4().hex}"
    producer = Producer({"bootstrap.servers": kafka.address("broker")})
    producer.produce(topic, value=b"kept")
    producer.flush(30)
    os.kill(_pid_of(kafka, "broker"), signal.SIGKILL)
    assert eventually(lambda: not _pids_of(kafka, "broker"))  # the process exists until its memory is freed

    kafka.up(["broker"], lambda _: None)

    consumer = Consumer(
        {"bootstrap.servers": kafka.address("broker"), "group.id": topic, "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None
    assert message.value() == b"kept"


def _pid_of(lab: Lab, part: str) -> int:
    (pid,) = _pids_of(lab, part)
    return pid


def _pids_of(lab: Lab, name: str) -> tuple[int, ...]:
    return next(part.pids for part in lab.status() if part.name == name)
