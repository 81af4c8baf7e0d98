"""Fields of JSON Schemas, and changes that break readers.

The schemas are examples of "Understanding JSON Schema" and of the specification 2020-12, shortened.
"""

import json

import pytest

from headwater.capture.fields import Field, types
from headwater.capture.languages.json_schema import breaks
from headwater.capture.schemas import read_subject


def read(schema: object, **referenced: object) -> tuple[Field, ...]:
    others = {name: json.dumps(other) for name, other in referenced.items()}
    schema_of_topic = read_subject({"schemaType": "JSON", "version": 1, "schema": json.dumps(schema)}, others)
    return () if schema_of_topic is None else schema_of_topic.fields


def object_with(**properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "type_name"),
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
        ({"$ref": "#/%24defs/amount"}, "number"),
        ({"$ref": "#amount"}, "any"),
        ({"const": 4}, "any"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_a_property_has_the_types_that_its_schema_allows(schema: object, type_name: str) -> None:
    (field,) = read({**object_with(x=schema), "$defs": {"amount": {"type": "number"}}})

    assert field == Field("x", type_name)


def test_properties_of_objects_within_others_and_in_arrays_are_read() -> None:
    address = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = {
        "$defs": {"address": address, "base": object_with(id={"type": "integer"})},
        "allOf": [{"$ref": "#/$defs/base"}, object_with(note={"type": "string"})],
        "properties": {
            "billing": {"$ref": "#/$defs/address"},
            "shipping": {"type": "array", "items": {"$ref": "#/$defs/address"}},
            "who": {"oneOf": [{"type": "null", "title": "Not included"}, object_with(name={"type": "string"})]},
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


@pytest.mark.parametrize(
    "beside",
    [
        {"$ref": "#/$defs/base"},
        {"allOf": [{"$ref": "#/$defs/base"}]},
        {"allOf": [{"allOf": [{"$ref": "#/$defs/base"}]}], "type": "object"},
        {"oneOf": [{"type": "null"}, {"$ref": "#/$defs/base"}]},
        {"anyOf": [{"$ref": "#/$defs/base"}]},
    ],
)
def test_properties_beside_a_reference_are_read_as_those_behind_it(beside: dict[str, object]) -> None:
    base = object_with(id={"type": "integer"}, note={"maxLength": 5})
    with_more = {**beside, "properties": {"note": {"type": "string"}, "at": {"type": "number"}}}

    whole = read({**with_more, "$defs": {"base": base}})
    within = read({**object_with(x=with_more), "$defs": {"base": base}})

    assert types(whole) == {"note": "string", "at": "number", "id": "integer"}
    assert types(within) == {"x": "object", "x.note": "string", "x.at": "number", "x.id": "integer"}


def test_choices_that_refer_to_each_other_are_read_once() -> None:
    choices = [{"type": "integer"}, *({"$ref": f"#/$defs/{number}"} for number in range(20))]
    schemas = {str(number): {"oneOf": choices} for number in range(20)}

    assert types(read({**object_with(x={"$ref": "#/$defs/0"}), "$defs": schemas})) == {"x": "integer"}


def test_a_list_of_objects_that_extend_themselves_ends() -> None:
    tree = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#", "properties": {"n": {}}}}},
    }

    assert types(read(tree)) == {
        "children": "array<object>",
        "children.n": "any",
        "children.children": "array<object>",
    }


def test_a_recursive_object_is_listed_once_and_another_subjects_schema_is_read() -> None:
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}

    assert read(tree) == (Field("children", "array<object>"),)
    assert read(object_with(at={"$ref": "address.json"}), **{"address.json": object_with(city={"type": "string"})}) == (
        Field("at", "object", (Field("city", "string"),)),
    )


def test_a_reference_within_another_subjects_schema_is_to_that_schema() -> None:
    order = {**object_with(at={"$ref": "#/$defs/place"}), "$defs": {"place": object_with(city={"type": "string"})}}
    schema = {**object_with(order={"$ref": "order.json"}), "$defs": {"place": {"type": "integer"}}}

    assert types(read(schema, **{"order.json": order})) == {
        "order": "object",
        "order.at": "object",
        "order.at.city": "string",
    }


@pytest.mark.parametrize("schema", [True, {"type": "string"}, {"$ref": "#"}, [1]])
def test_a_schema_without_properties_has_no_fields(schema: object) -> None:
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
def test_a_type_that_accepts_less_than_before_breaks(before: str, after: str, is_breaking: bool) -> None:
    assert breaks(before, after) is is_breaking
