"""Receipts: only those with a valid proof are kept, and the resulting head is reported."""

import json
import threading
from base64 import b64encode
from pathlib import Path

import httpx

from headwater.emit.config import HttpConfig
from headwater.emit.http import HttpTransport
from headwater.emit.log_keys import PinnedKey
from headwater.emit.metrics import EmitMetrics
from headwater.emit.receipts import ASK_EVERY_S, Receipts
from headwater.emit.transport import Acknowledged
from headwater.signing.chain import Checkpoint
from headwater.signing.checkpoint import Checkpoint as LogHead
from headwater.signing.merkle import is_included, leaf_hash, node_hash
from headwater.signing.note import NoteSigner

LEAVES = [leaf_hash(b"0"), leaf_hash(b"1"), leaf_hash(b"2")]
LEFT = node_hash(LEAVES[0], LEAVES[1])
ROOT = {1: LEAVES[0], 2: LEFT, 3: node_hash(LEFT, LEAVES[2])}
"""Heads of the tree over the first leaves, by RFC 9162, section 2.1.1."""
PROOF = {1: [], 2: [LEAVES[1]], 3: [LEAVES[1], LEAVES[2]]}
"""The inclusion proof of leaf 0."""


LOG = NoteSigner.from_seed("example.org/log", bytes(32))
PINNED = PinnedKey(LOG.verifier, "HEADWATER_LOG_KEY")


def text(data: bytes) -> str:
    return b64encode(data).decode()


def receipt(size: int, **changes: object) -> dict[str, object]:
    note = f"example.org/log\n{size}\n{text(ROOT[size])}\n\n— example.org/log AAAAAAAA\n"
    proof = [text(each) for each in PROOF[size]]
    return {"index": 0, "leafHash": f"sha256:{LEAVES[0].hex()}", "checkpoint": note, "inclusionProof": proof, **changes}


def checkpoint(size: int) -> Checkpoint:
    return Checkpoint("example.org/log", size, text(ROOT[size]))


def signed_receipt(size: int, by: NoteSigner = LOG) -> dict[str, object]:
    return receipt(size, checkpoint=LogHead("example.org/log", size, ROOT[size]).signed(by))


def test_the_head_of_a_receipt_is_reported_and_saved_for_the_next_process(tmp_path: Path) -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []

    Receipts(tmp_path / "chain" / "receipt.json", noted.append, failures.append).take(receipt(3))
    Receipts(tmp_path / "chain" / "receipt.json", noted.append, failures.append)

    assert (noted, failures) == ([checkpoint(3)] * 2, [])


def test_a_receipt_with_an_invalid_proof_is_refused() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append)

    receipts.take(receipt(3, index=1))
    receipts.take(receipt(3, leafHash="sha256:00"))
    receipts.take({"receipt": "none"})
    receipts.take(receipt(3, inclusionProof=["%"]))

    assert noted == []
    assert len(failures) == 4


def test_a_receipt_over_more_entries_than_an_event_can_name_is_refused() -> None:
    heights = 64
    root = LEAVES[0]
    for _ in range(heights):
        root = node_hash(root, LEAVES[1])
    note = f"example.org/log\n{2**heights}\n{text(root)}\n\n— example.org/log AAAAAAAA\n"
    noted: list[Checkpoint] = []
    failures: list[str] = []

    receipts = Receipts(None, noted.append, failures.append)
    receipts.take(receipt(1, checkpoint=note, inclusionProof=[text(LEAVES[1])] * heights))

    assert is_included(LEAVES[0], 0, 2**heights, [LEAVES[1]] * heights, root)
    assert noted == []
    assert len(failures) == 1


def test_a_log_that_became_smaller_is_a_failure_and_its_head_is_not_reported() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append)

    receipts.take(receipt(3))
    receipts.take(receipt(2))

    assert noted == [checkpoint(3)]
    assert failures == ["receipt: the log example.org/log had 3 entries and now has 2"]


def test_a_log_that_shows_another_head_of_the_same_size_is_a_failure_and_the_first_receipt_is_kept(
    tmp_path: Path,
) -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    path = tmp_path / "receipt.json"
    receipts = Receipts(path, noted.append, failures.append)
    other = node_hash(LEAVES[0], LEAVES[2])
    note = f"example.org/log\n2\n{text(other)}\n\n— example.org/log AAAAAAAA\n"

    receipts.take(receipt(2))
    receipts.take(receipt(2, checkpoint=note, inclusionProof=[text(LEAVES[2])]))
    receipts.take(receipt(2))

    assert noted == [checkpoint(2)] * 2
    assert failures == ["receipt: the log example.org/log shows another head over 2 entries than before"]
    assert json.loads(path.read_text()) == receipt(2)


def test_the_error_of_a_refused_receipt_is_cleared_when_one_is_accepted(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    receipts = Receipts(tmp_path / "receipt.json", lambda _: None, metrics.failed, metrics.mended)

    receipts.take(receipt(2, index=1))
    error = metrics.stats().last_error
    receipts.take(None)
    later_error = metrics.stats().last_error
    receipts.take(receipt(3))

    assert error == later_error == "receipt: the proof does not lead to the checkpoint"
    assert metrics.stats().last_error is None


def test_a_later_failure_of_another_kind_is_not_cleared_by_a_receipt() -> None:
    metrics = EmitMetrics()
    receipts = Receipts(None, lambda _: None, metrics.failed, metrics.mended)

    receipts.take(receipt(2, index=1))
    metrics.failed("503 away")
    receipts.take(receipt(3))

    assert metrics.stats().last_error == "503 away"


def test_a_head_that_the_pinned_key_did_not_sign_is_reported_and_not_named() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append, log_key=PINNED)
    elsewhere = LogHead("example.org/other", 3, ROOT[3]).signed(LOG)

    receipts.take(receipt(3))
    receipts.take(signed_receipt(3, by=NoteSigner.from_seed("example.org/log", bytes(range(32)))))
    receipts.take(signed_receipt(3, by=NoteSigner.from_seed("example.org/other", bytes(32))))
    receipts.take(receipt(3, checkpoint=elsewhere))
    receipts.take(receipt(3, checkpoint=str(signed_receipt(3)["checkpoint"]).replace("\n3\n", "\n2\n")))

    name = f"example.org/log+{LOG.verifier.key_hash.hex()}"
    not_signed = f"receipt: its head is not signed by {name}, the log's key in HEADWATER_LOG_KEY"
    assert noted == []
    assert failures == [*[not_signed] * 4, "receipt: the proof does not lead to the checkpoint"]


def test_a_head_that_the_pinned_key_signed_is_named_beside_signatures_of_witnesses() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append, log_key=PINNED)
    witnessed = f"{signed_receipt(3)['checkpoint']}— example.org/witness AAAAAAAA\n"

    receipts.take(receipt(3, checkpoint=witnessed))

    assert (noted, failures) == ([checkpoint(3)], [])


def test_with_a_pinned_key_that_cannot_be_read_no_head_is_named() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []

    Receipts(None, noted.append, failures.append, log_key=PinnedKey(None, "keys/logs")).take(signed_receipt(3))

    assert noted == []
    assert failures == ["receipt: the log's key in keys/logs cannot be read: expected NAME+HASH+KEY"]


def test_a_saved_head_that_the_pinned_key_did_not_sign_does_not_hold_up_the_logs_own(tmp_path: Path) -> None:
    noted: list[Checkpoint] = []
    path, metrics = tmp_path / "receipt.json", EmitMetrics()
    Receipts(path, lambda _: None, print).take(receipt(3))

    receipts = Receipts(path, noted.append, metrics.failed, metrics.mended, log_key=PINNED)
    error = metrics.stats().last_error
    receipts.take(signed_receipt(2))

    assert (error or "").startswith("receipt: the saved one: its head is not signed by example.org/log+")
    assert noted == [checkpoint(2)]
    assert metrics.stats().last_error is None


def test_two_emitters_of_a_process_save_receipts_in_one_file_without_failure(tmp_path: Path) -> None:
    failures: list[str] = []

    def take_many() -> None:
        receipts = Receipts(tmp_path / "receipt.json", lambda _: None, failures.append)
        for _ in range(100):
            receipts.take(receipt(3))

    threads = [threading.Thread(target=take_many) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert [path.name for path in tmp_path.iterdir()] == ["receipt.json"]


def test_a_damaged_receipt_file_is_reported_and_ignored(tmp_path: Path) -> None:
    (tmp_path / "receipt.json").write_text("{")
    failures: list[str] = []

    assert Receipts(tmp_path / "receipt.json", print, failures.append).is_due
    assert failures == ["receipt: cannot read the saved receipt file"]


def test_a_transport_requests_a_receipt_at_intervals_and_reads_it_from_either_response() -> None:
    now_s = 0.0
    requests: list[tuple[str, str | None]] = []
    noted: list[Checkpoint] = []

    def service(request: httpx.Request) -> httpx.Response:
        requests.append((request.url.path, request.headers.get("Prefer")))
        if request.url.path.endswith("/batch"):
            results = [{"index": 0, "status": 201, "receipt": receipt(2)}, {"index": 1, "status": 201}]
            summary = {"received": 2, "successful": 2, "failed": 0, "retriable": 0, "non_retriable": 0}
            return httpx.Response(200, json={"summary": summary, "failed_events": [], "results": results})
        return httpx.Response(201, json={"receipt": receipt(3)} if "Prefer" in request.headers else None)

    receipts = Receipts(None, noted.append, print, monotonic=lambda: now_s)
    transport = HttpTransport(HttpConfig(), network=httpx.MockTransport(service), receipts=receipts)
    outcomes = [*transport.send_batch([b"{}", b"{}"])]
    now_s = ASK_EVERY_S - 1  # the interval begins with a request for a receipt, not with any request
    outcomes += transport.send_batch([b"{}"])
    now_s = ASK_EVERY_S
    outcomes += transport.send_batch([b"{}"])
    transport.close()

    assert outcomes == [Acknowledged()] * 4
    assert [prefer for _, prefer in requests] == ["receipt", None, "receipt"]
    assert noted == [checkpoint(2), checkpoint(3)]


def test_a_service_without_receipts_is_used_as_before() -> None:
    receipts = Receipts(None, print, print)
    network = httpx.MockTransport(lambda _: httpx.Response(201, content=b"[created"))
    transport = HttpTransport(HttpConfig(), network=network, receipts=receipts)

    outcomes = transport.send_batch([b"{}"])
    transport.close()

    assert outcomes == [Acknowledged()]
    assert not receipts.is_due
