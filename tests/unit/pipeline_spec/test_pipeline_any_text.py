"""Any file gives a spec or a list of problems with places in the file."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.pipeline.check import check_source
from headwater.pipeline.checking.grammar import INPUT, OUTPUT, PROCESSOR
from headwater.pipeline.lint import lint_pipeline
from headwater.pipeline.spec import LineageHttp, LineageSpec, PipelineSpec
from headwater.pipeline.sql_text import (
    UnreadableSqlError,
    does_more_than_query,
    joins_without_condition,
    limits_without_order,
    parsed_query,
    starred_tables,
    tables,
)

_RECORDS = [kind for slot in (INPUT, PROCESSOR, OUTPUT) for kind in slot.kinds.values()]
_KEYS = {field.name for record in (PipelineSpec, LineageSpec, LineageHttp, *_RECORDS) for field in fields(record)}
_VALUES = ["merge", "stream", "lake.a.b", "5s", "a:b", "http://u:p@h", "${X}", "${Y:-x}", "$${X}", "1", "1.5", "~", "🜁"]
_MARKS = [": ", "\n", "\n  ", "- ", "[", "]", "{", "}", "|", "&a ", "*a", "!!str ", "#", "? ", "---\n", '"', ", ", "<<"]
_TRAPS = ["\t", "\\U", "%", "\r", "\x85", "\ufeff", "\0", "\x7f", "\u2028", "99999999999999999999"]
_WORDS = st.sampled_from([*sorted(_KEYS), "input", "output", "owner", "from", *_VALUES])
_TEXTS = st.lists(_WORDS | st.sampled_from([*_MARKS, *_TRAPS]), max_size=60).map("".join) | st.text(max_size=200)

_SCALARS = _WORDS | st.text(max_size=8) | st.integers() | st.booleans() | st.none() | st.floats()
_TREES = st.recursive(
    _SCALARS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(_WORDS | st.text(max_size=3), below, max_size=6),
    max_leaves=40,
)

_SQL_CLAUSES = [
    "SELECT",
    "FROM",
    "WITH",
    "AS",
    "UNION ALL",
    "JOIN",
    "CROSS",
    "ON",
    "USING",
    "WHERE",
    "GROUP BY",
    "LIMIT",
]
_SQL_WORDS = [
    "(",
    ")",
    ",",
    "*",
    "a",
    "b",
    "c.*",
    "a.b",
    "1",
    "'x'",
    ";",
    "=",
    "--",
    "/*",
    "`",
    "EXISTS",
    "|>",
    "count(",
]
_SQL_RARITIES = ["ORDER BY", "LATERAL VIEW", "explode", "RECURSIVE", "VALUES", "INSERT INTO", "TABLE", "PIVOT"]
_SQL = st.sampled_from([*_SQL_CLAUSES, *_SQL_WORDS, *_SQL_RARITIES]) | st.text(max_size=3)

_COMPLETE = {
    "name": "orders",
    "namespace": "production",
    "input": {"file": {"paths": ["orders.csv"], "format": "csv", "options": {"header": True}}},
    "pipeline": {
        "processors": [
            {"sql": "SELECT id, price FROM input"},
            {"mapping": {"columns": {"price": "price * 2"}, "keep": True}, "name": "doubled"},
            {"dedupe": {"keys": ["id"]}, "from": "doubled"},
            {"python": {"function": "cleaning:trim", "options": {"depth": [1, {"a": None}]}}},
        ]
    },
    "outputs": [{"iceberg": {"table": "lake.a.b", "mode": "merge", "on": ["id"]}}, {"stdout": None}],
    "lineage": {"http": {"endpoint": "http://localhost:5000", "auth": {"type": "bearer", "token_env": "TOKEN"}}},
    "catalogs": {"other": {"type": "rest", "uri": "http://localhost:1"}},
    "lint": {"ignore": ["HW001"]},
}


@st.composite
def nearly_complete_files(draw: st.DrawFn) -> str:
    """A complete file with one arbitrary value in it."""
    content = yaml.safe_load(yaml.safe_dump(_COMPLETE))
    node, key = content, draw(st.sampled_from(sorted(content)))
    while isinstance(node[key], dict | list) and node[key] and draw(st.booleans()):
        node = node[key]
        key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
    node[key] = draw(_TREES)
    return yaml.safe_dump(content, allow_unicode=True)


def spec_or_problems(source: bytes, overrides: Mapping[str, str]) -> None:
    """Check a file, and that each problem's place is in it."""
    checked = check_source(source, Path("/pipelines/any.yaml"), overrides, {"X": "1"})

    lines = len(re.split(rb"\r\n|\r|\n", source))
    assert (checked.spec is None) == bool(checked.problems)
    for problem in checked.problems:
        assert 1 <= problem.mark.line <= lines
        assert problem.mark.column >= 1
        assert problem.text("any.yaml").isprintable()


@given(source=_TEXTS.map(str.encode) | st.binary(max_size=60))
@settings(max_examples=200)
def test_any_bytes_give_a_spec_or_problems_within_the_file(source: bytes) -> None:
    spec_or_problems(source, {})


@given(text=nearly_complete_files())
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_a_complete_file_with_one_arbitrary_value_gives_a_spec_or_problems_within_it(text: str) -> None:
    spec_or_problems(text.encode(), {})


@given(overrides=st.dictionaries(st.text(max_size=12) | _WORDS, _TEXTS, max_size=2))
@settings(max_examples=80)
def test_any_setting_gives_a_spec_or_problems_within_the_file(overrides: dict[str, str]) -> None:
    spec_or_problems(yaml.safe_dump(_COMPLETE).encode(), overrides)


@given(text=nearly_complete_files() | _TEXTS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_file_that_loads_is_linted_without_another_error(
    text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_bytes(text.encode())

    findings = lint_pipeline(path, {"X": "1"})

    checked = check_source(path.read_bytes(), path, {}, {"X": "1"}, keep_unset=True)
    assert any(finding.rule == "HW000" for finding in findings) == bool(checked.problems)


@given(sql=st.lists(_SQL, max_size=25).map(" ".join))
@settings(max_examples=150)
def test_any_sql_is_analysed_or_unreadable(sql: str) -> None:
    does_more_than_query(sql)

    with suppress(UnreadableSqlError):
        query = parsed_query(sql)
        assert starred_tables(query) <= tables(query).keys()
        joins_without_condition(sql)
        limits_without_order(query)
