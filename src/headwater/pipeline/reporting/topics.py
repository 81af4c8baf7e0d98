"""Topics as datasets: their names, their payload's schema, and their place in a plan.

The parsing of records into columns is not lineage: a topic has the columns of its payload. So a plan is cut above the
parsing of an input's records, and everything below becomes one relation.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs
import orjson
from openlineage.client.facet_v2 import DatasetFacet, dataset_type_dataset

from headwater.graph.sparkplan.plan import Entry
from headwater.model.naming import kafka_dataset
from headwater.model.producer import HEADWATER_FACETS
from headwater.observe.described import Described, source_facet
from headwater.observe.spark.schema import schema_facet
from headwater.pipeline.kafka.read import PAYLOAD
from headwater.pipeline.kafka.topics import Topic
from headwater.pipeline.spec import KafkaInput, KafkaOutput

SOURCE: Final = "kafka:"
"""The prefix of the source of a relation that stands for an input's topics; the input's name follows."""


@attrs.define(kw_only=True)
class HeadwaterTopicSchemaFacet(DatasetFacet):
    """The dataset facet `headwater_topic_schema`: the subject's version with which a topic was last read."""

    subject: str
    version: int
    schemaId: int
    schemaType: str

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_topic_schema.json"


def topic_dataset(kafka: KafkaInput | KafkaOutput, topic: str) -> Described:
    """A topic, named by the first of the broker's addresses."""
    name = kafka_dataset(kafka.addresses, topic)
    kind = dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TOPIC")
    return Described(name, {"dataSource": source_facet(name), "datasetType": kind})


def learn_topic(described: Described, topic: Topic) -> None:
    """Update the topic's schema and version."""
    if topic.schema is not None:
        described.facets["schema"] = schema_facet(topic.schema)
    if topic.version is not None:
        described.facets["headwater_topic_schema"] = HeadwaterTopicSchemaFacet(
            subject=topic.version.subject,
            version=topic.version.number,
            schemaId=topic.version.schema_id,
            schemaType=topic.version.kind,
        )


def fields_of(topics: Iterable[Topic]) -> Mapping[str, frozenset[str]]:
    """The names of the payload's fields, by topic."""
    return {topic.name: frozenset(topic.schema.names if topic.schema is not None else ("value",)) for topic in topics}


def cut_at_payloads(plan: str) -> bytes:
    """A plan's JSON with the parsing of each Kafka input replaced by a relation with the source `kafka:INPUT`."""
    return orjson.dumps(_cut(orjson.loads(plan)))


def _cut(entries: list[Entry]) -> list[Entry]:
    """A pre-order tree, and all trees in its entries' fields, without the parts below an input's rows."""
    cut_entries: list[Entry] = []
    index = 0
    while index < len(entries):
        name = _payload_of(entries[index])
        if name is None:
            cut_entries.append({key: _cut_within(value) for key, value in entries[index].items()})
            index += 1
        else:
            cut_entries.append(_relation(name, entries[index + 1]))
            index = _end_of_tree(entries, index)
    return cut_entries


def _cut_within(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if not isinstance(value, list):
        return value
    is_tree = bool(value) and isinstance(value[0], dict) and "class" in value[0]
    return _cut(value) if is_tree else [_cut_within(item) for item in value]


def _relation(name: str, project: Entry) -> Entry:
    columns = [[{**expression[0], "num-children": 0}] for expression in project["projectList"]]
    return {"class": "KafkaPayload", "num-children": 0, "output": columns, "sourceName": f"{SOURCE}{name}"}


def _end_of_tree(entries: list[Entry], index: int) -> int:
    pending = 1
    while pending:
        pending += entries[index]["num-children"] - 1
        index += 1
    return index


def _payload_of(entry: Entry) -> str | None:
    identifier = entry.get("identifier")
    name = identifier.get("name") if isinstance(identifier, dict) else None
    return name.removeprefix(PAYLOAD) if isinstance(name, str) and name.startswith(PAYLOAD) else None
