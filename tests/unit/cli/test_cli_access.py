"""`headwater access key create`: what it refuses before a service is asked."""

from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import InvalidInputError, UnavailableError

CREATE = ["access", "key", "create", "ci", "--role", "read", "--scope", "*", "--url", "http://127.0.0.1:9"]


@pytest.mark.parametrize(
    ("until", "said"),
    [
        ("2020-01-01T00:00:00Z", "--until: 2020-01-01T00:00:00Z is in the past, so the key would never be valid"),
        ("tomorrow", "--until: expected a time with its zone, such as 2026-05-22T14:00:00Z, not 'tomorrow'"),
        ("2099-01-01", "--until: expected a time with its zone, such as 2026-05-22T14:00:00Z, not '2099-01-01'"),
    ],
)
def test_no_key_is_made_that_has_run_out_or_ends_at_no_time(
    until: str, said: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    told = CliRunner().invoke(app, [*CREATE, "--until", until])

    assert isinstance(told.exception, InvalidInputError)
    assert str(told.exception).startswith(said)


def test_no_key_is_made_for_no_namespace(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))

    told = CliRunner().invoke(app, [each for each in CREATE if each not in ("--scope", "*")])

    assert isinstance(told.exception, InvalidInputError)
    assert str(told.exception).startswith("--scope: name the namespaces")


def test_a_time_to_come_is_passed_on(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    until = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()

    told = CliRunner().invoke(app, [*CREATE, "--until", until])

    assert isinstance(told.exception, UnavailableError)
