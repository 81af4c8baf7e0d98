"""Pipelines on a real Spark, each with its own HEADWATER_HOME and so its own lake."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.component.pipeline.pipeline_bench import Bench


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    run_ids = (f"01a1fd5c-bf4f-7259-9205-{number:012x}" for number in range(1, 1000))
    return Bench(spark, tmp_path, run_ids)


@pytest.fixture
def orders(bench: Bench) -> Path:
    """Five orders as CSV: two suppliers, one order without a price."""
    return bench.write(
        "orders.csv",
        """\
        order_id,supplier,price,day
        1,acme,10.5,2013-01-01
        2,acme,20.0,2013-01-01
        3,brix,5.25,2013-01-02
        4,brix,,2013-01-02
        5,acme,1.0,2013-01-03
        """,
    )
