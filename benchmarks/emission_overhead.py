"""What telling costs: the demo's three pipelines over the real flights, with lineage on and off, in turns.

    .venv/bin/python benchmarks/emission_overhead.py [--pairs 9] [--limit 1.03]

One JVM runs everything, after three rounds of each kind that are not counted, so that compilation and class loading
fall on neither side. A pair is each of the three pipelines with lineage and without, one right after the other, since
the JVM goes on getting faster; who begins changes from pair to pair, since the second of two enjoys warmer caches. On
the side with lineage everything counts that `headwater run` does for it: the emitter's threads, the plan, the counters,
signing, posting to the service, and waiting at the end until it has acknowledged all. CPU seconds are those of this
process and the JVM, without the service's. Exit status 1 where the median ratio of the times is above the limit. Other
work on the machine shows as ratios that scatter: measure on a quiet one.
"""

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from openlineage.client.uuid import generate_new_uuid
from pyspark.sql import SparkSession

from headwater.cli.demo.data import lay_out
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.observe.spark.jvm import java_class
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.run import Surroundings, run_pipeline
from headwater.pipeline.session import open_session
from headwater.signing.keyfile import load_or_create
from headwater.signing.sign import sign_event

WARM_UP_ROUNDS: Final = 3


class Cost(NamedTuple):
    """What a run took, in seconds."""

    wall: float
    cpu: float


class Pair(NamedTuple):
    """The costs of a pipeline's two runs, or of all pipelines' together."""

    told: Cost
    silent: Cost

    @property
    def ratio(self) -> float:
        """Of the times on the wall, with lineage to without."""
        return self.told.wall / self.silent.wall


Pairs = dict[str, Pair]
"""By pipeline."""


def main() -> int:
    """Measure and print."""
    options = _options()
    with contextlib.ExitStack() as open_things:
        home = Path(open_things.enter_context(tempfile.TemporaryDirectory()))
        endpoint = open_things.enter_context(_service(home))
        files = lay_out(home / "demo")
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        for number in range(WARM_UP_ROUNDS):
            _round(files, home, spark, endpoint, lineage_first=number % 2 == 0)
        pairs = []
        for number in range(options.pairs):
            pairs.append(_round(files, home, spark, endpoint, lineage_first=number % 2 == 0))
            print(f"  {_shown([_together(pairs[-1])])}", flush=True)
        spark.stop()
    return _report(pairs, options.limit)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--limit", type=float, default=1.03)
    return parser.parse_args()


def _round(files: list[Path], home: Path, spark: SparkSession, endpoint: str, *, lineage_first: bool) -> Pairs:
    return {file.stem: _pair(file, home, spark, endpoint, lineage_first=lineage_first) for file in files}


def _pair(file: Path, home: Path, spark: SparkSession, endpoint: str, *, lineage_first: bool) -> Pair:
    if lineage_first:
        told = _cost(file, home, spark, endpoint)
        return Pair(told, _cost(file, home, spark, None))
    silent = _cost(file, home, spark, None)
    return Pair(_cost(file, home, spark, endpoint), silent)


def _cost(file: Path, home: Path, spark: SparkSession, endpoint: str | None) -> Cost:
    spec = load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"})
    cpu_before, begun = _cpu_s(spark), time.perf_counter()
    with contextlib.ExitStack() as open_things:
        put = open_things.enter_context(_emitter(home, endpoint)).put if endpoint else _unexpected
        around = Surroundings(
            home=home,
            put=put,
            now=lambda: datetime.now(UTC),
            new_run_id=lambda: str(generate_new_uuid()),
            node_id="bench",
        )
        result = run_pipeline(spec, spark, around)
    if result.state != "COMPLETE":
        raise SystemExit(f"{file.name}: {result.error}")
    return Cost(time.perf_counter() - begun, _cpu_s(spark) - cpu_before)


def _cpu_s(spark: SparkSession) -> float:
    """CPU seconds of this process and the JVM so far."""
    jvm = java_class(spark, "java.lang.ProcessHandle").current().info().totalCpuDuration().get().toNanos()
    return time.process_time() + float(jvm) / 1e9


def _emitter(home: Path, endpoint: str) -> Emitter:
    key = load_or_create(home)
    config = EmitConfig(http=HttpConfig(endpoint=endpoint), spool=home / "spool", drain_timeout_s=60)
    return Emitter(config, lambda event: sign_event(event, key))


def _unexpected(_event: bytes) -> None:
    raise AssertionError("an event with lineage off")


def _together(pairs: Pairs) -> Pair:
    return Pair(
        Cost(sum(pair.told.wall for pair in pairs.values()), sum(pair.told.cpu for pair in pairs.values())),
        Cost(sum(pair.silent.wall for pair in pairs.values()), sum(pair.silent.cpu for pair in pairs.values())),
    )


def _shown(pairs: list[Pair]) -> str:
    """Medians: seconds with lineage and without, on the wall and of CPU, and the ratio of the former."""
    told = Cost(*(statistics.median(side) for side in zip(*(pair.told for pair in pairs), strict=True)))
    silent = Cost(*(statistics.median(side) for side in zip(*(pair.silent for pair in pairs), strict=True)))
    return (
        f"with {told.wall:5.2f} s, CPU {told.cpu:5.2f} s   without {silent.wall:5.2f} s, CPU {silent.cpu:5.2f} s   "
        f"ratio {statistics.median(pair.ratio for pair in pairs):.3f}"
    )


def _report(rounds: list[Pairs], limit: float) -> int:
    for name in rounds[0]:
        print(f"{name:16} {_shown([pairs[name] for pairs in rounds])}")
    all_three = [_together(pairs) for pairs in rounds]
    print(f"{'all three':16} {_shown(all_three)}")
    median = statistics.median(pair.ratio for pair in all_three)
    print(f"median ratio of {len(rounds)} pairs {median:.3f}, limit {limit}")
    return 0 if median <= limit else 1


@contextlib.contextmanager
def _service(home: Path) -> Iterator[str]:
    """The lineage service as a process of its own; yields where it takes events."""
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", "0"]
    environment = os.environ | {"HEADWATER_HOME": str(home)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as service:
        try:
            url = (service.stdout.readline() if service.stdout else "").removeprefix("listening on ").strip()
            yield f"{url}/api/v1/lineage"
        finally:
            service.terminate()


if __name__ == "__main__":
    sys.exit(main())
