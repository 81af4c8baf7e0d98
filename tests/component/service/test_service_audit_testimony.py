"""What a bundle's entries prove about the log itself: heads shown to nodes, erasures, revoked keys."""

import hashlib
import json
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from headwater.audit.graph import Folding
from headwater.cli.main import app
from headwater.model.events import parse_event
from headwater.model.nodes import Arrival
from headwater.model.times import microseconds
from headwater.signing.directory import revocation
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create
from headwater.signing.leaf import salts
from headwater.signing.notefile import log_key
from headwater.signing.sign import sign_event
from headwater.signing.verify import Verdict
from headwater.store.entries import Entry, entry_of
from headwater.store.packing import unpacked
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_audit import (
    LOG_NAME,
    MINUTE_US,
    START_US,
    _strict_service,
    altered,
    bundle_of,
    changed_entries,
    run,
    verdict,
)
from tests.component.service.test_service_keys import KEY, NOW, enrol, post_signed, post_statement, token
from tests.support.app import dataset, event, facet

Head = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the log's key and no log."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    return tmp_path


def entry(home: Path, number: int, head: Head | None = None, *, is_known: bool = True) -> Entry:
    """A signed event that names this head, a minute after the event before, in an epoch of its own."""
    key = load_or_create(home)
    epoch = f"01a2011d-e5dc-7d03-8f97-{number:012d}"
    chain = {"nodeId": key.node_id, "epoch": epoch, "sequence": 0, "previousHash": None, "lastCheckpoint": head}
    error = facet(message=f"deleted {number} rows of the ledger", programmingLanguage="sql")
    facets = {"headwater_chain": chain, "errorMessage": error}
    body = event(
        eventTime=f"2026-05-22T14:{number + 10}:00Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{number:012d}", "facets": facets},
        outputs=[dataset("orders")],
    )
    raw = sign_event(json.dumps(body).encode(), key)
    judged: Verdict = "ok" if is_known else "unknown-key"
    return entry_of(parse_event(raw), judged, key.key_id, START_US + number * MINUTE_US, bytes([number] * 16))


def unsigned(number: int) -> Entry:
    raw = json.dumps(event(run={"runId": f"0198f7d0-0000-7000-8000-{number:012d}"})).encode()
    return entry_of(parse_event(raw), "unsigned", None, START_US + number * MINUTE_US, bytes([number] * 16))


def written(home: Path, entries: Iterable[Entry]) -> None:
    """Rewrite the log as its owner could, with its tree."""
    for path in home.glob("headwater.db*"):
        path.unlink()
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*entries])


def head_of(home: Path) -> Head:
    """The head of the log as a receipt shows it to a node."""
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        origin, size, root = bundle.read("checkpoint.txt").decode().split("\n")[:3]
    return {"origin": origin, "size": int(size), "rootHash": root}


def head_findings(answer: dict[str, Any]) -> list[int]:
    return [finding["entry"] for finding in answer["findings"] if finding["check"] == "head"]


@pytest.fixture
def head(home: Path) -> Head:
    """The head over the first four entries, the third of which is unsigned."""
    written(home, [entry(home, 0), entry(home, 1), unsigned(2), entry(home, 3)])
    return head_of(home)


@pytest.mark.parametrize("arguments", [(), ("--from", "3"), ("--from", "4"), ("--dataset", "lake", "orders")])
def test_a_head_that_a_node_was_shown_belongs_to_the_log(home: Path, head: Head, arguments: Sequence[str]) -> None:
    written(
        home, [entry(home, 0), entry(home, 1), unsigned(2), entry(home, 3), *(entry(home, at, head) for at in (4, 5))]
    )

    answer = verdict(bundle_of(home, *arguments))

    assert answer["verdict"] == "proven"
    assert "head: 1 head that nodes named when they signed belonged to this log" in answer["checked"]


@pytest.mark.parametrize("arguments", [(), ("--from", "3"), ("--from", "4"), ("--dataset", "lake", "orders")])
def test_a_replaced_entry_contradicts_the_head_that_a_node_was_shown(
    home: Path, head: Head, arguments: Sequence[str]
) -> None:
    written(
        home, [entry(home, 0), entry(home, 1), unsigned(7), entry(home, 3), *(entry(home, at, head) for at in (4, 5))]
    )

    answer = verdict(bundle_of(home, *arguments))

    assert head_findings(answer) == [4]
    assert (
        "over 4 entries that is not this log's: the log was rewritten since, unless somebody forged the node's receipt"
        in (answer["findings"][0]["message"])
    )


def with_escapes(logged: Entry) -> Entry:
    """The entry with an escape in each key that names a head; its signature stays valid."""
    raw = unpacked(logged.frame).replace(b'"lastCheckpoint"', rb'"\u006castCheckpoint"')
    return entry_of(parse_event(raw), logged.verdict, logged.key_id, logged.received_us, bytes(16))


def test_a_head_that_a_node_was_shown_is_not_hidden_by_escapes(home: Path, head: Head) -> None:
    after = [with_escapes(entry(home, at, head)) for at in (4, 5)]
    written(home, [entry(home, 0), entry(home, 1), unsigned(7), entry(home, 3), *after])

    answer = verdict(bundle_of(home))

    assert head_findings(answer) == [4]
    assert answer["counts"]["signed"] == 5


def test_a_dropped_entry_contradicts_the_head_that_a_node_was_shown(home: Path, head: Head) -> None:
    written(home, [entry(home, 0), entry(home, 1), entry(home, 3), *(entry(home, at, head) for at in (4, 5))])

    answer = verdict(bundle_of(home))

    assert head_findings(answer) == [3]
    assert "over 4 entries, and when that arrived, the log had 3" in answer["findings"][0]["message"]


def test_a_head_that_the_bundle_cannot_check_is_listed_as_not_known(home: Path, head: Head) -> None:
    odd = {**head, "size": 3, "rootHash": b64encode(bytes(32)).decode()}
    written(home, [*(entry(home, at) for at in range(4)), entry(home, 4, odd)])

    answer = verdict(bundle_of(home, "--from", "4"))

    assert answer["verdict"] == "proven"
    assert any(
        each.startswith("whether 1 head that nodes named when they signed belonged to this log: ")
        for each in answer["notKnown"]
    )


def test_a_head_of_another_log_and_a_head_in_an_unverified_event_contradict_nothing(home: Path, head: Head) -> None:
    elsewhere = {**head, "origin": "other.example.org"}
    unproven = entry(home, 5, {**head, "size": 1}, is_known=False)
    written(home, [*(entry(home, at) for at in range(4)), entry(home, 4, elsewhere), unproven])

    answer = verdict(bundle_of(home))

    assert answer["verdict"] == "proven"
    assert "whether 1 head that nodes named belonged to logs of other names" in answer["notKnown"]


@pytest.mark.parametrize("odd", [5, [], {"size": "4"}, {"origin": LOG_NAME, "size": 4, "rootHash": None}, {}])
def test_a_malformed_head_is_ignored(home: Path, odd: Any) -> None:  # noqa: ANN401
    written(home, [entry(home, 0, odd)])

    assert verdict(bundle_of(home))["verdict"] == "proven"


def leave_out_facet(entries: list[dict[str, Any]]) -> None:
    """Remove a facet from an event and mark it as erased, as a carrier of the bundle can."""
    logged = entries[1]
    raw, places = logged["raw"], logged["facets"]
    salt_of = salts(b64decode(logged["salt"]), len(places) // 2)
    for number in reversed(range(len(places) // 2)):
        begin, end = places[2 * number : 2 * number + 2]
        if "rows of the ledger" in raw[begin:end]:
            commitment = hashlib.sha256(salt_of[number + 1] + raw[begin:end].encode()).digest()
            logged["parts"] = {str(number): b64encode(commitment).decode()}
            logged["raw"] = f'{raw[:begin]}{{"_deleted":true}}{raw[end:]}'


def recomputed_graph(bundle: Path) -> Callable[[bytes], bytes]:
    """The graph of a changed bundle: it is not signed, so a carrier can recompute it."""
    folding = Folding()
    with zipfile.ZipFile(bundle) as archive:
        for line in archive.read("entries.jsonl").splitlines():
            logged = json.loads(line)
            arrival = Arrival(logged["receivedUs"], logged["verdict"], logged["keyId"])
            folding.take(logged["type"], logged["raw"].encode(), logged["index"], arrival)
    return lambda _: orjson.dumps(folding.graph())


def without_a_facet(bundle: Path) -> Path:
    """A bundle from which its carrier removed a facet."""
    cut = bundle.with_name("cut.zip")
    cut.write_bytes(altered(bundle, entries=changed_entries(leave_out_facet)).read_bytes())
    return altered(cut, graph=recomputed_graph(cut))


def test_a_facet_removed_from_a_bundle_of_the_whole_log_is_found(home: Path) -> None:
    written(home, [entry(home, at) for at in range(4)])

    answer = verdict(without_a_facet(bundle_of(home)))

    assert [(each["check"], each["entry"]) for each in answer["findings"]] == [("erasure", 1)]
    assert "run.facets.errorMessage is marked as erased, but no entry of the log" in answer["findings"][0]["message"]


def test_a_facet_removed_from_a_bundle_of_a_part_is_named_and_not_called_unaltered(
    home: Path,
) -> None:
    written(home, [entry(home, at) for at in range(4)])

    path = without_a_facet(bundle_of(home, "--to", "3"))
    answer, output = verdict(path), run("verify", str(path)).output

    assert answer["verdict"] == "proven"
    assert (
        "whether the log or somebody else erased run.facets.errorMessage of entry 1: no entry here records it"
        in answer["notKnown"]
    )
    assert "unaltered" not in output
    assert "proven, except for facets left out of 1 event" in output


@pytest.mark.parametrize("arguments", [(), ("--dataset", "lake", "orders")])
def test_an_erasure_by_the_log_is_explained_by_its_own_entry(home: Path, arguments: Sequence[str]) -> None:
    written(home, [entry(home, 0), unsigned(1), *(entry(home, at) for at in range(2, 4))])
    for member in ("run.facets.errorMessage", "run.facets.headwater_chain"):
        erased = ["log", "redact", "2", member, "--reason", "asked for", "--by", "ann"]
        assert CliRunner().invoke(app, erased).exit_code == 0

    path = bundle_of(home, *arguments)
    answer, output = verdict(path), run("verify", str(path)).output

    assert (answer["verdict"], answer["counts"]["erased"], answer["counts"]["edits"]) == ("proven", 3, 2)
    assert "unaltered" in output
    assert not any("or somebody else erased" in each for each in answer["notKnown"])


def test_an_event_logged_after_its_keys_revocation_is_listed_even_if_dated_before_it(
    home: Path,
) -> None:
    with _strict_service(home) as client:
        enrol(client, KEY, token(home / "tokens"))
        assert post_signed(client, KEY) == 201
        planned = revocation(KEY.key_id, NOW + timedelta(minutes=1), "stolen", "1", NOW, KEY)
        assert post_statement(client, planned).status_code == 201
    raw = sign_event(json.dumps(event(run={"runId": "0198f7d0-0000-7000-8000-000000000005"})).encode(), KEY)
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), "ok", KEY.key_id, START_US + 1000, bytes(16))])

    answer = verdict(bundle_of(home))

    assert answer["verdict"] == "proven"
    assert [each for each in answer["notKnown"] if "came before the key" in each] == [
        f"whether 1 event came before the key {KEY.key_id!r} was revoked, as the log says: the first is entry 3, "
        "after entry 2, which revokes it"
    ]


def test_an_event_received_after_its_keys_revocation_is_found_whatever_the_key_set_says(home: Path) -> None:
    with _strict_service(home) as client:
        enrol(client, KEY, token(home / "tokens"))
        assert post_signed(client, KEY) == 201
        assert post_statement(client, revocation(KEY.key_id, NOW, "stolen", "1", NOW, KEY)).status_code == 201
    raw = sign_event(json.dumps(event(run={"runId": "0198f7d0-0000-7000-8000-000000000005"})).encode(), KEY)
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), "ok", KEY.key_id, microseconds(NOW) + MINUTE_US, bytes(16))])
    (home / "known.jwks").write_text(write_jwks({KEY.key_id: KEY.public_key}))
    path = bundle_of(home)

    of_the_bundle, of_others = verdict(path), verdict(path, "--keys", str(home / "known.jwks"))

    for answer in (of_the_bundle, of_others):
        [late] = [each for each in answer["findings"] if each["entry"] == 3]
        assert late["check"] == "signature"
        assert "was not valid when the event arrived" in late["message"]
        assert not [each for each in answer["notKnown"] if "came before the key" in each]
    assert "entry 2 had revoked it, whatever the key set says" in of_others["findings"][0]["message"]
