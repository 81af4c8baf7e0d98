"""Input that is not a plan is refused with a message without its values."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidInputError
from headwater.graph.sparkplan.leaves import leaves
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from tests.unit.sparkplan.sparkplan_plans import column, project, relation, text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(["x.Project", "x.Alias"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["class", "num-children", "output", "plan", "exprId"]), inner, max_size=4)
    ),
)


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "not json",
        "{}",
        "[]",
        "[1]",
        '[{"class": "x.Project"}]',
        '[{"class": "x.Project", "num-children": 1}]',
        '[{"class": "x.Project", "num-children": -1}]',
        '[{"class": "x.Range", "num-children": 0}, {"class": "x.Range", "num-children": 0}]',
        '[{"class": 5, "num-children": 0}]',
        '[{"class": "x.Range", "num-children": "many"}]',
        '[{"class": "x.Range", "num-children": 0}, "secret"]',
        "[" * 100_000,
    ],
)
def test_input_that_is_not_a_plan_is_refused(broken: str) -> None:
    with pytest.raises(InvalidInputError, match="Spark plan") as refusal:
        parse_plan(broken)

    assert "secret" not in str(refusal.value)


@given(st.binary() | st.lists(JSON, max_size=4).map(json.dumps).map(str.encode))
def test_any_bytes_are_refused_or_a_plan(raw: bytes) -> None:
    try:
        plan = parse_plan(raw)
    except InvalidInputError:
        return
    column_lineage(plan, lambda leaf: leaf.kind)


def test_a_leaf_has_its_columns_in_order_and_the_first_ones_id_as_key() -> None:
    plan = parse_plan(text(project(relation(column("b", 7), column("a", 3)), column("a", 3))))

    (leaf,) = leaves(plan)

    assert [tuple(attribute) for attribute in leaf.columns] == [("b", 7), ("a", 3)]
    assert leaf.key == 7
