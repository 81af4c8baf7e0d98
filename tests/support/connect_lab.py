"""A lab with Connect and its watcher, and the contents of its topics, bucket and table."""

import hashlib
import json
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import boto3
import httpx
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from headwater.lab.lab import Lab
from tests.support.script import loaded
from tests.support.service import Service, eventually

FOLDER: Final = Path(__file__).parents[2] / "labs" / "01-kafka-connect"
Row = Mapping[str, Any]
Edge = tuple[str, str]
"""From node to node, by the service's node ids: `dataset:NAMESPACE:NAME`, `job:…`, `datasetField:…`."""


play = loaded(FOLDER / "play.py")


@dataclass
class ConnectLab:
    """Access to the lab's parts."""

    lab: Lab

    def put(self, connector: str, **changes: str) -> None:
        """Configure one of the lab's connectors from its file, with some changes."""
        registry = self.lab.address("registry").partition("/apis")[0]
        self.request(
            "PUT", f"/{connector}/config", play.configuration(connector, registry, self.lab.address("s3"), **changes)
        )

    def request(self, method: str, path: str, body: object = None) -> Any:  # noqa: ANN401
        return play.ask_connect(method, path, body, self.lab.address("connect"))

    def is_running(self, connector: str) -> bool:
        """Whether Connect reports the connector and its tasks as running."""
        status = self.request("GET", f"/{connector}/status")
        return {each["state"] for each in (status["connector"], *status["tasks"])} == {"RUNNING"}

    def pids(self, part: str) -> tuple[int, ...]:
        return next(each for each in self.lab.status() if each.name == part).pids

    def kill(self, part: str) -> None:
        for pid in self.pids(part):
            os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: not self.pids(part))

    # Contents

    def ends(self, topic: str) -> dict[int, int]:
        """The end offset of each partition of a topic."""
        consumer = Consumer({"bootstrap.servers": self.lab.address("broker"), "group.id": "ends"})
        try:
            partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
            return {
                number: consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=30)[1]
                for number in partitions
            }
        finally:
            consumer.close()

    def count(self, topic: str) -> int:
        """The number of records in a topic; 0 while the broker does not know: there may be no topic or leader yet."""
        with suppress(KeyError, KafkaException):
            return sum(self.ends(topic).values())
        return 0

    def records(self, topic: str) -> list[Row]:
        """The values of a topic, with `_at`: partition and offset."""
        settings = {"bootstrap.servers": self.lab.address("broker"), "group.id": "all", "enable.auto.commit": False}
        ends = self.ends(topic)
        consumer = Consumer(settings)
        values: list[Row] = []
        with SchemaRegistryClient({"url": self.lab.address("registry")}) as registry:
            read = AvroDeserializer(registry)
            context = SerializationContext(topic, MessageField.VALUE)
            consumer.assign([TopicPartition(topic, number, 0) for number in ends])
            while len(values) < sum(ends.values()):
                for message in consumer.consume(1000, 1.0):
                    value: Any = read(message.value(), context)
                    values.append({**value, "_at": (message.partition(), message.offset())})
        consumer.close()
        return values

    def archived(self, prefix: str) -> list[Row]:
        """The values in the archive's objects below a prefix, with `_at`."""
        client = boto3.client("s3", **self._aws)
        objects = client.list_objects_v2(Bucket="archive", Prefix=f"{prefix}/").get("Contents", [])
        bodies = [client.get_object(Bucket="archive", Key=each["Key"])["Body"].read() for each in objects]
        lines = [json.loads(line) for body in bodies for line in body.splitlines()]
        return [{**line["value"], "_at": (line["partition"], line["offset"])} for line in lines]

    def table(self, name: str) -> Table:
        return load_catalog("lake", **self._catalog).load_table(name)

    def rows(self, table: str) -> list[Row]:
        try:
            return list(self.table(table).scan().to_arrow().to_pylist())
        except NoSuchTableError:
            return []

    @property
    def _aws(self) -> dict[str, str]:
        secret = play.CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
        return {
            "endpoint_url": self.lab.address("s3"),
            "region_name": "us-east-1",
            "aws_access_key_id": play.CREDENTIALS["AWS_ACCESS_KEY_ID"],
            "aws_secret_access_key": secret,
        }

    @property
    def _catalog(self) -> dict[str, str]:
        url = self.lab.address("s3")
        keys = {"access-key-id": "lab", "secret-access-key": "lab", "region": "us-east-1", "endpoint": url}
        both = {f"{part}.{key}": value for part in ("glue", "s3") for key, value in keys.items()}
        return {"type": "glue", "warehouse": "s3://lake/warehouse", **both}


class Contents(NamedTuple):
    """The number of rows, and a checksum that does not depend on their order."""

    rows: int
    checksum: str


def contents(rows: Iterable[Row], *columns: str) -> Contents:
    """The contents of these columns of the rows; times as milliseconds."""
    lines = sorted(json.dumps([_plain(row.get(column)) for column in columns]) for row in rows)
    return Contents(len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest())


def _plain(value: object) -> object:
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value


def generated_orders(seed: int, stream: int, count: int) -> list[Row]:
    """The orders of a stream, generated independently of `Auction.java` from its description."""
    return [_order(seed, stream * 1_000_000_000 + index, index) for index in range(count)]


_SUPPLIERS: Final = ("acme", "brix", "corvo", "delta", "elm")
_NEW_YEAR_MS: Final = 1_767_225_600_000
_64_BITS: Final = (1 << 64) - 1


def _order(seed: int, number: int, index: int) -> Row:
    return {
        "order_id": number,
        "supplier": _SUPPLIERS[_drawn(seed, number, 1, 5)],
        "quantity": 1 + _drawn(seed, number, 2, 20),
        "price": (100 + _drawn(seed, number, 3, 100_000)) / 100,
        "ordered_at": _NEW_YEAR_MS + 1000 * index,
    }


def _drawn(seed: int, number: int, member: int, bound: int) -> int:
    return _split_mix_64(seed + _split_mix_64(number * 31 + member)) % bound


def _split_mix_64(state: int) -> int:
    z = (state + 0x9E3779B97F4A7C15) & _64_BITS
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _64_BITS
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _64_BITS
    return z ^ (z >> 31)


class Graph(NamedTuple):
    """The graph as the lineage service shows it.

    Attributes:
        runs: the states of each job's runs, oldest first.
        flows: from dataset to job, and from job to dataset.
        columns: from column to column.
    """

    runs: Mapping[str, list[str]]
    flows: frozenset[Edge]
    columns: frozenset[Edge]

    def differences(self, other: "Graph") -> str:
        """The differences between the two."""
        return "\n".join(
            f"{name}: {sorted(mine - theirs)} and not {sorted(theirs - mine)}"
            for name, mine, theirs in (
                ("runs", set(map(str, self.runs.items())), set(map(str, other.runs.items()))),
                ("flows", self.flows, other.flows),
                ("columns", self.columns, other.columns),
            )
        )


def shown_graph(service: Service, *datasets: str) -> Graph:
    """The graph of all that is connected to these datasets, `NAMESPACE:NAME`, and every run of the connectors."""
    flows: set[Edge] = set()
    columns: set[Edge] = set()
    for dataset in datasets:
        flows |= _edges(service, f"/lineage?nodeId={quote(f'dataset:{dataset}', safe='')}&depth=20")
        columns |= _edges(
            service, f"/column-lineage?nodeId={quote(f'dataset:{dataset}', safe='')}&depth=20&withDownstream=true"
        )
    jobs = _get(service, "/namespaces/kafka-connect/jobs?limit=100").get("jobs", [])
    states = {job["name"]: _get(service, f"/namespaces/kafka-connect/jobs/{job['name']}/runs")["runs"] for job in jobs}
    return Graph(
        {name: [run["state"] for run in reversed(runs)] for name, runs in states.items()},
        frozenset(flows),
        frozenset(columns),
    )


def _edges(service: Service, path: str) -> set[Edge]:
    nodes = _get(service, path).get("graph", [])
    return {(edge["origin"], edge["destination"]) for node in nodes for edge in node["outEdges"]}


def _get(service: Service, path: str) -> dict[str, Any]:
    response = httpx.get(f"{service.url}/api/v1{path}", timeout=60)
    body: dict[str, Any] = response.json() if response.is_success else {}
    return body
