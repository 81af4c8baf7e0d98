"""`headwater ship`, and `headwater flink run`: what they say of what they are given."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.cli.ship import _in_words
from headwater.emit.shipment import Shipped, Trouble
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from tests.support.app import event


@pytest.mark.parametrize(
    "url", ["http://[::1", "lineage.example.org", "ftp://lineage.example.org", "http://lineage:99999999", "http://", ""]
)
def test_nothing_is_shipped_to_what_is_no_url(tmp_path: Path, url: str) -> None:
    told = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", url], env={"COLUMNS": "200"})

    assert told.exit_code == 2
    assert f"--url: {url!r} is not a URL like https://lineage.example.org" in told.output


def test_what_is_held_back_is_told_with_what_sends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    stranger = NodeKey.from_seed("node-1", bytes(range(32)))
    signed = sign_event(json.dumps(event()).encode(), stranger)
    (tmp_path / "events.jsonl").write_bytes(signed + b"\n")

    told = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"])

    assert told.exit_code == 1
    assert "0 arrived, 1 held back, 0 refused; once --keys contains its key, --from-start sends it" in told.stdout


@pytest.mark.parametrize(
    ("shipped", "told"),
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
def test_what_did_not_arrive_is_told_with_what_to_do_next(shipped: Shipped, told: str) -> None:
    assert told in _in_words(shipped)


def test_what_did_not_arrive_is_no_success_the_next_time_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_line_that_was_cut_off_is_no_success(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").write_text(json.dumps(event()))
    command = ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"]

    words, wire = CliRunner().invoke(app, command), CliRunner().invoke(app, [*command, "--json"])

    assert (words.exit_code, wire.exit_code) == (1, 1)
    assert "0 arrived, 0 held back, 0 refused, 1 unfinished: truncated, or still being written" in words.stdout
    told = json.loads(wire.stdout)
    assert told["unfinishedLines"] == 1
    assert [(each["file"], each["line"], each["verdict"]) for each in told["troubles"]] == [
        ("events.jsonl", 1, "unfinished")
    ]


def test_what_nobody_signed_is_held_back_whatever_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    (tmp_path / "events.jsonl").write_text(json.dumps(event()) + "\n")

    told = CliRunner().invoke(app, ["ship", str(tmp_path), "--url", "http://127.0.0.1:9"])

    assert told.stdout.endswith("0 arrived, 1 held back, 0 refused\n")


def test_a_file_for_flink_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["flink", "run", str(tmp_path / "orders.sql")])

    assert str(told.exception) == f"{tmp_path / 'orders.sql'}: no such file"
