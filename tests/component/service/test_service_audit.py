"""A bundle of the log is verified offline, by code that is independent of the service."""

import getpass
import json
import re
import sqlite3
import zipfile
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import VerifyKey
from starlette.testclient import TestClient
from typer.testing import CliRunner, Result

from headwater.audit import core
from headwater.audit.bounds import oversized_parts
from headwater.audit.core import Refused, Trust, canonical, check_bundle, leaf_of
from headwater.audit.export import ExportRequest, export
from headwater.cli.main import app
from headwater.errors import InvalidInputError, SetupError, UnavailableError
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.directory import revocation, rotation
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create, trusted_keys
from headwater.signing.keys import NodeKey
from headwater.signing.leaf import Found, part, salts, seal
from headwater.signing.notefile import log_key
from headwater.signing.segments import facet_spans
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event
from headwater.store.backlog import FactBacklog
from headwater.store.entries import Entry, entry_of
from headwater.store.erasing import Erasure, erase
from headwater.store.opening import open_reader
from headwater.store.packing import unpacked
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_keys import KEY, NEW, NOW, enrol, post_signed, post_statement, token
from tests.support.app import dataset, event, schema, serving
from tests.support.signature_vectors import OWN_VECTORS, read_vectors

LOG_NAME = "lineage.example.org"
START_US = 1_779_459_791_000_000
"""2026-05-22T14:23:11Z"""
MINUTE_US = 60_000_000


RUN_ID = "0198f7d0-0000-7000-8000-000000000000"
KEY_JWK = json.loads(write_jwks({KEY.key_id: KEY.public_key}))["keys"][0]
EPOCH = "01a2011d-e5dc-7d03-8f97-97226895efc4"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a log of 30 entries, a minute apart: signed events of five jobs, edits, an unsigned event."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add([*_entries(tmp_path)])
    return tmp_path


def _entries(home: Path, first: int = 0, end: int = 30) -> Iterator[Entry]:
    before: str | None = None
    sequence = 0
    for number in range(end):
        entry, payload = _entry(home, number, sequence, before)
        if number >= first:
            yield entry
        if payload is not None:
            before, sequence = payload, sequence + 1


def _entry(home: Path, number: int, sequence: int, before: str | None) -> tuple[Entry, str | None]:
    """An entry, and its payload hash if it is signed."""
    received_us, salt = START_US + number * MINUTE_US, bytes([number] * 16)
    if number in (7, 8):
        edits = edit_entry(str(number), received_us, "ann", [EditItem(("job", "etl", "job 1"), "deleted", number == 7)])
        return entry_of(edits, "unsigned", None, received_us, salt), None
    key = load_or_create(home)
    chain = {"nodeId": key.node_id, "epoch": EPOCH, "sequence": sequence, "previousHash": before}
    facets = {"nominalTime": {"é": 1.50}, "headwater_chain": chain}
    body = event(
        eventTime=f"2026-05-22T14:{number + 10}:00Z",
        run={"runId": f"0198f7d0-0000-7000-8000-{number // 2:012d}", "facets": facets},
        job={"namespace": "etl", "name": f"job {number % 5}"},
        outputs=[dataset(f"table {number % 3}", schema=schema("a", "b<"))],
    )
    raw = json.dumps(body).encode()
    if number == 9:
        return entry_of(parse_event(raw), "unsigned", None, received_us, salt), None
    signed = sign_event(raw, key)
    if number == 10:  # forwarded by a program that formats JSON differently
        signed = json.dumps(json.loads(signed), indent=1, ensure_ascii=False).encode()
    assert verify_event(signed, {key.key_id: key.public_key}).verdict == "ok"
    payload = json.loads(signed)["run"]["facets"]["signature"]["payloadHash"]
    return entry_of(parse_event(signed), "ok", key.key_id, received_us, salt), payload


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments])


def bundle_of(home: Path, *arguments: str) -> Path:
    path = home / "bundle.zip"
    result = run("export", "-o", str(path), "--force", *arguments)
    assert result.exit_code == 0, result.output
    return path


def verdict(path: Path, *arguments: str) -> dict[str, Any]:
    result = run("verify", str(path), "--json", *arguments)
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    assert result.exit_code == (0 if answer["verdict"] == "proven" else 1)
    return answer


def altered(path: Path, **members: Callable[[bytes], bytes]) -> Path:
    """The bundle, with some members changed."""
    out = path.with_name("bent.zip")
    with zipfile.ZipFile(path) as original, zipfile.ZipFile(out, "w") as changed:
        for name in original.namelist():
            data = original.read(name)
            changed.writestr(name, members.get(name.partition(".")[0].replace("-", "_"), bytes)(data))
    return out


def changed_entries(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[bytes], bytes]:
    """A function that applies `change` to the entries of `entries.jsonl`."""

    def changed(data: bytes) -> bytes:
        entries = [json.loads(line) for line in data.splitlines()]
        change(entries)
        return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)

    return changed


def checks(answer: dict[str, Any]) -> set[str]:
    return {finding["check"] for finding in answer["findings"]}


def test_the_whole_log_is_proven_and_its_graph_matches_the_service(home: Path) -> None:
    key = str(log_key(home, None, "").verifier)

    answer = verdict(bundle_of(home), "--log-key", key)

    assert answer["findings"] == []
    assert answer["counts"] == {"shown": 30, "edits": 2, "signed": 27, "unsigned": 1}
    assert any("graph that the service shows: 5 jobs, 15 runs, 3 datasets" in each for each in answer["checked"])
    assert not any("--log-key" in each for each in answer["notKnown"])
    assert any("whether what a node signed was true" in each for each in answer["notKnown"])


def test_the_output_lists_what_was_checked_and_what_cannot_be_known(home: Path) -> None:
    result = run("verify", str(bundle_of(home)))

    assert result.exit_code == 0
    assert "checked    checkpoint: lineage.example.org signed the head over 30 entries" in result.output
    assert "not known  whether lineage.example.org+" in result.output
    assert result.output.splitlines()[-1] == "verdict    proven: these are the entries of the log, unaltered"


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (("--from", "3", "--to", "19"), 16),
        (("--from", "2026-05-22T14:26:11Z", "--to", "2026-05-22T14:42:11Z"), 16),
        (("--from", "0", "--to", "1"), 1),
        (("--from", "29"), 1),
        (("--from", "30"), 0),
    ],
)
def test_a_part_of_the_log_is_proven_against_its_head(home: Path, arguments: tuple[str, ...], shown: int) -> None:
    answer = verdict(bundle_of(home, *arguments))

    assert (answer["findings"], answer["counts"].get("shown", 0)) == ([], shown)


def test_an_export_of_one_dataset_withholds_the_other_entries(home: Path) -> None:
    path = bundle_of(home, "--dataset", "lake", "table 1")

    answer = verdict(path)

    assert answer["findings"] == []
    assert answer["counts"]["shown"] + answer["counts"]["withheld"] == 30
    with zipfile.ZipFile(path) as bundle:
        shown = [json.loads(line) for line in bundle.read("entries.jsonl").splitlines()]
    about = [entry["index"] for entry in shown if "raw" in entry]
    assert {index for index in range(30) if index % 3 == 1 and index not in (7, 8)} <= set(about)


def test_a_head_that_extends_an_earlier_one_is_consistent(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*_entries(home, 30, 40)])

    answer = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert answer["findings"] == []
    assert "consistency: the head extends the one over 30 entries that was kept" in answer["checked"]


def _with_another_job(entries: list[dict[str, Any]]) -> None:
    entries[4]["raw"] = entries[4]["raw"].replace("job 4", "job 3")


def test_an_altered_byte_is_found_by_the_entry_and_signature_checks(home: Path) -> None:
    answer = verdict(altered(bundle_of(home), entries=changed_entries(_with_another_job)))

    assert {"entry", "signature", "inclusion", "graph"} <= checks(answer)
    assert {finding["entry"] for finding in answer["findings"]} == {4, None}


def test_a_dropped_event_is_found_by_the_inclusion_check(home: Path) -> None:
    answer = verdict(altered(bundle_of(home), entries=changed_entries(lambda entries: entries.remove(entries[11]))))

    assert "inclusion" in checks(answer)


def test_swapped_events_are_found_by_the_inclusion_check(home: Path) -> None:
    def swap(entries: list[dict[str, Any]]) -> None:
        entries[2], entries[3] = {**entries[3], "index": 2}, {**entries[2], "index": 3}

    assert checks(verdict(altered(bundle_of(home), entries=changed_entries(swap)))) == {"inclusion"}


def test_an_inserted_or_repeated_event_is_found_by_the_inclusion_check(home: Path) -> None:
    def replay(entries: list[dict[str, Any]]) -> None:
        entries.append({**entries[5], "index": 30})

    def insert(entries: list[dict[str, Any]]) -> None:
        entries.insert(6, entries[5])
        for index, entry in enumerate(entries):
            entry = entries[index] = dict(entry)
            entry["index"] = index

    for change in (replay, insert):
        assert "inclusion" in checks(verdict(altered(bundle_of(home), entries=changed_entries(change))))


def test_a_truncated_log_is_found_by_the_consistency_check(home: Path) -> None:
    earlier = bundle_of(home)
    with zipfile.ZipFile(earlier) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    rewrite_database(home, 20)

    answer = verdict(bundle_of(home), "--since", str(home / "kept.txt"))

    assert checks(answer) == {"consistency"}
    assert answer["findings"][0]["message"] == "the log had 30 entries and has 20: cut off, or this bundle is older"


def rewrite_database(home: Path, count: int, change: Callable[[Entry], Entry] = lambda entry: entry) -> None:
    """Rewrite the database as its owner could, with a new tree."""
    for path in home.glob("headwater.db*"):
        path.unlink()
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*map(change, _entries(home, 0, count))])


def test_a_database_rewritten_with_its_tree_is_found_by_the_consistency_check(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    rewrite_database(home, 35, lambda entry: entry._replace(seal=None))

    alone = verdict(bundle_of(home))
    answer = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert alone["findings"] == []  # without an earlier head this cannot be detected
    assert "none was given" in " ".join(alone["notKnown"])
    assert checks(answer) == {"consistency"}


def test_a_head_and_a_number_of_witnesses_are_not_both_taken(home: Path) -> None:
    (home / "head.txt").write_text("x")

    result = run("export", "-o", str(home / "x.zip"), "--head", str(home / "head.txt"), "--witnesses", "2")

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith("--witnesses:")
    assert not (home / "x.zip").exists()


def test_a_kept_head_newer_than_the_witnessed_one_is_refused_at_the_export(home: Path) -> None:
    """In a bundle, it would look as if the log had been cut off."""
    (home / "witnessed.txt").write_bytes(_content(bundle_of(home))["checkpoint.txt"])
    (home / "kept.txt").write_bytes(_content(bundle_of(home))["checkpoint.txt"])

    options = ["--head", str(home / "witnessed.txt"), "--since", str(home / "kept.txt")]
    result = run("export", "-o", str(home / "late.zip"), *options)

    assert isinstance(result.exception, InvalidInputError)
    assert "--since: it covers 31 entries, and the head to prove against only 30" in str(result.exception)
    assert not (home / "late.zip").exists()


def test_entries_that_the_head_does_not_cover_are_refused_at_the_export(home: Path) -> None:
    """In a bundle, it would look as if the log had others."""
    signer = log_key(home, None, "localhost")
    with closing(open_reader(home / "headwater.db", home)) as reader:
        head = Checkpoint(signer.verifier.name, 10, reader.tree.frontier(10).root).signed(signer)
    (home / "witnessed.txt").write_text(head)

    beyond = run("export", "-o", str(home / "late.zip"), "--head", str(home / "witnessed.txt"), "--from", "11")
    empty = verdict(bundle_of(home, "--head", str(home / "witnessed.txt"), "--from", "10"))
    last = verdict(bundle_of(home, "--head", str(home / "witnessed.txt"), "--from", "9"))

    assert isinstance(beyond.exception, InvalidInputError)
    assert "--from: the head to prove against covers only 10 entries, none from 11 on" in str(beyond.exception)
    assert not (home / "late.zip").exists()
    assert [empty["verdict"], last["verdict"]] == ["proven", "proven"]


def test_two_histories_of_one_size_are_found_by_the_consistency_check(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    rewrite_database(home, 30, lambda entry: entry._replace(seal=None))

    answer = verdict(bundle_of(home), "--since", str(home / "kept.txt"))

    assert [finding["check"] for finding in answer["findings"]] == ["consistency"]


def _forged(entry: Entry) -> Entry:
    """An entry that the log's owner may forge: an event that its node never signed, with the verdict "ok"."""
    raw = unpacked(entry.frame).replace(b'"name":"job 4"', b'"name":"job 3"')
    return entry_of(parse_event(raw), "ok", entry.key_id, entry.received_us, bytes(16))


@pytest.mark.parametrize("parts", [None, {}, {"99": ""}, {"-1": ""}])
def test_an_event_that_its_node_never_signed_is_found_by_its_signature_even_if_called_erased(
    home: Path, parts: dict[str, str] | None
) -> None:
    rewrite_database(home, 30, lambda entry: _forged(entry) if b'"name":"job 4"' in unpacked(entry.frame) else entry)

    def claim(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry |= {} if parts is None else {"parts": parts}

    answer = verdict(altered(bundle_of(home), entries=changed_entries(claim)))

    assert {(each["check"], each["entry"]) for each in answer["findings"]} >= {
        ("signature", at) for at in (4, 14, 19, 24)
    }


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("DELETE FROM log WHERE idx = 12", "the log has no entry 12, but has later ones"),
        ("DELETE FROM leaf WHERE idx = 12", "the tree lacks leaves of entries 0 to 30: was it restored in part?"),
        ("DELETE FROM log WHERE idx = 29", "the facts of 30 entries, but only 29 entries: the last ones were removed"),
        ("UPDATE leaf SET salt = x'00' WHERE idx = 12", "the salts of entry 12 are damaged"),
        ("DELETE FROM name", "which is no name or run in it: was it restored in part?"),
        ("DELETE FROM run", "which is no name or run in it: was it restored in part?"),
        ("DELETE FROM folded", "the database does not say of how many entries it has the facts"),
        ("UPDATE log SET packed = x'00' WHERE idx = 12", "the bytes of event 12 in the database are damaged"),
    ],
)
def test_missing_or_damaged_entries_of_the_database_are_reported(home: Path, damage: str, message: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(damage)
        database.commit()

    result = run("export", "-o", str(home / "bundle.zip"))

    assert isinstance(result.exception, UnavailableError)
    assert message in str(result.exception)
    assert not (home / "bundle.zip").exists()


@pytest.mark.parametrize("end", ["13", "14"])
def test_a_missing_entry_is_reported_also_if_it_is_the_last_to_be_exported(home: Path, end: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute("DELETE FROM log WHERE idx = 12")
        database.commit()

    result = run("export", "-o", str(home / "bundle.zip"), "--to", end)
    before = verdict(bundle_of(home, "--to", "12"))

    assert isinstance(result.exception, UnavailableError)
    assert "the log has no entry 12, but has later ones" in str(result.exception)
    assert before["verdict"] == "proven"


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE log SET verdict = 'ok' WHERE idx = 9",
        "UPDATE log SET received_us = received_us - 1 WHERE idx = 9",
        "UPDATE log SET packed = (SELECT packed FROM log WHERE idx = 5) WHERE idx = 9",
    ],
)
def test_an_edited_row_of_the_database_is_found_by_the_entry_check(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(change)
        database.commit()

    answer = verdict(bundle_of(home))

    assert ("entry", 9) in {(each["check"], each["entry"]) for each in answer["findings"]}


@pytest.mark.parametrize(
    "change", ["event_us = event_us - 1", "run = (SELECT run FROM log WHERE idx = 0)", "run = NULL"]
)
def test_an_event_stored_under_a_wrong_time_or_run_is_warned_of(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(f"UPDATE log SET {change} WHERE idx IN (9, 12)")  # noqa: S608  words of ours
        database.commit()

    result = run("export", "-o", str(home / "bundle.zip"), "--json")

    (warning,) = json.loads(result.stdout)["warnings"]
    assert "the database has 2 events under a time or run that differs from the bytes" in warning
    assert "entries: 9, 12;" in warning
    assert verdict(home / "bundle.zip")["verdict"] == "proven"


def test_an_event_that_is_called_an_edit_is_found_by_the_entry_check(home: Path) -> None:
    def rename(entries: list[dict[str, Any]]) -> None:
        entries[9]["kind"] = "edit"  # the unsigned event
        entries[9]["leaf"] = b64encode(leaf_of(entries[9], entries[9]["raw"].encode())).decode()

    answer = verdict(altered(bundle_of(home), entries=changed_entries(rename)))

    assert ("entry", 9) in {(each["check"], each["entry"]) for each in answer["findings"]}


def test_a_signature_elsewhere_in_the_event_signs_nothing(home: Path) -> None:
    key = load_or_create(home)
    public = VerifyKey(key.public_key.public_bytes_raw())
    signed = sign_event(json.dumps(event(run={"runId": RUN_ID, "facets": {"a": {}}})).encode(), key)
    facet = signed[signed.index(b'"signature":') : signed.index(b"}", signed.index(b'"signature":')) + 1]
    moved = signed.replace(b"," + facet, b"").replace(b'"outputs":[]', b'"outputs":[],' + facet[:-1] + b',"more":1}')
    assert core.is_signed(signed, key.key_id, public)

    assert not core.is_signed(moved, key.key_id, public)


def test_a_backdated_event_is_found_by_the_entry_check(home: Path) -> None:
    def backdate(entries: list[dict[str, Any]]) -> None:
        entries[20]["receivedUs"] -= 3600 * 1_000_000

    assert {"entry", "inclusion", "graph"} == checks(
        verdict(altered(bundle_of(home), entries=changed_entries(backdate)))
    )


@pytest.mark.parametrize(
    ("member", "finding"),
    [({"revokedFrom": "2026-05-22T14:33:11Z"}, range(10, 30)), ({"nbf": START_US / 1e6 + 60}, range(1))],
)
def test_an_event_under_a_key_that_was_not_valid_then_is_found_by_its_signature(
    home: Path, member: dict[str, Any], finding: range
) -> None:
    def limit(data: bytes) -> bytes:
        jwks = json.loads(data)
        jwks["keys"][0] |= member
        return json.dumps(jwks).encode()

    answer = verdict(altered(bundle_of(home), keys=limit))

    assert [(each["check"], each["entry"]) for each in answer["findings"]] == [
        ("signature", index) for index in finding
    ]


def test_a_head_signed_by_another_key_is_found_by_the_checkpoint_check(home: Path, tmp_path: Path) -> None:
    other = log_key(tmp_path / "other", LOG_NAME, "")

    answer = verdict(bundle_of(home), "--log-key", str(other.verifier))

    assert "checkpoint" in checks(answer)


def test_a_failed_check_is_not_listed_among_those_that_passed(home: Path) -> None:
    answer = verdict(altered(bundle_of(home), entries=changed_entries(_with_another_job)))

    passed = {checked.partition(":")[0] for checked in answer["checked"]}
    assert checks(answer) == {"entry", "signature", "inclusion", "graph"}
    assert passed & checks(answer) == set()


def test_a_dropped_entry_is_reported_once_and_not_for_every_later_entry(home: Path) -> None:
    answer = verdict(altered(bundle_of(home), entries=changed_entries(lambda entries: entries.remove(entries[11]))))

    places = [each["entry"] for each in answer["findings"] if each["check"] == "inclusion"]
    assert places == [11, 29, None]


def test_many_findings_of_one_check_do_not_hide_those_of_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "MOST_FINDINGS", 3)

    def alter(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry["raw"] = entry["raw"].replace("etl", "elt")

    answer = verdict(altered(bundle_of(home), entries=changed_entries(alter)))

    assert checks(answer) == {"entry", "signature", "inclusion", "graph"}
    assert answer["counts"]["findings not listed"] == 30 + 27 - 2 * 3


def test_a_head_without_a_known_signer_is_reported_without_accusing_the_log_of_truncation(home: Path) -> None:
    original = bundle_of(home)
    with zipfile.ZipFile(original) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))

    answer = verdict(
        altered(original, checkpoint=lambda note: note.replace(b"\n30\n", b"\n31\n")), "--since", str(home / "kept.txt")
    )

    assert checks(answer) == {"checkpoint", "inclusion"}
    assert "cut off" not in json.dumps(answer)


def test_entries_under_shifted_indexes_are_refused(home: Path) -> None:
    def later(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry["index"] += 1

    def claim(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "from": 1, "to": 31}).encode()

    result = run("verify", str(altered(bundle_of(home), entries=changed_entries(later), manifest=claim)))

    assert result.exit_code == 2
    assert "tree.json lacks hashes for the entries before 1" in result.stderr


def test_a_key_that_does_not_match_its_id_verifies_nothing(home: Path, tmp_path: Path) -> None:
    other = load_or_create(tmp_path / "other").public_key.public_bytes_raw()

    def swap(data: bytes) -> bytes:
        jwks = json.loads(data)
        jwks["keys"][0]["x"] = urlsafe_b64encode(other).decode().rstrip("=")
        return json.dumps(jwks).encode()

    path = altered(bundle_of(home), keys=swap)
    answer, output = verdict(path), run("verify", str(path)).output

    assert checks(answer) == {"signature"}
    assert "matches the hash in that id, by --keys or else by the bundle" in answer["findings"][0]["message"]
    assert "WRONG      signature: entries 0 to 29, 27 of them: no known key 'node:" in output


def test_withheld_entries_are_listed_as_unknown_and_gaps_only_in_part(home: Path) -> None:
    answer = verdict(bundle_of(home, "--dataset", "lake", "table 1"))

    withheld = answer["counts"]["withheld"]
    holes = [each for each in answer["notKnown"] if each.startswith("what node")]
    assert f"the content of {withheld} entries not shown, and what it is about" in answer["notKnown"]
    assert holes
    assert all("or among those not shown" in each for each in holes[:3])
    assert len(holes) <= 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--from", "31"),
            "--from: 31 is beyond the end of the log; expected a time like 2026-05-22T14:00:00Z, or an index from 0",
        ),
        (
            ("--to", "1764000000000"),
            "--to: 1764000000000 is beyond the end of the log; expected a time like 2026-05-22T14:00:00Z",
        ),
        (("--to", "yesterday-ish"), "--to: 'yesterday-ish' cannot be read; expected a time like"),
        (("--from", "20", "--to", "10"), "--to: expected no earlier than --from (entries 20 to 10)"),
    ],
)
def test_an_impossible_range_is_reported_by_the_wrong_option(
    home: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run("export", "-o", str(home / "bundle.zip"), *arguments)

    assert isinstance(result.exception, InvalidInputError)
    assert message in str(result.exception)


def test_a_bundle_of_a_time_range_without_entries_comes_with_a_warning(home: Path) -> None:
    result = run("export", "-o", str(home / "bundle.zip"), "--to", "2020-01-01")

    assert result.exit_code == 0
    assert "warning: no entry is in that range" in result.stderr


def test_a_graph_that_does_not_follow_from_the_entries_is_found(home: Path) -> None:
    def hide(data: bytes) -> bytes:
        graph = json.loads(data)
        graph["edges"].pop()
        return json.dumps(graph).encode()

    answer = verdict(altered(bundle_of(home), graph=hide))

    assert [finding["check"] for finding in answer["findings"]] == ["graph"]


def test_a_graph_with_an_older_checksum_is_compared_by_its_lists(home: Path) -> None:
    def with_old_sum(data: bytes) -> bytes:
        graph = json.loads(data)
        graph["sumOfRows"] = graph.pop("rowSum")[::-1]
        return json.dumps(graph).encode()

    answer = verdict(altered(bundle_of(home), graph=with_old_sum))

    assert answer["verdict"] == "proven"
    assert any("the finer facts" in each for each in answer["notKnown"])


@pytest.mark.parametrize("name", ["manifest", "entries", "tree", "keys", "graph"])
@pytest.mark.parametrize("text", [b"\xff{", b"", b"null", b"[1]", b"[" * 200_000])
def test_an_unreadable_bundle_is_refused(home: Path, name: str, text: bytes) -> None:
    result = run("verify", str(altered(bundle_of(home), **{name: lambda _: text})))

    assert result.exit_code == (1 if (name, text) == ("entries", b"") else 2)
    assert isinstance(result.exception, SystemExit)


def test_a_bundle_with_a_damaged_or_encrypted_file_is_refused(home: Path) -> None:
    path = bundle_of(home)
    original, content = path.read_bytes(), _content(path)
    middles = range(0, original.rindex(b"PK\1\2"), 97)
    damaged = [original[:at] + bytes([original[at] ^ 0xFF]) + original[at + 1 :] for at in middles]
    locked = [original[: at + 8] + b"\1" + original[at + 9 :] for at in _directory(original)]
    other_method = [original[: at + 10] + b"\x63" + original[at + 11 :] for at in _directory(original)]

    for bundle in [*damaged, *locked, *other_method]:
        path.write_bytes(bundle)
        result = run("verify", str(path))

        if result.exit_code == 0:  # the damage is in a part of the archive that nobody reads, such as a time
            assert (bundle in damaged, _content(path)) == (True, content)
        else:
            assert (result.exit_code, type(result.exception)) == (2, SystemExit)


def _content(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as bundle:
        return {name: bundle.read(name) for name in bundle.namelist()}


def _directory(archive: bytes) -> list[int]:
    """The offset of each file's record in a zip archive's directory."""
    return [found.start() for found in re.finditer(re.escape(b"PK\1\2"), archive)]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["entries.jsonl", "graph.json", "/etc/passwd", "../notes.txt"])
def test_a_bundle_with_a_duplicate_or_unknown_file_is_refused(home: Path, name: str) -> None:
    path = bundle_of(home)
    with zipfile.ZipFile(path) as bundle:
        members = {each: bundle.read(each) for each in bundle.namelist()}
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(name, b"what another reader would show")
        for each, data in members.items():
            bundle.writestr(each, data)

    result = run("verify", str(path))

    assert (result.exit_code, "duplicate or unknown files" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("part", "member", "other"),
    [
        ("entries", b'"raw":', b'"raw":"what another reader would show",'),
        ("entries", b'"raw":', b'"r\\u0061w":"what another reader would show", '),
        ("entries", b'"verdict":', b'"verdict":"unsigned",'),
        ("graph", b'"jobs":', b'"jobs":[],'),
        ("manifest", b'"to":', b'"to":5,'),
        ("tree", b'"left":', b'"left":[],'),
        ("keys", b'"kid":', b'"kid":"another",'),
    ],
)
def test_a_bundle_with_a_member_twice_is_refused(home: Path, part: str, member: bytes, other: bytes) -> None:
    path = altered(bundle_of(home), **{part: lambda data: data.replace(member, other + member, 1)})

    answer = json.loads(run("verify", str(path), "--json").stdout)

    assert (answer["verdict"], "duplicate key among" in answer["reason"]) == ("unreadable", True)


@pytest.mark.parametrize("space", [b" ", b"\t", b"\r"])
def test_a_bundle_whose_entries_are_written_in_another_way_is_read(home: Path, space: bytes) -> None:
    path = altered(bundle_of(home), entries=lambda data: data.replace(b'"raw":', b'"raw"' + space + b":"))

    assert verdict(path)["verdict"] == "proven"


def test_the_core_alone_refuses_a_bundle_with_a_member_twice(home: Path) -> None:
    path = altered(bundle_of(home), entries=lambda data: data.replace(b'"raw":', b'"raw":"other","raw":', 1))

    with path.open("rb") as file, pytest.raises(Refused, match="duplicate key among"):
        check_bundle(file, Trust())


def test_a_graph_with_more_than_follows_from_the_entries_is_found(home: Path) -> None:
    answer = verdict(
        altered(bundle_of(home), graph=lambda data: json.dumps({**json.loads(data), "owners": ["eve"]}).encode())
    )

    assert checks(answer) == {"graph"}
    assert "owners" in answer["findings"][0]["message"]


def test_a_bundle_with_lone_surrogates_is_reported_in_valid_json(home: Path) -> None:
    odd = altered(
        bundle_of(home), entries=changed_entries(lambda entries: entries[0].update(index="\ud800", verdict=5))
    )

    result = run("verify", str(odd), "--json")

    assert (result.exit_code, json.loads(result.stdout)["verdict"]) == (1, "not proven")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--log-key", ""),
        ("--log-key", "lineage.example.org"),
        ("--log-key", "lineage.example.org+00000000+AAAA"),
        ("--witness", "x"),
        ("--keys", ""),
        ("--keys", "{}"),
        ("--keys", '{"keys": [{"kid": 5}]}'),
        ("--keys", json.dumps({"keys": [KEY_JWK, KEY_JWK]})),
        ("--keys", json.dumps({"keys": [KEY_JWK | {"revokedFrom": "2026-05-22T14:00:00"}]})),
        ("--keys", json.dumps({"keys": [KEY_JWK | {"nbf": "yesterday"}]})),
        ("--since", ""),
        ("--since", "no head"),
    ],
)
def test_an_auditors_own_unreadable_input_is_reported_by_its_option(home: Path, option: str, text: str) -> None:
    value = text
    if option in ("--keys", "--since"):
        value = str(home / "brought")
        Path(value).write_text(text)

    result = run("verify", str(bundle_of(home)), option, value)

    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)
    assert option in result.output
    assert "proven" not in result.output
    assert "the bundle cannot be read" not in result.output


def test_a_key_set_may_hold_keys_of_other_kinds(home: Path) -> None:
    own = load_or_create(home)
    keys = json.loads(write_jwks({own.key_id: own.public_key}))["keys"]
    others = [{"kty": "RSA", "kid": "of the identity provider", "n": "AQAB", "e": "AQAB"}]
    (home / "brought.jwks").write_text(json.dumps({"keys": [*others, keys[0] | {"revokedFrom": None, "nbf": None}]}))

    answer = verdict(bundle_of(home), "--keys", str(home / "brought.jwks"))

    assert (answer["verdict"], answer["counts"]["signed"]) == ("proven", 27)


def test_an_existing_bundle_is_replaced_only_with_force(home: Path) -> None:
    (home / "bundle.zip").write_text("of last month")

    result = run("export", "-o", str(home / "bundle.zip"))

    assert str(result.exception) == (
        f"--output: {home / 'bundle.zip'} already exists: name a new file, or replace it with --force"
    )
    assert (home / "bundle.zip").read_text() == "of last month"
    assert verdict(bundle_of(home, "--force"))["verdict"] == "proven"


def test_export_prints_the_content_of_the_bundle_as_json(home: Path) -> None:
    answer = json.loads(run("export", "-o", str(home / "bundle.zip"), "--from", "3", "--to", "19", "--json").stdout)

    key = str(log_key(home, LOG_NAME, "").verifier)
    assert answer == {
        "file": str(home / "bundle.zip"),
        "from": 3,
        "to": 19,
        "size": 30,
        "logKey": key,
        "dataset": None,
        "names": None,
        "upstream": None,
        "warnings": [],
    }


def test_a_bundle_that_cannot_be_written_is_reported(home: Path) -> None:
    result = run("export", "-o", str(home / "none" / "bundle.zip"))

    assert isinstance(result.exception, SetupError)
    assert "cannot be written" in str(result.exception)


def test_a_dataset_without_entries_has_no_bundle(home: Path) -> None:
    result = run("export", "-o", str(home / "bundle.zip"), "--dataset", "lake", "tabel 1")

    assert isinstance(result.exception, InvalidInputError)
    assert "no entry from 0 up to 30 is about lake tabel 1" in str(result.exception)
    assert not (home / "bundle.zip").exists()


def test_a_file_that_is_not_a_zip_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no zip")

    result = run("verify", str(tmp_path / "x"))

    assert result.exit_code == 2
    assert result.stderr == (
        f"headwater: {tmp_path / 'x'}: this is no zip archive, or a damaged one; "
        "expected a file written by `headwater audit export`\n"
    )


def test_an_export_is_recorded_in_the_log_and_is_in_the_next_export(home: Path) -> None:
    first = verdict(bundle_of(home, "--from", "2", "--to", "5"))
    second = bundle_of(home)

    with zipfile.ZipFile(second) as bundle:
        last = json.loads(bundle.read("entries.jsonl").splitlines()[-1])
    recorded = json.loads(last["raw"])
    assert first["verdict"] == "proven"
    assert recorded["by"] == f"operator:{getpass.getuser()}"
    assert [(edit["what"], edit["value"]) for edit in recorded["edits"]] == [
        ("export", {"begin": 2, "end": 5, "dataset": None, "upstream": False})
    ]
    assert verdict(second)["verdict"] == "proven"


def test_export_refuses_a_database_that_a_running_service_has_open(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")):
        result = run("export", "-o", str(home / "bundle.zip"), "--url", "http://127.0.0.1:9")

    assert "name that service with --url" in str(result.exception)
    assert not (home / "bundle.zip").exists()


def test_entries_that_a_crash_left_unfolded_are_not_exported_before_they_are_folded(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*_entries(home, 30, 50)])
        store.catch_up(iter([False, True]).__next__)
        store._backlog = FactBacklog(store._writer)  # as after a crash, with only some of their facts stored

    result = run("export", "-o", str(home / "bundle.zip"))

    assert result.exit_code != 0
    assert "the facts of 20 entries are not stored yet" in str(result.exception)
    with closing(SqliteStore(home / "headwater.db")):
        pass  # opening it folds them
    assert verdict(bundle_of(home))["verdict"] == "proven"


def test_without_a_log_nothing_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = run("export", "-o", str(tmp_path / "b.zip"))

    assert (result.exit_code, (tmp_path / "b.zip").exists()) == (1, False)
    assert "no log key" in str(result.exception)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_part_too_large_to_be_verified_is_warned_of_when_it_is_written(tmp_path: Path, beyond: int) -> None:
    megabyte = bytes(1 << 20)
    with (tmp_path / "bundle.zip").open("w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
            with bundle.open("graph.json", "w") as member:
                for _ in range(core.MOST_BYTES // len(megabyte)):
                    member.write(megabyte)
                member.write(bytes(beyond))
            bundle.writestr("manifest.json", "{}")

        warnings = oversized_parts(file)
        with pytest.raises(core.Refused) as refused:
            check_bundle(file, Trust())

    assert len(warnings) == beyond
    assert ("would unpack to more than 268,435,456 bytes" in str(refused.value)) == bool(beyond)
    assert all(
        "graph.json unpacks to 268,435,457 bytes" in warning and "--from and --to" in warning for warning in warnings
    )


def test_a_bundle_that_can_be_read_is_exported_without_a_warning(home: Path) -> None:
    assert "warning" not in run("export", "-o", str(home / "bundle.zip")).output


def test_the_core_writes_the_canonical_form_of_the_shared_vectors() -> None:
    for vector in read_vectors(OWN_VECTORS)["vectors"]:
        read = json.loads(vector["event"], parse_int=core._Literal, parse_float=core._Literal)
        read["run"].get("facets", {}).pop("signature", None)
        assert canonical(read).encode().hex() == vector["canonicalHex"], vector["id"]


def test_erasing_a_facet_leaves_the_leaf_unchanged() -> None:
    raw = b'{"run":{"facets":{"owner":{"name":"Ann"},"x":1}},"eventTime":"t"}'
    found = Found("event", 5, "ok", "a key")
    sealed, spans = seal(raw, found, bytes(16)), facet_spans(raw)
    rest_salt, owner_salt, x_salt = salts(bytes(16), 2)
    entry = {
        **{"kind": "event", "receivedUs": 5, "verdict": "ok", "keyId": "a key"},
        "facets": [at for place in spans for at in (place.begin, place.end)],
        "salts": [b64encode(rest_salt).decode(), None, b64encode(x_salt).decode()],
        "parts": {"0": b64encode(part(owner_salt, b'{"name":"Ann"}')).decode()},
    }
    erased = raw.replace(b'{"name":"Ann"}', b'{"_deleted":true}')

    assert leaf_of(entry, erased) == sealed.leaf
    assert leaf_of(entry, erased.replace(b"_deleted", b"_altered")) != sealed.leaf
    assert leaf_of(entry, erased.replace(b":1", b":2")) != sealed.leaf


@pytest.mark.parametrize("name", ["graph.json", "entries.jsonl"])
def test_a_small_bundle_that_would_unpack_to_more_than_the_limit_is_refused(home: Path, name: str) -> None:
    out, spaces = home / "large.zip", b" " * (1 << 24)
    with (
        zipfile.ZipFile(bundle_of(home)) as original,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, True, 1) as large,
    ):
        for each in original.namelist():
            with large.open(each, "w") as part:
                for _ in range(core.MOST_BYTES // len(spaces) + 1 if each == name else 0):
                    part.write(spaces)
                part.write(original.read(each))

    result = run("verify", str(out), "--json")

    assert out.stat().st_size < 4_000_000
    assert result.exit_code == 2
    assert "would unpack to more than 268,435,456 bytes" in json.loads(result.stdout)["reason"]


@pytest.mark.parametrize(
    ("at", "member", "number"), [(7, "index", 2**64), (20, "receivedUs", 2**63), (20, "receivedUs", -(2**63) - 1)]
)
def test_a_number_that_no_log_can_hold_makes_a_bundle_unreadable(home: Path, at: int, member: str, number: int) -> None:
    def change(entries: list[dict[str, Any]]) -> None:
        entries[at][member] = number

    result = run("verify", str(altered(bundle_of(home), entries=changed_entries(change))), "--json")

    assert result.exit_code == 2
    assert "an index or arrival time of an entry has more than 64 bits" in json.loads(result.stdout)["reason"]


def test_the_core_is_one_file_that_an_auditor_can_read() -> None:
    text = Path(core.__file__).read_text()

    assert len(text.splitlines()) < 510
    assert "import headwater" not in text
    assert "from headwater" not in text


def test_a_bundle_can_be_read_from_memory(home: Path) -> None:
    assert check_bundle(BytesIO(bundle_of(home).read_bytes()), Trust()).is_proven


def test_an_erased_facet_is_gone_everywhere_and_the_log_is_still_proven(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    result = CliRunner().invoke(
        app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "asked for", "--by", "ann"]
    )
    assert result.exit_code == 0, result.output
    assert "erased from entry 4: run.facets.nominalTime, run.facets.signature; recorded as entry 31" in result.stdout

    answer = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert answer["findings"] == []
    assert answer["counts"] == {"shown": 32, "edits": 4, "signed": 26, "unsigned": 1, "erased": 2}
    assert any("2 facets since erased" in each for each in answer["notKnown"])
    assert any("27 events at places 0 to 26" in each and "0 missing" in each for each in answer["checked"])
    with closing(SqliteStore(home / "headwater.db")) as store:
        erased, recorded = store.at([4])[4], store.at([31])[31]
        assert (b'nominalTime":{"_deleted' in erased.raw, erased.verdict) == (True, "ok")
        assert json.loads(recorded.raw)["edits"][0]["value"] == {"reason": "asked for"}
        assert store.folded() == 33  # 30, the two exports, the erasure
    again = CliRunner().invoke(app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "x", "--by", "ann"])
    assert "'run.facets.nominalTime' of the entry was erased before" in str(again.exception)


def test_a_bundle_during_which_a_facet_is_erased_is_not_finished(home: Path) -> None:
    request, signer = ExportRequest(range(1_000), None, None), log_key(home, None, "")

    def erase_another(done: int, total: int) -> None:
        with closing(SqliteStore(home / "headwater.db")) as store:
            store.add([*_entries(home, 30, 31)])
            erase(store, Erasure(4, "run.facets.nominalTime", "asked for", "ann", "1", START_US))
            edit = edit_entry("2", START_US, "ann", [EditItem(("job", "etl", "job 2"), "deleted", True)])
            store.add([entry_of(edit, "unsigned", None, START_US, bytes(16))])

    with (
        closing(open_reader(home / "headwater.db", home)) as reader,
        (home / "bundle.zip").open("wb") as file,
        pytest.raises(UnavailableError, match="a facet was erased from the log in the meantime: export again"),
    ):
        export(reader, signer, trusted_keys(home), request, file, erase_another)

    assert verdict(bundle_of(home))["verdict"] == "proven"


def test_redact_prints_what_it_erased_as_json(home: Path) -> None:
    result = CliRunner().invoke(
        app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "asked for", "--by", "ann", "--json"]
    )

    assert json.loads(result.stdout) == {
        "index": 4,
        "erased": ["run.facets.nominalTime", "run.facets.signature"],
        "saidBy": 30,
    }


def test_an_erased_value_is_left_nowhere_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    name = "Ann Example of Example Street"
    body = event(run={"runId": "r", "facets": {"owner": {"name": name}}})
    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        store.add([entry_of(parse_event(json.dumps(body).encode()), "unsigned", None, 1)])
        before = {fact.key for fact in store.facts()}
    assert name.encode() in (tmp_path / "headwater.db").read_bytes()

    CliRunner().invoke(app, ["log", "redact", "0", "run.facets.owner", "--reason", "asked for", "--by", "ann"])

    with closing(SqliteStore(tmp_path / "headwater.db")) as store:
        assert {fact.key for fact in store.facts()} - before
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert name.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("reason", "by", "field"), [("", "ann", "reason"), (" \t", "ann", "reason"), ("asked", " ", "by")]
)
def test_nothing_is_erased_without_a_reason_and_a_name(home: Path, reason: str, by: str, field: str) -> None:
    result = CliRunner().invoke(app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", reason, "--by", by])

    assert (result.exit_code, str(result.exception).split(":")[0]) == (1, field)
    with closing(SqliteStore(home / "headwater.db")) as store:
        assert b'nominalTime":{"_deleted' not in store.at([4])[4].raw


def test_nothing_is_erased_without_a_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["log", "redact", "0", "run.facets.owner", "--reason", "asked for", "--by", "ann"])

    assert (result.exit_code, "there is no database" in str(result.exception)) == (1, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("index", "path", "reason"),
    [
        ("99", "run.facets.x", "no event 99"),
        (str(2**63), "run.facets.x", "no event 9223372036854775808"),
        ("7", "run.facets.x", "no event 7"),
        ("4", "run.facets.x", "it has outputs.0.facets.schema"),
    ],
)
def test_a_facet_that_does_not_exist_cannot_be_erased(home: Path, index: str, path: str, reason: str) -> None:
    result = CliRunner().invoke(app, ["log", "redact", index, path, "--reason", "x", "--by", "ann"])

    assert result.exit_code == 1
    assert reason in str(result.exception)


def test_the_bundle_has_the_key_directory_and_events_signed_by_a_revoked_key_are_found(
    home_with_signed_event: Path,
) -> None:
    good = verdict(bundle_of(home_with_signed_event))
    with _strict_service(home_with_signed_event) as client:
        stolen = revocation(KEY.key_id, NOW - timedelta(hours=1), "stolen", "an id", NOW, KEY)
        assert post_statement(client, stolen).status_code == 201

    answer = verdict(bundle_of(home_with_signed_event))

    assert (good["findings"], good["counts"]["signed"]) == ([], 1)
    assert [(finding["check"], finding["entry"]) for finding in answer["findings"]] == [("signature", 1)]


def test_a_stolen_keys_statements_do_not_undo_its_revocation_in_a_bundle(home_with_signed_event: Path) -> None:
    statements = (
        (revocation(KEY.key_id, NOW, "stolen", "1", NOW), "a hash"),
        (revocation(KEY.key_id, NOW + timedelta(days=999), "mine", "2", NOW, KEY), None),
        (rotation(KEY, NEW, "3", NOW), None),
    )
    with closing(SqliteStore(home_with_signed_event / "headwater.db")) as store:
        for number, (signed, token_hash) in enumerate(statements, 1):
            statement = json.loads(signed.text)
            what = "revoked" if statement["what"] == "revoke" else "enrolled"
            value = {"statement": signed.text, "signatures": dict(signed.signatures), "token": token_hash}
            at_us = START_US + number * MINUTE_US
            edits = edit_entry(str(number), at_us, None, [EditItem(("key", statement["keyId"]), what, value)])
            store.add([entry_of(edits, "unsigned", None, at_us, bytes(16))])

    with zipfile.ZipFile(bundle_of(home_with_signed_event)) as bundle:
        keys = {key["kid"]: key.get("revokedFrom") for key in json.loads(bundle.read("keys.json"))["keys"]}

    assert keys == {load_or_create(home_with_signed_event).key_id: None, KEY.key_id: "2026-05-22T14:23:11.000000Z"}


@contextmanager
def _strict_service(home: Path) -> Iterator[TestClient]:
    store = SqliteStore(home / "headwater.db")
    with closing(store), serving(store, require_signed=True, tokens=home / "tokens") as client:
        yield client


@pytest.fixture
def home_with_signed_event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in whose log a key is enrolled and has signed one event."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    with _strict_service(tmp_path) as client:
        assert enrol(client, KEY, token(tmp_path / "tokens")).status_code == 201
        assert post_signed(client, KEY) == 201
    return tmp_path


def test_the_sequence_numbers_of_each_nodes_record_are_reported(home: Path) -> None:
    answer = verdict(bundle_of(home))

    (chain,) = (each for each in answer["checked"] if each.startswith("chain: "))
    assert f"27 events at places 0 to 26 of epoch {EPOCH}; 0 missing, 0 forks, 0 inconsistent" in chain
    assert not [each for each in answer["notKnown"] if EPOCH in each]


def test_gaps_of_a_record_are_reported_and_a_sequence_number_signed_twice_is_found(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([_entry(home, 40, 30, None)[0], _entry(home, 41, 5, None)[0]])

    answer = verdict(bundle_of(home))

    assert [each["check"] for each in answer["findings"]] == ["chain", "chain"]
    assert "place 5: 2 different events were signed for one sequence number" in answer["findings"][0]["message"]
    assert "refers to a different event before it" in answer["findings"][1]["message"]
    assert any("places 27 to 29 sent: events are missing" in each for each in answer["notKnown"])


def test_an_unknown_keys_event_about_a_nodes_record_proves_nothing_against_the_node(home: Path) -> None:
    key = load_or_create(home)
    stranger = NodeKey.from_seed(key.node_id, bytes([9] * 32))
    chain = {"nodeId": key.node_id, "epoch": EPOCH, "sequence": 5, "previousHash": None}
    body = event(run={"runId": RUN_ID, "facets": {"headwater_chain": chain}})
    raw = sign_event(json.dumps(body).encode(), stranger)
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), "unknown-key", stranger.key_id, START_US, bytes(16))])

    answer = verdict(bundle_of(home))

    assert (answer["verdict"], answer["findings"]) == ("proven", [])
    where = f"who contradicts node {key.node_id}, epoch {EPOCH}, place 5"
    assert [each for each in answer["notKnown"] if each.startswith("who contradicts")] == [
        f"{where}: 2 different events were signed for one sequence number, not all by a valid key",
        f"{where}: refers to a different event before it, not all by a valid key",
    ]


def test_an_unknown_keys_event_does_not_hide_that_a_nodes_event_was_replaced(home: Path) -> None:
    key = load_or_create(home)
    stranger = NodeKey.from_seed(key.node_id, bytes([9] * 32))
    chain = {"nodeId": key.node_id, "epoch": "another epoch", "previousHash": None}

    def signed(sequence: int, by: NodeKey, **members: object) -> bytes:
        facets = {"headwater_chain": {**chain, "sequence": sequence, **members}}
        return sign_event(json.dumps(event(run={"runId": RUN_ID, "facets": facets})).encode(), by)

    true_hash = json.loads(signed(0, key))["run"]["facets"]["signature"]["payloadHash"]
    log = [
        (signed(0, key, lastCheckpoint=None), "ok", key.key_id),  # replaces the event whose hash the next one has
        (signed(1, key, previousHash=true_hash), "ok", key.key_id),
        (signed(0, stranger), "unknown-key", stranger.key_id),  # the original event, but signed by another key
    ]
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), status, by, START_US, bytes(16)) for raw, status, by in log])  # type: ignore[arg-type]

    answer = verdict(bundle_of(home))

    assert [
        (each["check"], "place 1: refers to a different event" in each["message"]) for each in answer["findings"]
    ] == [("chain", True)]
