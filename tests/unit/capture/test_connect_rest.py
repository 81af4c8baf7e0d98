"""The version of Kafka Connect, by its REST API."""

import json

import httpx
import pytest

from headwater.capture.connect.events import event_of
from headwater.capture.connect.rest import version_at
from tests.unit.capture.test_connect_events import AROUND, lives_of

# As Kafka's documentation has it.
TOLD = {"version": "4.3.1", "commit": "e5741b90cde98052", "kafka_cluster_id": "I4ZmrWqfT2e-upky_4fdPA"}


def test_the_version_that_a_worker_tells_is_the_processing_engine_of_the_runs() -> None:
    network = httpx.MockTransport(lambda _: httpx.Response(200, json=TOLD))
    _, told = lives_of()

    version = version_at("http://connect:8083", network)
    event = json.loads(event_of(told[-1], AROUND._replace(version=version)))

    engine = event["run"]["facets"]["processing_engine"]
    assert (engine["name"], engine["version"]) == ("kafka-connect", "4.3.1")


@pytest.mark.parametrize("answer", [httpx.Response(404), httpx.Response(200, text="no"), httpx.Response(200, json=[])])
def test_a_worker_that_does_not_tell_it_is_no_reason_not_to_watch(answer: httpx.Response) -> None:
    assert version_at("http://connect:8083", httpx.MockTransport(lambda _: answer)) is None
