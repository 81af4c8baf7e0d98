"""Where the commands send their events that send any, and what they call the service that they ask or tell."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.unit.docs.test_docs_commands import COMMANDS


@pytest.mark.parametrize(
    "command", ["watch connect", "watch flink", "watch registry", "watch trino", "flink run", "sql run"]
)
def test_every_command_with_an_endpoint_takes_that_of_the_environment(command: str) -> None:
    told = CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=200)

    assert "--endpoint" in told.output
    assert "HEADWATER_ENDPOINT" in told.output


def test_every_command_calls_the_service_s_address_url() -> None:
    named = {
        path: [*option.opts]
        for path, command in COMMANDS.items()
        for option in command.params
        if option.envvar == "HEADWATER_URL"
    }

    assert len(named) > 15
    assert [path for path, options in named.items() if options != ["--url"]] == []


TELLING = pytest.mark.parametrize(
    "command",
    [
        ["ship", "."],
        ["key", "enrol"],
        ["key", "rotate"],
        ["key", "revoke", "x", "--from", "2026-05-22T14:00:00Z", "--reason", "x", "--token", "x"],
    ],
    ids=" ".join,
)


@TELLING
@pytest.mark.parametrize("option", ["--url", "--to"])
def test_a_command_that_tells_a_service_something_still_takes_the_older_name_for_its_address(
    command: list[str], option: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:8")

    told = CliRunner().invoke(app, [*command, option, "no address"])
    shown = CliRunner().invoke(app, [*command[: 1 if command[0] == "ship" else 2], "--help"]).output

    assert "no address" in f"{told.exception} {told.output}"
    assert "--url" in shown
    assert not re.search(r"--to\b", shown)


@TELLING
@pytest.mark.parametrize("option", ["--url", "--to"])
def test_an_empty_address_is_refused_rather_than_another_told(
    command: list[str], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:8")

    told = CliRunner().invoke(app, [*command, option, ""])

    assert "'' is not a" in f"{told.exception} {told.output}"


def test_credentials_in_an_endpoint_are_refused_with_the_option_that_takes_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    watch = ["watch", "registry", "--url", "http://127.0.0.1:9", "--bootstrap", "127.0.0.1:9", "--once"]

    told = CliRunner().invoke(app, [*watch, "--endpoint", "http://ann:secret@127.0.0.1:8/api/v1/lineage"])

    assert "--token-env" in str(told.exception)
    assert "secret" not in str(told.exception)
