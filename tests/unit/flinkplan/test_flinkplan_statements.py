"""Column lineage of Flink SQL, from the planner's recorded trees, against expectations written by hand from the SQL."""

import pytest

from tests.support.flink_statements import Statement, lineage, recorded, statements, texts


@pytest.mark.parametrize("statement", statements(), ids=lambda statement: statement.name)
def test_a_statements_columns_and_rows_have_the_inputs_of_its_sql(statement: Statement) -> None:
    result = lineage(recorded()[statement.name], list(statement.columns))

    assert {column: texts(inputs) for column, inputs in result.columns.items()} == statement.columns
    assert texts(result.dataset) == statement.rows


def test_at_least_95_percent_of_the_columns_are_right_and_the_others_are_gaps() -> None:
    expected = {
        (statement.name, column): inputs for statement in statements() for column, inputs in statement.columns.items()
    }
    results = {
        statement.name: lineage(recorded()[statement.name], list(statement.columns)) for statement in statements()
    }

    wrong = [key for key, inputs in expected.items() if texts(results[key[0]].columns[key[1]]) != inputs]

    in_gaps = {
        (name, column) for name, statement in results.items() for gap in statement.gaps for column in gap.columns
    }
    assert len(results) >= 25
    assert len(wrong) <= 0.05 * len(expected)
    assert set(wrong) <= in_gaps
