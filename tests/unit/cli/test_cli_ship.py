"""`headwater ship` and `headwater flink run`: their output for given files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.cli.ship import _as_may_go, _in_words
from headwater.cli.verify import Keys, verified
from headwater.emit.shipment import Shipped, Trouble
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from tests.support.app import event


@pytest.mark.parametrize(
    "url", ["http://[::1", "lineage.example.org", "ftp://lineage.example.org", "http://lineage:99999999", "http://", ""]
)
def test_an_invalid_url_is_refused(tmp_path: Path, url: str) -> None:
    result = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", url], env={"COLUMNS": "200"})

    assert result.exit_code == 2
    assert f"--url: {url!r} is not a URL like https://lineage.example.org" in result.output


def test_held_back_events_are_reported_with_how_to_send_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    other_key = NodeKey.from_seed("node-1", bytes(range(32)))
    signed = sign_event(json.dumps(event()).encode(), other_key)
    (tmp_path / "events.jsonl").write_bytes(signed + b"\n")

    result = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"])

    assert result.exit_code == 1
    assert "0 arrived, 1 held back, 0 refused; once --keys contains its key, --from-start sends it" in result.stdout


@pytest.mark.parametrize(
    ("shipped", "output"),
    [
        (
            Shipped(left=3, why="401"),
            "3 left: 401; set --token-env to the variable with the service's token, and run",
        ),
        (
            Shipped(left=3, why="404 HTTP 404 Not Found"),
            "3 left: 404 HTTP 404 Not Found; the server there accepts no events: use the part of the "
            "service's addresses before /api/v1, and run it again to continue",
        ),
        (Shipped(left=3, why="503"), "3 left: 503; run it again to continue"),
        (
            Shipped(
                arrived=4, unfinished=1, troubles=[Trouble("events.jsonl", 5, "unfinished", "the line is incomplete")]
            ),
            "events.jsonl:5  unfinished  the line is incomplete\n"
            "4 arrived, 0 held back, 0 refused, 1 unfinished: truncated, or still being written; "
            "it is sent once complete",
        ),
        (Shipped(refused=2), "2 refused; once the service would accept it, --from-start sends it"),
        (
            Shipped(refused=1, troubles=[Trouble("events.jsonl", 4, "refused", "404 HTTP 404 Not Found")]),
            "1 refused; the server there accepts no events: use the part of the service's addresses before /api/v1",
        ),
        (
            Shipped(refused_before=2, troubles=[Trouble("events.jsonl", 4, "refused", "422 run", True)]),
            "events.jsonl:4  refused  (before)  422 run\n"
            "0 arrived, 0 held back, 0 refused; once the service would accept it, --from-start sends it\n"
            "from before: 0 held back, 2 refused; they are still in their files",
        ),
    ],
)
def test_events_that_did_not_arrive_are_reported_with_a_remedy(shipped: Shipped, output: str) -> None:
    assert output in _in_words(shipped)


def test_events_that_did_not_arrive_fail_the_next_shipment_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").write_text(json.dumps(event()) + "\n")
    command = ["ship", str(tmp_path), "--url", "http://127.0.0.1:9", "--json"]

    first, second = (CliRunner().invoke(app, command) for _ in range(2))

    assert (first.exit_code, second.exit_code) == (1, 1)
    assert json.loads(second.stdout)["heldBackBefore"] == 1
    assert json.loads(second.stdout)["troubles"] == [
        {
            "file": "events.jsonl",
            "line": 1,
            "verdict": "unsigned",
            "reason": "run.facets.signature: missing",
            "isFromBefore": True,
        }
    ]


def test_a_cut_off_line_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").write_text(json.dumps(event()))
    command = ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"]

    as_text, as_json = CliRunner().invoke(app, command), CliRunner().invoke(app, [*command, "--json"])

    assert (as_text.exit_code, as_json.exit_code) == (1, 1)
    assert "0 arrived, 0 held back, 0 refused, 1 unfinished: truncated, or still being written" in as_text.stdout
    answer = json.loads(as_json.stdout)
    assert answer["unfinishedLines"] == 1
    assert [(each["file"], each["line"], each["verdict"]) for each in answer["troubles"]] == [
        ("events.jsonl", 1, "unfinished")
    ]


def test_a_file_that_cannot_be_read_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").symlink_to("/proc/self/mem")
    command = ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"]

    as_text, as_json = CliRunner().invoke(app, command), CliRunner().invoke(app, [*command, "--json"])

    assert (as_text.exit_code, as_json.exit_code) == (1, 1)
    assert as_text.stdout == (
        "events.jsonl  unreadable  Input/output error\n"
        "0 arrived, 0 held back, 0 refused, 1 unreadable file: what it still has is sent once it can be read\n"
    )
    answer = json.loads(as_json.stdout)
    assert answer["unreadableFiles"] == 1
    assert [(each["file"], each["line"], each["verdict"]) for each in answer["troubles"]] == [
        ("events.jsonl", None, "unreadable")
    ]


def test_unsigned_events_are_held_back_with_any_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").write_text(json.dumps(event()) + "\n")

    result = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"])

    assert result.stdout.endswith("0 arrived, 1 held back, 0 refused\n")


@pytest.mark.parametrize("number", ["1", "9" * 5_000, "1e999"])
def test_an_event_without_a_run_is_sent_whatever_numbers_it_has(number: str) -> None:
    line = b'{"dataset":{"namespace":"lake","name":"orders"},"facets":{"size":%b}}' % number.encode()

    assert _as_may_go(line, verified(line, Keys({}, {}))).verdict == "ok"


def test_a_missing_file_for_flink_is_reported(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["flink", "run", str(tmp_path / "orders.sql")])

    assert str(result.exception) == f"{tmp_path / 'orders.sql'}: no such file"
