"""The version of Kafka Connect, by its REST API."""

import json

import httpx
import pytest

from headwater.capture.connect.events import event_of
from headwater.capture.connect.rest import version_at
from tests.unit.capture.test_connect_events import CONTEXT, lifecycles_of

# From Kafka's documentation.
RESPONSE = {"version": "4.3.1", "commit": "e5741b90cde98052", "kafka_cluster_id": "I4ZmrWqfT2e-upky_4fdPA"}


def test_a_workers_version_is_in_the_processing_engine_of_the_runs() -> None:
    network = httpx.MockTransport(lambda _: httpx.Response(200, json=RESPONSE))
    _, updates = lifecycles_of()

    version = version_at("http://connect:8083", network)
    event = json.loads(event_of(updates[-1], CONTEXT._replace(version=version)))

    engine = event["run"]["facets"]["processing_engine"]
    assert (engine["name"], engine["version"]) == ("kafka-connect", "4.3.1")


@pytest.mark.parametrize(
    "response", [httpx.Response(404), httpx.Response(200, text="no"), httpx.Response(200, json=[])]
)
def test_without_a_workers_version_it_is_unknown(response: httpx.Response) -> None:
    assert version_at("http://connect:8083", httpx.MockTransport(lambda _: response)) is None


def test_with_an_unusable_proxy_the_version_is_unknown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://ann:hush@127.0.0.1:9")

    assert version_at("http://connect:8083") is None
    (warning,) = caplog.records
    assert str(vars(warning)["fault"]).startswith("ALL_PROXY holds no valid proxy address")
