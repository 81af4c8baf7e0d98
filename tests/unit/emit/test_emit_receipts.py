"""Receipts: only what proves itself is kept, and the head that it leads to is named."""

import threading
from base64 import b64encode
from pathlib import Path

import httpx

from headwater.emit.config import HttpConfig
from headwater.emit.http import HttpTransport
from headwater.emit.metrics import EmitMetrics
from headwater.emit.receipts import ASK_EVERY_S, Receipts
from headwater.emit.transport import Acknowledged
from headwater.signing.chain import Checkpoint
from headwater.signing.merkle import leaf_hash, node_hash

LEAVES = [leaf_hash(b"0"), leaf_hash(b"1"), leaf_hash(b"2")]
LEFT = node_hash(LEAVES[0], LEAVES[1])
ROOT = {1: LEAVES[0], 2: LEFT, 3: node_hash(LEFT, LEAVES[2])}
"""Heads of the tree over the first leaves, by RFC 9162, section 2.1.1."""
PROOF = {1: [], 2: [LEAVES[1]], 3: [LEAVES[1], LEAVES[2]]}
"""From leaf 0 up."""


def text(data: bytes) -> str:
    return b64encode(data).decode()


def receipt(size: int, **changes: object) -> dict[str, object]:
    note = f"example.org/log\n{size}\n{text(ROOT[size])}\n\n— example.org/log AAAAAAAA\n"
    proof = [text(each) for each in PROOF[size]]
    return {"index": 0, "leafHash": f"sha256:{LEAVES[0].hex()}", "checkpoint": note, "inclusionProof": proof, **changes}


def checkpoint(size: int) -> Checkpoint:
    return Checkpoint("example.org/log", size, text(ROOT[size]))


def test_the_head_that_a_receipt_leads_to_is_named_and_kept_for_the_next_process(tmp_path: Path) -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []

    Receipts(tmp_path / "chain" / "receipt.json", noted.append, failures.append).take(receipt(3))
    Receipts(tmp_path / "chain" / "receipt.json", noted.append, failures.append)

    assert (noted, failures) == ([checkpoint(3)] * 2, [])


def test_a_receipt_whose_proof_leads_elsewhere_is_refused() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append)

    receipts.take(receipt(3, index=1))
    receipts.take(receipt(3, leafHash="sha256:00"))
    receipts.take({"receipt": "none"})
    receipts.take(receipt(3, inclusionProof=["%"]))

    assert noted == []
    assert len(failures) == 4


def test_a_log_that_has_become_smaller_is_told_and_its_head_not_named() -> None:
    noted: list[Checkpoint] = []
    failures: list[str] = []
    receipts = Receipts(None, noted.append, failures.append)

    receipts.take(receipt(3))
    receipts.take(receipt(2))

    assert noted == [checkpoint(3)]
    assert failures == ["receipt: the log example.org/log had 3 entries and now has 2"]


def test_why_a_receipt_was_refused_is_no_longer_told_once_one_is_taken(tmp_path: Path) -> None:
    metrics = EmitMetrics()
    receipts = Receipts(tmp_path / "receipt.json", lambda _: None, metrics.failed, metrics.mended)

    receipts.take(receipt(2, index=1))
    refused = metrics.stats().last_error
    receipts.take(None)
    still = metrics.stats().last_error
    receipts.take(receipt(3))

    assert refused == still == "receipt: the proof does not lead to the checkpoint"
    assert metrics.stats().last_error is None


def test_a_later_failure_of_another_kind_outlives_a_mended_receipt() -> None:
    metrics = EmitMetrics()
    receipts = Receipts(None, lambda _: None, metrics.failed, metrics.mended)

    receipts.take(receipt(2, index=1))
    metrics.failed("503 away")
    receipts.take(receipt(3))

    assert metrics.stats().last_error == "503 away"


def test_two_emitters_of_one_process_keep_receipts_in_one_file_and_neither_fails(tmp_path: Path) -> None:
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


def test_what_was_kept_and_is_damaged_is_told_and_passed_over(tmp_path: Path) -> None:
    (tmp_path / "receipt.json").write_text("{")
    failures: list[str] = []

    assert Receipts(tmp_path / "receipt.json", print, failures.append).is_due
    assert failures == ["receipt: cannot read the saved receipt file"]


def test_a_transport_asks_for_a_receipt_now_and_then_and_takes_it_from_either_answer() -> None:
    now_s = 0.0
    asked: list[tuple[str, str | None]] = []
    noted: list[Checkpoint] = []

    def service(request: httpx.Request) -> httpx.Response:
        asked.append((request.url.path, request.headers.get("Prefer")))
        if request.url.path.endswith("/batch"):
            results = [{"index": 0, "status": 201, "receipt": receipt(2)}, {"index": 1, "status": 201}]
            summary = {"received": 2, "successful": 2, "failed": 0, "retriable": 0, "non_retriable": 0}
            return httpx.Response(200, json={"summary": summary, "failed_events": [], "results": results})
        return httpx.Response(201, json={"receipt": receipt(3)} if "Prefer" in request.headers else None)

    receipts = Receipts(None, noted.append, print, monotonic=lambda: now_s)
    transport = HttpTransport(HttpConfig(), network=httpx.MockTransport(service), receipts=receipts)
    outcomes = [*transport.send_batch([b"{}", b"{}"]), *transport.send_batch([b"{}"])]
    now_s = ASK_EVERY_S
    outcomes += transport.send_batch([b"{}"])
    transport.close()

    assert outcomes == [Acknowledged()] * 4
    assert [prefer for _, prefer in asked] == ["receipt", None, "receipt"]
    assert noted == [checkpoint(2), checkpoint(3)]


def test_a_service_that_gives_no_receipts_is_served_as_before() -> None:
    receipts = Receipts(None, print, print)
    network = httpx.MockTransport(lambda _: httpx.Response(201, content=b"[created"))
    transport = HttpTransport(HttpConfig(), network=network, receipts=receipts)

    outcomes = transport.send_batch([b"{}"])
    transport.close()

    assert outcomes == [Acknowledged()]
    assert not receipts.is_due
