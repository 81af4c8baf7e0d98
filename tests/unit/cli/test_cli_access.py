"""`headwater access key create`: what it refuses before it calls a service."""

from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import InvalidInputError, UnavailableError

CREATE = ["access", "key", "create", "ci", "--role", "read", "--scope", "*", "--url", "http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("until", "message"),
    [
        ("2020-01-01T00:00:00Z", "--until: 2020-01-01T00:00:00Z is in the past, so the key would never be valid"),
        ("tomorrow", "--until: expected a time with its zone, such as 2026-05-22T14:00:00Z, not 'tomorrow'"),
        ("2099-01-01", "--until: expected a time with its zone, such as 2026-05-22T14:00:00Z, not '2099-01-01'"),
    ],
)
def test_a_key_with_a_past_or_invalid_end_is_refused(
    until: str, message: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, [*CREATE, "--until", until])

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith(message)


def test_a_key_without_a_scope_is_refused(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, [each for each in CREATE if each not in ("--scope", "*")])

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception).startswith("--scope: name the namespaces")


def test_an_unknown_role_is_named_before_a_missing_scope(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    result = CliRunner().invoke(app, ["access", "key", "create", "ci", "--role", "boss"])

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception) == "--role: expected one or more of ingest, read, steward, admin"


def test_a_future_end_is_accepted(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    until = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()

    result = CliRunner().invoke(app, [*CREATE, "--until", until])

    assert isinstance(result.exception, UnavailableError)
