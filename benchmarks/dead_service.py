"""Pipelines while the lineage service is down, compared with up: the demo's three over the real flights.

    .venv/bin/python benchmarks/dead_service.py [--rounds 5] [--least 0.98]

One JVM runs everything. A round runs the three pipelines four times: with the service up, twice with nothing at the
endpoint, and with the service up again, so that the speed-up of a JVM that is still warming up affects both sides. The
first round is not counted. The time is that of the run, from its start to its end; after it, a process waits up to
`drain_timeout` for undelivered events, which are on disk by then. Exit status 1 if the median ratio of the rounds'
throughputs, down to up, is below `--least`. Other load on the machine makes the ratios scatter: measure on an idle one.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession
from support.runs import run_to_end
from support.served import free_port, served

from headwater.cli.demo.data import lay_out
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.session import open_session
from headwater.signing.keyfile import load_or_create

WARM_UP_ROUNDS: Final = 1


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--least", type=float, default=0.98)
    options = parser.parse_args()
    ratios = []
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        up = f"{stack.enter_context(served(home)).url}/api/v1/lineage"
        down = f"http://127.0.0.1:{free_port()}/api/v1/lineage"
        files = lay_out(home / "demo")
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        for _ in range(WARM_UP_ROUNDS + options.rounds):
            first, second, third, fourth = (
                sum(_seconds(file, home, spark, kind) for file in files) for kind in (up, down, down, up)
            )
            ratios.append((first + fourth) / (second + third))
            print(f"  up {first:.2f} and {fourth:.2f} s, down {second:.2f} and {third:.2f} s", flush=True)
        spark.stop()
    median = statistics.median(ratios[WARM_UP_ROUNDS:])
    print(f"throughput with the service down, relative to up, median of {options.rounds} rounds: {median:.3f}")
    return 0 if median >= options.least else 1


def _seconds(file: Path, home: Path, spark: SparkSession, endpoint: str) -> float:
    """The duration of the pipeline's run; each endpoint has its own spool."""
    spool = home / f"spool-{endpoint.split(':')[2].partition('/')[0]}"
    config = EmitConfig(http=HttpConfig(endpoint=endpoint), spool=spool, drain_timeout_s=0.2)
    with Emitter.of_node(config, load_or_create(home)) as emitter:
        started = time.perf_counter()
        run_to_end(load_pipeline(file, {}), home, spark, emitter.put)
        return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
