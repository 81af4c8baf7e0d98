"""The name under which a log or a witness signs: looked at before anything is written."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import InvalidInputError
from headwater.signing.note import ED25519, NoteSigner
from headwater.signing.notefile import log_key, witness_key

LOG = str(NoteSigner.from_seed("log.example.org", bytes(32), ED25519).verifier)
WITNESS = ["witness", "http://127.0.0.1:9", "--log-key", LOG, "--once"]
EXPECTED = "expected a name without white space or plus signs, like lineage.example.org"


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\n"])
@pytest.mark.parametrize(
    ("command", "option"), [(["serve", "--port", "0"], "--log-name"), (WITNESS, "--name")], ids=["serve", "witness"]
)
def test_a_name_that_is_none_is_refused_before_anything_is_written(
    command: list[str], option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))

    told = CliRunner().invoke(app, [*command, option, name])

    assert isinstance(told.exception, InvalidInputError)
    assert str(told.exception) == f"{option}: {EXPECTED}"
    assert list(tmp_path.iterdir()) == []


def test_a_name_from_the_environment_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HEADWATER_LOG_NAME", "a b")

    told = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert str(told.exception) == f"HEADWATER_LOG_NAME: {EXPECTED}"


def test_another_name_than_that_of_the_key_is_refused_before_a_store_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, "old.example.org", "")

    told = CliRunner().invoke(app, ["serve", "--port", "0", "--log-name", "new.example.org"])

    assert "signs as old.example.org, which cannot be changed to new.example.org" in str(told.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


@pytest.mark.parametrize("key", [log_key, witness_key])
def test_no_key_is_made_under_a_name_that_is_none(key: object, tmp_path: Path) -> None:
    assert callable(key)
    with pytest.raises(InvalidInputError, match=EXPECTED):
        key(tmp_path, "", "lineage.example.org")

    assert list(tmp_path.iterdir()) == []
