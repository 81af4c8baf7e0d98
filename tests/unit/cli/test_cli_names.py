"""The name with which a log or a witness signs: checked before anything is written."""

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
def test_an_invalid_name_is_refused_before_anything_is_written(
    command: list[str], option: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))

    result = CliRunner().invoke(app, [*command, option, name])

    assert isinstance(result.exception, InvalidInputError)
    assert str(result.exception) == f"{option}: {EXPECTED}"
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_name_in_the_environment_is_reported_with_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HEADWATER_LOG_NAME", "a b")

    result = CliRunner().invoke(app, ["serve", "--port", "0"])

    assert str(result.exception) == f"HEADWATER_LOG_NAME: {EXPECTED}"


def test_a_name_other_than_the_keys_is_refused_before_a_store_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    log_key(tmp_path, "old.example.org", "")

    result = CliRunner().invoke(app, ["serve", "--port", "0", "--log-name", "new.example.org"])

    assert "signs as old.example.org, which cannot be changed to new.example.org" in str(result.exception)
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]


@pytest.mark.parametrize("key", [log_key, witness_key])
def test_no_key_is_created_with_an_invalid_name(key: object, tmp_path: Path) -> None:
    assert callable(key)
    with pytest.raises(InvalidInputError, match=EXPECTED):
        key(tmp_path, "", "lineage.example.org")

    assert list(tmp_path.iterdir()) == []
