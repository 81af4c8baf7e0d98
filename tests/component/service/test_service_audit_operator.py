"""Bundles forged by the log's own operator, who holds the log's key and can sign any head and any leaf."""

import json
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
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
from headwater.model.outline import FacetSpan
from headwater.model.producer import VERSION
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.directory import revocation
from headwater.signing.keys import NodeKey
from headwater.signing.leaf import Found, Kind, commitment, leaf_data, part, salts, seal
from headwater.signing.merkle import leaf_hash
from headwater.signing.note import NoteSigner
from headwater.signing.segments import facet_spans
from tests.support.app import dataset, event

LOG: Final = NoteSigner.from_seed("lineage.example.org", bytes(range(32)))
KEY: Final = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
START_US: Final = 1_779_459_791_000_000
"""2026-05-22T14:23:11Z"""

Entry = dict[str, Any]


def entry(
    index: int,
    job: str,
    verdict: str = "unsigned",
    key_id: str | None = None,
    kind: Kind = "event",
    facets: Mapping[str, object] | None = None,
) -> Entry:
    """An entry with a valid leaf, whatever verdict and kind it claims."""
    body = event(
        run={"runId": f"0198f7d0-0000-7000-8000-{index:012d}", **({} if facets is None else {"facets": facets})},
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


def leaf(logged: Entry) -> bytes:
    return seal(
        logged["raw"].encode(),
        Found(logged["kind"], logged["receivedUs"], logged["verdict"], logged["keyId"]),
        bytes([logged["index"]] * 16),
    ).leaf


def head(size: int, root: bytes, origin: str = LOG.verifier.name) -> Checkpoint:
    return Checkpoint(origin, size, root)


def bundle(folder: Path, entries: Sequence[Entry], signed: Checkpoint, left: Sequence[bytes] = ()) -> Path:
    """The bundle of the last entries under this head."""
    folding = Folding()
    begin = signed.size - len(entries)
    for index, each in enumerate(entries, begin):
        if "raw" in each:
            arrival = Arrival(each["receivedUs"], each["verdict"], each["keyId"])
            folding.take(each["type"], each["raw"].encode(), index, arrival)
    parts = {
        "manifest.json": {
            "format": FORMAT,
            "madeBy": f"headwater {VERSION}",
            "logKey": str(LOG.verifier),
            "from": begin,
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


def parts_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_proof(path: Path, since: Checkpoint, proof: Sequence[bytes]) -> Path:
    with zipfile.ZipFile(path, "a") as written:
        written.writestr("since-checkpoint.txt", since.signed(LOG))
        content = {"from": since.size, "proof": [b64encode(each).decode() for each in proof]}
        written.writestr("consistency.json", json.dumps(content))
    return path


def rewritten(path: Path, note: str | None = None, **members: object) -> Path:
    """The bundle with other members of its manifest, and maybe another checkpoint."""
    parts = parts_of(path)
    parts["manifest.json"] = json.dumps({**json.loads(parts["manifest.json"]), **members}).encode()
    if note is not None:
        parts["checkpoint.txt"] = note.encode()
    with zipfile.ZipFile(path, "w") as changed:
        for name, text in parts.items():
            changed.writestr(name, text)
    return path


def verified(path: Path, *arguments: str) -> tuple[int, Mapping[str, Any]]:
    """The exit status and answer of `headwater audit verify --json` with the log's key."""
    command = ["audit", "verify", str(path), "--log-key", str(LOG.verifier), "--json", *arguments]
    result = CliRunner().invoke(app, command)
    return result.exit_code, json.loads(result.stdout)


def checks(answer: Mapping[str, Any]) -> list[tuple[str, int | None]]:
    return [(finding["check"], finding["entry"]) for finding in answer["findings"]]


def test_a_valid_bundle_is_proven(tmp_path: Path) -> None:
    entries = [entry(0, "a"), entry(1, "b")]

    status, answer = verified(bundle(tmp_path, entries, head(2, node_hash(*map(leaf, entries)))))

    assert (status, answer["counts"]) == (0, {"shown": 2, "edits": 0, "unsigned": 2})


def test_hashes_of_odd_lengths_hide_no_entry_rewritten_since_an_earlier_head(tmp_path: Path) -> None:
    first, second, third, fourth = (leaf(entry(place, "true")) for place in range(4))
    earlier = head(3, node_hash(node_hash(first, second), third))
    forged = [entry(2, "forged"), entry(3, "true")]
    both = node_hash(first, second) + third  # read as one hash, with no hash after it, it gives the earlier head
    root = sha256(b"\1" + both + node_hash(leaf(forged[0]), fourth)).digest()
    proof = [b"", leaf(forged[0]) + fourth, both]
    path = with_proof(bundle(tmp_path, forged, head(4, root), left=[both]), earlier, proof)
    (tmp_path / "kept.txt").write_text(earlier.signed(LOG))

    status, answer = verified(path, "--since", str(tmp_path / "kept.txt"))

    assert (status, answer["verdict"]) == (2, "unreadable")
    assert answer["reason"] == "a hash of the tree has 64 bytes, expected 32"


def test_a_proof_with_a_hash_of_the_wrong_length_proves_no_consistency(tmp_path: Path) -> None:
    entries = [entry(place, "a") for place in range(4)]
    leaves = [*map(leaf, entries)]
    left = node_hash(*leaves[:2])
    earlier = head(3, node_hash(left, leaves[2]))
    path = bundle(tmp_path, entries, head(4, node_hash(left, node_hash(*leaves[2:]))))
    proof = [b"", leaves[2] + leaves[3], left + leaves[2]]

    status, answer = verified(with_proof(path, earlier, proof))

    assert (status, checks(answer)) == (1, [("consistency", None)])
    assert answer["findings"][0]["message"] == "a hash of the tree has 0 bytes, expected 32"


def test_a_proof_that_continues_beyond_the_root_proves_no_consistency(tmp_path: Path) -> None:
    """Otherwise an entry that was withheld under the earlier head could be shown with other content later.

    Source: RFC 9162, section 2.1.4.2: "If sn is 0, then stop the iteration and fail the proof verification."
    """
    shown = [entry(place, "a") for place in range(3)]
    first, second, third = map(leaf, shown)
    left, zeros, ones = node_hash(first, second), bytes(32), bytes([1] * 32)
    earlier = head(3, node_hash(left, node_hash(third, zeros)))  # its third leaf is not that of the entry shown
    later = head(4, node_hash(left, node_hash(third, node_hash(zeros, ones))))
    withheld = {"index": 3, "leaf": b64encode(node_hash(zeros, ones)).decode()}
    path = with_proof(bundle(tmp_path, [*shown, withheld], later), earlier, [zeros, ones, third, left])

    status, answer = verified(path)

    assert (status, checks(answer)) == (1, [("consistency", None)])


def test_a_withheld_leaf_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    path = bundle(tmp_path, [], head(0, sha256().digest()))
    withheld = [{"index": 0, "leaf": ""}, {"index": 1, "leaf": b64encode(bytes(64)).decode()}]
    with zipfile.ZipFile(path) as original, zipfile.ZipFile(tmp_path / "bent.zip", "w") as changed:
        for name in set(original.namelist()) - {"entries.jsonl"}:
            changed.writestr(name, original.read(name))
        changed.writestr("entries.jsonl", "".join(f"{json.dumps(each)}\n" for each in withheld))

    status, answer = verified(tmp_path / "bent.zip")

    assert (status, answer["reason"]) == (2, "a hash of the tree has 0 bytes, expected 32")


@pytest.mark.parametrize("verdict", ["signed", "OK", "fine", ""])
def test_an_unknown_verdict_does_not_make_an_event_signed(tmp_path: Path, verdict: str) -> None:
    forged = entry(0, "forged", verdict, "node:bank#sha256:AAAA")

    status, answer = verified(bundle(tmp_path, [forged], head(1, leaf(forged))))

    assert (status, checks(answer)) == (1, [("entry", 0), ("signature", 0)])
    assert "signed" not in answer["counts"]


def test_an_unknown_kind_is_found(tmp_path: Path) -> None:
    forged = entry(0, "forged", kind="thing")  # type: ignore[arg-type]

    status, answer = verified(bundle(tmp_path, [forged], head(1, leaf(forged))))

    assert (status, checks(answer)) == (1, [("entry", 0)])


@pytest.mark.parametrize(
    "value",
    [
        {"reason": "stolen"},
        "stolen",
        None,
        {"statement": "", "token": None},
        {"statement": 5, "token": None},
        {"statement": {}, "token": None},
    ],
)
def test_an_edit_of_a_key_without_a_statement_is_found(tmp_path: Path, value: object) -> None:
    edits = edit_entry("1", START_US, None, [EditItem(("key", "node:a"), "revoked", value)])
    sealed = seal(edits.raw, Found("edit", START_US, "unsigned", None), bytes(16))
    opened = {"salt": b64encode(sealed.salt).decode(), "facets": [], "raw": edits.raw.decode()}
    forged = {**entry(0, "a"), "kind": "edit", "type": "EDIT", "leaf": b64encode(sealed.leaf).decode(), **opened}

    late = entry(1, "a", "ok", "node:a")

    status, answer = verified(bundle(tmp_path, [forged, late], head(2, node_hash(sealed.leaf, leaf(late)))))

    assert (status, checks(answer)) == (1, [("signature", 1), ("entry", 0)])
    assert answer["findings"][1]["message"] == "it holds an invalid statement about a key"
    assert any("whether 1 event came before the key 'node:a' was revoked" in each for each in answer["notKnown"])


@pytest.mark.parametrize("index", [[], {}, "1", 1.5, None])
def test_an_index_that_is_no_integer_is_found_and_the_entry_gets_that_of_its_position(
    tmp_path: Path, index: object
) -> None:
    """Also by an entry that names a head, or whose key the entry before revoked."""
    statement = revocation(KEY.key_id, datetime.fromtimestamp(0, UTC), "stolen", "1", datetime.fromtimestamp(0, UTC))
    value = {"statement": statement.text, "signatures": {}, "token": "a hash"}
    edits = edit_entry("1", START_US, None, [EditItem(("key", KEY.key_id), "revoked", value)])
    sealed = seal(edits.raw, Found("edit", START_US, "unsigned", None), bytes(16))
    opened = {"salt": b64encode(sealed.salt).decode(), "facets": [], "raw": edits.raw.decode()}
    revoked = {**entry(0, "a"), "kind": "edit", "type": "EDIT", "leaf": b64encode(sealed.leaf).decode(), **opened}
    checkpoint = {"origin": LOG.verifier.name, "size": 1, "rootHash": b64encode(bytes(32)).decode()}
    chain = {"nodeId": "a", "epoch": "b", "sequence": 0, "previousHash": None, "lastCheckpoint": checkpoint}
    late = entry(1, "a", "ok", KEY.key_id, facets={"headwater_chain": chain})
    path = bundle(tmp_path, [revoked, late | {"index": index}], head(2, node_hash(sealed.leaf, leaf(late))))

    status, answer = verified(path)

    assert status == 1
    assert {("inclusion", 1), ("signature", 1), ("head", 1)} <= {*checks(answer)}


def test_a_wrong_event_type_is_found(tmp_path: Path) -> None:
    forged = entry(0, "a")

    status, answer = verified(bundle(tmp_path, [forged | {"type": "FAIL"}], head(1, leaf(forged))))

    assert (status, checks(answer)) == (1, [("entry", 0)])
    assert answer["findings"][0]["message"] == "its type is not the one that the bundle gives"


def test_an_unknown_member_of_an_entry_is_found(tmp_path: Path) -> None:
    forged = entry(0, "a")

    status, answer = verified(bundle(tmp_path, [forged | {"signedBy": "ann"}], head(1, leaf(forged))))

    assert (status, checks(answer)) == (1, [("entry", 0)])
    assert answer["findings"][0]["message"] == "it has unknown members: signedBy"


def test_nothing_but_its_hash_can_be_said_of_an_entry_that_is_not_shown(tmp_path: Path) -> None:
    shown = entry(0, "a")
    withheld = {"index": 1, "leaf": entry(1, "b")["leaf"], "type": "FAIL", "keyId": "node:bank"}
    path = bundle(tmp_path, [shown, withheld], head(2, node_hash(leaf(shown), leaf(entry(1, "b")))))

    status, answer = verified(path)

    assert (status, checks(answer)) == (1, [("entry", 1)])
    assert answer["findings"][0]["message"] == "it has unknown members: keyId, type"


def test_the_first_entry_of_a_log_cannot_have_an_index_below_zero(tmp_path: Path) -> None:
    first = entry(0, "a")
    path = bundle(tmp_path, [first | {"index": -1}], head(1, leaf(first)))

    status, answer = verified(rewritten(path, None, **{"from": -1, "to": 0}))

    assert (status, answer["reason"]) == (2, "tree.json lacks hashes for the entries before -1, or has too many")


def test_a_salt_of_the_wrong_length_does_not_open_a_leaf(tmp_path: Path) -> None:
    """Otherwise an event could be shown without its beginning, which would be passed off as salt."""
    forged = entry(0, "a")
    raw, found = forged["raw"].encode(), Found("event", START_US, "unsigned", None)
    committed = seal(b"   " + raw, found, bytes(16)).leaf
    [salt] = salts(bytes(16), 0)
    del forged["salt"]
    cut = {**forged, "salts": [b64encode(salt + b"   ").decode()], "leaf": b64encode(committed).decode()}

    status, answer = verified(bundle(tmp_path, [cut], head(1, committed)))

    assert (status, checks(answer)) == (1, [("entry", 0), ("inclusion", None)])


@pytest.mark.parametrize("places", [(2, 8, 4, 9), (4, 9, 2, 3), (2, 8, 2, 8), (8, 2)])
def test_facets_over_one_another_do_not_open_a_leaf(tmp_path: Path, places: tuple[int, ...]) -> None:
    """Otherwise a small bundle could have the same megabytes hashed a million times."""
    honest = entry(0, "a")
    raw, found = honest["raw"].encode(), Found("event", START_US, "unsigned", None)
    spans = [FacetSpan(*place, ("a",)) for place in zip(places[::2], places[1::2], strict=True)]
    committed = leaf_hash(leaf_data(commitment(raw, spans, salts(bytes(16), len(spans))), found))
    forged = {**honest, "facets": [*places], "leaf": b64encode(committed).decode()}

    status, answer = verified(bundle(tmp_path, [forged], head(1, committed)))

    assert (status, checks(answer)) == (1, [("entry", 0), ("inclusion", None)])


def test_an_empty_salt_does_not_open_a_leaf(tmp_path: Path) -> None:
    """Otherwise a salt that can be read as text could be shown as a part of the entry."""
    honest = entry(0, "a")
    raw, found = honest["raw"].encode(), Found("event", START_US, "unsigned", None)
    committed = leaf_hash(leaf_data(commitment(raw, [], [b" " * 16]), found))
    del honest["salt"]
    forged = {**honest, "salts": [""], "raw": " " * 16 + honest["raw"], "leaf": b64encode(committed).decode()}

    status, answer = verified(bundle(tmp_path, [forged], head(1, committed)))

    assert (status, checks(answer)) == (1, [("entry", 0), ("inclusion", None)])


def test_only_the_deletion_mark_can_take_the_place_of_an_erased_facet(tmp_path: Path) -> None:
    original = entry(0, "a", kind="edit")  # without facets of its own
    raw, erased, found = '{"a":%s}', '{"_deleted":true}', Found("event", START_US, "unsigned", None)
    span, event_salt, facet_salt = FacetSpan(5, 7, ("a",)), bytes(16), bytes([1] * 16)
    committed = leaf_hash(leaf_data(commitment((raw % "{}").encode(), [span], [event_salt, facet_salt]), found))
    opened = {
        "kind": "event",
        "type": "COMPLETE",
        "leaf": b64encode(committed).decode(),
        "facets": [span.begin, span.end],
        "salts": [b64encode(event_salt).decode(), None],
        "parts": {"0": b64encode(part(facet_salt, b"{}")).decode()},
    }
    del original["salt"]
    shown, forged = ({**original, **opened, "raw": raw % value} for value in (erased, '{"_denied" :true}'))

    of_shown, of_forged = (verified(bundle(tmp_path, [each], head(1, committed)))[1] for each in (shown, forged))

    assert [checks(answer) for answer in (of_shown, of_forged)] == [[], [("entry", 0), ("inclusion", None)]]


def test_a_facet_that_the_leaf_does_not_commit_to_cannot_be_marked_as_erased(tmp_path: Path) -> None:
    """Otherwise the event's signature would not be checked."""
    honest = entry(1, "forged", "ok", "node:bank#sha256:AAAA")
    forged = {
        **honest,
        "facets": [*honest["facets"], 0],
        "salts": [b64encode(salts(bytes([1] * 16), 0)[0]).decode()],
        "parts": {str(len(honest["facets"]) // 2): b64encode(bytes(32)).decode()},
    }
    del forged["salt"]
    previous_leaf = leaf(entry(0, "a"))

    status, answer = verified(
        bundle(tmp_path, [forged], head(2, node_hash(previous_leaf, leaf(honest))), left=[previous_leaf])
    )

    assert status == 1
    assert ("entry", 1) in checks(answer)


def test_a_head_that_names_another_log_is_refused(tmp_path: Path) -> None:
    """Otherwise no head that a node was shown would count against it: those have another log name."""
    first = entry(0, "a")

    status, answer = verified(bundle(tmp_path, [first], head(1, leaf(first), "lineage.example.com")))

    assert status == 1
    assert answer["findings"][0]["check"] == "checkpoint"
    assert "the head is of the log 'lineage.example.com'" in answer["findings"][0]["message"]


@pytest.mark.parametrize(("size", "check"), [(3, "checkpoint"), (4, "inclusion")])
def test_a_head_over_more_entries_than_the_bundle_has_is_reported(tmp_path: Path, size: int, check: str) -> None:
    entries = [entry(place, "a") for place in range(3)]
    first, second, third = map(leaf, entries)
    path = bundle(tmp_path, entries, head(3, node_hash(node_hash(first, second), third)))
    note = head(4, node_hash(node_hash(first, second), third)).signed(LOG)

    status, answer = verified(rewritten(path, note, size=size))

    assert (status, check in [name for name, _ in checks(answer)]) == (1, True)


def test_an_earlier_head_taken_from_the_bundle_is_listed_as_not_known(tmp_path: Path) -> None:
    entries = [entry(0, "a"), entry(1, "b")]
    earlier = head(1, leaf(entries[0]))
    path = with_proof(bundle(tmp_path, entries, head(2, node_hash(*map(leaf, entries)))), earlier, [leaf(entries[1])])
    (tmp_path / "kept.txt").write_text(earlier.signed(LOG))

    (_, without_since), (_, with_since) = verified(path), verified(path, "--since", str(tmp_path / "kept.txt"))

    unknown = "whether the earlier head is one that you kept: it was taken from the bundle (--since)"
    assert [unknown in each["notKnown"] for each in (without_since, with_since)] == [True, False]


@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_kept_head_needs_no_proof_if_it_is_empty_or_the_bundles_own(tmp_path: Path, size: int) -> None:
    """The bundle's proof goes from the first entry on; it is for another auditor, and says nothing of these heads."""
    entries = [entry(0, "a"), entry(1, "b")]
    heads = [head(0, sha256().digest()), head(1, leaf(entries[0])), head(2, node_hash(*map(leaf, entries)))]
    path = with_proof(bundle(tmp_path, entries, heads[2]), heads[1], [leaf(entries[1])])
    (tmp_path / "kept.txt").write_text(heads[size].signed(LOG))

    status, answer = verified(path, "--since", str(tmp_path / "kept.txt"))

    assert (status, answer["findings"]) == (0, [])
    assert any(each.startswith("consistency: ") for each in answer["checked"])


def test_a_kept_head_between_that_of_the_proof_and_the_bundles_is_not_proven(tmp_path: Path) -> None:
    entries = [entry(place, "a") for place in range(4)]
    leaves = [*map(leaf, entries)]
    left, right = node_hash(*leaves[:2]), node_hash(*leaves[2:])
    path = with_proof(bundle(tmp_path, entries, head(4, node_hash(left, right))), head(2, left), [right])
    (tmp_path / "kept.txt").write_text(head(3, node_hash(left, leaves[2])).signed(LOG))

    status, answer = verified(path, "--since", str(tmp_path / "kept.txt"))

    assert (status, checks(answer)) == (1, [("consistency", None)])
    assert answer["findings"][0]["message"].startswith("the bundle has no proof from 3 entries on")


@pytest.mark.parametrize("damage", ["hash", "kind"])
def test_a_log_key_that_does_not_match_its_own_hash_signs_nothing(tmp_path: Path, damage: str) -> None:
    first = entry(0, "a")
    name, key_hash, encoded = str(LOG.verifier).split("+", 2)
    if damage == "hash":
        key = f"{name}+{key_hash[::-1]}+{encoded}"
    else:
        public = b"\2" + b64decode(encoded)[1:]
        key = f"{name}+{sha256(name.encode() + bytes([10]) + public).hexdigest()[:8]}+{b64encode(public).decode()}"
    path = rewritten(bundle(tmp_path, [first], head(1, leaf(first))), logKey=key)

    result = CliRunner().invoke(app, ["audit", "verify", str(path), "--json"])

    answer = json.loads(result.stdout)
    assert (result.exit_code, answer["findings"][0]["check"]) == (1, "checkpoint")
    assert answer["findings"][0]["message"] == "the log's or witness's key does not match its own hash"


def test_a_bundle_of_another_format_is_refused(tmp_path: Path) -> None:
    first = entry(0, "a")
    path = rewritten(bundle(tmp_path, [first], head(1, leaf(first))), format="headwater audit bundle/2")

    status, answer = verified(path)

    assert (status, answer["verdict"]) == (2, "unreadable")
    assert "the bundle's format is 'headwater audit bundle/2'" in answer["reason"]


@pytest.mark.parametrize("verdict", ["unsigned", "tampered", "unknown-key", "malformed"])
def test_who_wrote_an_event_without_a_valid_signature_is_listed_as_not_known(tmp_path: Path, verdict: str) -> None:
    first = entry(0, "a", verdict)

    status, answer = verified(bundle(tmp_path, [first], head(1, leaf(first))))

    assert (status, answer["counts"][verdict]) == (0, 1)
    assert f"who wrote 1 event: the log found them {verdict}" in answer["notKnown"]


def test_keys_taken_from_the_bundle_are_listed_as_not_known(tmp_path: Path) -> None:
    first = entry(0, "a")
    path = bundle(tmp_path, [first], head(1, leaf(first)))
    (tmp_path / "brought.jwks").write_text('{"keys":[]}')

    (_, without_keys), (_, with_keys) = verified(path), verified(path, "--keys", str(tmp_path / "brought.jwks"))

    unknown = "whether the nodes' keys are theirs: they were taken from the bundle (--keys)"
    assert [unknown in each["notKnown"] for each in (without_keys, with_keys)] == [True, False]
