"""The overhead of capture for a program: 200 small actions, plain, with our capture, and with openlineage-spark.

    .venv/bin/python benchmarks/spark_overhead.py [--rounds 2] [--limit 1.05]

Each run is a separate process: 40 actions to warm up, then 200 that are timed, in turns (plain, ours, theirs, plain,
ours, theirs): groups collected from an Iceberg table, Parquet files overwritten, rows appended to an Iceberg table.
Then three writes of a join of ten tables with 100 columns. Both listeners append their events to a file, and the time
includes stopping Spark and writing the last event. CPU time is that of Python and the JVM together; memory is the JVM's
resident set at the end, and its heap after a garbage collection. Exit status 1 if our median wall-clock time is above
the limit times plain, or above theirs. A round takes some four minutes on two cores, and is meaningless if anything
else runs at the same time; docs/spark.md has figures. openlineage-spark is fetched by Maven; without it, only two are
compared.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from support.runs import cpu_s

from headwater.observe.spark.jvm import java_class
from headwater.pipeline.session import HERE as PIPELINE
from headwater.spark import capture

AGENT: Final = "io.openlineage:openlineage-spark_2.13:1.53.0"
WARM_UP: Final = 40
ACTIONS: Final = 200
WIDE: Final = 3
KINDS: Final = ("plain", "ours", "theirs")


class Cost(NamedTuple):
    """The cost of a run, in seconds and MiB."""

    wall_s: float
    cpu_s: float
    wide_s: float
    rss_mb: float
    heap_mb: float
    events: int


def main() -> int:
    """Measure and print."""
    options = _options()
    if options.program:
        print(json.dumps(_program(options.program, Path(options.folder))))
        return 0
    jar = _agent_jar(Path("build/openlineage-spark").absolute())
    kinds = KINDS if jar else KINDS[:2]
    costs: dict[str, list[Cost]] = {kind: [] for kind in kinds}
    for _ in range(options.rounds):
        for kind in kinds:
            costs[kind].append(_measured(kind, jar))
            print(f"  {kind:7} {_medians_line(costs[kind][-1:])}", flush=True)
    return _report(costs, options.limit)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1.05)
    parser.add_argument("--program", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def _agent_jar(folder: Path) -> Path | None:
    """The agent's jar, fetched if missing; None if it cannot be fetched."""
    jar = folder / f"{AGENT.split(':')[1]}-{AGENT.split(':')[2]}.jar"
    maven = shutil.which("mvn")
    if not jar.exists() and maven:
        copy = [f"-Dartifact={AGENT}", f"-DoutputDirectory={folder}"]
        subprocess.run([maven, "--batch-mode", "--quiet", "dependency:copy", *copy], check=False)
    return jar if jar.exists() else None


def _measured(kind: str, jar: Path | None) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HEADWATER_HOME": f"{folder}/home", "AGENT_JAR": str(jar or "")}
        command = [sys.executable, __file__, "--program", kind, "--folder", folder]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            raise SystemExit(f"{kind}: {run.stderr[-2000:]}")
        return Cost(**json.loads(run.stdout.splitlines()[-1]))


def _program(kind: str, folder: Path) -> dict[str, float]:
    spark = _session(kind, folder)
    capturing = capture(spark, job="bench", file=folder / "events.jsonl") if kind == "ours" else None
    actions, wide = _actions(spark, folder), _wide(spark, folder)
    for number in range(WARM_UP):
        actions[number % len(actions)]()
    wide()
    cpu_before, started = cpu_s(spark), time.perf_counter()
    for number in range(ACTIONS):
        actions[number % len(actions)]()
    wide_started = time.perf_counter()
    for _ in range(WIDE):
        wide()
    wide_s = time.perf_counter() - wide_started
    memory = _memory(spark)
    used_s = cpu_s(spark)
    ending = time.perf_counter()
    if capturing is not None:
        capturing.end()
    used_s += max(0.0, cpu_s(spark) - used_s)
    spark.stop()
    wall_s = wide_started - started + time.perf_counter() - ending
    events = (folder / "events.jsonl").read_bytes().count(b"\n") if kind != "plain" else 0
    return Cost(wall_s, used_s - cpu_before, wide_s, *memory, events)._asdict()


def _session(kind: str, folder: Path) -> SparkSession:
    jars = sorted(str(jar) for jar in (PIPELINE / "jars").glob("iceberg-*.jar"))
    if kind == "theirs":
        jars.append(os.environ["AGENT_JAR"])
    builder = SparkSession.builder.master("local[2]").appName("bench")
    settings: dict[str, Any] = {
        "spark.driver.memory": "1g",
        "spark.driver.extraClassPath": os.pathsep.join(jars),
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(folder / "lake"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if kind == "theirs":
        settings |= {
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.namespace": "bench",
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(folder / "events.jsonl"),
        }
    return builder.config(map=settings).getOrCreate()


def _actions(spark: SparkSession, folder: Path) -> list[Callable[[], object]]:
    spark.sql("CREATE TABLE lake.orders (id BIGINT, price DOUBLE, supplier STRING) USING iceberg")
    rows = spark.range(1000).selectExpr("id", "id * 1.5 AS price", "concat('s', id % 7) AS supplier")
    rows.writeTo("lake.orders").append()
    spark.sql("CREATE TABLE lake.totals (supplier STRING, total DOUBLE) USING iceberg")
    orders = spark.table("lake.orders")
    totals = orders.groupBy("supplier").agg(F.sum("price").alias("total"))
    return [
        lambda: totals.collect(),
        lambda: orders.where("id < 500").write.mode("overwrite").parquet(f"{folder}/out"),
        lambda: totals.where("total > 10").collect(),
        lambda: totals.writeTo("lake.totals").append(),
    ]


def _wide(spark: SparkSession, folder: Path) -> Callable[[], object]:
    """A join of ten tables by their first columns; ten columns each and no rows, since only the plan matters."""
    joined = None
    for table in range(10):
        columns = ", ".join(f"c{table}_{number} BIGINT" for number in range(9))
        spark.sql(f"CREATE TABLE lake.wide{table} (k{table} BIGINT, {columns}) USING iceberg")
        frame = spark.table(f"lake.wide{table}")
        joined = frame if joined is None else joined.join(frame, F.col("k0") == F.col(f"k{table}"))
    wide = joined
    return lambda: wide.write.mode("overwrite").parquet(f"{folder}/wide") if wide is not None else None


def _memory(spark: SparkSession) -> tuple[float, float]:
    """The JVM's resident set, and its heap after a garbage collection, in MiB."""
    pid = java_class(spark, "java.lang.ProcessHandle").current().pid()
    status = Path(f"/proc/{pid}/status").read_text()
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    java_class(spark, "java.lang.System").gc()
    heap = java_class(spark, "java.lang.management.ManagementFactory").getMemoryMXBean().getHeapMemoryUsage().getUsed()
    return rss / 1024, heap / (1 << 20)


def _medians_line(costs: list[Cost]) -> str:
    """The medians, as a line."""
    cost = Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))
    return (
        f"{cost.wall_s:6.2f} s, CPU {cost.cpu_s:6.2f} s, wide {cost.wide_s:5.2f} s, "
        f"JVM {cost.rss_mb:5.0f} MiB, heap {cost.heap_mb:4.0f} MiB, {cost.events:.0f} events"
    )


def _report(costs: dict[str, list[Cost]], limit: float) -> int:
    for kind, measured in costs.items():
        print(f"{kind:7} {_medians_line(measured)}")
    wall = {kind: statistics.median(cost.wall_s for cost in measured) for kind, measured in costs.items()}
    cpu = {kind: statistics.median(cost.cpu_s for cost in measured) for kind, measured in costs.items()}
    for kind in list(costs)[1:]:
        print(f"{kind} / plain: wall {wall[kind] / wall['plain']:.3f}, CPU {cpu[kind] / cpu['plain']:.3f}")
    return 0 if wall["ours"] <= limit * wall["plain"] and wall["ours"] <= wall.get("theirs", wall["ours"]) else 1


if __name__ == "__main__":
    sys.exit(main())
