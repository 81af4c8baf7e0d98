"""`headwater witness` beside a real service: it signs what only grew, and finds what was rewritten."""

import json
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.signing.notefile import log_key, witness_key
from tests.support.app import event
from tests.support.service import running


def test_a_witness_signs_what_grew_and_finds_what_was_rewritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = tmp_path / "service", tmp_path / "witness"
    key = str(log_key(home, "lineage.example.org", "").verifier)
    own = str(witness_key(elsewhere, "witness.example.org", "").verifier)

    def look(url: str) -> tuple[int, str]:
        monkeypatch.setenv("HEADWATER_HOME", str(elsewhere))
        told = CliRunner().invoke(app, ["witness", url, "--log-key", key, "--once"])
        return told.exit_code, told.stdout.removesuffix("\n") if told.exit_code == 0 else str(told.exception)

    with running(home) as service:
        post(service.url, 3)
        assert look(service.url)[0] == 0
        post(service.url, 5)
        status, note = look(service.url)
        assert (status, "lineage.example.org\n5\n" in note) == (0, True)

    audit(home, note, key, own, monkeypatch)
    for path in home.glob("headwater.db*"):
        path.unlink()
    with running(home) as service:
        post(service.url, 6)  # the same events, in a tree of other salts
        status, told = look(service.url)
    assert status == 1
    assert "it was rewritten, or shows another history to others" in told
    assert len([*(elsewhere / "witness").rglob("not-6-*.txt")]) == 1


def post(url: str, count: int) -> None:
    for number in range(count):
        body = event(job={"namespace": "etl", "name": f"job {number}"})
        httpx.post(f"{url}/api/v1/lineage", content=json.dumps(body)).raise_for_status()


def audit(home: Path, note: str, key: str, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The witnessed head is what an audit can ask for."""
    monkeypatch.setenv("HEADWATER_HOME", str(home))
    (home / "head.txt").write_text(note)
    bundle = str(home / "bundle.zip")
    exported = CliRunner().invoke(app, ["audit", "export", "-o", bundle, "--head", str(home / "head.txt")])
    assert exported.exit_code == 0, exported.output
    told = CliRunner().invoke(app, ["audit", "verify", bundle, "--log-key", key, "--witness", own])
    assert told.exit_code == 0, told.output
    stranger = str(witness_key(home, "stranger.example.org", "").verifier)
    told = CliRunner().invoke(app, ["audit", "verify", bundle, "--log-key", key, "--witness", stranger])
    assert told.exit_code == 1
    assert "stranger.example.org did not sign the head" in told.output
