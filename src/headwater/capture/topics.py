"""A Kafka topic as a dataset."""

from collections.abc import Iterable
from typing import NamedTuple

from openlineage.client.facet_v2 import (
    DatasetFacet,
    dataset_type_dataset,
    dataset_version_dataset,
    datasource_dataset,
    schema_dataset,
)

from headwater.capture.schemas import Field, TopicSchema
from headwater.model.names import DatasetId
from headwater.model.naming import kafka_dataset


class Described(NamedTuple):
    """A dataset and what is known of it."""

    id: DatasetId
    facets: dict[str, DatasetFacet]


def topic_dataset(bootstrap: str, topic: str, schema: TopicSchema | None) -> Described:
    """The topic, with the schema of its values as far as it is known."""
    name = kafka_dataset(bootstrap, topic)
    facets: dict[str, DatasetFacet] = {
        "dataSource": datasource_dataset.DatasourceDatasetFacet(name=name.namespace, uri=name.namespace),
        "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TOPIC"),
    }
    if schema is not None:
        facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=_fields(schema.fields))
        if schema.version is not None:
            facets["version"] = dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=str(schema.version))
    return Described(name, facets)


def _fields(fields: Iterable[Field]) -> list[schema_dataset.SchemaDatasetFacetFields]:
    return [
        schema_dataset.SchemaDatasetFacetFields(
            name=field.name, type=field.type, fields=_fields(field.fields), ordinal_position=place
        )
        for place, field in enumerate(fields, start=1)
    ]
