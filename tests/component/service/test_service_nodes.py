"""`/nodes`: whether the records of edge machines are complete."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.emit.chain import Chain
from headwater.signing.keyfile import load_or_create
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.store.sqlite import SqliteStore
from tests.support.app import PRODUCER, Body, event, facet, get, serving
from tests.support.chains import KEY, NODE, head, heartbeat, record
from tests.support.service import running

E1, E2, E3 = (f"018f0000-0000-7000-8000-00000000000{each}" for each in (1, 2, 3))
FULL_RECORD = record(E1, 4)
AFTER = record(E2, 2, follows=(head(E1, FULL_RECORD),))
NO_TROUBLE = {"missing": 0, "forks": 0, "broken": 0, "replays": 0, "dropped": 0, "silentEpochs": 0, "clockAhead": 0}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, {KEY.key_id: KEY.public_key}) as client:
        yield client


def send(client: TestClient, *raws: bytes) -> None:
    for raw in raws:
        assert client.post("/api/v1/lineage", content=raw).status_code in (200, 201)


def listed(client: TestClient) -> list[tuple[str, int, int, int]]:
    answer = get(client, f"/api/v1/nodes/{NODE}")
    return [(each["kind"], each["events"], each["first"], each["last"]) for each in answer["listed"]]


def test_a_node_has_the_counts_and_the_head_of_its_record(client: TestClient) -> None:
    send(client, *(each.raw for each in (*FULL_RECORD, *AFTER)))

    (node,) = get(client, "/api/v1/nodes")["nodes"]

    assert (node["nodeId"], node["events"], node["unproved"], node["epochs"]) == (NODE, 6, 0, 2)
    assert (node["epoch"], node["lastSequence"], node["headHash"]) == (E1, 3, FULL_RECORD[-1].payload_hash)
    assert node["lastSeen"] == "2026-05-22T14:00:03.000Z"
    assert node["troubles"] == NO_TROUBLE


@pytest.mark.parametrize("node", ["edge 7/Köln", "a%2Fb"])
def test_a_node_of_any_name_is_found(tmp_path: Path, node: str) -> None:
    key = NodeKey.from_seed(node, bytes(32))
    (only_event,) = record(E1, 1, key=key)
    store = SqliteStore(tmp_path / "headwater.db")
    with closing(store), serving(store, {key.key_id: key.public_key}) as client:
        send(client, only_event.raw)

        assert get(client, f"/api/v1/nodes/{quote(node, safe='')}")["nodeId"] == node


def test_the_command_counts_the_events_of_a_node(tmp_path: Path) -> None:
    key = load_or_create(tmp_path)
    (only_event,) = record(E1, 1, key=key)
    with running(tmp_path) as service:
        service.post_events([json.loads(only_event.raw)])

        listed = CliRunner().invoke(app, ("node", "list", "--url", service.url), catch_exceptions=False)
        described = CliRunner().invoke(app, ("node", "describe", key.node_id, "--url", service.url))

    first, last = listed.stdout.splitlines()
    assert first.startswith(f"{key.node_id}  1 event, last received ")
    assert last == "1 node"
    at = "2026-05-22T14:00:00.000Z"
    assert described.stdout.splitlines()[1:] == [f"  {E1}  1 event to 0, {at} to {at}", "its record is complete"]


def test_events_under_a_key_that_the_service_does_not_know_are_shown_until_a_trusted_event_names_them(
    tmp_path: Path,
) -> None:
    key = load_or_create(tmp_path)
    known, unheard_of = record(E1, 1, key=key), NodeKey.from_seed(key.node_id, bytes(32))
    rotated = record(E2, 2, follows=(head(E1, known),), key=unheard_of)
    later = record(E3, 1, follows=(head(E2, rotated),), key=key)
    with running(tmp_path) as service:

        def printed(*command: str) -> str:
            return CliRunner().invoke(app, (*command, "--url", service.url), catch_exceptions=False).stdout

        service.post_events([json.loads(each.raw) for each in (*known, *rotated)])
        before = [printed("node", "list"), printed("node", "describe", key.node_id), printed("coverage")]
        service.post_events([json.loads(each.raw) for each in later])
        after = [printed("node", "list"), printed("node", "describe", key.node_id), printed("coverage")]

    assert ["2 events without a trusted signature" in each for each in before] == [True, True, True]
    assert f"headwater key token --node {key.node_id}" in " ".join(before[1].split())
    assert not any("is complete" in each for each in before)
    assert ["without a trusted signature" in each for each in after] == [False, False, False]
    assert ["is complete" in each for each in after] == [False, True, True]


def test_missing_events_are_listed_with_their_sequence_until_they_arrive(client: TestClient) -> None:
    send(client, FULL_RECORD[0].raw, *(each.raw for each in AFTER))
    before = listed(client)

    send(client, *(each.raw for each in FULL_RECORD[1:]))

    assert before == [("hole", 3, 1, 3)]
    assert listed(client) == []


def test_metrics_count_missing_events_until_they_arrive(client: TestClient) -> None:
    send(client, FULL_RECORD[0].raw, *(each.raw for each in AFTER))
    before = client.get("/metrics").text.splitlines()

    send(client, *(each.raw for each in FULL_RECORD[1:]))
    after = client.get("/metrics").text.splitlines()

    assert "headwater_nodes 1.0" in before
    assert 'headwater_node_troubles{kind="missing"} 3.0' in before
    assert 'headwater_node_troubles{kind="missing"} 0.0' in after


def test_a_past_state_has_the_record_as_it_was_known_then(client: TestClient) -> None:
    send(client, FULL_RECORD[0].raw, FULL_RECORD[2].raw, FULL_RECORD[1].raw)

    then = get(client, f"/api/v1/nodes/{NODE}?logSize=2")

    assert [each["kind"] for each in then["listed"]] == ["hole"]
    assert listed(client) == []


def test_a_heartbeat_is_stored_and_makes_no_job(client: TestClient) -> None:
    send(client, heartbeat(E1, 0, None).raw)

    assert get(client, "/api/v1/jobs")["totalCount"] == 0
    assert get(client, "/api/v1/events/lineage")["totalCount"] == 1
    assert get(client, "/api/v1/nodes")["nodes"][0]["heartbeatSeconds"] == 60


GAP = {"reasons": {}, "firstAt": "2026-05-22T14:00:00Z", "lastAt": "2026-05-22T14:00:05Z"}


@pytest.mark.parametrize("interval", [1e305, -1e305, 10**30])
@pytest.mark.parametrize("gap", [None, GAP | {"events": 10**30}, GAP | {"events": 1, "reasons": {"full": 10**30}}])
def test_any_number_in_a_heartbeat_is_stored_and_read_again_after_a_restart(
    tmp_path: Path, interval: float, gap: Body | None
) -> None:
    beat = heartbeat(E1, 1, FULL_RECORD[0].payload_hash, intervalSeconds=interval, gap=gap)
    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        send(client, FULL_RECORD[0].raw, beat.raw)

    with closing(SqliteStore(tmp_path / "headwater.db")) as store, serving(store) as client:
        (node,) = get(client, "/api/v1/nodes")["nodes"]

    assert (node["events"], node["lastSequence"], node["headHash"]) == (2, 1, beat.payload_hash)


def test_a_later_epoch_that_names_an_impossible_end_of_another_is_stored(client: TestClient) -> None:
    end = {"epoch": E1, "sequence": 10**30, "payloadHash": FULL_RECORD[0].payload_hash}
    chain = facet(nodeId=NODE, epoch=E2, sequence=0, previousHash=None, follows=[end])
    body = event(run={"runId": E2, "facets": {"headwater_chain": chain}})

    send(client, sign_event(json.dumps(body).encode(), KEY))

    assert get(client, "/api/v1/events/lineage")["totalCount"] == 1


def test_coverage_counts_nodes_and_their_troubles(client: TestClient) -> None:
    send(client, FULL_RECORD[0].raw, FULL_RECORD[2].raw)

    nodes: Body = get(client, "/api/v1/coverage")["nodes"]

    assert nodes == {"nodes": 1, "unproved": 0, "troubles": NO_TROUBLE | {"missing": 1}}


def test_an_unknown_node_is_not_found(client: TestClient) -> None:
    response = client.get("/api/v1/nodes/nobody")

    assert (response.status_code, response.json()["message"]) == (404, "Node 'nobody' not found.")


def test_a_missing_event_without_a_run_is_listed_until_it_arrives(client: TestClient) -> None:
    chain = Chain(KEY, E1, None, print)
    members = {"eventTime": "2026-05-22T14:00:00Z", "producer": PRODUCER, "schemaURL": event()["schemaURL"]}
    dataset = json.dumps({**members, "dataset": {"namespace": "n", "name": "d"}}).encode()
    chain.sign(dataset)
    send(client, chain.sign(heartbeat(E1, 0, None).raw))
    before = listed(client)

    send(client, dataset)

    assert before == [("hole", 1, None, None)]
    assert listed(client) == []
