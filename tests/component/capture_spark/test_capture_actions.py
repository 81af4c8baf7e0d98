"""Batch programs: each action is a run, with the datasets that it read and wrote."""

import json
import sqlite3
from functools import partial

import pytest
from pyspark.errors import PySparkException

from tests.component.capture_spark.captured import (
    Program,
    in_parallel,
    newest_version,
    runs_of,
    summaries_of,
)
from tests.support.service import eventually

pytestmark = pytest.mark.spark


def test_a_write_is_reported_with_its_columns_rows_and_version(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.sql("INSERT INTO lake.sales.orders SELECT id + 10, price * 2, supplier FROM lake.sales.orders WHERE id < 3")
    spark.sql("CREATE TABLE lake.sales.daily AS SELECT supplier, sum(price) AS total FROM lake.sales.orders GROUP BY 1")
    spark.table("lake.sales.orders").where("id < 3").write.parquet(f"{folder}/out")
    spark.read.parquet(f"{folder}/out").write.saveAsTable(f"copy_of_{folder.name}")
    spark.table("lake.sales.daily").join(spark.table("lake.sales.orders"), "supplier").count()
    spark.range(3).count()  # touches no dataset

    runs = program.end()

    spark.sql(f"DROP TABLE copy_of_{folder.name}")
    copied = f"shop.default.copy_of_{folder.name}"
    names = ["shop.lake.sales.orders", "shop.lake.sales.daily", f"shop.{folder}/out", copied]
    assert set(runs) == {"shop", *names, "shop.count.lake.sales.daily+lake.sales.orders"}
    assert all(run.states == ["START", "COMPLETE"] for run in runs.values())
    assert [(runs[name].inputs(), list(runs[name].outputs().values())) for name in names] == [
        (["sales/orders"], [2]),
        (["sales/orders"], [2]),
        (["sales/orders"], [2]),
        ([f"{folder.name}/out"], [2]),
    ]
    assert runs["shop.lake.sales.daily"].columns() == {
        "supplier": ["sales/orders.supplier"],
        "total": ["sales/orders.price"],
    }
    assert runs[copied].columns()["price"] == [f"{folder.name}/out.price"]
    table = runs["shop.lake.sales.orders"].last["outputs"][0]
    assert table["facets"]["version"]["datasetVersion"] == newest_version(program, "lake.sales.orders")
    assert [identifier["name"] for identifier in table["facets"]["symlinks"]["identifiers"]] == [
        "lake.sales.orders",
        "sales.orders",
    ]


def test_the_programs_run_is_the_parent_of_all_runs_and_comes_first_and_last(program: Program) -> None:
    program.spark.table("lake.sales.orders").count()

    runs = program.end()

    events = [json.loads(raw) for raw in program.raw_events]
    parent = runs["shop.count.lake.sales.orders"].facet("parent")
    assert (parent["job"]["name"], parent["run"]["runId"]) == ("shop", runs["shop"].last["run"]["runId"])
    assert [(event["job"]["name"], event["eventType"]) for event in (events[0], events[-1])] == [
        ("shop", "START"),
        ("shop", "COMPLETE"),
    ]


def test_commands_that_change_rows_are_reported_with_their_row_count_where_spark_knows_it(program: Program) -> None:
    for command in (
        """MERGE INTO lake.sales.orders t USING (SELECT supplier, max(price) p FROM lake.sales.orders GROUP BY 1) s
           ON t.supplier = s.supplier AND t.id = 1
           WHEN MATCHED THEN UPDATE SET price = s.p
           WHEN NOT MATCHED THEN INSERT (supplier) VALUES (upper(s.supplier))""",
        "UPDATE lake.sales.orders SET price = price + 1 WHERE id = 2",
        "DELETE FROM lake.sales.orders WHERE id = 3",
    ):
        program.spark.sql(command)
    program.capture.end()

    merge, update, delete = runs_of(program.raw_events)[1:]
    assert {run.job for run in (merge, update, delete)} == {"shop.lake.sales.orders"}
    assert (merge.inputs(), merge.outputs()) == (["sales/orders"], {"sales/orders": 2})
    assert merge.columns() == {"id": [], "price": ["sales/orders.price"], "supplier": ["sales/orders.supplier"]}
    assert (update.inputs(), update.outputs()) == ([], {"sales/orders": None})
    assert update.columns() == {"id": [], "price": ["sales/orders.price"], "supplier": []}
    assert (delete.inputs(), delete.outputs()) == ([], {"sales/orders": None})


def test_a_failed_action_is_reported_once_without_the_value_that_it_failed_on(program: Program) -> None:
    for command in (
        "INSERT INTO lake.sales.orders SELECT CAST(supplier AS BIGINT), price, supplier FROM lake.sales.orders",
        "CREATE TABLE lake.sales.never AS SELECT CAST(supplier AS BIGINT) n FROM lake.sales.orders",
        "INSERT INTO lake.sales.nowhere VALUES (1)",  # not even analysed: nothing has run
    ):
        with pytest.raises(PySparkException):
            program.spark.sql(command)

    runs = program.end()

    assert {name: run.states for name, run in runs.items()} == {
        "shop": ["START", "COMPLETE"],
        "shop.lake.sales.orders": ["START", "FAIL"],
        "shop.lake.sales.never": ["START", "FAIL"],
    }
    message = runs["shop.lake.sales.orders"].facet("errorMessage")["message"]
    assert message.startswith("SparkNumberFormatException [CAST_INVALID_INPUT]")
    assert b"acme" not in b"".join(program.raw_events)
    assert program.capture.guard.failures == 0


def test_concurrent_actions_each_have_their_own_figures(program: Program) -> None:
    """Iceberg reports each commit to all of them, and two of them write the same number of bytes."""
    program.spark.sql(
        """ALTER TABLE lake.sales.orders SET TBLPROPERTIES (
           'commit.retry.num-retries'='100', 'commit.manifest.min-count-to-merge'='2',
           'write.delete.mode'='merge-on-read')"""
    )

    def append(rows: int) -> None:
        frame = program.spark.range(100, 100 + rows).selectExpr("id", "0.5D AS price", "'x' AS supplier")
        frame.writeTo("lake.sales.orders").append()

    def delete() -> None:
        program.spark.sql("DELETE FROM lake.sales.orders WHERE id = 2")

    rows = [0, 3, 50, 50, 700]
    in_parallel(delete, *(partial(append, count) for count in rows))
    program.capture.end()

    actions = [action for action in runs_of(program.raw_events) if action.job == "shop.lake.sales.orders"]
    appends = [action for action in actions if action.outputs()["sales/orders"] is not None]
    assert sorted(action.outputs()["sales/orders"] or 0 for action in appends) == rows
    rows_by_version = {
        action.last["outputs"][0]["facets"]["version"]["datasetVersion"]: action.outputs()["sales/orders"]
        for action in actions
    }
    summaries = summaries_of(program, "lake.sales.orders")
    assert len(rows_by_version) == len(actions) == 6
    assert {version: summaries[version].get("added-records", "0") for version in rows_by_version} == {
        version: str(added or 0) for version, added in rows_by_version.items()
    }
    (deleted,) = [version for version, added in rows_by_version.items() if added is None]
    assert summaries[deleted]["added-position-deletes"] == "1"


def test_a_database_several_targets_and_rows_of_an_rdd_are_reported(program: Program) -> None:
    spark, database = program.spark, f"{program.folder}/shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE suppliers (name TEXT)")
    jdbc = spark.read.format("jdbc").option("url", f"jdbc:sqlite:{database}").option("dbtable", "suppliers").load()
    spark.sql("CREATE TABLE lake.sales.a (n STRING)")
    spark.sql("CREATE TABLE lake.sales.b (n STRING)")
    jdbc.selectExpr("name AS n").writeTo("lake.sales.a").append()
    spark.sql(
        "FROM lake.sales.orders INSERT INTO lake.sales.a SELECT supplier INSERT INTO lake.sales.b SELECT supplier"
    )
    spark.table("lake.sales.orders").rdd.map(lambda row: row).toDF("id BIGINT, price DOUBLE, supplier STRING").writeTo(
        "lake.sales.through_rdd"
    ).create()

    runs = program.end()

    database_read = runs["shop.lake.sales.a"].last["inputs"][0]
    assert (database_read["namespace"], database_read["name"]) == (f"sqlite:{database}", "suppliers")
    assert runs["shop.lake.sales.a+lake.sales.b"].outputs() == {"sales/a": 3, "sales/b": 3}
    through = runs["shop.lake.sales.through_rdd"]
    assert through.inputs() == []
    assert [error["errorMessage"] for error in through.facet("extractionError")["errors"]] == [
        "the source of an RDD's rows is unknown"
    ]
    assert "columnLineage" not in through.last["outputs"][0]["facets"]


def test_a_query_in_a_databases_own_sql_has_its_table_and_columns(program: Program) -> None:
    spark, database = program.spark, f"{program.folder}/my shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE suppliers (name TEXT)")
    reads = {"query": "SELECT name FROM [suppliers]", "dbtable": "[suppliers] AS s"}
    for option, text in reads.items():
        picked = spark.read.format("jdbc").option("url", f"jdbc:sqlite:{database}").option(option, text).load()
        picked.writeTo(f"lake.sales.by_{option}").create()

    runs = program.end()

    for option in reads:
        run = runs[f"shop.lake.sales.by_{option}"]
        (read,) = run.last["inputs"]
        assert (read["namespace"], read["name"]) == (f"sqlite:{database}", "suppliers")
        fields = run.last["outputs"][0]["facets"]["columnLineage"]["fields"]
        assert [source["field"] for source in fields["name"]["inputFields"]] == ["name"]


def test_unknown_columns_are_a_gap_and_not_reported_as_made_from_nothing(program: Program) -> None:
    spark, database = program.spark, f"{program.folder}/shop.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE suppliers (name TEXT)")
    orders = spark.table("lake.sales.orders")
    orders.mapInPandas(lambda batches: batches, orders.schema).writeTo("lake.sales.mapped").create()
    computed = spark.read.format("jdbc").option("url", f"jdbc:sqlite:{database}")
    computed.option("query", "SELECT upper(name) AS name FROM suppliers").load().writeTo("lake.sales.computed").create()

    runs = program.end()

    for table, read, gap in (
        ("mapped", "sales/orders", "MapInPandas"),
        ("computed", "suppliers", "LogicalRelation"),
    ):
        run = runs[f"shop.lake.sales.{table}"]
        assert [dataset["name"].endswith(read) for dataset in run.last["inputs"]] == [True]
        assert "columnLineage" not in run.last["outputs"][0]["facets"]
        errors = run.facet("extractionError")["errors"]
        assert [error["errorMessage"] for error in errors] == [f"column lineage ends at {gap}"]


def test_a_command_whose_result_is_shown_is_one_run(program: Program) -> None:
    program.spark.sql("INSERT INTO lake.sales.orders VALUES (4, 2.0, 'acme')").count()
    program.spark.sql("ALTER TABLE lake.sales.orders ADD COLUMN note STRING").count()
    program.capture.end()

    assert [run.job for run in runs_of(program.raw_events)[1:]] == [
        "shop.lake.sales.orders", "shop.alter.lake.sales.orders",
    ]  # fmt: skip


def test_a_folder_that_sql_writes_is_one_run(program: Program) -> None:
    folder = f"{program.folder}/exported"
    program.spark.sql(f"INSERT OVERWRITE DIRECTORY '{folder}' USING csv SELECT id FROM lake.sales.orders")  # noqa: S608
    program.capture.end()

    (export,) = runs_of(program.raw_events)[1:]
    assert (export.job, export.states) == (f"shop.{folder}", ["START", "COMPLETE"])
    assert (export.columns(), list(export.outputs().values())) == ({"id": ["sales/orders.id"]}, [3])


def test_create_like_and_rename_are_reported_for_tables_of_sparks_own_catalog(program: Program) -> None:
    spark, name = program.spark, f"own_{program.folder.name}"
    spark.sql(f"CREATE TABLE {name} (id INT) USING parquet")
    spark.sql(f"CREATE TABLE {name}_b LIKE {name}")
    created = f'"shop.create.default.{name}_b"'.encode()
    # Spark notifies late, and the table is looked up then.
    assert eventually(lambda: any(created in event for event in program.raw_events))
    spark.sql(f"ALTER TABLE {name}_b RENAME TO {name}_c")
    with pytest.raises(PySparkException):
        spark.sql(f"ALTER TABLE {name}_c RENAME TO {name}")

    program.capture.end()

    for table in (name, f"{name}_c"):
        spark.sql(f"DROP TABLE {table}")
    like, renamed, failed = [run for run in runs_of(program.raw_events) if run.job != "shop"][-3:]
    assert [run.job for run in (like, renamed, failed)] == [
        f"shop.create.default.{name}_b", f"shop.rename.default.{name}_c", f"shop.rename.default.{name}",
    ]  # fmt: skip
    (table,) = renamed.last["outputs"]
    change = table["facets"]["lifecycleStateChange"]
    assert (change["lifecycleStateChange"], change["previousIdentifier"]["name"]) == ("RENAME", f"default.{name}_b")
    assert table["name"].endswith(f"/{name}_c")
    (unchanged,) = failed.last["outputs"]
    assert failed.states == ["START", "FAIL"]
    assert (unchanged["name"], "lifecycleStateChange" in unchanged["facets"]) == (table["name"], False)


def test_a_failed_rename_reports_the_table_unchanged(program: Program) -> None:
    program.spark.sql("CREATE TABLE lake.sales.taken (id INT) USING iceberg")
    with pytest.raises(PySparkException):
        program.spark.sql("ALTER TABLE lake.sales.orders RENAME TO sales.taken")

    run = program.end()["shop.rename.lake.sales.taken"]

    assert run.states == ["START", "FAIL"]
    tables = [table for event in run.events for table in event.get("outputs", [])]
    assert tables
    for table in tables:
        assert "lifecycleStateChange" not in table["facets"]
        assert table["name"].endswith("sales/orders")
        assert [identifier["name"] for identifier in table["facets"]["symlinks"]["identifiers"]] == [
            "lake.sales.orders",
            "sales.orders",
        ]


def test_changes_of_a_table_itself_are_reported(program: Program) -> None:
    plain = f"plain_{program.folder.name}"
    for command in (
        "CREATE TABLE lake.sales.bids (id INT, amount DOUBLE) USING iceberg",
        "CREATE TABLE IF NOT EXISTS lake.sales.bids (id INT)",
        "ALTER TABLE lake.sales.bids RENAME COLUMN amount TO price",
        "ALTER TABLE lake.sales.bids RENAME TO sales.offers",
        "TRUNCATE TABLE lake.sales.offers",
        "DROP TABLE IF EXISTS lake.sales.bids",
        "DROP TABLE lake.sales.offers",
        f"CREATE TABLE {plain} (id INT) USING parquet",
        f"ALTER TABLE {plain} ADD COLUMNS (price DOUBLE)",
        f"DROP TABLE {plain}",
    ):
        events_before = len(program.raw_events)
        program.spark.sql(command)
        # A table is looked up after the command: one that has gone by then is not reported.
        assert " IF " in command or eventually(partial(_has_more_events, program, events_before))
    program.capture.end()

    runs = runs_of(program.raw_events)[1:]
    assert [(run.job.removeprefix("shop."), run.states) for run in runs] == [
        (job, ["START", "COMPLETE"])
        for job in (
            "create.lake.sales.bids", "alter.lake.sales.bids", "rename.lake.sales.offers",
            "truncate.lake.sales.offers", "drop.lake.sales.offers",
            f"create.default.{plain}", f"alter.default.{plain}", f"drop.default.{plain}",
        )
    ]  # fmt: skip
    tables = [run.last["outputs"][0] for run in runs]
    changes = [table["facets"]["lifecycleStateChange"] for table in tables]
    assert [change["lifecycleStateChange"] for change in changes] == [
        "CREATE", "ALTER", "RENAME", "TRUNCATE", "DROP", "CREATE", "ALTER", "DROP",
    ]  # fmt: skip
    columns = [[field["name"] for field in table["facets"].get("schema", {}).get("fields", [])] for table in tables]
    assert columns[:3] == [["id", "amount"], ["id", "price"], ["id", "price"]]
    assert columns[6] == ["id", "price"]
    # A renamed table keeps its location; a dropped one is reported by its last name.
    assert len({(table["namespace"], table["name"]) for table in tables[:4]}) == 1
    names = [[identifier["name"] for identifier in table["facets"]["symlinks"]["identifiers"]] for table in tables[:3]]
    assert names == [["lake.sales.bids", "sales.bids"]] * 2 + [["lake.sales.offers", "sales.offers"]]
    assert changes[2]["previousIdentifier"]["name"] == "lake.sales.bids"
    assert tables[4]["name"] == "lake.sales.offers"
    assert tables[7]["name"] == f"default.{plain}"
    assert not any("extractionError" in run.last["run"]["facets"] for run in runs)


def _has_more_events(program: Program, count: int) -> bool:
    return len(program.raw_events) > count
