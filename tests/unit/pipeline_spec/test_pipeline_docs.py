"""The manual lists exactly the keys of the grammar."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from headwater.cli.run import overrides, run
from headwater.pipeline.check import check_source
from headwater.pipeline.checking.grammar import INPUT, OUTPUT, PROCESSOR
from headwater.pipeline.lint_rules.registry import RULES
from headwater.pipeline.spec import (
    METADATA_FIELDS,
    AgentSpec,
    Backoff,
    CatalogSpec,
    HttpAuth,
    KafkaSecurity,
    LineageAuth,
    LineageFile,
    LineageHttp,
    LineageSpec,
    LintSpec,
    Paging,
    PipelineSpec,
    Schedule,
    SchemaRegistry,
    StreamSpec,
)

DOCS = Path(__file__).resolve().parents[3] / "docs"
PIPELINES = (DOCS / "pipelines.md").read_text()
COMPUTED = {"source", "source_sha256"}

SECTIONS: dict[str, type] = {
    "## The whole file": PipelineSpec,
    **{f"### Input `{kind}`": record for kind, record in INPUT.kinds.items()},
    **{f"### Processor `{kind}`": record for kind, record in PROCESSOR.kinds.items()},
    **{f"### Output `{kind}`": record for kind, record in OUTPUT.kinds.items()},
    "### Section `schema_registry`": SchemaRegistry,
    "### Section `security`": KafkaSecurity,
    "### Section `lineage`": LineageSpec,
    "### Section `lineage.http`": LineageHttp,
    "### Section `lineage.http.auth`": LineageAuth,
    "### Section `lineage.file`": LineageFile,
    "### Section `catalogs.NAME`": CatalogSpec,
    "### Section `stream`": StreamSpec,
    "### Section `auth`": HttpAuth,
    "### Section `paging`": Paging,
    "### Section `agent`": AgentSpec,
    "### Section `agent.schedule`": Schedule,
    "### Section `agent.backoff`": Backoff,
    "### Section `lint`": LintSpec,
}


def section(heading: str) -> str:
    """A heading's text, up to the next heading."""
    match = re.search(rf"^{re.escape(heading)}$(.*?)(?=^#|\Z)", PIPELINES, re.MULTILINE | re.DOTALL)
    assert match, f"docs/pipelines.md has no {heading!r}"
    return match[1]


def first_table(text: str) -> list[str]:
    """The first cells of the rows of a section's first table, without its head."""
    rows = re.search(r"(^\|.*\n)+", text, re.MULTILINE)
    assert rows
    return re.findall(r"^\| `([^`]+)`", rows[0], re.MULTILINE)


@pytest.mark.parametrize(("heading", "record"), SECTIONS.items())
def test_the_manual_lists_exactly_the_keys_of_the_grammar(heading: str, record: type) -> None:
    listed = first_table(section(heading))

    assert sorted(listed) == sorted({field.name for field in fields(record)} - COMPUTED)


def test_the_manual_lists_the_fields_of_the_metadata_groups() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (`\w+`(?:, `\w+`)*) \|$", section("### Processor `metadata`"), re.MULTILINE)

    assert {group: tuple(re.findall(r"\w+", names)) for group, names in rows} == METADATA_FIELDS


EXAMPLES = [
    *re.findall(r"```yaml\n(.*?)```", PIPELINES, re.DOTALL),
    *re.findall(r"^`((?:in|out)put: .+?)`", PIPELINES, re.MULTILINE),
    *(f"pipeline:\n  processors:\n    {step}" for step in re.findall(r"^`(- .+)`", PIPELINES, re.MULTILINE)),
]
LEFT_OUT = {
    "name": "name: example\n",
    "namespace": "namespace: docs\n",
    "input": "input: {generate: {rows: 1}}\n",
    "output": "output: {stdout: {rows: 1}}\n",
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_manuals_examples_are_valid(example: str) -> None:
    keys = re.findall(r"^(\w+?)s?:", example, re.MULTILINE)
    rest = "".join(line for key, line in LEFT_OUT.items() if key not in keys)

    checked = check_source((rest + example).encode(), DOCS / "example.yaml", {}, {})

    assert [problem.text("example") for problem in checked.problems] == []


SHOWN = "\n".join([PIPELINES, (DOCS / "README.md").read_text(), run.__doc__ or ""])


@pytest.mark.parametrize("settings", re.findall(r"headwater run orders\.yaml (--set [^`\n]+)", SHOWN))
def test_the_shown_settings_are_valid_in_the_manuals_first_pipeline(settings: str) -> None:
    settings_given = [each for each in shlex.split(settings) if each != "--set"]

    checked = check_source(EXAMPLES[0].encode(), DOCS / "orders.yaml", dict(overrides(settings_given)), {})

    assert [problem.text("orders.yaml") for problem in checked.problems] == []


def test_the_manual_has_an_example_of_every_kind() -> None:
    kinds = [(slot, kind) for slot, grammar in (("input", INPUT), ("output", OUTPUT)) for kind in grammar.kinds]

    assert all(any(f"{slot}: {{{kind}:" in example for example in EXAMPLES) for slot, kind in kinds)
    assert all(any(f"    - {kind}:" in example for example in EXAMPLES) for kind in PROCESSOR.kinds)


def test_the_manual_of_lint_describes_every_rule_with_the_rules_own_text() -> None:
    text = " ".join((DOCS / "lint.md").read_text().split())

    assert re.findall(r"### (HW\d{3})", text) == [rule.id for rule in RULES]
    for rule in RULES:
        assert f"### {rule.id} {rule.title} {rule.reason} {rule.mend}" in text
