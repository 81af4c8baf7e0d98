"""Every command with output that a script would read has `--json`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.signing.keyfile import load_or_create
from tests.unit.docs.test_docs_commands import COMMANDS

WITHOUT: dict[str, set[tuple[str, ...]]] = {
    "runs until it is stopped, and prints one line once it is ready": {
        ("serve",),
        ("agent",),
        ("demo",),
        ("watch", "connect"),
        ("watch", "flink"),
        ("watch", "registry"),
        ("watch", "trino"),
    },
    "prints a log, line by line, as a program wrote it": {("job", "logs"), ("lab", "logs")},
    "prints rows, as CSV": {("sql", "run")},
    "prints only its progress, on standard error": {("lab", "fetch"), ("lab", "down")},
}

FILE = """
engine: trino://trino:8080
dashboards:
  - name: revenue
    queries:
      - {name: good, sql: SELECT a FROM c.s.t}
      - {name: bad, sql: SELECT FROM WHERE}
"""


def json_of(*arguments: str) -> Any:  # noqa: ANN401
    result = CliRunner().invoke(app, [*arguments, "--json"])
    return json.loads(result.stdout)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    return tmp_path


def test_every_command_has_json_except_those_with_a_reason() -> None:
    without = {path for path, command in COMMANDS.items() if not any("--json" in each.opts for each in command.params)}

    assert without == set().union(*WITHOUT.values())


def test_the_key_is_printed_as_json(home: Path) -> None:
    shown = json_of("key", "show")

    key = load_or_create(home)
    assert (shown["nodeId"], shown["keyId"]) == (key.node_id, key.key_id)
    assert [*shown] == ["nodeId", "keyId", "publicKey"]


def test_a_token_is_printed_as_json_with_its_end() -> None:
    token = json_of("key", "token", "--node", "edge-1")

    assert isinstance(token, dict)
    assert len(token["token"]) == 43
    assert token["nodeId"] == "edge-1"
    assert token["until"].endswith("Z")


def test_queries_that_cannot_be_parsed_are_printed_as_json(tmp_path: Path) -> None:
    (file := tmp_path / "dashboards.yaml").write_text(FILE)

    (fault,) = json_of("dashboards", "lint", str(file))

    assert (fault["line"], fault["dashboard"], fault["query"]) == (7, "revenue", "bad")
    assert fault["message"]


def test_if_every_query_can_be_parsed_the_list_is_empty(tmp_path: Path) -> None:
    (file := tmp_path / "dashboards.yaml").write_text(FILE.replace("SELECT FROM WHERE", "SELECT 1"))

    assert json_of("dashboards", "lint", str(file)) == []
