"""The endpoint for events, and the options for the service's address, of all commands."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from tests.unit.docs.test_docs_commands import COMMANDS


@pytest.mark.parametrize(
    "command", ["watch connect", "watch flink", "watch registry", "watch trino", "flink run", "sql run"]
)
def test_every_command_with_an_endpoint_reads_it_from_the_environment(command: str) -> None:
    result = CliRunner().invoke(app, [*command.split(), "--help"], terminal_width=200)

    assert "--endpoint" in result.output
    assert "HEADWATER_ENDPOINT" in result.output


def test_every_command_has_the_option_url_for_the_services_address() -> None:
    options_by_command = {
        path: [*option.opts]
        for path, command in COMMANDS.items()
        for option in command.params
        if option.envvar == "HEADWATER_URL"
    }

    assert len(options_by_command) > 15
    assert [path for path, options in options_by_command.items() if options != ["--url"]] == []


CHANGING = pytest.mark.parametrize(
    "command",
    [
        ["ship", "."],
        ["key", "enrol"],
        ["key", "rotate"],
        ["key", "revoke", "x", "--from", "2026-05-22T14:00:00Z", "--reason", "x", "--token", "x"],
    ],
    ids=" ".join,
)


@CHANGING
@pytest.mark.parametrize("option", ["--url", "--to"])
def test_commands_that_change_a_service_still_accept_the_older_option_for_its_address(
    command: list[str], option: str, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:8")

    result = CliRunner().invoke(app, [*command, option, "no address"])
    shown = CliRunner().invoke(app, [*command[: 1 if command[0] == "ship" else 2], "--help"]).output

    assert "no address" in f"{result.exception} {result.output}"
    assert "--url" in shown
    assert not re.search(r"--to\b", shown)


@CHANGING
@pytest.mark.parametrize("option", ["--url", "--to"])
def test_an_empty_address_is_refused_instead_of_using_the_environments(
    command: list[str], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:8")

    result = CliRunner().invoke(app, [*command, option, ""])

    assert "'' is not a" in f"{result.exception} {result.output}"


def test_credentials_in_an_endpoint_are_refused_with_the_option_to_use_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    watch = ["watch", "registry", "--url", "http://127.0.0.1:9", "--bootstrap", "127.0.0.1:9", "--once"]

    result = CliRunner().invoke(app, [*watch, "--endpoint", "http://ann:secret@127.0.0.1:8/api/v1/lineage"])

    assert "--token-env" in str(result.exception)
    assert "secret" not in str(result.exception)
