"""The lineage of statements, compared with DuckDB's results for changed values."""

# ruff: noqa: S311  (random test data)

from collections.abc import Iterator
from random import Random

import duckdb
import pytest

from headwater.sql.columns import Statement, statement
from headwater.sql.reading import Parts, UnreadableSqlError
from tests.support.sql_by_running import Database, missing
from tests.support.sql_statements import TABLES, Statements

STATEMENTS_A_SEED = 16


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    database = Database()
    yield database
    database.close()


def known(table: Parts) -> tuple[str, ...]:
    return tuple(TABLES[table[-1]])


@pytest.mark.parametrize("seed", range(6))
def test_no_result_column_changes_with_an_unreported_input(seed: int, database: Database) -> None:
    count = 0
    for number in range(seed * STATEMENTS_A_SEED, (seed + 1) * STATEMENTS_A_SEED):
        sql = Statements(number).statement(number % 3)
        try:
            lineage = statement(sql, "duckdb", known)
            assert missing(database, sql, lineage, Random(number)) is None, sql
            count += 1
        except (duckdb.Error, UnreadableSqlError):
            continue
    assert count > STATEMENTS_A_SEED / 2


def test_a_missing_input_is_found(database: Database) -> None:
    sql = "SELECT k AS k, sum(z) AS n FROM b WHERE x > 1 GROUP BY k"
    lineage = statement(sql, "duckdb", known)
    without = Statement("select", None, lineage.reads, lineage.columns, frozenset(), ())

    assert missing(database, sql, lineage, Random(1)) is None
    assert missing(database, sql, without, Random(1)) is not None
