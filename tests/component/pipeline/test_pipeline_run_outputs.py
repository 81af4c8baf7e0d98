"""Every kind of output and mode: what it writes, and what is counted."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.component.pipeline.pipeline_bench import Bench

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("orders")]


def json_rows(folder: Path) -> list[dict[str, Any]]:
    lines = [line for part in folder.rglob("part-*.json") for line in part.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=repr)


def statistics(dataset: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in dataset["outputFacets"]["outputStatistics"].items() if key[0] != "_"}


def test_files_are_written_in_parts_and_counted_with_their_size(bench: Bench) -> None:
    run = bench.run("input: $ORDERS\noutput: {file: {path: out, format: json, partition_by: [supplier]}}")

    parts = list((bench.folder / "out").rglob("part-*.json"))
    assert len(json_rows(bench.folder / "out")) == 5
    assert {part.parent.name for part in parts} == {"supplier=acme", "supplier=brix"}
    written = statistics(run.output("/out"))
    assert written == {"rowCount": 5, "size": sum(part.stat().st_size for part in parts), "fileCount": len(parts)}


def test_a_folder_with_files_is_written_to_only_in_mode_append_or_overwrite(bench: Bench) -> None:
    text = "input: $ORDERS\noutput: {file: {path: out, format: json, mode: MODE}}"
    bench.run(text.replace("MODE", "error"))

    states = [bench.run(text.replace("MODE", mode)).result.state for mode in ("error", "append", "overwrite")]

    assert states == ["FAIL", "COMPLETE", "COMPLETE"]
    assert len(json_rows(bench.folder / "out")) == 5


def test_a_single_file_is_one_file_and_is_replaced(bench: Bench) -> None:
    text = """
        input: $ORDERS
        output: {file: {path: r.csv, format: csv, single_file: true, mode: overwrite, options: {header: 'true'}}}
    """
    bench.run(text)

    run = bench.run(text)

    lines = (bench.folder / "r.csv").read_text().splitlines()
    assert lines[0] == "order_id,supplier,price,day"
    assert len(lines) == 6
    assert [path.name for path in bench.folder.iterdir() if path.name.startswith(".")] == []
    assert statistics(run.output("/r.csv"))["rowCount"] == 5
    assert run.output("/r.csv")["name"] == str(bench.folder / "r.csv")


def test_a_table_is_created_with_its_namespace_and_appended_to(bench: Bench) -> None:
    text = (
        "input: $ORDERS\noutput: {iceberg: {table: lake.a.b.orders, partition_by: [supplier, 'bucket(4, order_id)']}}"
    )
    bench.run(text)

    run = bench.run(text)

    table = bench.table("lake.a.b.orders")
    assert len(bench.rows("lake.a.b.orders")) == 10
    assert [str(field.transform) for field in table.spec().fields] == ["identity", "bucket[4]"]
    assert not any(field.required for field in table.schema().fields)
    snapshot = table.current_snapshot()
    assert snapshot is not None
    output = run.output("/orders")
    assert output["facets"]["version"]["datasetVersion"] == str(snapshot.snapshot_id)
    assert statistics(output)["rowCount"] == 5
    assert snapshot.summary is not None
    assert statistics(output)["size"] == int(snapshot.summary["added-files-size"] or 0)


def test_every_version_of_a_table_names_the_run_that_made_it(bench: Bench) -> None:
    run_ids = [bench.run("input: $ORDERS\noutput: {iceberg: {table: lake.a.orders}}").result.run_id for _ in range(2)]

    snapshots = bench.table("lake.a.orders").snapshots()
    assert [snapshot.summary["headwater.run-id"] for snapshot in snapshots if snapshot.summary] == run_ids


def test_overwrite_replaces_all_rows_in_one_version(bench: Bench) -> None:
    text = "input: {generate: {rows: ROWS}}\noutput: {iceberg: {table: lake.a.ids, mode: overwrite}}"
    bench.run(text.replace("ROWS", "7"))

    run = bench.run(text.replace("ROWS", "3"))

    assert bench.rows("lake.a.ids") == [(0,), (1,), (2,)]
    assert len(bench.table("lake.a.ids").history()) == 2
    assert run.counters() == (3, 3)


def test_merge_updates_equal_keys_inserts_the_others_and_does_not_count_copied_rows(bench: Bench) -> None:
    bench.run("input: {generate: {rows: 100, columns: {k: id, v: \"'old'\"}}}\noutput: {iceberg: {table: lake.a.t}}")

    run = bench.run("""
        input: {generate: {rows: 4, columns: {k: id + 98, v: "'new'"}}}
        output: {iceberg: {table: lake.a.t, mode: merge, 'on': [k]}}
    """)

    rows = dict(bench.rows("lake.a.t"))
    assert (len(rows), rows[97], rows[98], rows[99], rows[100], rows[101]) == (102, "old", "new", "new", "new", "new")
    assert run.counters() == (4, 4)


def test_merge_from_one_table_into_another_works(bench: Bench) -> None:
    bench.run("input: {generate: {rows: 3}}\noutput: {iceberg: {table: lake.a.ids}}")

    run = bench.run("""
        input: {iceberg: {table: lake.a.ids}}
        pipeline: {processors: [sql: "SELECT id, id * 2 AS twice FROM input"]}
        output: {iceberg: {table: lake.a.twice, mode: merge, 'on': [id]}}
    """)

    assert bench.rows("lake.a.twice") == [(0, 0), (1, 2), (2, 4)]
    assert run.counters() == (3, 3)


def test_a_declared_jdbc_catalog_works_as_the_docs_describe_it(bench: Bench) -> None:
    run = bench.run("""
        catalogs: {shop: {type: jdbc, uri: "jdbc:sqlite:$HERE/shop.db", warehouse: shop}}
        input: {generate: {rows: 2}}
        output: {iceberg: shop.a.ids}
    """)

    assert run.result.error is None
    assert run.counters() == (2, 2)


def test_a_table_that_may_not_be_created_must_exist(bench: Bench) -> None:
    run = bench.run("input: $ORDERS\noutput: {iceberg: {table: lake.a.absent, create: false}}")

    assert run.result.state == "FAIL"
    assert "TABLE_OR_VIEW_NOT_FOUND" in (run.result.error or "")


def test_a_database_table_is_created_appended_to_and_overwritten(bench: Bench) -> None:
    text = 'input: $ORDERS\noutput: {sql: {url: "jdbc:sqlite:$HERE/shop.db", table: orders, mode: MODE}}'

    runs = [bench.run(text.replace("MODE", mode)) for mode in ("append", "append", "overwrite", "append")]

    with sqlite3.connect(bench.folder / "shop.db") as db:
        assert db.execute("SELECT count(*), count(price), sum(order_id) FROM orders").fetchone() == (10, 8, 30)
    db.close()
    assert [run.counters() for run in runs] == [(5, 5)] * 4
    assert runs[0].last["outputs"][0]["namespace"] == f"sqlite:{bench.folder}/shop.db"


def test_the_first_rows_are_printed_as_json_with_their_nulls(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [sql: "SELECT order_id, price FROM input ORDER BY order_id DESC"]}
        output: {stdout: {rows: 2}}
    """)

    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"order_id": 5, "price": 1.0},
        {"order_id": 4, "price": None},
    ]
    assert run.counters() == (5, 2)
    assert run.last.get("outputs", []) == []


def test_several_outputs_have_the_same_rows_and_the_input_is_counted_once(bench: Bench) -> None:
    run = bench.run("""
        input: $ORDERS
        pipeline: {processors: [sql: "SELECT order_id, rand() AS draw FROM input"]}
        outputs:
          - {iceberg: {table: lake.a.draws}}
          - {file: {path: draws, format: json}}
    """)

    in_files = [(row["order_id"], row["draw"]) for row in json_rows(bench.folder / "draws")]
    assert sorted(in_files) == bench.rows("lake.a.draws")
    assert run.counters() == (5, 10)
    assert run.input("orders.csv")["inputFacets"]["inputStatistics"]["rowCount"] == 5
    assert [statistics(dataset)["rowCount"] for dataset in run.last["outputs"]] == [5, 5]


def test_a_dataset_that_two_outputs_write_is_one_with_the_rows_and_columns_of_both(bench: Bench) -> None:
    bench.write("late.csv", "order_id,note\n7,late\n")

    run = bench.run("""
        inputs:
          orders: $ORDERS
          late: {file: {paths: [late.csv], format: csv, options: {header: true}}}
        outputs:
          - {from: orders, file: {path: out, format: json, mode: append}}
          - {from: late, file: {path: out, format: json, mode: append}}
    """)

    (output,) = run.last["outputs"]
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 6
    names = ["order_id", "supplier", "price", "day", "note"]
    assert [field["name"] for field in output["facets"]["schema"]["fields"]] == names
    fields = output["facets"]["columnLineage"]["fields"]
    assert list(fields) == names
    sources = {Path(source["name"]).name for source in fields["order_id"]["inputFields"]}
    assert sources == {"orders.csv", "late.csv"}


def test_columns_are_reported_in_the_tables_case_and_not_in_the_pipelines(bench: Bench) -> None:
    bench.run("""
        input: $ORDERS
        pipeline: {processors: [mapping: {columns: {order_id: order_id, Price: price}}]}
        output: {iceberg: lake.a.cased}
    """)

    steps = "pipeline: {processors: [mapping: {columns: {ORDER_ID: order_id, PRICE: price + 1}}]}"
    runs = [
        bench.run(f"input: $ORDERS\n{steps}\noutput: {{iceberg: {{table: lake.a.cased, {mode}}}}}")
        for mode in ("mode: overwrite", "mode: merge, 'on': [Order_Id]")
    ]

    for run in runs:
        assert run.result.error is None
        assert list(run.output("/cased")["facets"]["columnLineage"]["fields"]) == ["order_id", "Price"]


def test_each_output_writes_the_frame_it_names(bench: Bench) -> None:
    run = bench.run("""
        inputs: {orders: $ORDERS, ids: {generate: {rows: 2}}}
        outputs:
          - {from: orders, iceberg: {table: lake.raw.orders}}
          - {from: ids, iceberg: {table: lake.raw.ids}}
    """)

    assert (len(bench.rows("lake.raw.orders")), len(bench.rows("lake.raw.ids"))) == (5, 2)
    assert run.counters() == (7, 7)
