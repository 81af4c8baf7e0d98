"""Write orders into the lab's topic `orders`, as Avro with a schema id.

python orders.py 100                    # 100 orders of the first version of the schema
python orders.py 100 --with-supplier    # of a newer version, with one more field
python orders.py 0 --junk               # one record that is not an order
"""

import argparse
import json
import os
import random

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

BROKER = os.environ.get("LAB_BROKER", "127.0.0.1:9092")
REGISTRY = os.environ.get("LAB_REGISTRY", "http://127.0.0.1:8081/apis/ccompat/v7")
TOPIC = "orders"

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "order_id", "type": "long"},
        {"name": "price", "type": ["null", "double"], "default": None},
    ],
}
SUPPLIER = {"name": "supplier", "type": ["null", "string"], "default": None}


def main() -> None:
    """Write the records that the options select."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many orders")
    parser.add_argument("--with-supplier", action="store_true", help="with the newer schema")
    parser.add_argument("--junk", action="store_true", help="also one record that is not an order")
    options = parser.parse_args()
    producer = Producer({"bootstrap.servers": BROKER})
    with SchemaRegistryClient({"url": REGISTRY}) as registry:
        write_orders(producer, registry, options.count, with_supplier=options.with_supplier)
    if options.junk:
        producer.produce(TOPIC, value=b"this is no order")
    producer.flush(30)


def write_orders(producer: Producer, registry: SchemaRegistryClient, count: int, *, with_supplier: bool) -> None:
    """Register the schema if it is new, and write orders with random prices."""
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], SUPPLIER]} if with_supplier else SCHEMA
    serialize = AvroSerializer(registry, json.dumps(schema))
    context = SerializationContext(TOPIC, MessageField.VALUE)
    for number in range(count):
        order: dict[str, object] = {"order_id": number, "price": round(random.uniform(1, 100), 2)}  # noqa: S311
        if with_supplier:
            order["supplier"] = random.choice(["acme", "brix"])  # noqa: S311
        producer.produce(TOPIC, key=str(number), value=serialize(order, context))


if __name__ == "__main__":
    main()
