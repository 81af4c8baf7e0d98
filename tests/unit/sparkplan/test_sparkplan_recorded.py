"""Plans that Spark 4.1.1 wrote (conformance/sparkplan), with lineage written by hand from their statements."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidInputError
from headwater.graph.sparkplan.leaves import Leaf, leaves
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from tests.support.lineage_text import as_text, expected
from tests.unit.sparkplan.sparkplan_plans import RECORDED


def table(leaf: Leaf) -> str | None:
    """The catalog's name, or the view's; only the target of a MERGE has neither."""
    if leaf.table is not None:
        return leaf.table[-1]
    return leaf.views[0][-1] if leaf.views else "target"


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_plan_has_the_lineage_of_its_statement(recorded: Path) -> None:
    case = json.loads(recorded.read_bytes())

    lineage = column_lineage(parse_plan(json.dumps(case["plan"])), table)

    assert as_text(lineage, table) == expected(case["columns"], case["rows"])


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
def test_an_unknown_operator_anywhere_hides_columns_but_no_table(recorded: Path) -> None:
    plan = json.loads(recorded.read_bytes())["plan"]
    tables = {leaf.key for leaf in column_lineage(parse_plan(json.dumps(plan)), table).inputs}

    for entry in (entry for entry in plan if entry["num-children"]):
        kind, entry["class"] = entry["class"], "org.example.Unknown"
        lineage = column_lineage(parse_plan(json.dumps(plan)), table)
        entry["class"] = kind
        assert {leaf.key for leaf in lineage.inputs} >= tables


@given(st.sampled_from(RECORDED), st.data())
def test_a_damaged_plan_is_refused_or_has_some_lineage(recorded: Path, data: st.DataObject) -> None:
    plan = json.loads(recorded.read_bytes())["plan"]
    damage(plan, data)

    try:
        parsed = parse_plan(json.dumps(plan))
    except InvalidInputError:
        return
    lineage = column_lineage(parsed, table)

    assert set(lineage.inputs) <= set(leaves(parsed))


def damage(plan: list[dict[str, Any]], data: st.DataObject) -> None:
    """Replace or drop one field of one entry, of an operator or of an expression in it."""
    holders = list(objects(plan))
    holder = holders[data.draw(st.integers(0, len(holders) - 1))]
    field = data.draw(st.sampled_from(sorted(holder)))
    if data.draw(st.booleans()):
        del holder[field]
    else:
        holder[field] = data.draw(st.sampled_from([None, 0, -1, 99, "x", [], {}, [[]], [{"class": "x.Literal"}], 0.5]))


def objects(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401
    if isinstance(value, list):
        return [nested for item in value for nested in objects(item)]
    if isinstance(value, dict):
        return [*([value] if value else []), *(nested for item in value.values() for nested in objects(item))]
    return []
