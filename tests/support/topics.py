"""Topics with records, written and read by Confluent's own clients."""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Message, Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from headwater.lab.lab import Lab

Record = Mapping[str, Any]


@dataclass
class Topics:
    """Access to the lab's broker and registry."""

    lab: Lab
    registry: SchemaRegistryClient = field(init=False)

    def __post_init__(self) -> None:
        self._producer = Producer({"bootstrap.servers": self.broker})
        self.registry = SchemaRegistryClient({"url": self.registry_url})

    @property
    def broker(self) -> str:
        return self.lab.address("broker")

    @property
    def registry_url(self) -> str:
        return self.lab.address("registry")

    def named(self, name: str) -> str:
        """A topic name that is not used yet."""
        return f"{name}-{uuid.uuid4().hex[:12]}"

    def put(self, topic: str, *values: bytes | None, key: bytes | None = None) -> None:
        for value in values:
            self._producer.produce(topic, key=key, value=value, headers={"trace": b"t-1"})
        self._producer.flush(30)

    def put_json(self, topic: str, records: Iterable[Record]) -> None:
        self.put(topic, *(json.dumps(record).encode() for record in records))

    def put_avro(self, topic: str, schema: Record, *records: Record) -> None:
        """Registers the schema under TOPIC-value, as Confluent's serializer does."""
        write = AvroSerializer(self.registry, json.dumps(schema))
        context = SerializationContext(topic, MessageField.VALUE)
        self.put(topic, *(write(dict(record), context) for record in records))

    @contextmanager
    def no_rule(self) -> Iterator[None]:
        """Disable the registry's global rule meanwhile, which Apicurio applies to subjects without their own."""
        self.registry.set_compatibility(level="NONE")
        try:
            yield
        finally:
            self.registry.set_compatibility(level="BACKWARD")

    def register(self, topic: str, schema: Record) -> None:
        self.registry.register_schema(f"{topic}-value", Schema(json.dumps(schema), "AVRO"))

    def messages(self, topic: str, count: int) -> list[Message]:
        """The first messages of a topic."""
        settings = {"bootstrap.servers": self.broker, "group.id": uuid.uuid4().hex, "auto.offset.reset": "earliest"}
        consumer = Consumer(settings)
        consumer.subscribe([topic])
        try:
            return consumer.consume(count, 30)
        finally:
            consumer.close()

    def avro_values(self, topic: str, count: int) -> list[object]:
        read = AvroDeserializer(self.registry)
        context = SerializationContext(topic, MessageField.VALUE)
        return [read(message.value(), context) for message in self.messages(topic, count)]

    def close(self) -> None:
        self._producer.flush(10)
        self.registry.__exit__(None, None, None)  # type: ignore[no-untyped-call]
