"""The time for column lineage of a Spark plan, compared with Spark's own analysis of the same query.

    .venv/bin/python benchmarks/plan_lineage.py [REPETITIONS]

Each shape is built and analysed once. Its plan is then written as JSON by Spark, parsed and resolved several times;
printed are the medians. `ratio` is (write + parse + resolve) / analysis.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from headwater.graph.sparkplan.leaves import Leaf
from headwater.graph.sparkplan.lineage import column_lineage
from headwater.graph.sparkplan.plan import parse_plan

LIMIT_S = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Timing:
    """Times in seconds, and the size of the JSON."""

    shape: str
    characters: int
    analysis: float
    write: float
    parse: float
    resolve: float

    @property
    def total(self) -> float:
        """The time that lineage adds to a query."""
        return self.write + self.parse + self.resolve

    def line(self) -> str:
        """The timing as a row of the table."""
        return (
            f"{self.shape:<36} {self.characters / 1000:>9,.0f} kB {self.analysis:>9.3f} {self.write:>8.3f} "
            f"{self.parse:>8.3f} {self.resolve:>8.3f} {self.total:>8.3f} {self.total / self.analysis:>7.3f}"
        )


def timing(shape: str, build: Callable[[], DataFrame], repetitions: int) -> Timing:
    """Analyse once, then write, parse and resolve several times."""
    analysis, frame = _timed(build)
    plan = frame._jdf.queryExecution().analyzed()
    rounds = [_round(plan.toJSON) for _ in range(repetitions)]
    write, parse, resolve = (statistics.median(found) for found in zip(*(times for times, _ in rounds), strict=True))
    return Timing(shape, rounds[0][1], analysis, write, parse, resolve)


def _round(to_json: Callable[[], str]) -> tuple[tuple[float, float, float], int]:
    write, text = _timed(to_json)
    parse, plan = _timed(lambda: parse_plan(text))
    resolve, lineage = _timed(lambda: column_lineage(plan, _name))
    if lineage.gaps:
        raise SystemExit(f"plan_lineage: the lineage has a gap: {lineage.gaps[0].kind}")
    return (write, parse, resolve), len(text)


def _name(leaf: Leaf) -> str:
    return f"{leaf.views[0][-1]}" if leaf.views else str(leaf.key)


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    result = act()
    return time.perf_counter() - start, result


def small_query(spark: SparkSession) -> DataFrame:
    """A filter and a few expressions over one table."""
    return spark.sql("SELECT c0 AS id, c1 * 2 AS twice, upper(c2) AS name FROM t0 WHERE c3 > 1")


def joins(spark: SparkSession) -> DataFrame:
    """Ten joins of tables with a hundred columns each, keeping all columns."""
    frame = spark.table("t0")
    for number in range(1, 11):
        other = spark.table(f"t{number}")
        other = other.select(*(F.col(f"c{at}").alias(f"c{number}_{at}") for at in range(100)))
        frame = frame.join(other, F.col("c0") == F.col(f"c{number}_0"))
    return frame


def replaced_columns(spark: SparkSession) -> DataFrame:
    """One column replaced a thousand times."""
    frame = spark.table("t0").select("c0", "c1")
    for _ in range(1000):
        frame = frame.withColumn("c1", F.col("c1") + F.col("c0"))
    return frame


def added_columns(spark: SparkSession) -> DataFrame:
    """Three hundred columns added one by one, each from the one before."""
    frame = spark.table("t0").select("c0")
    for number in range(1, 301):
        frame = frame.withColumn(f"c{number}", F.col(f"c{number - 1}") + 1)
    return frame


def unions(spark: SparkSession) -> DataFrame:
    """A union of three hundred queries."""
    return spark.sql(" UNION ALL ".join(f"SELECT c0, c1 + {at} AS c1 FROM t{at % 11}" for at in range(300)))  # noqa: S608


SHAPES: dict[str, Callable[[SparkSession], DataFrame]] = {
    "small query": small_query,
    "10 joins x 100 columns": joins,
    "1,000 x withColumn, the same column": replaced_columns,
    "300 x withColumn, a new column": added_columns,
    "300 x UNION ALL": unions,
}


def _session(folder: str) -> SparkSession:
    options = {
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": folder,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for number in range(11):
        path = Path(folder) / f"t{number}"
        path.mkdir()
        schema = ", ".join(f"c{at} BIGINT" for at in range(100))
        spark.read.schema(schema).csv(str(path)).createOrReplaceTempView(f"t{number}")
    return spark


def main() -> None:
    """Print a line per shape; exit with 1 if parse and resolve of one take a second or more."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repetitions", type=int, nargs="?", default=5, help="of each shape (default 5)")
    repetitions = parser.parse_args().repetitions
    with tempfile.TemporaryDirectory() as folder:
        spark = _session(folder)
        spark.sql("SELECT 1").collect()
        print(
            f"{'seconds':<36} {'JSON':>12} {'analysis':>9} {'write':>8} {'parse':>8} {'resolve':>8} {'total':>8} ratio"
        )
        slow = []
        for shape, build in SHAPES.items():
            found = timing(shape, partial(build, spark), repetitions)
            print(found.line(), flush=True)
            slow += [shape] if found.parse + found.resolve >= LIMIT_S else []
        spark.stop()
    if slow:
        raise SystemExit(f"plan_lineage: {LIMIT_S} s or more in Python: {', '.join(slow)}")


if __name__ == "__main__":
    main()
