"""What batch programs read: files in many places, metadata columns, checkpointed rows."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

from tests.component.capture_spark.captured import CapturedRun, Program, newest_version, short_name

pytestmark = pytest.mark.spark


def test_a_column_read_from_several_files_comes_from_each_of_them(program: Program) -> None:
    spark, folder = program.spark, program.folder
    places = [f"{folder}/days/{day}" for day in range(2)]
    for place in places:
        spark.table("lake.sales.orders").write.parquet(place)
    spark.read.parquet(*places).select("supplier").write.parquet(f"{folder}/several")

    several = program.end()[f"shop.{folder}/several"]

    assert several.inputs() == ["days/0", "days/1"]
    assert several.columns() == {"supplier": ["days/0.supplier", "days/1.supplier"]}
    assert several.facet("headwater_run")["recordsIn"] == 6  # of both together: Spark does not count each file
    assert "extractionError" not in several.last["run"]["facets"]


def test_many_files_are_reported_as_the_folder_that_holds_them(program: Program) -> None:
    spark, folder = program.spark, program.folder
    places = [f"{folder}/days/{day}" for day in range(11)]
    for place in places:
        spark.range(1).write.parquet(place)
    spark.read.parquet(*places).write.parquet(f"{folder}/many")

    many = program.end()[f"shop.{folder}/many"]

    assert many.inputs() == [f"{folder.name}/days"]
    assert many.columns() == {"id": [f"{folder.name}/days.id"]}


def test_metadata_columns_are_not_in_a_tables_schema(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.table("lake.sales.orders").select("id", "_file").write.parquet(f"{folder}/placed")
    spark.read.parquet(f"{folder}/placed").select("id", "_metadata.file_path").write.parquet(f"{folder}/copied")

    runs = program.end()

    assert input_columns(runs[f"shop.{folder}/placed"]) == {"sales/orders": ["id", "price", "supplier"]}
    assert input_columns(runs[f"shop.{folder}/copied"]) == {f"{folder.name}/placed": ["id", "_file"]}


def test_metadata_tables_of_iceberg_have_no_columns_of_the_table(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.table("lake.sales.orders.files").select("file_path").write.parquet(f"{folder}/files")
    joined = spark.table("lake.sales.orders").join(spark.table("lake.sales.orders.snapshots"), F.lit(True))
    joined.select("id", "snapshot_id").write.parquet(f"{folder}/joined")
    spark.sql("CALL lake.system.create_changelog_view(table => 'sales.orders', changelog_view => 'changes')")
    spark.table("changes").select("id").write.parquet(f"{folder}/changes")

    runs = program.end()

    for name in ("files", "joined", "changes"):
        (read,) = runs[f"shop.{folder}/{name}"].last["inputs"]
        assert short_name(read["name"]) == "sales/orders"
        assert read["facets"]["symlinks"]["identifiers"][0]["name"] == "lake.sales.orders"
    assert input_columns(runs[f"shop.{folder}/files"]) == {"sales/orders": []}
    assert "inputStatistics" not in runs[f"shop.{folder}/files"].last["inputs"][0].get("inputFacets", {})
    assert "columnLineage" not in runs[f"shop.{folder}/files"].last["outputs"][0]["facets"]
    assert input_columns(runs[f"shop.{folder}/joined"]) == {"sales/orders": ["id", "price", "supplier"]}
    assert runs[f"shop.{folder}/joined"].columns() == {"id": ["sales/orders.id"]}
    version = runs[f"shop.{folder}/files"].last["inputs"][0]["facets"]["version"]["datasetVersion"]
    assert version == newest_version(program, "lake.sales.orders")


def test_a_table_whose_rows_are_only_counted_is_an_input_of_the_output(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.sql("SELECT count(*) AS n FROM lake.sales.orders").write.parquet(f"{folder}/counted")
    rows = spark.sql("SELECT 1 AS one FROM lake.sales.orders")
    spark.read.parquet(f"{folder}/counted").crossJoin(rows).write.parquet(f"{folder}/crossed")
    spark.sql("SELECT supplier, count(*) AS n FROM lake.sales.orders GROUP BY supplier").write.parquet(f"{folder}/each")

    runs = program.end()

    for name, read in (("counted", {"sales/orders"}), ("crossed", {f"{folder.name}/counted", "sales/orders"})):
        assert set(runs[f"shop.{folder}/{name}"].inputs()) == read
        assert "columnLineage" not in runs[f"shop.{folder}/{name}"].last["outputs"][0]["facets"]
    assert runs[f"shop.{folder}/each"].columns() == {"supplier": ["sales/orders.supplier"], "n": []}


def test_checkpointed_rows_are_a_gap_and_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.sparkContext.setCheckpointDir(f"{folder}/kept")
    orders = spark.table("lake.sales.orders").select("id")
    orders.checkpoint().write.parquet(f"{folder}/checkpoint")
    orders.localCheckpoint().write.parquet(f"{folder}/local")

    runs = program.end()

    for name in ("checkpoint", "local"):
        run = runs[f"shop.{folder}/{name}"]
        assert "columnLineage" not in run.last["outputs"][0]["facets"]
        assert gaps_of(run) == ["the source of an RDD's rows is unknown"]


def test_rows_of_whole_files_through_an_rdd_are_a_gap_and_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    note = Path(folder) / "note.txt"
    note.write_text("one")
    spark.sparkContext.wholeTextFiles(str(note)).toDF("path STRING, text STRING").write.parquet(f"{folder}/whole")

    run = program.end()[f"shop.{folder}/whole"]

    assert gaps_of(run) == ["the source of an RDD's rows is unknown"]


def test_rows_of_an_rdd_in_a_subquery_are_a_gap_and_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.table("lake.sales.orders").select("price").localCheckpoint().createOrReplaceTempView("kept")
    spark.sql("SELECT id, (SELECT max(price) FROM kept) AS top FROM lake.sales.orders").write.parquet(f"{folder}/tops")

    tops = program.end()[f"shop.{folder}/tops"]

    assert tops.columns() == {"id": ["sales/orders.id"]}
    assert gaps_of(tops) == ["the source of an RDD's rows is unknown"]


def test_transposed_rows_are_a_gap_and_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.table("lake.sales.orders").select("id", "price").transpose().write.parquet(f"{folder}/across")

    across = program.end()[f"shop.{folder}/across"]

    assert "columnLineage" not in across.last["outputs"][0]["facets"]
    assert gaps_of(across) == ["column lineage ends at Transpose"]


def test_rows_that_were_not_counted_are_unknown_and_not_zero(program: Program) -> None:
    program.spark.sql("CREATE TABLE lake.sales.newest AS SELECT max(id) AS id FROM lake.sales.orders")

    newest = program.end()["shop.lake.sales.newest"]

    # Iceberg knows the greatest id from its own statistics: no row is read.
    assert newest.inputs() == ["sales/orders"]
    assert "recordsIn" not in newest.facet("headwater_run")


def input_columns(run: CapturedRun) -> dict[str, list[str]]:
    """The columns in the schemas of the inputs."""
    return {
        short_name(dataset["name"]): [field["name"] for field in dataset["facets"].get("schema", {}).get("fields", [])]
        for dataset in run.last["inputs"]
    }


def gaps_of(run: CapturedRun) -> list[str]:
    errors: list[dict[str, Any]] = run.facet("extractionError")["errors"]
    return [str(error["errorMessage"]) for error in errors]
