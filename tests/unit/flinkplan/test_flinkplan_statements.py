"""Column lineage of Flink SQL, from the planner's recorded trees, against expectations written by hand from the SQL."""

import pytest

from tests.support.flink_statements import Statement, lineage, recorded, statements, texts


@pytest.mark.parametrize("statement", statements(), ids=lambda statement: statement.name)
def test_a_statements_columns_and_rows_rest_on_what_its_sql_says(statement: Statement) -> None:
    found = lineage(recorded()[statement.name], list(statement.columns))

    assert {column: texts(inputs) for column, inputs in found.columns.items()} == statement.columns
    assert texts(found.dataset) == statement.rows


def test_at_least_95_percent_of_the_columns_are_right_and_each_of_the_others_is_a_counted_gap() -> None:
    wanted = {(one.name, column): inputs for one in statements() for column, inputs in one.columns.items()}
    found = {one.name: lineage(recorded()[one.name], list(one.columns)) for one in statements()}

    wrong = [key for key, inputs in wanted.items() if texts(found[key[0]].columns[key[1]]) != inputs]

    in_gaps = {(name, column) for name, one in found.items() for gap in one.gaps for column in gap.columns}
    assert len(found) >= 25
    assert len(wrong) <= 0.05 * len(wanted)
    assert set(wrong) <= in_gaps
