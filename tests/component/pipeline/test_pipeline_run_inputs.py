"""Every kind of input: its rows, and the dataset that is reported for it."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.component.pipeline.pipeline_bench import Bench

TO_TABLE = "output: {iceberg: {table: lake.out.rows, mode: overwrite}}"

pytestmark = pytest.mark.spark


def test_csv_files_are_read_with_the_options_of_the_file(bench: Bench, orders: Path) -> None:
    run = bench.run(f"input: $ORDERS\n{TO_TABLE}")

    assert len(bench.rows("lake.out.rows")) == 5
    assert run.counters() == (5, 5)
    dataset = run.input("orders.csv")
    assert (dataset["namespace"], dataset["name"]) == ("file", str(orders))
    assert [column["name"] for column in dataset["facets"]["schema"]["fields"]] == [
        "order_id",
        "supplier",
        "price",
        "day",
    ]
    assert dataset["inputFacets"]["inputStatistics"]["rowCount"] == 5
    assert dataset["inputFacets"]["inputStatistics"]["size"] == orders.stat().st_size
    assert dataset["inputFacets"]["inputStatistics"]["fileCount"] == 1


def test_a_filter_does_not_hide_rows_of_a_csv_file_from_the_counters(bench: Bench, orders: Path) -> None:
    run = bench.run(f"input: $ORDERS\npipeline: {{processors: [filter: price > 5]}}\n{TO_TABLE}")

    assert run.counters() == (5, 3)


@pytest.mark.parametrize("file_format", ["json", "parquet", "text"])
def test_other_formats_are_read(bench: Bench, file_format: str) -> None:
    frame = bench.spark.createDataFrame([("one",), ("two",)], "value string")
    frame.write.format(file_format).save(str(bench.folder / "in"))

    run = bench.run(f"input: {{file: {{paths: [in], format: {file_format}}}}}\n{TO_TABLE}")

    assert bench.rows("lake.out.rows") == [("one",), ("two",)]
    assert run.input("/in")["facets"]["storage"]["fileFormat"] == file_format


def test_a_glob_is_one_dataset_named_by_its_folder(bench: Bench) -> None:
    for day in ("2013-01-01", "2013-01-02"):
        bench.write(f"in/{day}/rows.json", json.dumps({"id": day}))

    run = bench.run(f"input: {{file: {{paths: [in/2013-*/*.json], format: json}}}}\n{TO_TABLE}")

    assert [dataset["name"] for dataset in run.last["inputs"]] == [str(bench.folder / "in")]
    assert run.last["inputs"][0]["inputFacets"]["inputStatistics"]["fileCount"] == 2


def test_a_table_is_read_at_a_snapshot(bench: Bench) -> None:
    for rows in (2, 3):
        bench.run(
            f"input: {{generate: {{rows: {rows}}}}}\noutput: {{iceberg: {{table: lake.raw.ids, mode: overwrite}}}}"
        )
    first = bench.table("lake.raw.ids").history()[0].snapshot_id

    run = bench.run(f"input: {{iceberg: {{table: lake.raw.ids, snapshot_id: {first}}}}}\n{TO_TABLE}")

    assert bench.rows("lake.out.rows") == [(0,), (1,)]
    assert run.input("/raw/ids")["facets"]["version"]["datasetVersion"] == str(first)


def test_a_table_is_read_as_of_a_time(bench: Bench) -> None:
    for rows in (2, 3):
        bench.run(
            f"input: {{generate: {{rows: {rows}}}}}\noutput: {{iceberg: {{table: lake.raw.ids, mode: overwrite}}}}"
        )
    written_at = datetime.fromtimestamp(bench.table("lake.raw.ids").history()[0].timestamp_ms / 1000, UTC)

    bench.run(f"input: {{iceberg: {{table: lake.raw.ids, as_of: '{written_at.isoformat()}'}}}}\n{TO_TABLE}")

    assert bench.rows("lake.out.rows") == [(0,), (1,)]


def test_a_database_table_and_a_query_are_read(bench: Bench) -> None:
    database = bench.folder / "shop.db"
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE orders (id INTEGER, supplier TEXT)")
        db.executemany("INSERT INTO orders VALUES (?, ?)", [(1, "acme"), (2, "brix")])
    db.close()

    run = bench.run("""
        inputs:
          whole: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: orders}}
          part: {sql: {url: "jdbc:sqlite:$HERE/shop.db", query: "SELECT supplier FROM orders WHERE id = 2"}}
        pipeline: {processors: [sql: "SELECT w.id, p.supplier FROM whole w JOIN part p ON w.supplier = p.supplier"]}
        output: {iceberg: {table: lake.out.rows}}
    """)

    assert bench.rows("lake.out.rows") == [(2, "brix")]
    assert [(dataset["namespace"], dataset["name"]) for dataset in run.last["inputs"]] == [
        (f"sqlite:{database}", "orders")
    ]
    fields = run.output("/rows")["facets"]["columnLineage"]["fields"]
    assert [source["field"] for source in fields["supplier"]["inputFields"]] == ["supplier"]


def test_a_query_that_may_read_more_than_it_names_is_a_gap(bench: Bench) -> None:
    database = bench.folder / "shop.db"
    with sqlite3.connect(database) as db:
        db.execute("CREATE TABLE orders (id INTEGER, supplier TEXT)")
        db.execute("INSERT INTO orders VALUES (1, 'acme')")
    db.close()

    run = bench.run("""
        input:
          sql:
            url: "jdbc:sqlite:$HERE/shop.db"
            query: SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM pragma_table_info('orders'))
        output: {iceberg: {table: lake.out.rows}}
    """)

    assert [(dataset["namespace"], dataset["name"]) for dataset in run.last["inputs"]] == [
        (f"sqlite:{database}", "orders")
    ]
    gaps = [each["errorMessage"] for each in run.last["run"]["facets"]["extractionError"]["errors"]]
    assert "input may read more than the tables of its database that it names" in gaps


def test_rows_are_generated_from_their_number(bench: Bench) -> None:
    run = bench.run(f"input: {{generate: {{rows: 4, columns: {{number: id, half: id / 2}}}}}}\n{TO_TABLE}")

    assert bench.rows("lake.out.rows") == [(0, 0.0), (1, 0.5), (2, 1.0), (3, 1.5)]
    assert run.last.get("inputs", []) == []
    assert run.counters() == (4, 4)


def test_a_table_that_only_sql_names_is_an_input_too(bench: Bench, orders: Path) -> None:
    bench.run("input: {generate: {rows: 3}}\noutput: {iceberg: {table: lake.raw.ids}}")

    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [sql: "SELECT o.order_id FROM input o JOIN lake.raw.ids i ON o.order_id = i.id"]}
        output: {iceberg: {table: lake.out.rows}}
    """)

    assert sorted(dataset["name"].rpartition("/")[2] for dataset in run.last["inputs"]) == ["ids", "orders.csv"]
    assert run.counters() == (8, 2)
