"""A bundle that the log's own operator wrote: whoever holds the log's key, and may sign any head and any leaf."""

import json
import zipfile
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest
from typer.testing import CliRunner

from headwater.audit.core import FORMAT, node_hash
from headwater.audit.graph import Folding
from headwater.cli.main import app
from headwater.model.edits import EditItem, edit_entry
from headwater.model.nodes import Arrival
from headwater.model.producer import VERSION
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.leaf import Found, Kind, salts, seal
from headwater.signing.note import NoteSigner
from headwater.signing.segments import facet_spans
from tests.support.app import dataset, event

LOG: Final = NoteSigner.from_seed("lineage.example.org", bytes(range(32)))
START_US: Final = 1_779_459_791_000_000
"""2026-05-22T14:23:11Z"""

Entry = dict[str, Any]


def entry(index: int, job: str, verdict: str = "unsigned", key_id: str | None = None, kind: Kind = "event") -> Entry:
    """An entry that gives its leaf, whatever the log says of it there."""
    body = event(
        run={"runId": f"0198f7d0-0000-7000-8000-{index:012d}"},
        job={"namespace": "etl", "name": job},
        outputs=[dataset("table")],
    )
    raw = json.dumps(body).encode()
    sealed = seal(raw, Found(kind, START_US + index, verdict, key_id), bytes([index] * 16))
    spans = facet_spans(raw) if kind == "event" else []
    return {
        "index": index,
        "kind": kind,
        "type": body["eventType"] if kind == "event" else "EDIT",
        "receivedUs": START_US + index,
        "verdict": verdict,
        "keyId": key_id,
        "leaf": b64encode(sealed.leaf).decode(),
        "salt": b64encode(sealed.salt).decode(),
        "facets": [at for span in spans for at in (span.begin, span.end)],
        "raw": raw.decode(),
    }


def leaf(told: Entry) -> bytes:
    return seal(
        told["raw"].encode(),
        Found(told["kind"], told["receivedUs"], told["verdict"], told["keyId"]),
        bytes([told["index"]] * 16),
    ).leaf


def head(size: int, root: bytes, origin: str = LOG.verifier.name) -> Checkpoint:
    return Checkpoint(origin, size, root)


def bundle(folder: Path, entries: Sequence[Entry], signed: Checkpoint, left: Sequence[bytes] = ()) -> Path:
    """The bundle of the last entries under this head."""
    folding = Folding()
    for each in entries:
        folding.take(
            each["type"],
            each["raw"].encode(),
            each["index"],
            Arrival(each["receivedUs"], each["verdict"], each["keyId"]),
        )
    parts = {
        "manifest.json": {
            "format": FORMAT,
            "madeBy": f"headwater {VERSION}",
            "logKey": str(LOG.verifier),
            "from": signed.size - len(entries),
            "to": signed.size,
            "size": signed.size,
            "graphOf": "entries",
        },
        "tree.json": {"left": [b64encode(each).decode() for each in left], "right": []},
        "keys.json": {"keys": []},
        "graph.json": folding.graph(),
    }
    path = folder / "bundle.zip"
    with zipfile.ZipFile(path, "w") as written:
        written.writestr("checkpoint.txt", signed.signed(LOG))
        written.writestr("entries.jsonl", "".join(f"{json.dumps(each)}\n" for each in entries))
        for name, part in parts.items():
            written.writestr(name, json.dumps(part))
    return path


def with_proof(path: Path, since: Checkpoint, proof: Sequence[bytes]) -> Path:
    with zipfile.ZipFile(path, "a") as written:
        written.writestr("since-checkpoint.txt", since.signed(LOG))
        given = {"from": since.size, "proof": [b64encode(each).decode() for each in proof]}
        written.writestr("consistency.json", json.dumps(given))
    return path


def verified(path: Path, *arguments: str) -> tuple[int, Mapping[str, Any]]:
    """The exit status of `headwater audit verify`, by one who knows the log's key, and what it says."""
    given = ["audit", "verify", str(path), "--log-key", str(LOG.verifier), "--json", *arguments]
    told = CliRunner().invoke(app, given)
    return told.exit_code, json.loads(told.stdout)


def checks(told: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    return [(finding["check"], finding["entry"]) for finding in told["findings"]]


def test_a_bundle_as_it_should_be_is_proven(tmp_path: Path) -> None:
    entries = [entry(0, "a"), entry(1, "b")]

    status, told = verified(bundle(tmp_path, entries, head(2, node_hash(*map(leaf, entries)))))

    assert (status, told["counts"]) == (0, {"shown": 2, "edits": 0, "unsigned": 2})


def test_hashes_of_odd_lengths_hide_no_entry_that_was_written_anew_since_a_head_was_kept(tmp_path: Path) -> None:
    first, second, third, fourth = (leaf(entry(place, "true")) for place in range(4))
    kept = head(3, node_hash(node_hash(first, second), third))
    forged = [entry(2, "forged"), entry(3, "true")]
    both = node_hash(first, second) + third  # as one: with nothing behind it, it gives the head that was kept
    root = sha256(b"\1" + both + node_hash(leaf(forged[0]), fourth)).digest()
    proof = [b"", leaf(forged[0]) + fourth, both]
    path = with_proof(bundle(tmp_path, forged, head(4, root), left=[both]), kept, proof)
    (tmp_path / "kept.txt").write_text(kept.signed(LOG))

    status, told = verified(path, "--since", str(tmp_path / "kept.txt"))

    assert (status, told["verdict"]) == (2, "unreadable")
    assert told["reason"] == "a hash of the tree has 64 bytes, expected 32"


def test_a_proof_with_a_hash_of_another_length_proves_no_consistency(tmp_path: Path) -> None:
    entries = [entry(place, "a") for place in range(4)]
    leaves = [*map(leaf, entries)]
    left = node_hash(*leaves[:2])
    kept = head(3, node_hash(left, leaves[2]))
    path = bundle(tmp_path, entries, head(4, node_hash(left, node_hash(*leaves[2:]))))
    proof = [b"", leaves[2] + leaves[3], left + leaves[2]]

    status, told = verified(with_proof(path, kept, proof))

    assert (status, checks(told)) == (1, [("consistency", None)])
    assert told["findings"][0]["message"] == "a hash of the tree has 0 bytes, expected 32"


def test_a_withheld_leaf_of_another_length_is_refused(tmp_path: Path) -> None:
    path = bundle(tmp_path, [], head(0, sha256().digest()))
    withheld = [{"index": 0, "leaf": ""}, {"index": 1, "leaf": b64encode(bytes(64)).decode()}]
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "bent.zip", "w") as changed:
        for name in set(whole.namelist()) - {"entries.jsonl"}:
            changed.writestr(name, whole.read(name))
        changed.writestr("entries.jsonl", "".join(f"{json.dumps(each)}\n" for each in withheld))

    status, told = verified(tmp_path / "bent.zip")

    assert (status, told["reason"]) == (2, "a hash of the tree has 0 bytes, expected 32")


@pytest.mark.parametrize("verdict", ["signed", "OK", "fine", ""])
def test_a_verdict_that_nobody_knows_makes_no_event_a_signed_one(tmp_path: Path, verdict: str) -> None:
    told_so = entry(0, "forged", verdict, "node:bank#sha256:AAAA")

    status, told = verified(bundle(tmp_path, [told_so], head(1, leaf(told_so))))

    assert (status, checks(told)) == (1, [("entry", 0), ("signature", 0)])
    assert "signed" not in told["counts"]


def test_a_kind_that_nobody_knows_is_found(tmp_path: Path) -> None:
    told_so = entry(0, "forged", kind="thing")  # type: ignore[arg-type]

    status, told = verified(bundle(tmp_path, [told_so], head(1, leaf(told_so))))

    assert (status, checks(told)) == (1, [("entry", 0)])


def test_what_is_said_of_a_key_without_a_statement_is_found(tmp_path: Path) -> None:
    edits = edit_entry("1", START_US, None, [EditItem(("key", "node:a"), "revoked", {"reason": "stolen"})])
    sealed = seal(edits.raw, Found("edit", START_US, "unsigned", None), bytes(16))
    opened = {"salt": b64encode(sealed.salt).decode(), "facets": [], "raw": edits.raw.decode()}
    told_so = {**entry(0, "a"), "kind": "edit", "type": "EDIT", "leaf": b64encode(sealed.leaf).decode(), **opened}

    status, told = verified(bundle(tmp_path, [told_so], head(1, sealed.leaf)))

    assert (status, checks(told)) == (1, [("entry", 0)])
    assert told["findings"][0]["message"] == "it holds an invalid statement about a key"


def test_an_event_that_is_called_another_type_is_found(tmp_path: Path) -> None:
    told_so = entry(0, "a")

    status, told = verified(bundle(tmp_path, [told_so | {"type": "FAIL"}], head(1, leaf(told_so))))

    assert (status, checks(told)) == (1, [("entry", 0)])
    assert told["findings"][0]["message"] == "its type is not the one that the bundle gives"


def test_what_no_check_looks_at_may_not_stand_beside_an_entry(tmp_path: Path) -> None:
    told_so = entry(0, "a")

    status, told = verified(bundle(tmp_path, [told_so | {"signedBy": "ann"}], head(1, leaf(told_so))))

    assert (status, checks(told)) == (1, [("entry", 0)])
    assert told["findings"][0]["message"] == "it has unknown members: signedBy"


def test_a_salt_of_another_length_does_not_open_a_leaf(tmp_path: Path) -> None:
    """Else what the tree commits to could be shown without its beginning, which is then called salt."""
    told_so = entry(0, "a")
    raw, found = told_so["raw"].encode(), Found("event", START_US, "unsigned", None)
    committed = seal(b"   " + raw, found, bytes(16)).leaf
    [salt] = salts(bytes(16), 0)
    del told_so["salt"]
    cut = {**told_so, "salts": [b64encode(salt + b"   ").decode()], "leaf": b64encode(committed).decode()}

    status, told = verified(bundle(tmp_path, [cut], head(1, committed)))

    assert (status, checks(told)) == (1, [("entry", 0), ("inclusion", None)])


def test_a_head_in_another_log_s_name_is_not_the_log_s(tmp_path: Path) -> None:
    """Else no head that a node was shown would be held against it: they are of a log of another name."""
    told_so = entry(0, "a")

    status, told = verified(bundle(tmp_path, [told_so], head(1, leaf(told_so), "lineage.example.com")))

    assert status == 1
    assert told["findings"][0]["check"] == "checkpoint"
    assert "the head is of the log 'lineage.example.com'" in told["findings"][0]["message"]


def test_a_head_that_the_bundle_alone_calls_kept_is_told_as_not_known(tmp_path: Path) -> None:
    entries = [entry(0, "a"), entry(1, "b")]
    kept = head(1, leaf(entries[0]))
    path = with_proof(bundle(tmp_path, entries, head(2, node_hash(*map(leaf, entries)))), kept, [leaf(entries[1])])
    (tmp_path / "kept.txt").write_text(kept.signed(LOG))

    (_, alone), (_, brought) = verified(path), verified(path, "--since", str(tmp_path / "kept.txt"))

    told = "whether the earlier head is one that you kept: it was taken from the bundle (--since)"
    assert [told in each["notKnown"] for each in (alone, brought)] == [True, False]
