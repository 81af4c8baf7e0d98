"""Each rule finds its problem, and nothing once that is fixed."""

import json
import re
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner

from headwater.cli.lint import lint
from headwater.errors import InvalidPipelineError
from headwater.pipeline.lint import Finding, lint_pipeline
from headwater.pipeline.lint_rules.registry import RULES
from headwater.pipeline.lint_rules.rule import Rule

_FIXTURE = yaml.safe_load((Path(__file__).parent / "lint_cases.yaml").read_text())
REST: dict[str, str] = _FIXTURE.pop("rest")
CASES: dict[str, list[dict[str, str]]] = _FIXTURE
PAIRS = [
    pytest.param(rule, pair["before"], pair["after"], id=f"{rule}-{number}")
    for rule, pairs in CASES.items()
    for number, pair in enumerate(pairs)
]


def findings(directory: Path, text: str) -> tuple[Finding, ...]:
    """The findings in a file of this text, after the required keys that it lacks."""
    keys = re.findall(r"^(\w+?)s?:", text, re.MULTILINE)
    path = directory / "orders.yaml"
    path.write_text("".join(f"{line}\n" for key, line in REST.items() if key not in keys) + text)
    return lint_pipeline(path, {})


@pytest.mark.parametrize(("rule", "before", "after"), PAIRS)
def test_a_rule_finds_its_problem_and_nothing_once_fixed(rule: str, before: str, after: str, tmp_path: Path) -> None:
    assert {finding.rule for finding in findings(tmp_path, before)} == {rule}
    assert findings(tmp_path, after) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("/data/in", "file:///data/in/"), ("file:/data/in", "/data/in"), ("s3a://lake/in", "s3://lake/in")],
)
def test_a_path_is_the_same_in_each_of_its_spellings(one: str, other: str, tmp_path: Path) -> None:
    read = f"input: {{file: {{paths: ['{one}'], format: csv, schema: id BIGINT}}}}\n"
    overwritten = f"output: {{file: {{path: '{other}', format: csv, mode: overwrite}}}}\n"
    both = f"outputs: [{{file: {{path: '{one}', format: csv}}}}, {{file: {{path: '{other}', format: csv}}}}]\n"

    assert "HW304" in {finding.rule for finding in findings(tmp_path, read + overwritten)}
    assert "HW304" not in {finding.rule for finding in findings(tmp_path, read + overwritten.replace("in", "out"))}
    assert "HW305" in {finding.rule for finding in findings(tmp_path, both)}


def test_every_rule_has_a_case() -> None:
    assert list(CASES) == [rule.id for rule in RULES]


def test_a_finding_in_a_block_of_sql_has_its_line_in_the_file(tmp_path: Path) -> None:
    text = "pipeline:\n  processors:\n    - sql: |\n        SELECT id\n        FROM input\n        WHERE id = 1 2\n"

    (finding,) = findings(tmp_path, text)

    lines = (tmp_path / "orders.yaml").read_text().splitlines()
    assert finding.path == "pipeline.processors.0.sql.query"
    assert lines[finding.line - 1] == "        WHERE id = 1 2"


BLOCK = """\
pipeline:
  processors:
    - name: q
      sql:
        query: |
          SELECT i.id, r.rate
          FROM input i
          JOIN rates r
            ON r.id = i.id
          LIMIT 5
"""


def test_a_finding_in_a_block_of_sql_has_the_line_of_its_clause(tmp_path: Path) -> None:
    block = BLOCK.replace("            ON r.id = i.id\n", "")

    reported = findings(tmp_path, block)

    lines = (tmp_path / "orders.yaml").read_text().splitlines()
    assert [(finding.rule, lines[finding.line - 1].strip()) for finding in reported] == [
        ("HW203", "JOIN rates r"),
        ("HW204", "JOIN rates r"),
        ("HW205", "LIMIT 5"),
    ]


@pytest.mark.parametrize(
    ("line", "silenced"),
    [
        ("query: |", "query: |  # headwater: ignore HW203, HW205"),
        ("        query: |", "        # headwater: ignore HW203, HW205\n        query: |"),
        ("SELECT i.id", "-- headwater: ignore HW203, HW205\n          SELECT i.id"),
        ("SELECT i.id", "-- # headwater: ignore HW203, HW205\n          SELECT i.id"),
        ("LIMIT 5", "LIMIT 5 -- headwater: ignore HW205\nlint: {ignore: [HW203]}"),
        ("          LIMIT 5", "          -- headwater: ignore HW205\n          LIMIT 5\nlint: {ignore: [HW203]}"),
    ],
)
def test_a_rule_is_silenced_in_a_block_of_sql(line: str, silenced: str, tmp_path: Path) -> None:
    assert findings(tmp_path, BLOCK.replace(line, silenced)) == ()


def test_a_comment_in_a_block_of_sql_silences_only_its_own_line(tmp_path: Path) -> None:
    block = BLOCK.replace("FROM input i", "FROM input i -- headwater: ignore HW203, HW205")

    assert [finding.rule for finding in findings(tmp_path, block)] == ["HW203", "HW205"]


@pytest.mark.parametrize(
    "output",
    [
        "output: {iceberg: {table: lake.a.b}}  # headwater: ignore HW301",
        "output: {iceberg: {table: lake.a.b}}  # fresh files each day; headwater: ignore HW999, HW301",
        "# headwater: ignore HW301\noutput: {iceberg: {table: lake.a.b}}",
        "output: {iceberg: {table: lake.a.b}}\nlint: {ignore: [HW301]}",
    ],
)
def test_a_rule_is_silenced_by_a_comment_or_in_the_file(output: str, tmp_path: Path) -> None:
    assert findings(tmp_path, output) == ()


@pytest.mark.parametrize(
    "output",
    [
        "output: {iceberg: {table: lake.a.b}}  # headwater: ignore HW302",
        "output: {iceberg: {table: lake.a.b}}\n# headwater: ignore HW301",
        "mode: batch  # headwater: ignore HW301\noutput: {iceberg: {table: lake.a.b}}",
        "output: {iceberg: {table: lake.a.b}}\nlint: {ignore: [HW302]}",
    ],
)
def test_a_rule_is_not_silenced_by_another_rule_or_elsewhere(output: str, tmp_path: Path) -> None:
    assert [finding.rule for finding in findings(tmp_path, output)] == ["HW301"]


def test_an_invalid_file_gives_its_problems_and_cannot_be_silenced(tmp_path: Path) -> None:
    path = tmp_path / "orders.yaml"
    path.write_text("name: a  # headwater: ignore HW000\nnamespace: b\noutput: {stdot: }\nlint: {ignore: [HW000]}\n")

    assert lint_pipeline(path, {}) == (
        Finding("HW000", 1, "", "missing key 'input' (or 'inputs')"),
        Finding("HW000", 3, "output.stdot", "unknown key, did you mean 'stdout'?"),
    )


def test_a_variable_that_is_not_set_is_not_a_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, "output: {iceberg: {table: lake.a.b, mode: overwrite, options: {tag: '${TAG}'}}}") == ()


def test_no_finding_shows_a_secret(tmp_path: Path) -> None:
    options = "options: {s3.endpoint: 'https://me:hunter2@s'}"
    text = f"spark: {{spark.x.password: hunter2}}\ncatalogs: {{c: {{type: rest, uri: 'https://c', {options}}}}}"

    assert [finding.rule for finding in findings(tmp_path, text)] == ["HW501", "HW501"]
    assert "hunter2" not in str(findings(tmp_path, text))


def test_a_file_that_is_invalid_because_of_a_secret_does_not_show_it(tmp_path: Path) -> None:
    text = "spark: {spark.x.password: hunter2}\ncatalogs: {c: {type: rest, uri: 'https://me:hunter2@c'}}"

    assert [finding.rule for finding in findings(tmp_path, text)] == ["HW000"]
    assert "hunter2" not in str(findings(tmp_path, text))


def test_a_file_that_cannot_be_read_is_an_error_not_a_finding(tmp_path: Path) -> None:
    with pytest.raises(InvalidPipelineError, match="Is a directory"):
        lint_pipeline(tmp_path)


APP = typer.Typer()
APP.command()(lint)


def test_the_command_prints_four_keys_a_finding_and_exits_with_1(tmp_path: Path) -> None:
    findings(tmp_path, "owners: []")

    result = CliRunner().invoke(APP, [str(tmp_path / "orders.yaml"), "--json"])

    assert result.exit_code == 1
    assert json.loads(result.stdout) == [
        {"rule": "HW002", "line": 1, "path": "", "message": "the pipeline has no owner"}
    ]


def test_the_command_prints_place_and_explanation_for_people(tmp_path: Path) -> None:
    findings(tmp_path, "description:")

    result = CliRunner().invoke(APP, [str(tmp_path / "orders.yaml")])

    assert result.stdout == f"{tmp_path}/orders.yaml:1: HW003 no description\n"
    assert result.stderr == "\nWhy: headwater lint --explain HW003\n"


def test_the_command_exits_with_0_if_nothing_is_found(tmp_path: Path) -> None:
    findings(tmp_path, "")

    result = CliRunner().invoke(APP, [str(tmp_path / "orders.yaml"), "--json"])

    assert (result.exit_code, result.stdout) == (0, "[]\n")


@pytest.mark.parametrize("arguments", [["missing.yaml"], [], ["--explain", "HW999"]])
def test_the_command_exits_with_2_if_there_is_nothing_to_lint(arguments: list[str]) -> None:
    assert CliRunner().invoke(APP, arguments).exit_code == 2


@pytest.mark.parametrize("beside", ["orders.yaml", "--json"])
def test_the_command_does_not_pass_over_what_stands_beside_explain(beside: str) -> None:
    result = CliRunner().invoke(APP, ["--explain", "HW003", beside])

    assert (result.exit_code, result.stdout) == (2, "")
    assert "--explain" in result.stderr


@pytest.mark.parametrize("option", ["--json", None])
def test_findings_are_printed_even_if_another_file_cannot_be_read(option: str | None, tmp_path: Path) -> None:
    findings(tmp_path, "description:")
    files = [str(tmp_path / "missing.yaml"), str(tmp_path / "orders.yaml")]

    result = CliRunner().invoke(APP, [*files, *([option] if option else ())])

    assert result.exit_code == 2
    assert "missing.yaml" in result.stderr
    assert "HW003" in result.stdout
    if option:
        assert [Path(each["file"]).name for each in json.loads(result.stdout)] == ["orders.yaml"]


@pytest.mark.parametrize("names", [["missing.yaml"], ["missing.yaml", "gone.yaml"]])
def test_findings_as_json_are_a_list_even_if_no_file_can_be_read(names: list[str], tmp_path: Path) -> None:
    result = CliRunner().invoke(APP, [*(str(tmp_path / name) for name in names), "--json"])

    assert result.exit_code == 2
    assert json.loads(result.stdout) == []
    assert all(name in result.stderr for name in names)


def test_the_command_explains_the_finding_of_an_invalid_file(tmp_path: Path) -> None:
    (tmp_path / "orders.yaml").write_text("name: a\n")

    words = CliRunner().invoke(APP, [str(tmp_path / "orders.yaml")]).stderr.split()
    result = CliRunner().invoke(APP, words[3:])

    assert words[:3] == ["Why:", "headwater", "lint"]
    assert result.exit_code == 0
    assert result.stdout.startswith("HW000: the file is not valid\n")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_command_explains_every_rule(rule: Rule) -> None:
    result = CliRunner().invoke(APP, ["--explain", rule.id.lower()])

    assert result.exit_code == 0
    assert all(part in result.stdout for part in (rule.id, rule.title, rule.reason, rule.mend))
