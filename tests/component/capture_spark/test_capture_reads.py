"""What batch programs read: files in many places, rows that were kept meanwhile."""

from pathlib import Path
from typing import Any

import pytest
from captured import Program, Told

pytestmark = pytest.mark.spark


def test_columns_of_several_files_are_those_of_each(program: Program) -> None:
    spark, folder = program.spark, program.folder
    places = [f"{folder}/days/{day}" for day in range(2)]
    for place in places:
        spark.table("lake.sales.orders").write.parquet(place)
    spark.read.parquet(*places).select("supplier").write.parquet(f"{folder}/several")

    several = program.ended()[f"shop.{folder}/several"]

    assert several.inputs() == ["days/0", "days/1"]
    assert several.columns() == {"supplier": ["days/0.supplier", "days/1.supplier"]}
    assert several.facet("headwater_run")["recordsIn"] == 6  # of both together: Spark counts no file by itself
    assert "extractionError" not in several.last["run"]["facets"]


def test_many_files_are_told_as_the_folder_that_holds_them(program: Program) -> None:
    spark, folder = program.spark, program.folder
    places = [f"{folder}/days/{day}" for day in range(11)]
    for place in places:
        spark.range(1).write.parquet(place)
    spark.read.parquet(*places).write.parquet(f"{folder}/many")

    many = program.ended()[f"shop.{folder}/many"]

    assert many.inputs() == [f"{folder.name}/days"]
    assert many.columns() == {"id": [f"{folder.name}/days.id"]}


def test_rows_that_were_kept_by_a_checkpoint_are_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    spark.sparkContext.setCheckpointDir(f"{folder}/kept")
    orders = spark.table("lake.sales.orders").select("id")
    orders.checkpoint().write.parquet(f"{folder}/checkpoint")
    orders.localCheckpoint().write.parquet(f"{folder}/local")

    told = program.ended()

    for name in ("checkpoint", "local"):
        ran = told[f"shop.{folder}/{name}"]
        assert "columnLineage" not in ran.last["outputs"][0]["facets"]
        assert gaps_of(ran) == ["an RDD's rows come from elsewhere"]


def test_rows_of_whole_files_that_went_through_an_rdd_are_not_made_from_nothing(program: Program) -> None:
    spark, folder = program.spark, program.folder
    note = Path(folder) / "note.txt"
    note.write_text("one")
    spark.sparkContext.wholeTextFiles(str(note)).toDF("path STRING, text STRING").write.parquet(f"{folder}/whole")

    whole = program.ended()[f"shop.{folder}/whole"]

    assert gaps_of(whole) == ["an RDD's rows come from elsewhere"]


def test_rows_that_nobody_counted_are_unknown_and_not_none(program: Program) -> None:
    program.spark.sql("CREATE TABLE lake.sales.newest AS SELECT max(id) AS id FROM lake.sales.orders")

    newest = program.ended()["shop.lake.sales.newest"]

    # Iceberg knows the greatest id by its own figures: no row is read.
    assert newest.inputs() == ["sales/orders"]
    assert "recordsIn" not in newest.facet("headwater_run")


def gaps_of(told: Told) -> list[str]:
    errors: list[dict[str, Any]] = told.facet("extractionError")["errors"]
    return [str(one["errorMessage"]) for one in errors]
