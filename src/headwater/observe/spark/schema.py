"""A frame's columns as the dataset facet `schema`."""

from typing import Any

from openlineage.client.facet_v2 import schema_dataset
from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType


def schema_facet(schema: StructType) -> schema_dataset.SchemaDatasetFacet:
    """The columns in order, structs with their fields, types as Spark writes them (`decimal(10,2)`)."""
    return schema_dataset.SchemaDatasetFacet(
        fields=[_field(field, position) for position, field in enumerate(schema.fields, start=1)]
    )


def _field(field: StructField, position: int) -> schema_dataset.SchemaDatasetFacetFields:
    return schema_dataset.SchemaDatasetFacetFields(
        name=field.name,
        type=_type_name(field.dataType),
        description=_comment(field.metadata),
        ordinal_position=position,
        fields=_nested(field.dataType),
    )


def _type_name(kind: DataType) -> str:
    """A type's name, without a struct's fields, which the facet lists one by one."""
    return "struct" if isinstance(kind, StructType) else kind.simpleString()


def _nested(kind: DataType) -> list[schema_dataset.SchemaDatasetFacetFields]:
    match kind:
        case StructType():
            return [_field(field, position) for position, field in enumerate(kind.fields, start=1)]
        case ArrayType(elementType=StructType() as element):
            return _nested(element)
        case MapType(valueType=StructType() as value):
            return _nested(value)
        case _:
            return []


def _comment(metadata: dict[str, Any] | None) -> str | None:
    comment = (metadata or {}).get("comment")
    return comment if isinstance(comment, str) else None
