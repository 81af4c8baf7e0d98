"""Counters compared with `count()` of the data, for queries whose Spark plans make counting hard."""

from pathlib import Path

import pytest

from tests.component.pipeline.pipeline_bench import Bench

pytestmark = pytest.mark.spark


@pytest.fixture
def many(bench: Bench) -> None:
    """Two tables, of 5,000 rows in several files and of 50."""
    bench.run("""
        inputs:
          big: {generate: {rows: 5000, columns: {id: id, part: id % 50}}}
          small: {generate: {rows: 50, columns: {part: id, name: "concat('part ', id)"}}}
        outputs:
          - {from: big, iceberg: {table: lake.raw.big, partition_by: ["bucket(8, id)"]}}
          - {from: small, iceberg: {table: lake.raw.small}}
    """)


QUERIES = {
    "a join and a group": "SELECT s.name, count(*) AS n FROM big b JOIN small s USING (part) GROUP BY s.name",
    "a self join": "SELECT a.id FROM big a JOIN big b ON a.id = b.id + 1",
    "a union with itself": "SELECT id FROM big UNION ALL SELECT id FROM big",
    "a subquery in a condition": "SELECT id FROM big WHERE part = (SELECT CAST(avg(part) AS INT) FROM small)",
    "a shuffle and a sort": "SELECT /*+ REPARTITION(7) */ id FROM big ORDER BY id DESC",
    "a sort": "SELECT id FROM big ORDER BY id DESC",
    "a sort of some of it": "SELECT id FROM big WHERE length(string(id)) > 3 ORDER BY id DESC",
    "a sort of a join": "SELECT b.id, s.name FROM big b JOIN small s USING (part) ORDER BY s.name, b.id",
    "a sort of groups": "SELECT part, count(*) AS n FROM big GROUP BY part ORDER BY n, part",
    "a table that is used in two ways": "WITH x AS (SELECT part, count(*) c FROM big GROUP BY part) "
    "SELECT a.part, a.c, b.c AS d FROM x a JOIN x b USING (part)",
}


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES.keys())
def test_rows_in_are_those_of_the_tables_and_rows_out_those_of_the_result(bench: Bench, query: str) -> None:
    run = bench.run(f"""
        inputs: {{big: {{iceberg: {{table: lake.raw.big}}}}, small: {{iceberg: {{table: lake.raw.small}}}}}}
        pipeline: {{processors: [sql: "{query}"]}}
        output: {{iceberg: {{table: lake.out.result}}}}
    """)

    used = 5000 + (50 if "small" in query else 0)
    assert run.counters() == (used, len(bench.rows("lake.out.result")))


@pytest.mark.usefixtures("many")
def test_a_pruned_part_of_a_table_is_not_counted_as_read(bench: Bench) -> None:
    bench.run("""
        input: {iceberg: {table: lake.raw.big}}
        output: {iceberg: {table: lake.raw.parts, partition_by: [part]}}
    """)

    run = bench.run("""
        input: {iceberg: {table: lake.raw.parts}}
        pipeline: {processors: [filter: part = 7]}
        output: {iceberg: {table: lake.out.result}}
    """)

    assert run.counters() == (100, 100)


def test_rows_that_a_users_function_counts_are_counted_once(bench: Bench, orders: Path) -> None:
    bench.write("steps.py", "def step(frame):\n    assert frame.count() == 5\n    return frame\n")

    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [python: {function: "steps:step"}]}
        output: {iceberg: {table: lake.out.rows}}
    """)

    assert run.counters() == (5, 5)
    assert run.last["run"]["facets"]["headwater_run"]["bytesIn"] == orders.stat().st_size


def test_a_run_that_writes_nothing_reports_zero_rows_out(bench: Bench) -> None:
    run = bench.run("""
        input: {generate: {rows: 10}}
        pipeline: {processors: [filter: id > 100]}
        output: {iceberg: {table: lake.out.rows}}
    """)

    assert bench.rows("lake.out.rows") == []
    assert run.counters() == (10, 0)
