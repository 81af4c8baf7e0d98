"""`headwater key`: the life of a node's key, with a service that requires signed events."""

import json
import re
import uuid
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner, Result

from headwater.cli.main import app
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.emit.log_keys import keep_key, pinned_key
from headwater.errors import SetupError
from headwater.signing.jwks import read_jwks
from headwater.signing.keyfile import load_or_create, tokens_path
from headwater.signing.note import NoteSigner, parse_log_key
from headwater.signing.sign import sign_event
from headwater.signing.tokens import new_token
from tests.support.app import event
from tests.support.service import eventually, running


def test_a_nodes_key_is_created_enrolled_replaced_and_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, node = tmp_path / "service", tmp_path / "node"

    def headwater(where: Path, *arguments: str, **variables: str) -> str:
        result = CliRunner().invoke(app, ["key", *arguments], env={"HEADWATER_HOME": str(where), **variables})
        assert result.exit_code == 0, result.exception
        return result.stdout.strip()

    with running(home, "--require-signed") as service:

        def post_status() -> int:
            raw = json.dumps(event(run={"runId": str(uuid.uuid4())})).encode()
            return httpx.post(
                f"{service.url}/api/v1/lineage", content=sign_event(raw, load_or_create(node))
            ).status_code

        shown = headwater(node, "show")
        (first,) = read_jwks(headwater(node, "show", "--jwks"))
        before = post_status()
        token = headwater(home, "token", "--hours", "1")
        enrolled = headwater(node, "enrol", "--url", service.url, HEADWATER_KEY_TOKEN=token)
        after = post_status()
        replaced = headwater(node, "rotate", "--url", service.url)
        rotated = post_status()
        second = load_or_create(node).key_id
        reason = ("--reason", "laptop lost", "--url", service.url)
        now, long_ago = datetime.now(UTC).isoformat(), "2026-05-22T14:00:00Z"
        own = headwater(node, "revoke", second, "--from", now, *reason)
        revoked = post_status()
        by_token = {"HEADWATER_KEY_TOKEN": headwater(home, "token")}
        earlier = headwater(node, "revoke", second, "--from", long_ago, *reason, "--json", **by_token)
        by_token = {"HEADWATER_KEY_TOKEN": headwater(home, "token")}
        stranger = headwater(home, "revoke", first, "--from", long_ago, *reason, **by_token)
        keys = {each["keyId"]: each for each in httpx.get(f"{service.url}/api/v1/keys").json()["keys"]}
        log_key = httpx.get(f"{service.url}/api/v1/log/key").text.strip()

    assert first in shown
    assert (before, after, rotated, revoked) == (403, 201, 201, 403)
    assert enrolled == f"enrolled {first}\nlog key  {log_key}  (kept in {node / 'keys' / 'logs'})"
    assert replaced == f"{second} replaces {first}"
    assert own == f"revoked {second} from {now}"
    assert json.loads(earlier) == {"keyId": second, "from": long_ago, "reason": "laptop lost", "fallen": []}
    assert stranger == f"revoked {first} from {long_ago}\nthis also revokes {second}, which it had introduced"
    assert (keys[second]["replaces"], keys[second]["fellWith"]) == (first, first)
    assert {keys[each]["revokedBecause"] for each in (first, second)} == {"laptop lost"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["revoke", "node:x#sha256:y", "--from", "yesterday", "--reason", "x"],
            "--from: expected a time with its zone",
        ),
        (
            ["revoke", "node:x#sha256:y", "--from", "2026-05-22", "--reason", "x"],
            "--from: expected a time with its zone",
        ),
        (
            ["revoke", "node:x#sha256:y", "--from", "2026-05-22T14:00:00Z", "--reason", "x"],
            "KEYID: this machine's key is node:",
        ),
        (
            ["enrol", "--url", "http://127.0.0.1:9"],
            "no lineage service answers at http://127.0.0.1:9 (Connection refused); start one with `headwater serve`, "
            "or name another with --url",
        ),
    ],
)
def test_an_impossible_request_is_reported_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["key", *arguments])

    assert result.exit_code == 1
    assert re.match(re.escape(message), str(result.exception))


def test_events_emitted_before_a_nodes_key_is_enrolled_wait_and_arrive(tmp_path: Path) -> None:
    home, node = tmp_path / "service", tmp_path / "node"
    key = load_or_create(node)
    with running(home, "--require-signed") as service:
        config = EmitConfig(
            http=HttpConfig(endpoint=f"{service.url}/api/v1/lineage"), spool=node / "spool", drain_timeout_s=0.1
        )
        with Emitter.of_node(config, key) as emitter:
            for _ in range(5):
                emitter.put(json.dumps(event(run={"runId": str(uuid.uuid4())})).encode())
            assert eventually(lambda: "headwater key enrol" in (emitter.stats().last_error or ""))
            waiting = emitter.stats()

            token = new_token(tokens_path(home), 2**60, None)
            result = CliRunner().invoke(
                app,
                ["key", "enrol", "--url", service.url],
                env={"HEADWATER_HOME": str(node), "HEADWATER_KEY_TOKEN": token},
            )
            assert (result.exit_code, emitter.drain(60)) == (0, True)
        known = httpx.get(f"{service.url}/api/v1/summary").json()["events"]

    assert (waiting.dropped, waiting.delivered) == ({}, {})
    assert (known["stored"], emitter.stats().dropped) == (5, {})


def test_enrolment_keeps_the_key_of_the_log_and_refuses_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tmp_path / "node"
    monkeypatch.setenv("HEADWATER_HOME", str(node))

    def enrol(url: str, home: Path, **variables: str) -> Result:
        token = new_token(tokens_path(home), 2**60, None)
        return CliRunner().invoke(
            app, ["key", "enrol", "--url", url, "--json"], env={"HEADWATER_KEY_TOKEN": token, **variables}
        )

    with running(tmp_path / "one") as one, running(tmp_path / "other") as other:
        first, again = [enrol(one.url, tmp_path / "one") for _ in range(2)]
        key = httpx.get(f"{one.url}/api/v1/log/key").text.strip()
        elsewhere = enrol(other.url, tmp_path / "other", HEADWATER_LOG_KEY=key)
        keys_elsewhere = httpx.get(f"{other.url}/api/v1/keys").json()["keys"]

    assert [json.loads(each.stdout)["logKey"] for each in (first, again)] == [key, key]
    assert (node / "keys" / "logs").read_text() == f"{one.url} {key}\n"
    assert isinstance(elsewhere.exception, SetupError)
    assert "which is not the one in HEADWATER_LOG_KEY" in str(elsewhere.exception)
    assert [each["keyId"] for each in keys_elsewhere if each["keyId"] == load_or_create(node).key_id] == []


@pytest.mark.parametrize("is_right", [True, False])
def test_events_name_only_a_head_that_the_pinned_key_signed_and_arrive_in_any_case(
    tmp_path: Path, is_right: bool
) -> None:
    node = tmp_path / "node"
    with running(tmp_path / "service") as service:
        endpoint = f"{service.url}/api/v1/lineage"
        shown = httpx.get(f"{service.url}/api/v1/log/key").text.strip()
        pinned = parse_log_key(shown) if is_right else NoteSigner.from_seed(shown.split("+")[0], bytes(32)).verifier
        keep_key(node, service.url, pinned)
        config = EmitConfig(
            http=HttpConfig(endpoint=endpoint, log_key=pinned_key(node, endpoint)), spool=node / "spool"
        )
        with Emitter.of_node(config, load_or_create(node)) as emitter:
            runs = [str(uuid.uuid4()) for _ in range(2)]
            drained = []
            for run in runs:
                emitter.put(json.dumps(event(run={"runId": run})).encode())
                drained.append(emitter.drain(60))
            error = emitter.stats().last_error
        second = httpx.get(f"{service.url}/api/v1/log/entries/1").json()["event"]

    assert drained == [True, True]
    assert (error is None) == is_right
    assert (second["run"]["facets"]["headwater_chain"]["lastCheckpoint"] is not None) == is_right
