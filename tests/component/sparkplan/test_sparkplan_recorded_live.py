"""The statements of the recorded plans in conformance/sparkplan, analysed by the installed Spark."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.component.sparkplan.sparkplan_jvm import lineage_of_command
from tests.support.lineage_text import expected

pytestmark = pytest.mark.spark

RECORDED = sorted((Path(__file__).resolve().parents[3] / "conformance" / "sparkplan").glob("*.json"))


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda path: path.stem)
def test_a_recorded_statement_has_the_same_lineage_today(lake: SparkSession, recorded: Path) -> None:
    case = json.loads(recorded.read_text(encoding="utf-8"))
    lake.sql("CREATE TABLE lineage.shop.target (id BIGINT NOT NULL, total DOUBLE, note STRING) USING iceberg")

    lineage = lineage_of_command(lake.table("orders"), case["statement"])

    lake.sql("DROP TABLE lineage.shop.target")
    assert lineage == expected(case["columns"], case["rows"])
