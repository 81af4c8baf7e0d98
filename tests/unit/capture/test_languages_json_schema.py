"""Fields of JSON Schemas, and what breaks who reads them.

The schemas are examples of "Understanding JSON Schema" and of the specification 2020-12, shortened.
"""

import json

import pytest

from headwater.capture.fields import Field, types
from headwater.capture.languages.json_schema import breaks
from headwater.capture.schemas import read_subject


def read(schema: object, **referenced: object) -> tuple[Field, ...]:
    others = {name: json.dumps(other) for name, other in referenced.items()}
    found = read_subject({"schemaType": "JSON", "version": 1, "schema": json.dumps(schema)}, others)
    return () if found is None else found.fields


def of(**properties: object) -> object:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": ["string", "null"]}, "string"),
        ({"type": ["number", "string"]}, "number|string"),
        ({"type": "null"}, "null"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, "string"),
        ({"anyOf": [{"type": "string", "maxLength": 5}, {"type": "number", "minimum": 0}]}, "number|string"),
        ({"type": "array", "items": {"type": ["integer", "null"]}}, "array<integer>"),
        ({"type": "array"}, "array"),
        ({"type": ["array", "null"], "items": {"type": "array", "items": {"type": "string"}}}, "array<array<string>>"),
        ({"allOf": [{"$ref": "#/$defs/amount"}]}, "number"),
        ({"$ref": "#/$defs/amount"}, "number"),
        ({"const": 4}, "any"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_a_property_has_the_types_that_its_schema_allows(schema: object, shown: str) -> None:
    (field,) = read({**of(x=schema), "$defs": {"amount": {"type": "number"}}})  # type: ignore[dict-item]

    assert field == Field("x", shown)


def test_properties_of_objects_within_others_and_in_arrays_are_read() -> None:
    address = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = {
        "$defs": {"address": address, "base": of(id={"type": "integer"})},
        "allOf": [{"$ref": "#/$defs/base"}, of(note={"type": "string"})],
        "properties": {
            "billing": {"$ref": "#/$defs/address"},
            "shipping": {"type": "array", "items": {"$ref": "#/$defs/address"}},
            "who": {"oneOf": [{"type": "null"}, of(name={"type": "string"})]},
        },
    }

    assert types(read(schema)) == {
        "billing": "object",
        "billing.city": "string",
        "shipping": "array<object>",
        "shipping.city": "string",
        "who": "object",
        "who.name": "string",
        "id": "integer",
        "note": "string",
    }


def test_an_object_within_itself_is_told_once_and_another_subjects_schema_is_read() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}

    assert read(tree) == (Field("children", "array<object>"),)
    assert read(of(at={"$ref": "address.json"}), **{"address.json": of(city={"type": "string"})}) == (
        Field("at", "object", (Field("city", "string"),)),
    )


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {"$ref": "#"}, [1]])
def test_what_has_no_properties_has_no_schema(schema: object) -> None:
    assert read(schema) == ()


@pytest.mark.parametrize(
    ("before", "after", "is_breaking"),
    [
        ("integer", "number", False),  # every integer is a number
        ("number", "integer", True),
        ("string", "number|string", False),
        ("number|string", "string", True),
        ("string", "integer", True),
        ("string", "any", False),
        ("any", "string", True),
        ("array<integer>", "array<number>", False),
        ("array<integer|string>", "array<integer>", True),
        ("array<string>", "array", False),
        ("array<string>", "string", True),
    ],
)
def test_a_type_that_takes_less_than_before_breaks(before: str, after: str, is_breaking: bool) -> None:
    assert breaks(before, after) is is_breaking
