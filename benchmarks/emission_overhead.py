"""The overhead of lineage: the demo's three pipelines over the real flights, with lineage on and off, in turns.

    .venv/bin/python benchmarks/emission_overhead.py [--pairs 9] [--limit 1.03]

One JVM runs everything, after three rounds of each kind that are not counted, so that neither side includes compilation
and class loading. A pair is each of the three pipelines with lineage and without, one right after the other, since the
JVM keeps getting faster; the order alternates from pair to pair, since the second run has warmer caches. The side with
lineage includes everything that `headwater run` does for it: the emitter's threads, the plan, the counters, signing,
posting to the service, and waiting at the end until it has acknowledged everything. CPU time is that of this process
and the JVM, without the service. Exit status 1 if the median ratio of the times is above the limit. Other load on the
machine makes the ratios scatter: measure on an idle one.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from pyspark.sql import SparkSession
from support.runs import Cost, cost_of
from support.served import served

from headwater.cli.demo.data import lay_out
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.session import open_session

WARM_UP_ROUNDS: Final = 3


class Pair(NamedTuple):
    """The costs of a pipeline's two runs, or of all pipelines' together."""

    with_lineage: Cost
    without: Cost

    @property
    def ratio(self) -> float:
        """The ratio of the wall-clock times, with lineage to without."""
        return self.with_lineage.wall / self.without.wall


Pairs = dict[str, Pair]
"""By pipeline name."""


def main() -> int:
    """Measure and print."""
    options = _options()
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        endpoint = f"{stack.enter_context(served(home)).url}/api/v1/lineage"
        files = lay_out(home / "demo")
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        for number in range(WARM_UP_ROUNDS):
            _round(files, home, spark, endpoint, lineage_first=number % 2 == 0)
        pairs = []
        for number in range(options.pairs):
            pairs.append(_round(files, home, spark, endpoint, lineage_first=number % 2 == 0))
            print(f"  {_medians_line([_sum(pairs[-1])])}", flush=True)
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
        with_lineage = _cost(file, home, spark, endpoint)
        return Pair(with_lineage, _cost(file, home, spark, None))
    without = _cost(file, home, spark, None)
    return Pair(_cost(file, home, spark, endpoint), without)


def _cost(file: Path, home: Path, spark: SparkSession, endpoint: str | None) -> Cost:
    return cost_of(load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"}), home, spark, endpoint)


def _sum(pairs: Pairs) -> Pair:
    return Pair(
        Cost(
            sum(pair.with_lineage.wall for pair in pairs.values()),
            sum(pair.with_lineage.cpu for pair in pairs.values()),
        ),
        Cost(sum(pair.without.wall for pair in pairs.values()), sum(pair.without.cpu for pair in pairs.values())),
    )


def _medians_line(pairs: list[Pair]) -> str:
    """Medians: wall-clock and CPU seconds with lineage and without, and the ratio of the wall-clock times."""
    with_lineage = Cost(*(statistics.median(side) for side in zip(*(pair.with_lineage for pair in pairs), strict=True)))
    without = Cost(*(statistics.median(side) for side in zip(*(pair.without for pair in pairs), strict=True)))
    return (
        f"with {with_lineage.wall:5.2f} s, CPU {with_lineage.cpu:5.2f} s   "
        f"without {without.wall:5.2f} s, CPU {without.cpu:5.2f} s   "
        f"ratio {statistics.median(pair.ratio for pair in pairs):.3f}"
    )


def _report(rounds: list[Pairs], limit: float) -> int:
    for name in rounds[0]:
        print(f"{name:16} {_medians_line([pairs[name] for pairs in rounds])}")
    all_three = [_sum(pairs) for pairs in rounds]
    print(f"{'all three':16} {_medians_line(all_three)}")
    median = statistics.median(pair.ratio for pair in all_three)
    print(f"median ratio of {len(rounds)} pairs {median:.3f}, limit {limit}")
    return 0 if median <= limit else 1


if __name__ == "__main__":
    sys.exit(main())
