"""The overhead of lineage: the demo's three pipelines over the real flights, with lineage on and off, in turns.

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
        endpoint = f"{open_things.enter_context(served(home)).url}/api/v1/lineage"
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
    return cost_of(load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"}), home, spark, endpoint)


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


if __name__ == "__main__":
    sys.exit(main())
