"""JSON Schema as columns in SQL."""

import json

import pytest

from headwater.errors import IncompatibleSchemaError, InvalidInputError
from headwater.pipeline.kafka.json_schema import columns_of
from headwater.pipeline.kafka.registry import Version


def version(number: int, properties: object) -> Version:
    return Version("orders-value", number, number, "JSON", json.dumps({"type": "object", "properties": properties}))


@pytest.mark.parametrize(
    ("schema", "column"),
    [
        ({"type": "integer"}, "BIGINT"),
        ({"type": "number"}, "DOUBLE"),
        ({"type": ["null", "boolean"]}, "BOOLEAN"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "STRING"),
        ({"type": "array", "items": {"type": "integer"}}, "ARRAY<BIGINT>"),
        ({"type": "object", "properties": {"a`b": {"type": "integer"}}}, "STRUCT<`a``b`: BIGINT>"),
        ({"type": "object"}, "STRING"),
        ({"type": ["integer", "string"]}, "STRING"),
        (True, "STRING"),
    ],
)
def test_a_property_without_a_single_type_is_text(schema: object, column: str) -> None:
    assert columns_of([version(1, {"x": schema})]) == f"`x` {column}"


def test_the_columns_are_those_of_all_versions() -> None:
    first, second = version(1, {"a": {"type": "integer"}}), version(2, {"b": {"type": "string"}})

    assert columns_of([first, second]) == "`a` BIGINT, `b` STRING"


def test_a_changed_type_is_refused_with_both_versions() -> None:
    first, second = version(1, {"a": {"type": "integer"}}), version(2, {"a": {"type": "string"}})

    with pytest.raises(
        IncompatibleSchemaError, match=r"orders-value: version 2 cannot follow version 1: TYPE_MISMATCH"
    ):
        columns_of([first, second])


def test_a_schema_that_is_not_an_object_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="orders-value version 1: expected a JSON Schema of an object"):
        columns_of([Version("orders-value", 1, 1, "JSON", "true")])
