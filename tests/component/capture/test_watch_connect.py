"""A watcher of Connect: a Kafka that stops, a topic that cannot be read, a setting that does not exist."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Message
from typer.testing import CliRunner

from headwater.capture.connect.events import ClusterContext
from headwater.capture.connect.watcher import WatchConfig, Watcher
from headwater.capture.outlet import Outlet
from headwater.cli.main import app
from headwater.errors import InvalidInputError
from tests.support.program import COMMAND
from tests.support.refusing_broker import refusing_broker
from tests.support.service import eventually

BROKER = """
import json
from confluent_kafka import Producer
producer = Producer({"test.mock.num.brokers": 1})  # a mock broker, which stops with this process
(broker,) = producer.list_topics(timeout=10).brokers.values()
for topic, key, value in (
    ("connect-configs", "connector-archive", {"properties": {"connector.class": "FileStreamSink", "topics": "lines"}}),
    ("connect-configs", "commit-archive", {"tasks": 1}),
    ("connect-status", "status-connector-archive", {"state": "RUNNING"}),
    ("connect-status", "status-task-archive-0", {"state": "RUNNING"}),
):
    producer.produce(topic, key=key, value=json.dumps(value), partition=0)
producer.flush(10)
print(f"{broker.host}:{broker.port}", flush=True)
input()
"""


@contextmanager
def broker() -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A broker that holds the records of a worker with one connector; yields its address and its process."""
    command = [sys.executable, "-c", BROKER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_a_watcher_keeps_running_while_kafka_is_away(tmp_path: Path) -> None:
    event_types: list[str] = []
    with broker() as (bootstrap, kafka):
        config = WatchConfig(
            bootstrap=bootstrap,
            client={"log_level": "0"},
            status_topic="connect-status",
            config_topic="connect-configs",
            evidence_topic="not-there",  # so the client requests it again and again
            group=None,
            state=tmp_path / "state.json",
            heartbeat_s=1,
            lost_after_s=1,
        )
        context = ClusterContext("kafka-connect", bootstrap, lambda _: None, 1)
        outlet = Outlet(lambda event: event_types.append(json.loads(event)["eventType"]), lambda: True)
        stop, ready = threading.Event(), threading.Event()
        thread = threading.Thread(target=Watcher(config, context, outlet).run, args=(stop, lambda _: ready.set()))
        thread.start()
        try:
            assert ready.wait(30)
            kafka.kill()
            count_before = len(event_types)
            assert eventually(lambda: len(event_types) >= count_before + 3, 60)  # each request waits up to 10 s
            assert thread.is_alive()
        finally:
            stop.set()
            thread.join(30)

    assert not thread.is_alive()
    assert event_types[0] == "START"
    assert set(event_types[1:]) == {"RUNNING"}


def test_a_topic_that_cannot_be_read_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = WatchConfig(
        bootstrap="127.0.0.1:1",
        client={},
        status_topic="connect-status",
        config_topic="connect-configs",
        evidence_topic=None,
        group=None,
        state=tmp_path / "state.json",
        heartbeat_s=1,
        lost_after_s=1,
    )
    context = ClusterContext("kafka-connect", config.bootstrap, lambda _: None, 1)
    watcher = Watcher(config, context, Outlet(lambda _: None, lambda: True))
    refusal = Message(
        topic="connect-configs", partition=0, offset=0, error=KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    )

    watcher._buffer([refusal, refusal])  # the mock broker refuses nobody

    (record,) = caplog.records
    assert record.message == "cannot read a topic"
    assert vars(record)["topic"] == "connect-configs"
    assert "authorization" in vars(record)["fault"]


def test_a_setting_unknown_to_kafkas_client_is_refused_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["watch", "connect", "--bootstrap", "127.0.0.1:1", "--client", "nonsense.x=1"])

    assert isinstance(result.exception, InvalidInputError)
    assert "--client" in str(result.exception)
    assert '"nonsense.x"' in str(result.exception)


def test_a_refused_login_ends_the_watcher_with_what_to_check(tmp_path: Path) -> None:
    password = "not-the-password"  # noqa: S105  a made-up one
    login = ["security.protocol=SASL_PLAINTEXT", "sasl.mechanism=PLAIN", "sasl.username=ann", "sasl.password=env:LOGIN"]

    with refusing_broker() as broker:
        command = [*COMMAND, "watch", "connect", "--bootstrap", broker.address]
        ended = subprocess.run(
            [*command, *(part for each in login for part in ("--client", each))],
            env={**os.environ, "HEADWATER_HOME": str(tmp_path), "LOGIN": password},
            capture_output=True,
            text=True,
            timeout=60,
        )

    *logged, message = ended.stderr.splitlines()
    assert ended.returncode == 2
    assert ["no such user" in each for each in logged] == [True, False]  # the other: that all brokers are down
    assert message.startswith(f"headwater: Kafka at {broker.address} refuses the login: ")
    assert "no such user" in message
    assert message.endswith("; check --client sasl.mechanism, sasl.username and sasl.password")
    assert broker.logins < 60  # of two clients, in ten seconds
    assert password not in ended.stderr
