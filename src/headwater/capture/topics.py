"""A Kafka topic as a dataset."""

from collections.abc import Iterable
from typing import Any

from headwater.capture.fields import Field, TopicSchema
from headwater.model.naming import kafka_dataset
from headwater.model.slim import Described, Facet, dataset_type, dataset_version, facet, without_empty


def topic_dataset(bootstrap: str, topic: str, schema: TopicSchema | None) -> Described:
    """The topic, with the schema of its values if known."""
    name = kafka_dataset(bootstrap, topic)
    facets: dict[str, Facet] = {
        "dataSource": facet("1-0-1/DatasourceDatasetFacet", name=name.namespace, uri=name.namespace),
        "datasetType": dataset_type("TOPIC"),
    }
    if schema is not None:
        facets["schema"] = facet("1-2-0/SchemaDatasetFacet", fields=_fields(schema.fields))
        if schema.version is not None:
            facets["version"] = dataset_version(str(schema.version))
    return Described(name, facets)


def _fields(fields: Iterable[Field]) -> list[dict[str, Any]]:
    return [
        without_empty(name=field.name, type=field.type, ordinal_position=position, fields=_fields(field.fields))
        for position, field in enumerate(fields, start=1)
    ]
