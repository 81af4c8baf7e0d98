"""The agent's configuration file: every key is documented, and errors have their place."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from headwater.agent.config import AgentConfig, HttpApi, load_config
from headwater.errors import InvalidInputError, SetupError

DOCS = Path(__file__).resolve().parents[3] / "docs" / "agent.md"


def test_the_manual_lists_every_key_of_the_agents_file_and_no_other() -> None:
    listed = re.findall(r"^\| `([a-z_.]+)` \|", DOCS.read_text(), re.MULTILINE)

    known = {field.name for field in fields(AgentConfig)} - {"http"} | {f"http.{each.name}" for each in fields(HttpApi)}
    assert sorted(listed) == sorted(known)


def test_the_example_of_the_manual_is_read(tmp_path: Path) -> None:
    example = re.search(r"```yaml\n(# agent.yaml\n.*?)```", DOCS.read_text(), re.DOTALL)
    assert example
    file = tmp_path / "agent.yaml"
    file.write_text(example[1])

    config = load_config(file, {})

    assert config.http is not None
    assert config.allowed


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text("# nothing\n")

    assert load_config(file, {}) == AgentConfig()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drain_timeout: 30", "1:16: drain_timeout: expected a duration of at most 10000d with its unit"),
        ("drain_timeuot: 30s", "1:1: drain_timeuot: unknown key, did you mean 'drain_timeout'?"),
        ("http: {port: 5057}", "1:7: http: missing key 'token_env'"),
        ("http: {port: 70000, token_env: T}", "1:14: http.port: expected a port from 1 to 65535"),
        ("spark: {driver.memory: 1g}", "spark.driver.memory: expected a key that starts with 'spark.'"),
        ("allowed_endpoints:\n# - https://a.example", "1:19: allowed_endpoints: expected a list, found nothing"),
        ("allowed_endpoints: [lineage.example]", "allowed_endpoints.0: expected a URL"),
        ("allowed_endpoints: ['https://u:pw123@lineage.example']", "allowed_endpoints.0: expected a URL without"),
    ],
)
def test_an_error_in_the_file_is_reported_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "agent.yaml"
    file.write_text(text)

    with pytest.raises(InvalidInputError, match=re.escape(message)) as refusal:
        load_config(file, {})

    assert "pw123" not in str(refusal.value)


def test_a_file_that_cannot_be_read_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=f"^{tmp_path}/agent.yaml: No such file or directory$"):
        load_config(tmp_path / "agent.yaml", {})
