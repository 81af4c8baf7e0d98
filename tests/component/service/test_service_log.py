"""The log over the API: receipts, signed head, tiles and proofs, each verified with nothing but the log's key."""

import json
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.merkle import EMPTY, EMPTY_ROOT, Growth, is_consistent, is_included, leaf_hash
from headwater.signing.note import parse_verifier, verified_text
from tests.support.app import LOG_KEY, event, get, post, served

LINEAGE = "/api/v1/lineage"
LOG = "/api/v1/log"


def numbered(number: int) -> dict[str, Any]:
    return event(job={"namespace": "etl", "name": f"load {number}"})


def fill(client: TestClient, count: int) -> None:
    batch = client.post(f"{LINEAGE}/batch", json=[numbered(number) for number in range(count)])
    assert batch.json()["summary"]["successful"] == count


def hashes(encoded: list[str]) -> list[bytes]:
    return [b64decode(each) for each in encoded]


def opened(note: str) -> Checkpoint:
    return parse_checkpoint(verified_text(note, [LOG_KEY.verifier]))


def digest(named: str) -> bytes:
    return bytes.fromhex(named.removeprefix("sha256:"))


def check(receipt: dict[str, Any]) -> Checkpoint:
    """Verify a receipt with nothing but the log's key; returns its head."""
    head = opened(receipt["checkpoint"])
    proof = hashes(receipt["inclusionProof"])
    assert is_included(digest(receipt["leafHash"]), receipt["index"], head.size, proof, head.root)
    return head


@pytest.mark.parametrize(
    "request_options", [{"headers": {"Prefer": "respond-async, Receipt"}}, {"params": {"receipt": "true"}}]
)
def test_a_requested_receipt_is_returned(client: TestClient, request_options: dict[str, Any]) -> None:
    fill(client, 5)

    response = client.post(LINEAGE, json=event(), **request_options)

    assert response.status_code == 201
    assert response.headers["preference-applied"] == "receipt"
    receipt = response.json()["receipt"]
    assert set(receipt) == {"index", "leafHash", "checkpoint", "inclusionProof"}
    assert receipt["index"] == 5
    assert check(receipt) == Checkpoint("lineage.example.org", 6, check(receipt).root)


def test_without_a_request_there_is_no_receipt_since_marquez_clients_expect_no_body(client: TestClient) -> None:
    response = client.post(LINEAGE, json=event())

    assert (response.status_code, response.content) == (201, b"")
    assert client.post(LINEAGE, json=event(), params={"receipt": "false"}).content == b""


def test_a_repeated_event_gets_the_receipt_of_its_first_entry(client: TestClient) -> None:
    fill(client, 300)
    raw = json.dumps(numbered(7))
    first = client.post(LINEAGE, content=raw, headers={"Prefer": "receipt"})
    fill(client, 302)

    again = client.post(LINEAGE, content=raw, headers={"Prefer": "receipt"})

    assert (first.status_code, again.status_code) == (201, 200)
    first_receipt, second_receipt = first.json()["receipt"], again.json()["receipt"]
    assert (
        (first_receipt["index"], first_receipt["leafHash"])
        == (second_receipt["index"], second_receipt["leafHash"])
        == (300, first_receipt["leafHash"])
    )
    assert (check(first_receipt).size, check(second_receipt).size) == (301, 303)


def test_each_event_of_a_batch_gets_its_receipt(client: TestClient) -> None:
    events = [numbered(1), {"eventTime": 5}, numbered(2), numbered(1)]

    answer = client.post(f"{LINEAGE}/batch", json=events, headers={"Prefer": "receipt"}).json()

    receipts = [result.get("receipt") for result in answer["results"]]
    assert [receipt and receipt["index"] for receipt in receipts] == [0, None, 1, 0]
    sizes = [check(receipt).size for receipt in receipts if receipt]
    assert all(index < size <= 2 for index, size in zip((0, 1, 0), sizes, strict=True))  # stored together or separately


def test_an_edit_is_an_entry_of_the_tree(client: TestClient) -> None:
    client.put("/api/v1/namespaces/lake", json={"ownerName": "ann"})

    assert opened(client.get(f"{LOG}/checkpoint").text).size == 1


def test_the_head_of_an_empty_log_is_signed_too(client: TestClient) -> None:
    response = client.get(f"{LOG}/checkpoint")

    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert opened(response.text) == Checkpoint("lineage.example.org", 0, EMPTY_ROOT)


def test_the_key_of_the_log_can_be_read(client: TestClient) -> None:
    assert parse_verifier(client.get(f"{LOG}/key").text) == LOG_KEY.verifier


def test_tiles_give_the_leaves_and_the_head_over_them(client: TestClient) -> None:
    fill(client, 600)
    head = opened(client.get(f"{LOG}/checkpoint").text)

    paths = ["000", "001", "002.p/88"]
    tiles = b"".join(client.get(f"{LOG}/tile/0/{path}").content for path in paths)
    bundles = b"".join(client.get(f"{LOG}/tile/entries/{path}").content for path in paths)
    roots = client.get(f"{LOG}/tile/1/000.p/2").content

    leaves = [tiles[at : at + 32] for at in range(0, len(tiles), 32)]
    assert Growth(EMPTY, leaves).frontier.root == head.root
    assert [leaf_hash(data) for data in _bundled(bundles)] == leaves
    assert roots == b"".join(Growth(EMPTY, leaves[at : at + 256]).frontier.root for at in (0, 256))
    assert json.loads(next(_bundled(bundles))).keys() == {
        "commitment",
        "keyId",
        "kind",
        "receivedUs",
        "verdict",
        "version",
    }


def _bundled(bundle: bytes) -> Iterator[bytes]:
    while bundle:
        length = int.from_bytes(bundle[:2])
        yield bundle[2 : 2 + length]
        bundle = bundle[2 + length :]


@pytest.mark.parametrize(
    "path",
    ["0/002", "0/000.p/5", "1/000.p/1", "0/000.p/0", "0/000.p/256", "00/000", "0/1", "0/x001/000", "64/000", "a"],
)
def test_a_missing_tile_is_reported(client: TestClient, path: str) -> None:
    fill(client, 4)

    response = client.get(f"{LOG}/tile/{path}")

    assert response.status_code == 404
    assert "no tile" in response.json()["message"]


def test_proofs_can_be_requested_for_any_size_that_the_log_had(client: TestClient) -> None:
    fill(client, 20)

    included = get(client, f"{LOG}/proof/inclusion?index=3&size=11")
    consistent = get(client, f"{LOG}/proof/consistency?from=7")

    proof = hashes(included["inclusionProof"])
    assert is_included(digest(included["leafHash"]), 3, 11, proof, digest(included["rootHash"]))
    assert (consistent["fromSize"], consistent["toSize"]) == (7, 20)
    old, new = digest(consistent["fromRootHash"]), digest(consistent["rootHash"])
    assert new == opened(client.get(f"{LOG}/checkpoint").text).root
    assert is_consistent(7, old, 20, new, hashes(consistent["consistencyProof"]))


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("inclusion?index=20", "index: expected less than 20"),
        ("inclusion?index=3&size=2", "index: expected less than 2"),
        ("inclusion?index=3&size=21", "size: expected 1 to 20"),
        ("inclusion", "query param index must not be null"),
        ("inclusion?index=x", "query param index must be a whole number"),
        ("consistency?from=0", "query param from must be greater than or equal to 1"),
        ("consistency?from=21", "from: expected 1 to 20"),
        ("consistency?from=5&to=4", "from: expected 1 to 4"),
        ("consistency?from=5&to=99", "to: expected 1 to 20"),
    ],
)
def test_an_invalid_parameter_is_named(client: TestClient, query: str, field: str) -> None:
    fill(client, 20)

    response = client.get(f"{LOG}/proof/{query}")

    assert response.status_code == 400
    assert field in response.json()["message"]


def test_the_receipt_parameter_is_true_or_false(client: TestClient) -> None:
    response = client.post(LINEAGE, json=event(), params={"receipt": "yes"})

    assert response.status_code == 400
    assert response.json()["message"] == "receipt: expected true or false"


def test_a_restarted_service_goes_on_with_its_log(tmp_path: Path) -> None:
    with served(tmp_path) as client:
        fill(client, 3)
        before = opened(client.get(f"{LOG}/checkpoint").text)
    with served(tmp_path) as client:
        post(client, numbered(3))

        proof = get(client, f"{LOG}/proof/consistency?from=3&to=4")

        after = opened(client.get(f"{LOG}/checkpoint").text)
        assert is_consistent(3, before.root, 4, after.root, hashes(proof["consistencyProof"]))


def test_an_entry_is_shown_with_its_bytes_and_their_digest(client: TestClient) -> None:
    raw = json.dumps(numbered(1) | {"note": "grüße \u2028"}, indent=1, ensure_ascii=False)
    fill(client, 1)
    client.post(LINEAGE, content=raw.encode()).raise_for_status()

    response = client.get(f"{LOG}/entries/1")

    entry = response.json()
    assert response.text.endswith(f',"event":{raw}}}')
    assert entry["digest"] == f"sha256:{sha256(raw.encode()).hexdigest()}"
    assert (entry["index"], entry["eventType"], entry["verdict"]) == (1, "START", "unsigned")


@pytest.mark.parametrize(("index", "status"), [("1", 404), ("-1", 400), ("first", 400)])
def test_an_index_without_an_entry_is_refused(client: TestClient, index: str, status: int) -> None:
    fill(client, 1)

    assert client.get(f"{LOG}/entries/{index}").status_code == status
