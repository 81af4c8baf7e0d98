"""What telling costs a stream: a topic into an Iceberg table, with lineage on and off, in turns.

    .venv/bin/python benchmarks/stream_overhead.py [--records 400000] [--pairs 7] [--limit 0.98]

A real broker holds JSON records in one topic of two partitions. Each run reads all of it from its start, in
micro-batches of a twentieth, with a fresh stream checkpoint into a table of its own, and ends when it has caught up. A
pair is a run with lineage and one without, who begins changes from pair to pair; two pairs before them are not counted.
On the side with lineage everything counts: listening to the query, the schema, offsets and counters, signing, posting
to the service, and waiting at the end until it has acknowledged all. Printed are events per second of both and the
median of the pairs' ratios, with lineage to without; exit status 1 where that is below the limit. CPU seconds are those
of this process and the JVM, without the service's and the broker's.
"""

import argparse
import contextlib
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from runs import Cost, cost_of
from served import free_port, served

from headwater.lab.lab import Lab
from headwater.pipeline.check import load_pipeline
from headwater.pipeline.session import open_session

WARM_UP_PAIRS: Final = 2
_MICRO_BATCHES: Final = 20
_TOPIC: Final = "bids"

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


def main() -> int:
    """Measure and print."""
    options = _options()
    with contextlib.ExitStack() as open_things:
        home = Path(open_things.enter_context(tempfile.TemporaryDirectory()))
        broker = open_things.enter_context(_broker(home))
        _fill(broker, options.records)
        endpoint = f"{open_things.enter_context(served(home)).url}/api/v1/lineage"
        spark = open_session(home, master="local[2]", options={"spark.driver.memory": "2g"})
        pairs = []
        for number in range(WARM_UP_PAIRS + options.pairs):
            pair = _pair(number, home, spark, broker, options.records, endpoint)
            if number >= WARM_UP_PAIRS:
                pairs.append(pair)
                print(f"  {_shown([pair], options.records)}", flush=True)
        spark.stop()
    print(f"median of {len(pairs)} pairs: {_shown(pairs, options.records)}, limit {options.limit}")
    return 0 if statistics.median(pair.ratio for pair in pairs) >= options.limit else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--records", type=int, default=400_000, help="in the topic")
    parser.add_argument("--pairs", type=int, default=7)
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


def _fill(broker: str, records: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker})
    admin.create_topics([NewTopic(_TOPIC, 2, 1)])[_TOPIC].result(30)
    producer = Producer({"bootstrap.servers": broker, "linger.ms": 50, "queue.buffering.max.messages": records})
    for number in range(records):
        bid = {"bid_id": number, "supplier": f"s{number % 97}", "price": number % 1_000 / 8, "note": "as agreed " * 8}
        producer.produce(_TOPIC, json.dumps(bid).encode(), partition=number % 2)
    producer.flush()


def _pair(number: int, home: Path, spark: SparkSession, broker: str, records: int, endpoint: str) -> Pair:
    def cost(side: str, endpoint: str | None) -> Cost:
        name = f"bids_{side}_{number}"
        file = home / f"{name}.yaml"
        batch = -(-records // _MICRO_BATCHES)
        file.write_text(_PIPELINE.format(name=name, table=name, broker=broker, topic=_TOPIC, batch=batch))
        return cost_of(load_pipeline(file, {} if endpoint else {"lineage.enabled": "false"}), home, spark, endpoint)

    if number % 2 == 0:
        told = cost("told", endpoint)
        return Pair(told, cost("silent", None))
    silent = cost("silent", None)
    return Pair(cost("told", endpoint), silent)


def _shown(pairs: list[Pair], records: int) -> str:
    told, silent = (Cost(*map(statistics.median, zip(*side, strict=True))) for side in zip(*pairs, strict=True))
    return (
        f"with {records / told.wall:8,.0f} records/s, CPU {told.cpu:5.2f} s   "
        f"without {records / silent.wall:8,.0f} records/s, CPU {silent.cpu:5.2f} s   "
        f"ratio {statistics.median(pair.ratio for pair in pairs):.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
