"""A bundle of the log is checked offline, by code that shares nothing with what wrote it."""

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
from click.testing import Result
from nacl.signing import VerifyKey
from starlette.testclient import TestClient
from typer.testing import CliRunner

from headwater.audit import core
from headwater.audit.bounds import oversized_parts
from headwater.audit.core import Trust, canonical, check_bundle, leaf_of
from headwater.cli.main import app
from headwater.errors import InvalidInputError, SetupError, UnavailableError
from headwater.model.edits import EditItem, edit_entry
from headwater.model.events import parse_event
from headwater.signing.directory import revocation, rotation
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import load_or_create
from headwater.signing.keys import NodeKey
from headwater.signing.leaf import Found, part, salts, seal
from headwater.signing.notefile import log_key
from headwater.signing.segments import facet_spans
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event
from headwater.store.backlog import FactBacklog
from headwater.store.entries import Entry, entry_of
from headwater.store.packing import unpacked
from headwater.store.sqlite import SqliteStore
from tests.component.service.test_service_keys import KEY, NEW, NOW, enrol, sent, state, token
from tests.support.app import dataset, event, schema, serving
from tests.support.signature_vectors import OWN_VECTORS, read_vectors

LOG_NAME = "lineage.example.org"
START_US = 1_779_459_791_000_000
"""2026-05-22T14:23:11Z"""
MINUTE_US = 60_000_000


RUN_ID = "0198f7d0-0000-7000-8000-000000000000"
BROUGHT = json.loads(write_jwks({KEY.key_id: KEY.public_key}))["keys"][0]
EPOCH = "01a2011d-e5dc-7d03-8f97-97226895efc4"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a log of 30 entries, a minute apart: signed events of five jobs, edits, one unsigned."""
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
    """An entry, and the payload hash of one that is signed."""
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
    if number == 10:  # sent on by a program that writes JSON in another way
        signed = json.dumps(json.loads(signed), indent=1, ensure_ascii=False).encode()
    assert verify_event(signed, {key.key_id: key.public_key}).verdict == "ok"
    payload = json.loads(signed)["run"]["facets"]["signature"]["payloadHash"]
    return entry_of(parse_event(signed), "ok", key.key_id, received_us, salt), payload


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments])


def bundle_of(home: Path, *arguments: str) -> Path:
    path = home / "bundle.zip"
    told = run("export", "-o", str(path), "--force", *arguments)
    assert told.exit_code == 0, told.output
    return path


def verdict(path: Path, *arguments: str) -> dict[str, Any]:
    told = run("verify", str(path), "--json", *arguments)
    answer: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    assert told.exit_code == (0 if answer["verdict"] == "proven" else 1)
    return answer


def bent(path: Path, **members: Callable[[bytes], bytes]) -> Path:
    """The bundle, with some members changed."""
    out = path.with_name("bent.zip")
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(out, "w") as changed:
        for name in whole.namelist():
            data = whole.read(name)
            changed.writestr(name, members.get(name.partition(".")[0].replace("-", "_"), bytes)(data))
    return out


def lines(change: Callable[[list[dict[str, Any]]], None]) -> Callable[[bytes], bytes]:
    """A change of entries."""

    def changed(data: bytes) -> bytes:
        entries = [json.loads(line) for line in data.splitlines()]
        change(entries)
        return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)

    return changed


def checks(told: dict[str, Any]) -> set[str]:
    return {finding["check"] for finding in told["findings"]}


def test_the_whole_log_is_proven_and_its_graph_is_the_one_that_is_shown(home: Path) -> None:
    key = str(log_key(home, None, "").verifier)

    told = verdict(bundle_of(home), "--log-key", key)

    assert told["findings"] == []
    assert told["counts"] == {"shown": 30, "edits": 2, "signed": 27, "unsigned": 1}
    assert any("graph that the service shows: 5 jobs, 15 runs, 3 datasets" in each for each in told["checked"])
    assert not any("--log-key" in each for each in told["notKnown"])
    assert any("whether what a node signed was true" in each for each in told["notKnown"])


def test_people_are_told_what_was_checked_and_what_cannot_be_known(home: Path) -> None:
    told = run("verify", str(bundle_of(home)))

    assert told.exit_code == 0
    assert "checked    checkpoint: lineage.example.org signed the head over 30 entries" in told.output
    assert "not known  whether lineage.example.org+" in told.output
    assert told.output.splitlines()[-1] == "verdict    proven: these are the entries of the log, unaltered"


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
    told = verdict(bundle_of(home, *arguments))

    assert (told["findings"], told["counts"].get("shown", 0)) == ([], shown)


def test_of_one_dataset_the_rest_is_there_and_not_shown(home: Path) -> None:
    path = bundle_of(home, "--dataset", "lake", "table 1")

    told = verdict(path)

    assert told["findings"] == []
    assert told["counts"]["shown"] + told["counts"]["withheld"] == 30
    with zipfile.ZipFile(path) as bundle:
        shown = [json.loads(line) for line in bundle.read("entries.jsonl").splitlines()]
    about = [entry["index"] for entry in shown if "raw" in entry]
    assert {index for index in range(30) if index % 3 == 1 and index not in (7, 8)} <= set(about)


def test_a_head_that_was_kept_is_added_to(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*_entries(home, 30, 40)])

    told = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert told["findings"] == []
    assert "consistency: the head extends the one over 30 entries that was kept" in told["checked"]


def test_a_byte_that_was_altered_is_found_by_the_entry_and_its_signature(home: Path) -> None:
    def alter(entries: list[dict[str, Any]]) -> None:
        entries[4]["raw"] = entries[4]["raw"].replace("job 4", "job 3")

    told = verdict(bent(bundle_of(home), entries=lines(alter)))

    assert {"entry", "signature", "inclusion", "graph"} <= checks(told)
    assert {finding["entry"] for finding in told["findings"]} == {4, None}


def test_an_event_that_was_dropped_is_found_by_inclusion(home: Path) -> None:
    told = verdict(bent(bundle_of(home), entries=lines(lambda entries: entries.pop(11))))

    assert "inclusion" in checks(told)


def test_events_that_changed_places_are_found_by_inclusion(home: Path) -> None:
    def swap(entries: list[dict[str, Any]]) -> None:
        entries[2], entries[3] = {**entries[3], "index": 2}, {**entries[2], "index": 3}

    assert checks(verdict(bent(bundle_of(home), entries=lines(swap)))) == {"inclusion"}


def test_an_event_that_was_put_in_or_stands_twice_is_found_by_inclusion(home: Path) -> None:
    def replay(entries: list[dict[str, Any]]) -> None:
        entries.append({**entries[5], "index": 30})

    def insert(entries: list[dict[str, Any]]) -> None:
        entries.insert(6, entries[5])
        for index, entry in enumerate(entries):
            entry = entries[index] = dict(entry)
            entry["index"] = index

    for change in (replay, insert):
        assert "inclusion" in checks(verdict(bent(bundle_of(home), entries=lines(change))))


def test_a_log_that_was_cut_off_is_found_by_consistency(home: Path) -> None:
    whole = bundle_of(home)
    with zipfile.ZipFile(whole) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    _written_anew(home, 20)

    told = verdict(bundle_of(home), "--since", str(home / "kept.txt"))

    assert checks(told) == {"consistency"}
    assert "it was cut off" in told["findings"][0]["message"] or "no proof from 30" in told["findings"][0]["message"]


def _written_anew(home: Path, count: int, change: Callable[[Entry], Entry] = lambda entry: entry) -> None:
    """The database rewritten by its owner, and the tree built again."""
    for path in home.glob("headwater.db*"):
        path.unlink()
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*map(change, _entries(home, 0, count))])


def test_a_database_that_was_written_anew_with_its_tree_is_found_by_consistency(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    _written_anew(home, 35, lambda entry: entry._replace(seal=None))

    alone = verdict(bundle_of(home))
    told = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert alone["findings"] == []  # nobody can tell who kept nothing
    assert "none was given" in " ".join(alone["notKnown"])
    assert checks(told) == {"consistency"}


def test_two_histories_of_one_size_are_found_by_consistency(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    _written_anew(home, 30, lambda entry: entry._replace(seal=None))

    told = verdict(bundle_of(home), "--since", str(home / "kept.txt"))

    assert [finding["check"] for finding in told["findings"]] == ["consistency"]


def _forged(entry: Entry) -> Entry:
    """What the log's owner may write into it: an event that its node never signed, with the verdict that it did."""
    raw = unpacked(entry.frame).replace(b'"name":"job 4"', b'"name":"job 3"')
    return entry_of(parse_event(raw), "ok", entry.key_id, entry.received_us, bytes(16))


@pytest.mark.parametrize("parts", [None, {}, {"99": ""}, {"-1": ""}])
def test_an_event_that_its_node_never_signed_is_found_by_its_signature_whatever_is_said_of_erasure(
    home: Path, parts: dict[str, str] | None
) -> None:
    _written_anew(home, 30, lambda entry: _forged(entry) if b'"name":"job 4"' in unpacked(entry.frame) else entry)

    def claim(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry |= {} if parts is None else {"parts": parts}

    told = verdict(bent(bundle_of(home), entries=lines(claim)))

    assert {(each["check"], each["entry"]) for each in told["findings"]} >= {
        ("signature", at) for at in (4, 14, 19, 24)
    }


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM log WHERE idx = 12", "the log has no entry 12, but has later ones"),
        ("DELETE FROM leaf WHERE idx = 12", "the log has no leaf for an entry from 0 on, but has later ones"),
        ("DELETE FROM log WHERE idx = 29", "the facts of 30 entries, but only 29 entries: the last ones were removed"),
        ("UPDATE log SET packed = x'00' WHERE idx = 12", "the bytes of event 12 in the database are damaged"),
    ],
)
def test_a_database_of_which_entries_are_gone_or_damaged_is_told_so(home: Path, damage: str, said: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(damage)
        database.commit()

    told = run("export", "-o", str(home / "bundle.zip"))

    assert isinstance(told.exception, UnavailableError)
    assert said in str(told.exception)
    assert not (home / "bundle.zip").exists()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE log SET verdict = 'ok' WHERE idx = 9",
        "UPDATE log SET received_us = received_us - 1 WHERE idx = 9",
        "UPDATE log SET packed = (SELECT packed FROM log WHERE idx = 5) WHERE idx = 9",
    ],
)
def test_a_row_of_the_database_that_was_edited_is_found_by_the_entry(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(change)
        database.commit()

    told = verdict(bundle_of(home))

    assert ("entry", 9) in {(each["check"], each["entry"]) for each in told["findings"]}


@pytest.mark.parametrize(
    "change", ["event_us = event_us - 1", "run = (SELECT run FROM log WHERE idx = 0)", "run = NULL"]
)
def test_an_event_under_another_time_or_run_than_its_own_in_the_database_is_told(home: Path, change: str) -> None:
    with closing(sqlite3.connect(home / "headwater.db")) as database:
        database.execute(f"UPDATE log SET {change} WHERE idx IN (9, 12)")  # noqa: S608  words of ours
        database.commit()

    told = run("export", "-o", str(home / "bundle.zip"), "--json")

    (warning,) = json.loads(told.stdout)["warnings"]
    assert "the database has 2 events under a time or run that differs from the bytes" in warning
    assert "entries: 9, 12;" in warning
    assert verdict(home / "bundle.zip")["verdict"] == "proven"


def test_an_event_that_is_called_an_edit_is_found_by_the_entry(home: Path) -> None:
    def rename(entries: list[dict[str, Any]]) -> None:
        entries[9]["kind"] = "edit"  # nobody signed it
        entries[9]["leaf"] = b64encode(leaf_of(entries[9], entries[9]["raw"].encode())).decode()

    told = verdict(bent(bundle_of(home), entries=lines(rename)))

    assert ("entry", 9) in {(each["check"], each["entry"]) for each in told["findings"]}


def test_a_signature_that_stands_elsewhere_in_the_event_signs_nothing(home: Path) -> None:
    key = load_or_create(home)
    public = VerifyKey(key.public_key.public_bytes_raw())
    signed = sign_event(json.dumps(event(run={"runId": RUN_ID, "facets": {"a": {}}})).encode(), key)
    facet = signed[signed.index(b'"signature":') : signed.index(b"}", signed.index(b'"signature":')) + 1]
    moved = signed.replace(b"," + facet, b"").replace(b'"outputs":[]', b'"outputs":[],' + facet[:-1] + b',"more":1}')
    assert core.is_signed(signed, key.key_id, public)

    assert not core.is_signed(moved, key.key_id, public)


def test_an_event_that_was_dated_back_is_found_by_the_entry(home: Path) -> None:
    def backdate(entries: list[dict[str, Any]]) -> None:
        entries[20]["receivedUs"] -= 3600 * 1_000_000

    assert {"entry", "inclusion", "graph"} == checks(verdict(bent(bundle_of(home), entries=lines(backdate))))


@pytest.mark.parametrize(
    ("member", "finding"),
    [({"revokedFrom": "2026-05-22T14:33:11Z"}, range(10, 30)), ({"nbf": START_US / 1e6 + 60}, range(1))],
)
def test_an_event_under_a_key_that_did_not_count_then_is_found_by_its_signature(
    home: Path, member: dict[str, Any], finding: range
) -> None:
    def limit(data: bytes) -> bytes:
        jwks = json.loads(data)
        jwks["keys"][0] |= member
        return json.dumps(jwks).encode()

    told = verdict(bent(bundle_of(home), keys=limit))

    assert [(each["check"], each["entry"]) for each in told["findings"]] == [("signature", index) for index in finding]


def test_a_head_that_another_key_signed_is_found_by_the_checkpoint(home: Path, tmp_path: Path) -> None:
    other = log_key(tmp_path / "other", LOG_NAME, "")

    told = verdict(bundle_of(home), "--log-key", str(other.verifier))

    assert "checkpoint" in checks(told)


def test_a_check_that_failed_is_not_told_among_those_that_went_well(home: Path) -> None:
    def alter(entries: list[dict[str, Any]]) -> None:
        entries[4]["raw"] = entries[4]["raw"].replace("job 4", "job 3")

    told = verdict(bent(bundle_of(home), entries=lines(alter)))

    went_well = {checked.partition(":")[0] for checked in told["checked"]}
    assert checks(told) == {"entry", "signature", "inclusion", "graph"}
    assert went_well & checks(told) == set()


def test_an_entry_that_was_dropped_is_told_once_and_not_of_all_behind_it(home: Path) -> None:
    told = verdict(bent(bundle_of(home), entries=lines(lambda entries: entries.pop(11))))

    places = [each["entry"] for each in told["findings"] if each["check"] == "inclusion"]
    assert places == [11, 29, None]


def test_many_findings_of_one_check_hide_none_of_another(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "MOST_FINDINGS", 3)

    def alter(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry["raw"] = entry["raw"].replace("etl", "elt")

    told = verdict(bent(bundle_of(home), entries=lines(alter)))

    assert checks(told) == {"entry", "signature", "inclusion", "graph"}
    assert told["counts"]["findings not listed"] == 30 + 27 - 2 * 3


def test_a_head_that_nobody_known_signed_accuses_the_log_of_nothing_else(home: Path) -> None:
    whole = bundle_of(home)
    with zipfile.ZipFile(whole) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))

    told = verdict(
        bent(whole, checkpoint=lambda note: note.replace(b"\n30\n", b"\n31\n")), "--since", str(home / "kept.txt")
    )

    assert checks(told) == {"checkpoint", "inclusion"}
    assert "cut off" not in json.dumps(told)


def test_entries_that_are_said_to_stand_elsewhere_are_found(home: Path) -> None:
    def later(entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            entry["index"] += 1

    def claim(data: bytes) -> bytes:
        return json.dumps({**json.loads(data), "from": 1, "to": 31}).encode()

    told = run("verify", str(bent(bundle_of(home), entries=lines(later), manifest=claim)))

    assert told.exit_code == 2
    assert "tree.json lacks hashes for the entries before 1" in told.stderr


def test_a_key_that_its_own_id_does_not_name_signs_nothing(home: Path, tmp_path: Path) -> None:
    other = load_or_create(tmp_path / "other").public_key.public_bytes_raw()

    def swap(data: bytes) -> bytes:
        jwks = json.loads(data)
        jwks["keys"][0]["x"] = urlsafe_b64encode(other).decode().rstrip("=")
        return json.dumps(jwks).encode()

    path = bent(bundle_of(home), keys=swap)
    told, text = verdict(path), run("verify", str(path)).output

    assert checks(told) == {"signature"}
    assert "matches the hash in that id, by --keys or else by the bundle" in told["findings"][0]["message"]
    assert "WRONG      signature: entries 0 to 29, 27 of them: no known key 'node:" in text


def test_what_is_withheld_is_told_to_be_unknown_and_holes_only_in_part(home: Path) -> None:
    told = verdict(bundle_of(home, "--dataset", "lake", "table 1"))

    withheld = told["counts"]["withheld"]
    holes = [each for each in told["notKnown"] if each.startswith("what node")]
    assert f"the content of {withheld} entries not shown, and what it is about" in told["notKnown"]
    assert holes
    assert all("or among those not shown" in each for each in holes[:3])
    assert len(holes) <= 4


@pytest.mark.parametrize(
    ("arguments", "said"),
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
def test_a_range_that_cannot_be_is_told_by_the_option_that_is_wrong(
    home: Path, arguments: tuple[str, ...], said: str
) -> None:
    told = run("export", "-o", str(home / "bundle.zip"), *arguments)

    assert isinstance(told.exception, InvalidInputError)
    assert said in str(told.exception)


def test_a_bundle_of_a_time_in_which_nothing_came_says_so(home: Path) -> None:
    told = run("export", "-o", str(home / "bundle.zip"), "--to", "2020-01-01")

    assert told.exit_code == 0
    assert "warning: no entry is in that range" in told.stderr


def test_a_graph_that_the_entries_do_not_make_is_found(home: Path) -> None:
    def hide(data: bytes) -> bytes:
        graph = json.loads(data)
        graph["edges"].pop()
        return json.dumps(graph).encode()

    told = verdict(bent(bundle_of(home), graph=hide))

    assert [finding["check"] for finding in told["findings"]] == ["graph"]


def test_a_graph_whose_rows_were_summed_in_an_older_way_is_compared_by_its_lists(home: Path) -> None:
    def as_before(data: bytes) -> bytes:
        graph = json.loads(data)
        graph["sumOfRows"] = graph.pop("rowSum")[::-1]
        return json.dumps(graph).encode()

    told = verdict(bent(bundle_of(home), graph=as_before))

    assert told["verdict"] == "proven"
    assert any("the finer facts" in each for each in told["notKnown"])


@pytest.mark.parametrize("name", ["manifest", "entries", "tree", "keys", "graph"])
@pytest.mark.parametrize("text", [b"\xff{", b"", b"null", b"[1]", b"[" * 200_000])
def test_a_bundle_that_cannot_be_read_is_told_so(home: Path, name: str, text: bytes) -> None:
    told = run("verify", str(bent(bundle_of(home), **{name: lambda _: text})))

    assert told.exit_code == (1 if (name, text) == ("entries", b"") else 2)
    assert isinstance(told.exception, SystemExit)


def test_a_bundle_with_a_damaged_or_locked_file_in_it_is_told_so(home: Path) -> None:
    whole = bundle_of(home).read_bytes()
    middles = range(0, whole.rindex(b"PK\1\2"), 97)
    damaged = [whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :] for at in middles]
    locked = [whole[: at + 8] + b"\1" + whole[at + 9 :] for at in _directory(whole)]
    other_method = [whole[: at + 10] + b"\x63" + whole[at + 11 :] for at in _directory(whole)]

    for bundle in [*damaged, *locked, *other_method]:
        (home / "bent.zip").write_bytes(bundle)
        told = run("verify", str(home / "bent.zip"))

        assert isinstance(told.exception, SystemExit | None), told.exception
        assert told.exit_code == 2 or bundle in damaged


def _directory(whole: bytes) -> list[int]:
    """Where a zip archive's directory names each of its files."""
    return [found.start() for found in re.finditer(re.escape(b"PK\1\2"), whole)]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["entries.jsonl", "graph.json", "/etc/passwd", "../notes.txt"])
def test_a_bundle_with_a_file_that_no_check_looks_at_is_refused(home: Path, name: str) -> None:
    path = bundle_of(home)
    with zipfile.ZipFile(path) as bundle:
        members = {each: bundle.read(each) for each in bundle.namelist()}
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(name, b"what another reader would show")
        for each, data in members.items():
            bundle.writestr(each, data)

    told = run("verify", str(path))

    assert (told.exit_code, "duplicate or unknown files" in told.output) == (2, True)


def test_a_graph_with_more_in_it_than_the_entries_make_is_found(home: Path) -> None:
    told = verdict(
        bent(bundle_of(home), graph=lambda data: json.dumps({**json.loads(data), "owners": ["eve"]}).encode())
    )

    assert checks(told) == {"graph"}
    assert "owners" in told["findings"][0]["message"]


def test_what_a_bundle_says_in_odd_characters_is_told_in_json(home: Path) -> None:
    odd = bent(bundle_of(home), entries=lines(lambda entries: entries[0].update(index="\ud800", verdict=5)))

    told = run("verify", str(odd), "--json")

    assert (told.exit_code, json.loads(told.stdout)["verdict"]) == (1, "not proven")


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
        ("--keys", json.dumps({"keys": [BROUGHT, BROUGHT]})),
        ("--keys", json.dumps({"keys": [BROUGHT | {"revokedFrom": "2026-05-22T14:00:00"}]})),
        ("--since", ""),
        ("--since", "no head"),
    ],
)
def test_what_an_auditor_brings_along_and_cannot_be_read_is_told_as_theirs(home: Path, option: str, text: str) -> None:
    value = text
    if option in ("--keys", "--since"):
        value = str(home / "brought")
        Path(value).write_text(text)

    told = run("verify", str(bundle_of(home)), option, value)

    assert told.exit_code == 2
    assert isinstance(told.exception, SystemExit)
    assert option in told.output
    assert "proven" not in told.output
    assert "the bundle cannot be read" not in told.output


def test_a_key_set_may_hold_keys_of_other_kinds(home: Path) -> None:
    own = load_or_create(home)
    keys = json.loads(write_jwks({own.key_id: own.public_key}))["keys"]
    others = [{"kty": "RSA", "kid": "of the identity provider", "n": "AQAB", "e": "AQAB"}]
    (home / "brought.jwks").write_text(json.dumps({"keys": [*others, keys[0] | {"revokedFrom": None}]}))

    told = verdict(bundle_of(home), "--keys", str(home / "brought.jwks"))

    assert (told["verdict"], told["counts"]["signed"]) == ("proven", 27)


def test_a_bundle_that_is_there_is_replaced_only_where_that_is_asked_for(home: Path) -> None:
    (home / "bundle.zip").write_text("of last month")

    told = run("export", "-o", str(home / "bundle.zip"))

    assert str(told.exception) == (
        f"--output: {home / 'bundle.zip'} already exists: name a new file, or replace it with --force"
    )
    assert (home / "bundle.zip").read_text() == "of last month"
    assert verdict(bundle_of(home, "--force"))["verdict"] == "proven"


def test_what_is_in_a_bundle_is_told_as_json(home: Path) -> None:
    told = json.loads(run("export", "-o", str(home / "bundle.zip"), "--from", "3", "--to", "19", "--json").stdout)

    key = str(log_key(home, LOG_NAME, "").verifier)
    assert told == {
        "file": str(home / "bundle.zip"),
        "from": 3,
        "to": 19,
        "size": 30,
        "logKey": key,
        "dataset": None,
        "names": None,
        "warnings": [],
    }


def test_a_bundle_that_cannot_be_written_is_told_so(home: Path) -> None:
    told = run("export", "-o", str(home / "none" / "bundle.zip"))

    assert isinstance(told.exception, SetupError)
    assert "cannot be written" in str(told.exception)


def test_of_a_dataset_that_no_entry_is_about_there_is_no_bundle(home: Path) -> None:
    told = run("export", "-o", str(home / "bundle.zip"), "--dataset", "lake", "tabel 1")

    assert isinstance(told.exception, InvalidInputError)
    assert "no entry from 0 up to 30 is about lake tabel 1" in str(told.exception)
    assert not (home / "bundle.zip").exists()


def test_what_is_no_bundle_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("no zip")

    told = run("verify", str(tmp_path / "x"))

    assert told.exit_code == 2
    assert told.stderr == (
        f"headwater: {tmp_path / 'x'}: this is no zip archive, or a damaged one; "
        "expected a file written by `headwater audit export`\n"
    )


def test_an_export_is_an_entry_of_the_log_that_the_next_one_holds(home: Path) -> None:
    first = verdict(bundle_of(home, "--from", "2", "--to", "5"))
    second = bundle_of(home)

    with zipfile.ZipFile(second) as bundle:
        last = json.loads(bundle.read("entries.jsonl").splitlines()[-1])
    said = json.loads(last["raw"])
    assert first["verdict"] == "proven"
    assert said["by"] == f"operator:{getpass.getuser()}"
    assert [(edit["what"], edit["value"]) for edit in said["edits"]] == [
        ("export", {"begin": 2, "end": 5, "dataset": None})
    ]
    assert verdict(second)["verdict"] == "proven"


def test_nothing_is_exported_beside_a_service_that_is_not_told_of_it(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")):
        told = run("export", "-o", str(home / "bundle.zip"), "--url", "http://127.0.0.1:9")

    assert "name that service with --url" in str(told.exception)
    assert not (home / "bundle.zip").exists()


def test_what_a_crash_left_unfolded_is_not_exported_before_it_is_folded(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([*_entries(home, 30, 50)])
        store.catch_up(iter([False, True]).__next__)
        store._backlog = FactBacklog(store._writer)  # as a crash does, when some of their facts are stored

    told = run("export", "-o", str(home / "bundle.zip"))

    assert told.exit_code != 0
    assert "the facts of 20 entries are not stored yet" in str(told.exception)
    with closing(SqliteStore(home / "headwater.db")):
        pass  # whoever opens it folds them
    assert verdict(bundle_of(home))["verdict"] == "proven"


def test_where_there_is_no_log_nothing_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    told = run("export", "-o", str(tmp_path / "b.zip"))

    assert (told.exit_code, (tmp_path / "b.zip").exists()) == (1, False)
    assert "no log key" in str(told.exception)


@pytest.mark.parametrize("beyond", [0, 1])
def test_a_part_that_nobody_would_read_is_told_when_it_is_written(tmp_path: Path, beyond: int) -> None:
    some = bytes(1 << 20)
    with (tmp_path / "bundle.zip").open("w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bundle:
            with bundle.open("graph.json", "w") as part_of_it:
                for _ in range(core.MOST_BYTES // len(some)):
                    part_of_it.write(some)
                part_of_it.write(bytes(beyond))
            bundle.writestr("manifest.json", "{}")

        told = oversized_parts(file)
        with pytest.raises(core.Refused) as refused:
            check_bundle(file, Trust())

    assert len(told) == beyond
    assert ("would unpack to more than 268,435,456 bytes" in str(refused.value)) == bool(beyond)
    assert all("graph.json unpacks to 268,435,457 bytes" in one and "--from and --to" in one for one in told)


def test_a_bundle_that_can_be_read_is_exported_without_a_warning(home: Path) -> None:
    assert "warning" not in run("export", "-o", str(home / "bundle.zip")).output


def test_the_core_writes_the_canonical_form_of_the_shared_vectors() -> None:
    for vector in read_vectors(OWN_VECTORS)["vectors"]:
        read = json.loads(vector["event"], parse_int=core._Literal, parse_float=core._Literal)
        read["run"].get("facets", {}).pop("signature", None)
        assert canonical(read).encode().hex() == vector["canonicalHex"], vector["id"]


def test_a_facet_that_was_erased_leaves_the_leaf_as_it_was() -> None:
    raw = b'{"run":{"facets":{"owner":{"name":"Ann"},"x":1}},"eventTime":"t"}'
    told = Found("event", 5, "ok", "a key")
    sealed, spans = seal(raw, told, bytes(16)), facet_spans(raw)
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
def test_a_small_bundle_that_would_unpack_to_more_than_anything_exported_is_refused(home: Path, name: str) -> None:
    out, spaces = home / "large.zip", b" " * (1 << 24)
    with zipfile.ZipFile(bundle_of(home)) as whole, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, True, 1) as large:
        for each in whole.namelist():
            with large.open(each, "w") as part:
                for _ in range(core.MOST_BYTES // len(spaces) + 1 if each == name else 0):
                    part.write(spaces)
                part.write(whole.read(each))

    told = run("verify", str(out), "--json")

    assert out.stat().st_size < 4_000_000
    assert told.exit_code == 2
    assert "would unpack to more than 268,435,456 bytes" in json.loads(told.stdout)["reason"]


def test_the_core_is_one_file_that_an_auditor_can_read() -> None:
    text = Path(core.__file__).read_text()

    assert len(text.splitlines()) < 510
    assert "import headwater" not in text
    assert "from headwater" not in text


def test_a_bundle_can_be_read_from_memory(home: Path) -> None:
    assert check_bundle(BytesIO(bundle_of(home).read_bytes()), Trust()).is_proven


def test_what_was_erased_is_gone_everywhere_and_everything_is_still_proven(home: Path) -> None:
    with zipfile.ZipFile(bundle_of(home)) as bundle:
        (home / "kept.txt").write_bytes(bundle.read("checkpoint.txt"))
    told = CliRunner().invoke(
        app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "asked for", "--by", "ann"]
    )
    assert told.exit_code == 0, told.output
    assert "erased from entry 4: run.facets.nominalTime, run.facets.signature; recorded as entry 31" in told.stdout

    shown = verdict(bundle_of(home, "--since", str(home / "kept.txt")), "--since", str(home / "kept.txt"))

    assert shown["findings"] == []
    assert shown["counts"] == {"shown": 32, "edits": 4, "signed": 26, "unsigned": 1, "erased": 2}
    assert any("2 facets since erased" in each for each in shown["notKnown"])
    assert any("27 events at places 0 to 26" in each and "0 missing" in each for each in shown["checked"])
    with closing(SqliteStore(home / "headwater.db")) as store:
        erased, saying = store.at([4])[4], store.at([31])[31]
        assert (b'nominalTime":{"_deleted' in erased.raw, erased.verdict) == (True, "ok")
        assert json.loads(saying.raw)["edits"][0]["value"] == {"reason": "asked for"}
        assert store.folded() == 33  # 30, the two exports, the erasure
    again = CliRunner().invoke(app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "x", "--by", "ann"])
    assert "'run.facets.nominalTime' of the entry was erased before" in str(again.exception)


def test_what_was_erased_is_told_as_json(home: Path) -> None:
    told = CliRunner().invoke(
        app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", "asked for", "--by", "ann", "--json"]
    )

    assert json.loads(told.stdout) == {
        "index": 4,
        "erased": ["run.facets.nominalTime", "run.facets.signature"],
        "saidBy": 30,
    }


def test_nothing_of_what_was_erased_is_left_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
def test_nothing_is_erased_without_a_word_of_why_and_by_whom(home: Path, reason: str, by: str, field: str) -> None:
    told = CliRunner().invoke(app, ["log", "redact", "4", "run.facets.nominalTime", "--reason", reason, "--by", by])

    assert (told.exit_code, str(told.exception).split(":")[0]) == (1, field)
    with closing(SqliteStore(home / "headwater.db")) as store:
        assert b'nominalTime":{"_deleted' not in store.at([4])[4].raw


def test_nothing_is_erased_where_there_is_no_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    told = CliRunner().invoke(app, ["log", "redact", "0", "run.facets.owner", "--reason", "asked for", "--by", "ann"])

    assert (told.exit_code, "there is no database" in str(told.exception)) == (1, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("index", "path", "reason"),
    [
        ("99", "run.facets.x", "no event 99"),
        ("7", "run.facets.x", "no event 7"),
        ("4", "run.facets.x", "it has outputs.0.facets.schema"),
    ],
)
def test_what_is_not_there_cannot_be_erased(home: Path, index: str, path: str, reason: str) -> None:
    told = CliRunner().invoke(app, ["log", "redact", index, path, "--reason", "x", "--by", "ann"])

    assert told.exit_code == 1
    assert reason in str(told.exception)


def test_the_key_directory_goes_with_the_bundle_and_what_a_revoked_key_signed_is_found(with_one_signed: Path) -> None:
    good = verdict(bundle_of(with_one_signed))
    with _signed_only(with_one_signed) as client:
        stolen = revocation(KEY.key_id, NOW - timedelta(hours=1), "stolen", "an id", NOW, KEY)
        assert state(client, stolen).status_code == 201

    told = verdict(bundle_of(with_one_signed))

    assert (good["findings"], good["counts"]["signed"]) == ([], 1)
    assert [(finding["check"], finding["entry"]) for finding in told["findings"]] == [("signature", 1)]


def test_a_log_that_took_a_stolen_key_s_word_for_it_is_judged_by_who_may_give_it(with_one_signed: Path) -> None:
    told = (
        (revocation(KEY.key_id, NOW, "stolen", "1", NOW), "a hash"),
        (revocation(KEY.key_id, NOW + timedelta(days=999), "mine", "2", NOW, KEY), None),
        (rotation(KEY, NEW, "3", NOW), None),
    )
    with closing(SqliteStore(with_one_signed / "headwater.db")) as store:
        for number, (signed, used) in enumerate(told, 1):
            said = json.loads(signed.text)
            what = "revoked" if said["what"] == "revoke" else "enrolled"
            value = {"statement": signed.text, "signatures": dict(signed.signatures), "token": used}
            at_us = START_US + number * MINUTE_US
            edits = edit_entry(str(number), at_us, None, [EditItem(("key", said["keyId"]), what, value)])
            store.add([entry_of(edits, "unsigned", None, at_us, bytes(16))])

    with zipfile.ZipFile(bundle_of(with_one_signed)) as bundle:
        keys = {key["kid"]: key.get("revokedFrom") for key in json.loads(bundle.read("keys.json"))["keys"]}

    assert keys == {load_or_create(with_one_signed).key_id: None, KEY.key_id: "2026-05-22T14:23:11.000000Z"}


@contextmanager
def _signed_only(home: Path) -> Iterator[TestClient]:
    store = SqliteStore(home / "headwater.db")
    with closing(store), serving(store, require_signed=True, tokens=home / "tokens") as client:
        yield client


@pytest.fixture
def with_one_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in whose log a key is enrolled and has signed one event."""
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, LOG_NAME, "")
    with _signed_only(tmp_path) as client:
        assert enrol(client, KEY, token(tmp_path / "tokens")).status_code == 201
        assert sent(client, KEY) == 201
    return tmp_path


def test_of_each_node_is_told_which_places_of_its_record_are_filled(home: Path) -> None:
    told = verdict(bundle_of(home))

    (chain,) = (each for each in told["checked"] if each.startswith("chain: "))
    assert f"27 events at places 0 to 26 of epoch {EPOCH}; 0 missing, 0 forks, 0 inconsistent" in chain
    assert not [each for each in told["notKnown"] if EPOCH in each]


def test_what_is_missing_from_a_record_is_told_and_what_was_signed_twice_is_found(home: Path) -> None:
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([_entry(home, 40, 30, None)[0], _entry(home, 41, 5, None)[0]])

    told = verdict(bundle_of(home))

    assert [each["check"] for each in told["findings"]] == ["chain", "chain"]
    assert "place 5: 2 different events were signed for one sequence number" in told["findings"][0]["message"]
    assert "refers to a different event before it" in told["findings"][1]["message"]
    assert any("places 27 to 29 sent: events are missing" in each for each in told["notKnown"])


def test_a_stranger_s_word_about_a_node_s_record_proves_nothing_against_the_node(home: Path) -> None:
    key = load_or_create(home)
    stranger = NodeKey.from_seed(key.node_id, bytes([9] * 32))
    chain = {"nodeId": key.node_id, "epoch": EPOCH, "sequence": 5, "previousHash": None}
    body = event(run={"runId": RUN_ID, "facets": {"headwater_chain": chain}})
    raw = sign_event(json.dumps(body).encode(), stranger)
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), "unknown-key", stranger.key_id, START_US, bytes(16))])

    told = verdict(bundle_of(home))

    assert (told["verdict"], told["findings"]) == ("proven", [])
    where = f"who contradicts node {key.node_id}, epoch {EPOCH}, place 5"
    assert [each for each in told["notKnown"] if each.startswith("who contradicts")] == [
        f"{where}: 2 different events were signed for one sequence number, not all by a valid key",
        f"{where}: refers to a different event before it, not all by a valid key",
    ]


def test_a_stranger_s_word_hides_no_event_that_was_put_in_another_s_place(home: Path) -> None:
    key = load_or_create(home)
    stranger = NodeKey.from_seed(key.node_id, bytes([9] * 32))
    chain = {"nodeId": key.node_id, "epoch": "another epoch", "previousHash": None}

    def signed(sequence: int, by: NodeKey, **said: object) -> bytes:
        facets = {"headwater_chain": {**chain, "sequence": sequence, **said}}
        return sign_event(json.dumps(event(run={"runId": RUN_ID, "facets": facets})).encode(), by)

    true_hash = json.loads(signed(0, key))["run"]["facets"]["signature"]["payloadHash"]
    log = [
        (signed(0, key, lastCheckpoint=None), "ok", key.key_id),  # in the place of the one that the next names
        (signed(1, key, previousHash=true_hash), "ok", key.key_id),
        (signed(0, stranger), "unknown-key", stranger.key_id),  # which is the true one, but for who signed it
    ]
    with closing(SqliteStore(home / "headwater.db")) as store:
        store.add([entry_of(parse_event(raw), told, by, START_US, bytes(16)) for raw, told, by in log])  # type: ignore[arg-type]

    told = verdict(bundle_of(home))

    assert [
        (each["check"], "place 1: refers to a different event" in each["message"]) for each in told["findings"]
    ] == [("chain", True)]
