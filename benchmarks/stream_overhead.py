"""The overhead of lineage for a stream: a topic into an Iceberg table, with lineage on and off, in turns.

    .venv/bin/python benchmarks/stream_overhead.py [--records 600000] [--pairs 6] [--limit 0.98]

A real broker holds JSON records in one topic of two partitions. Each run reads all of it from its start, in thirty
micro-batches, with a fresh stream checkpoint into a table of its own, and ends when it has caught up. A pair is a run
with lineage and one without, who begins changes from pair to pair; the pairs before them, which warm the JVM up, are
not counted. On the side with lineage everything counts: listening to the query, the schema, offsets and counters,
signing, posting to the service, and waiting at the end until it has acknowledged all. Printed are events per second of
both and the median of the pairs' ratios, with lineage to without; exit status 1 where that is below the limit. CPU
seconds are those of this process and the JVM, without the service's and the broker's.

What a run pays once, for START, the plan's columns and the end, is in the ratio, though a stream starts once in days
and this one ends within a minute. It is printed apart too: of runs that find a topic of two records.
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
from confluent_kafka.admin import AdminClient, NewTopic
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
    """Of one run with lineage and one without."""

    told: Cost
    silent: Cost

    @property
    def ratio(self) -> float:
        """Of the speeds, with lineage to without."""
        return self.silent.wall / self.told.wall


class Bench(NamedTuple):
    """What every run uses."""

    home: Path
    spark: SparkSession
    broker: str
    endpoint: str


class Topic(NamedTuple):
    """What a run reads."""

    name: str
    records: int


def main() -> int:
    """Measure and print."""
    options = _options()
    with contextlib.ExitStack() as open_things:
        home = Path(open_things.enter_context(tempfile.TemporaryDirectory()))
        broker = open_things.enter_context(_broker(home))
        endpoint = f"{open_things.enter_context(served(home)).url}/api/v1/lineage"
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        bench = Bench(home, spark, broker, endpoint)
        for _ in _pairs(bench, Topic("warm_up", _WARM_UP_RECORDS), _WARM_UP_PAIRS):
            pass
        pairs = []
        for pair in _pairs(bench, Topic("bids", options.records), options.pairs):
            pairs.append(pair)
            print(f"  {_shown([pair], options.records)}", flush=True)
        _print_short_runs(list(_pairs(bench, Topic("few", 2), _SHORT_PAIRS)))
        spark.stop()
    print(f"median of {len(pairs)} pairs: {_shown(pairs, options.records)}, limit {options.limit}")
    return 0 if statistics.median(pair.ratio for pair in pairs) >= options.limit else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=600_000, help="in the topic")
    parser.add_argument("--pairs", type=int, default=6, help="even: each side begins as often")
    parser.add_argument("--limit", type=float, default=0.98)
    return parser.parse_args()


@contextlib.contextmanager
def _broker(home: Path) -> Iterator[str]:
    lab = Lab("kafka", home / "lab", {"broker": free_port()})
    try:
        lab.up(["broker"], lambda told: print(told, file=sys.stderr))
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
            told = _cost(bench, topic, f"told_{turn}", bench.endpoint)
            yield Pair(told, _cost(bench, topic, f"silent_{turn}", None))
        else:
            silent = _cost(bench, topic, f"silent_{turn}", None)
            yield Pair(_cost(bench, topic, f"told_{turn}", bench.endpoint), silent)


def _cost(bench: Bench, topic: Topic, run: str, endpoint: str | None) -> Cost:
    name = f"{topic.name}_{run}"
    file = bench.home / f"{name}.yaml"
    batch = -(-topic.records // _MICRO_BATCHES)
    file.write_text(_PIPELINE.format(name=name, table=name, broker=bench.broker, topic=topic.name, batch=batch))
    pipeline = load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"})
    return cost_of(pipeline, bench.home, bench.spark, endpoint)


def _print_short_runs(pairs: list[Pair]) -> None:
    told, silent = (_medians(side) for side in zip(*pairs, strict=True))
    wall, cpu = told.wall - silent.wall, told.cpu - silent.cpu
    print(f"two records: {silent.wall:.2f} s without, {wall:+.2f} s with, CPU {silent.cpu:.2f} s, {cpu:+.2f} s")


def _medians(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(statistics.median, zip(*costs, strict=True)))


def _shown(pairs: list[Pair], records: int) -> str:
    told, silent = (_medians(side) for side in zip(*pairs, strict=True))
    return (
        f"with {records / told.wall:8,.0f} records/s, CPU {told.cpu:5.2f} s   "
        f"without {records / silent.wall:8,.0f} records/s, CPU {silent.cpu:5.2f} s   "
        f"ratio {statistics.median(pair.ratio for pair in pairs):.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
