"""Plans that Spark rarely writes: very deep ones, very wide ones, and unsupported operators."""

import sys

import pytest

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import PlanLineage, column_lineage
from headwater.graph.sparkplan.plan import parse_plan
from tests.support.lineage_text import LineageText, as_text, expected
from tests.unit.sparkplan.sparkplan_plans import (
    Entry,
    alias,
    column,
    function,
    literal,
    operator,
    project,
    relation,
    text,
)


def relation_name(leaf: Leaf) -> str | None:
    """The name of a test's relation, from its first column: `a1` is in `a`."""
    return leaf.columns[0].name[0] if leaf.kind == "LogicalRelation" else None


def lineage_of(plan: list[Entry]) -> PlanLineage[str]:
    return column_lineage(parse_plan(text(plan)), relation_name)


def lineage_text_of(plan: list[Entry]) -> LineageText:
    return as_text(lineage_of(plan), relation_name)


def chain(depth: int) -> list[Entry]:
    """Each projection adds the second column to the first."""
    heads = [
        operator("Project", [], projectList=[alias(total, "a1", 2 * index + 5), column("a2", 2)])[:1]
        for index in range(depth)
        for total in [function("Add", column("a1", 2 * index + 3 if index else 1), column("a2", 2))]
    ]
    return [entry for head in reversed(heads) for entry in head] + relation(column("a1", 1), column("a2", 2))


def test_more_projections_than_pythons_recursion_limit_are_resolved() -> None:
    depth = 5 * sys.getrecursionlimit()

    lineage = lineage_text_of(chain(depth))

    assert lineage == expected({"a1": "a.a1 TRANSFORMATION, a.a2 TRANSFORMATION", "a2": "a.a2"})


def test_an_expression_deeper_than_pythons_recursion_limit_is_resolved() -> None:
    total = column("a1", 1)
    for _ in range(5 * sys.getrecursionlimit()):
        total = (
            [*function("Add", [], [])[:1], *literal(1), *total] if len(total) < 3 else [total[0], *literal(1), *total]
        )

    lineage = lineage_text_of(project(relation(column("a1", 1)), alias(total, "sum", 2)))

    assert lineage == expected({"sum": "a.a1 TRANSFORMATION"})


def test_deeply_nested_subqueries_are_resolved() -> None:
    plan = relation(column("a1", 1))
    for number in range(2, 150):
        subquery = function("ScalarSubquery", exprId={"id": 1000 + number}, plan=plan)
        plan = project(relation(column("b1", 10_000 + number)), alias(subquery, "a1", number))

    lineage = lineage_text_of(plan)

    assert lineage == expected({"a1": "a.a1"}, inputs="a, b")


def test_three_hundred_unions_of_a_hundred_columns_are_resolved() -> None:
    plan = relation(*(column(f"a{index}", index) for index in range(100)))
    for number in range(1, 301):
        other = relation(*(column(f"b{index}", 1000 * number + index) for index in range(100)))
        plan = operator("Union", plan, other)

    lineage = column_lineage(parse_plan(text(plan)), relation_name)

    assert len(lineage.inputs) == 301


def test_a_column_that_doubles_at_every_step_is_followed_once() -> None:
    plan = relation(column("a1", 1))
    for number in range(2, 202):
        twice = function("Add", column("a1", number - 1), column("a1", number - 1))
        plan = project(plan, alias(twice, "a1", number))

    lineage = lineage_text_of(plan)

    assert lineage == expected({"a1": "a.a1 TRANSFORMATION"})


def test_an_unknown_operator_hides_its_columns_and_keeps_its_tables() -> None:
    mapped = operator("Teleport", relation(column("a1", 1), column("a2", 2)), output=[column("x", 3), column("y", 4)])

    lineage = lineage_of(project(mapped, column("x", 3), alias(literal(1), "one", 5)))

    (gap,) = lineage.gaps
    assert (gap.kind, gap.columns, gap.decides_rows) == ("Teleport", {"x"}, True)
    assert [relation_name(leaf) for leaf in gap.leaves] == ["a"]
    assert lineage.columns == {"x": frozenset(), "one": frozenset()}


def test_an_unknown_operator_without_columns_of_its_own_hides_those_below() -> None:
    shuffled = operator("Shuffle", relation(column("a1", 1)))

    lineage = lineage_text_of(project(shuffled, column("a1", 1)))

    assert lineage == expected({"a1": ""}, inputs="a", gaps=("Shuffle: a1",))


def test_a_known_operator_in_an_unknown_form_is_a_gap() -> None:
    lineage = lineage_text_of(operator("Project", relation(column("a1", 1)), columns=[column("a1", 1)]))

    assert lineage == expected({"a1": ""}, inputs="a", gaps=("Project: a1",))


def test_an_unknown_function_transforms_its_operands() -> None:
    lineage = lineage_text_of(
        project(relation(column("a1", 1)), alias(function("Frobnicate", column("a1", 1)), "x", 2))
    )

    assert lineage == expected({"x": "a.a1 TRANSFORMATION"})


def test_an_unknown_kind_of_subquery_is_a_gap_that_keeps_its_table() -> None:
    subquery = function("Oracle", exprId={"id": 8}, plan=relation(column("b1", 9)))

    lineage = lineage_text_of(project(relation(column("a1", 1)), alias(subquery, "x", 2)))

    assert lineage == expected({"x": ""}, inputs="a, b", gaps=("Project: x",))


def test_a_table_without_used_columns_is_listed_as_unused() -> None:
    first = relation(column("a1", 1), column("a2", 2))
    second = project(relation(column("b1", 3)), alias(literal(1), "one", 4))

    lineage = lineage_of(operator("Join", first, second, joinType={"object": "Inner$"}))

    assert [relation_name(leaf) for leaf in lineage.inputs] == ["a", "b"]
    assert [relation_name(leaf) for leaf in lineage.unused] == ["b"]


def test_a_column_without_a_source_is_a_gap() -> None:
    lineage = lineage_text_of(project(relation(column("a1", 1)), column("lost", 99), column("a1", 1)))

    assert lineage == expected({"lost": "", "a1": "a.a1"}, gaps=("AttributeReference: lost",))


def test_a_gap_that_the_query_drops_is_not_reported() -> None:
    lineage = lineage_text_of(
        project(project(relation(column("a1", 1)), column("lost", 99), column("a1", 1)), column("a1", 1))
    )

    assert lineage == expected({"a1": "a.a1"})


@pytest.mark.parametrize("join_type", ["LeftSemi$", "LeftAnti$"])
def test_two_columns_of_one_name_count_as_one_but_not_those_of_a_semi_join(join_type: str) -> None:
    condition = function("EqualTo", column("a1", 1), column("b1", 2))
    sides = relation(column("a1", 1)), relation(column("b1", 2))

    semi = lineage_text_of(operator("Join", *sides, joinType={"object": join_type}, condition=condition))
    inner = operator("Join", *sides, joinType={"object": "Inner$"}, condition=condition)
    both = lineage_text_of(project(inner, alias(column("a1", 1), "k", 3), alias(column("b1", 2), "k", 4)))

    assert semi == expected({"a1": "a.a1"}, "a.a1 JOIN, b.b1 JOIN")
    assert both == expected({"k": "a.a1, b.b1"}, "a.a1 JOIN, b.b1 JOIN")


def variable(default: str, value: str | None) -> list[Entry]:
    """A session variable with its default, as SQL, and its current value."""
    current = function("Literal", value=value, dataType="string")
    return function("VariableReference", varDef={"defaultValueSQL": default, "currentValue": current})


@pytest.mark.parametrize(
    ("default", "value"),
    [("null", None), ("5", "5.0"), ("'Paris'", "Paris"), ("true", "true"), ("DATE '2024-01-01'", "2024-01-01")],
)
def test_a_session_variable_that_has_its_default_is_a_literal(default: str, value: str | None) -> None:
    total = function("Add", column("a1", 1), variable(default, value))

    lineage = lineage_of(project(relation(column("a1", 1)), alias(total, "more", 2)))

    assert lineage.gaps == ()


def test_a_session_variable_that_was_set_is_a_gap_since_its_query_is_unknown() -> None:
    rows = operator("Filter", relation(column("a1", 1)), condition=function("GT", column("a1", 1), variable("1", "7")))

    lineage = lineage_of(project(rows, column("a1", 1), alias(variable("null", "2.0"), "most", 2)))

    assert {(gap.kind, gap.columns, gap.decides_rows, gap.leaves) for gap in lineage.gaps} == {
        ("VariableReference", frozenset({"most"}), False, ()),
        ("VariableReference", frozenset(), True, ()),
    }
    assert {name for name, inputs in lineage.columns.items() if inputs} == {"a1"}
