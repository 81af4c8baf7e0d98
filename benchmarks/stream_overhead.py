"""The overhead of lineage for a stream: a topic into an Iceberg table, with lineage on and off, in turns.

    .venv/bin/python benchmarks/stream_overhead.py [--records 600000] [--pairs 6] [--limit 0.98]

A real broker holds JSON records in one topic of two partitions. Each run reads all of it from its start, in thirty
micro-batches, with a new stream checkpoint into a table of its own, and ends when it has caught up. A pair is a run
with lineage and one without, in alternating order; some pairs before them warm up the JVM and are not counted. The side
with lineage includes everything: listening to the query, the schema, offsets and counters, signing, posting to the
service, and waiting at the end until it has acknowledged everything. Prints the records per second of both and the
median of the pairs' ratios, with lineage to without; exit status 1 if that is below the limit. CPU time is that of this
process and the JVM, without the service and the broker.

The ratio includes the one-time cost of a run (START, the plan's columns, the end), though a real stream starts once in
days and this one ends within a minute. That cost is also printed separately, from runs over a topic of two records.
"""

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]
from pyspark.sql import SparkSession
from support.runs import Cost, cost_of
from support.served import free_port, served

from headwater.lab.lab import Lab
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.session import open_session

_WARM_UP_RECORDS: Final = 200_000
_WARM_UP_PAIRS: Final = 4
_SHORT_PAIRS: Final = 3
_MICRO_BATCHES: Final = 30

_PIPELINE: Final = """\
name: {name}
namespace: bench
schema_version: 1
mode: stream
input:
  kafka:
    addresses: ["{broker}"]
    topics: [{topic}]
    format: json
    schema: "bid_id BIGINT, supplier STRING, price DOUBLE, note STRING"
    start: earliest
    options: {{maxOffsetsPerTrigger: "{batch}"}}
pipeline:
  processors:
    - sql: SELECT bid_id, supplier, CAST(price AS DECIMAL(10,2)) AS price, upper(note) AS note FROM input
output:
  iceberg: lake.bench.{table}
stream: {{available_now: true}}
"""


class Pair(NamedTuple):
    """The costs of one run with lineage and one without."""

    with_lineage: Cost
    without: Cost

    @property
    def ratio(self) -> float:
        """The ratio of the speeds, with lineage to without."""
        return self.without.wall / self.with_lineage.wall


class Bench(NamedTuple):
    """The parts shared by all runs."""

    home: Path
    spark: SparkSession
    broker: str
    endpoint: str


class Topic(NamedTuple):
    """The topic that a run reads."""

    name: str
    records: int


def main() -> int:
    """Measure and print."""
    options = _options()
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        broker = stack.enter_context(_broker(home))
        endpoint = f"{stack.enter_context(served(home)).url}/api/v1/lineage"
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        bench = Bench(home, spark, broker, endpoint)
        for _ in _pairs(bench, Topic("warm_up", _WARM_UP_RECORDS), _WARM_UP_PAIRS):
            pass
        pairs = []
        for pair in _pairs(bench, Topic("bids", options.records), options.pairs):
            pairs.append(pair)
            print(f"  {_medians_line([pair], options.records)}", flush=True)
        _print_short_runs(list(_pairs(bench, Topic("few", 2), _SHORT_PAIRS)))
        spark.stop()
    print(f"median of {len(pairs)} pairs: {_medians_line(pairs, options.records)}, limit {options.limit}")
    return 0 if statistics.median(pair.ratio for pair in pairs) >= options.limit else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=600_000, help="in the topic")
    parser.add_argument("--pairs", type=int, default=6, help="should be even, so that each side is first equally often")
    parser.add_argument("--limit", type=float, default=0.98)
    return parser.parse_args()


@contextlib.contextmanager
def _broker(home: Path) -> Iterator[str]:
    lab = Lab("kafka", home / "lab", {"broker": free_port()})
    try:
        lab.up(["broker"], lambda line: print(line, file=sys.stderr))
        yield lab.address("broker")
    finally:
        lab.down(lambda _: None)


def _fill(broker: str, topic: Topic) -> None:
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(topic.name, 2, 1)])[topic.name].result(30)
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 50, "queue.buffering.max.messages": topic.records})
    for number in range(topic.records):
        bid = {"bid_id": number, "supplier": f"s{number % 97}", "price": number % 1_000 / 8, "note": "as agreed " * 8}
        producer.produce(topic.name, json.dumps(bid).encode(), partition=number % 2)
    producer.flush()


def _pairs(bench: Bench, topic: Topic, number: int) -> Iterator[Pair]:
    _fill(bench.broker, topic)
    for turn in range(number):
        if turn % 2 == 0:
            with_lineage = _cost(bench, topic, f"lineage_{turn}", bench.endpoint)
            yield Pair(with_lineage, _cost(bench, topic, f"plain_{turn}", None))
        else:
            without = _cost(bench, topic, f"plain_{turn}", None)
            yield Pair(_cost(bench, topic, f"lineage_{turn}", bench.endpoint), without)


def _cost(bench: Bench, topic: Topic, run: str, endpoint: str | None) -> Cost:
    name = f"{topic.name}_{run}"
    file = bench.home / f"{name}.yaml"
    batch = -(-topic.records // _MICRO_BATCHES)
    file.write_text(_PIPELINE.format(name=name, table=name, broker=bench.broker, topic=topic.name, batch=batch))
    pipeline = load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"})
    return cost_of(pipeline, bench.home, bench.spark, endpoint)


def _print_short_runs(pairs: list[Pair]) -> None:
    with_lineage, without = (_medians(side) for side in zip(*pairs, strict=True))
    wall, cpu = with_lineage.wall - without.wall, with_lineage.cpu - without.cpu
    print(f"two records: {without.wall:.2f} s without, {wall:+.2f} s with, CPU {without.cpu:.2f} s, {cpu:+.2f} s")


def _medians(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _medians_line(pairs: list[Pair], records: int) -> str:
    with_lineage, without = (_medians(side) for side in zip(*pairs, strict=True))
    return (
        f"with {records / with_lineage.wall:8,.0f} records/s, CPU {with_lineage.cpu:5.2f} s   "
        f"without {records / without.wall:8,.0f} records/s, CPU {without.cpu:5.2f} s   "
        f"ratio {statistics.median(pair.ratio for pair in pairs):.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
