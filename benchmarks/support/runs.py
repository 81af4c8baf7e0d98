"""One run of a pipeline, with lineage or without, and its cost."""

import contextlib
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from openlineage.client.uuid import generate_new_uuid
from pyspark.sql import SparkSession

from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.observe.spark.jvm import java_class
from headwater.pipeline.run import RunContext, run_pipeline
from headwater.pipeline.spec import PipelineSpec
from headwater.signing.keyfile import load_or_create
from headwater.signing.sign import sign_event


class Cost(NamedTuple):
    """The cost of a run in seconds; CPU time includes this process and the JVM."""

    wall: float
    cpu: float


def cost_of(spec: PipelineSpec, home: Path, spark: SparkSession, endpoint: str | None) -> Cost:
    """Run a pipeline to its end, sending its events to `endpoint`; None switches lineage off."""
    cpu_before, started = cpu_s(spark), time.perf_counter()
    with contextlib.ExitStack() as open_things:
        put = open_things.enter_context(_emitter(home, endpoint)).put if endpoint else _unexpected
        run_to_end(spec, home, spark, put)
    return Cost(time.perf_counter() - started, cpu_s(spark) - cpu_before)


def run_to_end(spec: PipelineSpec, home: Path, spark: SparkSession, put: Callable[[bytes], None]) -> None:
    """Run a pipeline; the benchmark ends if the run fails."""
    context = RunContext(
        home=home, put=put, now=lambda: datetime.now(UTC), new_run_id=lambda: str(generate_new_uuid()), node_id="bench"
    )
    result = run_pipeline(spec, spark, context)
    if result.state != "COMPLETE":
        raise SystemExit(f"{spec.name}: {result.error}")


def cpu_s(spark: SparkSession) -> float:
    """CPU seconds of this process and the JVM so far."""
    jvm = java_class(spark, "java.lang.ProcessHandle").current().info().totalCpuDuration().get().toNanos()
    return time.process_time() + float(jvm) / 1e9


@contextlib.contextmanager
def _emitter(home: Path, endpoint: str) -> Iterator[Emitter]:
    key = load_or_create(home)
    config = EmitConfig(http=HttpConfig(endpoint=endpoint), spool=home / "spool", drain_timeout_s=60)
    with Emitter(config, lambda event: sign_event(event, key)) as emitter:
        yield emitter


def _unexpected(_event: bytes) -> None:
    raise AssertionError("an event was emitted with lineage off")
