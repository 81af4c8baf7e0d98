"""Unsupported parts of a plan become gaps that name the affected columns, never an error or a guess."""

from typing import Any

from headwater.graph.flinkplan.lineage import Gap, StatementLineage, column_lineage
from tests.support.flink_statements import lineage, texts

_SCAN = {"kind": "LogicalTableScan", "columns": ["a", "b"], "table": ["c", "d", "t"]}
_T = frozenset({("c", "d", "t")})


def _input(index: int) -> dict[str, Any]:
    return {"kind": "input", "index": index}


def _project(below: dict[str, Any], *expressions: dict[str, Any]) -> dict[str, Any]:
    names = [f"x{index}" for index in range(len(expressions))]
    return {"kind": "LogicalProject", "columns": names, "inputs": [below], "expressions": list(expressions)}


def test_an_unknown_operator_is_a_gap_for_all_its_columns_and_the_rows() -> None:
    unknown = {"kind": "LogicalTomorrow", "columns": ["a", "b"], "inputs": [_SCAN]}

    result = lineage(_project(unknown, _input(0), {"kind": "literal"}), ["one", "two"])

    assert result.columns == {"one": frozenset(), "two": frozenset()}
    assert result.gaps == (Gap("LogicalTomorrow", frozenset({"one"}), True, _T),)


def test_an_unknown_expression_is_a_gap_for_its_own_column_only() -> None:
    unknown = {"kind": "call", "op": "F", "args": [_input(0), {"kind": "unknown", "class": "RexTomorrow"}]}

    result = lineage(_project(_SCAN, unknown, _input(1)), ["one", "two"])

    assert {name: texts(inputs) for name, inputs in result.columns.items()} == {"one": frozenset(), "two": {"t.b"}}
    assert result.gaps == (Gap("LogicalProject", frozenset({"one"}), False, _T),)


def test_a_gap_whose_columns_are_dropped_is_not_reported() -> None:
    unknown = {"kind": "unknown", "class": "RexTomorrow"}

    result = lineage(_project(_project(_SCAN, unknown, _input(1)), _input(1)), ["one"])

    assert (result.gaps, texts(result.columns["one"])) == ((), {"t.b"})


def test_a_function_of_whole_tables_is_a_gap() -> None:
    call = {"kind": "call", "op": "ML_PREDICT", "args": [{"kind": "call", "op": "TABLE", "args": []}]}
    function = {"kind": "LogicalTableFunctionScan", "columns": ["a", "b", "score"], "inputs": [_SCAN], "call": call}

    result = lineage(function, ["a", "b", "score"])

    assert result.gaps == (Gap("LogicalTableFunctionScan", frozenset({"a", "b", "score"}), True, _T),)


def test_a_function_of_values_derives_its_columns_and_rows_from_all_of_them() -> None:
    call = {
        "kind": "call",
        "op": "split",
        "args": [{"kind": "field", "index": 1, "of": {"kind": "outer", "id": "$cor0"}}],
    }
    function = {"kind": "LogicalTableFunctionScan", "columns": ["word"], "call": call}
    tree = {
        "kind": "LogicalCorrelate",
        "columns": ["a", "b", "word"],
        "inputs": [_SCAN, function],
        "variables": ["$cor0"],
        "join": "INNER",
    }

    result = lineage(tree, ["a", "b", "word"])

    assert (texts(result.columns["word"]), texts(result.dataset), result.gaps) == (
        {"t.b TRANSFORMATION"},
        {"t.b JOIN"},
        (),
    )


def test_a_collection_from_data_is_an_input_of_the_rows_and_a_fixed_one_is_not() -> None:
    pair = {"kind": "call", "op": "ARRAY", "args": [_input(0), _input(1)]}

    from_data, fixed = (
        lineage(
            {"kind": "Uncollect", "columns": ["x"], "inputs": [_project(_SCAN, argument)], "ordinality": False}, ["x"]
        )
        for argument in (_input(0), pair)
    )

    assert (texts(from_data.columns["x"]), texts(from_data.dataset)) == ({"t.a TRANSFORMATION"}, {"t.a JOIN"})
    assert (texts(fixed.columns["x"]), texts(fixed.dataset)) == (
        {"t.a TRANSFORMATION", "t.b TRANSFORMATION"},
        frozenset(),
    )


def test_a_target_with_other_columns_than_its_query_is_a_gap() -> None:
    result = lineage(_SCAN, ["only"])

    assert result.gaps == (Gap("LogicalTableScan", frozenset({"only"}), True, _T),)


def test_a_tree_too_deep_to_walk_is_a_gap() -> None:
    tree: dict[str, Any] = _SCAN
    for _ in range(5_000):
        tree = _project(tree, _input(0), _input(1))

    result = lineage(tree, ["one", "two"])

    assert result.gaps == (Gap("a plan nested too deeply", frozenset({"one", "two"}), True, _T),)


def test_columns_of_a_table_that_is_not_a_dataset_count_as_literals() -> None:
    result: StatementLineage[str] = column_lineage(_SCAN, ["a", "b"], lambda _: None)

    assert (result.columns, result.gaps) == ({"a": frozenset(), "b": frozenset()}, ())
