"""Fields of topics, from a registry's subjects."""

import json
from typing import Final

import httpx
import pytest

from headwater.capture.fields import Field, TopicSchema, types
from headwater.capture.schemas import NotProvidedError, Registry, read_subject

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
        {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
        {"name": "lines", "type": {"type": "array", "items": "string"}},
        {
            "name": "customer",
            "type": {
                "type": "record",
                "name": "Customer",
                "fields": [{"name": "name", "type": "string"}, {"name": "friend", "type": ["null", "Customer"]}],
            },
        },
    ],
}


def test_fields_types_and_nested_records_of_avro_are_read() -> None:
    topic_schema = read_subject({"version": 3, "schema": json.dumps(ORDER)})

    assert topic_schema is not None
    assert topic_schema.version == 3
    assert [(field.name, field.type) for field in topic_schema.fields] == [
        ("id", "long"),
        ("price", "decimal(10,2)"),
        ("at", "timestamp-millis"),
        ("lines", "array<string>"),
        ("customer", "struct"),
    ]
    assert [*types(topic_schema.fields)][:6] == ["id", "price", "at", "lines", "customer", "customer.name"]


def test_a_json_schema_has_its_properties() -> None:
    schema = {"type": "object", "properties": {"id": {"type": "integer"}, "who": {"properties": {"name": {}}}}}

    assert read_subject({"schemaType": "JSON", "version": 1, "schema": json.dumps(schema)}) == TopicSchema(
        (Field("id", "integer"), Field("who", "object", (Field("name", "any"),))), 1
    )


def test_a_subject_without_fields_has_no_schema() -> None:
    assert read_subject({"schema": '"string"', "version": 1}) is None
    assert read_subject({"schemaType": "PROTOBUF", "schema": "syntax = ...", "version": 1}) is None
    assert read_subject({"schemaType": "XML", "schema": "<a/>", "version": 1}) is None
    assert read_subject({"schema": "{", "version": 1}) is None


def test_records_in_lists_and_maps_have_fields_and_a_recursive_one_is_listed_once() -> None:
    line = {"type": "record", "name": "shop.Line", "fields": [{"name": "sku", "type": "string"}]}
    tree = {
        "type": "record",
        "name": "Tree",
        "fields": [
            {"name": "lines", "type": ["null", {"type": "array", "items": line}]},
            {"name": "by_sku", "type": {"type": "map", "values": "shop.Line"}},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
            {"name": "left", "type": ["null", "Tree"]},
            {"name": "either", "type": ["long", "string"]},
        ],
    }

    topic_schema = read_subject({"version": 1, "schema": json.dumps(tree)})

    sku = (Field("sku", "string"),)
    assert topic_schema == TopicSchema(
        (
            Field("lines", "array<struct>", sku),
            Field("by_sku", "map<string,struct>", sku),
            Field("kind", "enum"),
            Field("left", "struct"),
            Field("either", "union"),
        ),
        1,
    )


def test_avro_names_are_resolved_in_their_namespaces() -> None:
    billed = {"type": "record", "name": "Address", "fields": [{"name": "street", "type": "string"}]}
    shipped = {**billed, "namespace": "post", "fields": [{"name": "box", "type": "long"}]}
    order = {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "bill", "type": billed},
            {"name": "ship", "type": shipped},
            {"name": "bill_again", "type": "Address"},
            {"name": "ship_again", "type": ["null", "post.Address"]},
        ],
    }

    topic_schema = read_subject({"version": 1, "schema": json.dumps(order)})

    assert topic_schema is not None
    assert [path for path in types(topic_schema.fields) if "." in path] == [
        "bill.street",
        "ship.box",
        "bill_again.street",
        "ship_again.box",
    ]


_MANY: Final = range(12)
_MUTUAL: Final = {
    "AVRO": {
        "type": "record",
        "name": "A",
        "fields": [
            {
                "name": f"r{number}",
                "type": {
                    "type": "record",
                    "name": f"R{number}",
                    "fields": [{"name": f"f{other}", "type": ["null", f"R{other}"]} for other in _MANY],
                },
            }
            for number in _MANY
        ],
    },
    "JSON": {
        "properties": {f"r{number}": {"$ref": f"#/$defs/R{number}"} for number in _MANY},
        "$defs": {
            f"R{number}": {"properties": {f"f{other}": {"$ref": f"#/$defs/R{other}"} for other in _MANY}}
            for number in _MANY
        },
    },
}
_MUTUAL_PROTOBUF: Final = "\n".join(
    [
        'syntax = "proto3";',
        "message A {" + " ".join(f"R{number} r{number} = {number + 1};" for number in _MANY) + "}",
        *(
            f"message R{number} {{" + " ".join(f"R{other} f{other} = {other + 1};" for other in _MANY) + "}"
            for number in _MANY
        ),
    ]
)


@pytest.mark.parametrize(
    ("language", "text"),
    [*((name, json.dumps(schema)) for name, schema in _MUTUAL.items()), ("PROTOBUF", _MUTUAL_PROTOBUF)],
)
def test_mutually_recursive_records_have_a_limit_and_all_fields_of_the_first_level(language: str, text: str) -> None:
    topic_schema = read_subject({"schemaType": language, "version": 1, "schema": text})

    assert topic_schema is not None
    assert [field.name for field in topic_schema.fields] == [f"r{number}" for number in _MANY]
    assert len(types(topic_schema.fields)) <= 5_000


def test_a_version_is_read_with_the_schemas_that_it_references() -> None:
    customer = {"type": "record", "name": "Customer", "fields": [{"name": "name", "type": "string"}]}
    order = {"type": "record", "name": "Order", "fields": [{"name": "customer", "type": "Customer"}]}
    reference = {"name": "Customer", "subject": "customer", "version": 3}
    responses = {
        "/subjects/orders-value/versions/latest": {
            "version": 2,
            "schema": json.dumps(order),
            "references": [reference],
        },
        "/subjects/customer/versions/3": {"version": 3, "schema": json.dumps(customer), "references": [reference]},
    }
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=responses[request.url.path]))

    registry = Registry("http://registry", transport)
    topic_schema = registry.schema_of("orders")
    registry.close()

    assert topic_schema == TopicSchema((Field("customer", "struct", (Field("name", "string"),)),), 2)


def test_the_registry_is_called_again_after_half_a_minute_and_a_known_schema_stays_on_failure() -> None:
    responses = [
        httpx.Response(200, json={"version": 1, "schema": json.dumps(ORDER)}),
        httpx.Response(200, json={"version": 2, "schema": json.dumps(ORDER)}),
        httpx.Response(503),
    ]
    paths: list[str] = []
    time = [0.0]

    def respond(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.path)
        return responses.pop(0)

    registry = Registry("http://ann:hunter2@registry/apis/ccompat/v7", httpx.MockTransport(respond), lambda: time[0])
    versions = []
    for time[0] in (0, 29, 31, 62):
        topic_schema = registry.schema_of("orders")
        versions.append(None if topic_schema is None else topic_schema.version)

    registry.close()
    assert versions == [1, 1, 2, 2]
    assert paths == ["/apis/ccompat/v7/subjects/orders-value/versions/latest"] * 3


def test_a_silent_registry_is_not_called_for_a_while_and_longer_for_the_topic_that_failed() -> None:
    subjects: list[str] = []
    time, is_silent = [0.0], [True]

    def respond(request: httpx.Request) -> httpx.Response:
        subjects.append(request.url.path.split("/")[2])
        if is_silent[0]:
            raise httpx.ReadTimeout("silent", request=request)
        return httpx.Response(200, json={"version": 1, "schema": json.dumps(ORDER)})

    registry = Registry("http://registry", httpx.MockTransport(respond), lambda: time[0])
    topics = ("orders", "bids", "views")
    during_silence = [registry.schema_of(topic) for time[0] in (0, 10, 29) for topic in topics]
    is_silent[0] = False
    afterwards = [registry.schema_of(topic) is not None for time[0] in (31, 61) for topic in topics]
    registry.close()

    assert during_silence == [None] * 9
    assert subjects[0] == "orders-value"
    assert subjects[1:3] == ["bids-value", "views-value"]
    assert afterwards == [False, True, True, True, True, True]


def test_a_registry_that_responds_with_an_error_is_called_for_other_topics() -> None:
    subjects: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        subjects.append(request.url.path.split("/")[2])
        return httpx.Response(500)

    registry = Registry("http://registry", httpx.MockTransport(respond))
    for topic in ("orders", "bids"):
        registry.schema_of(topic)
    registry.close()

    assert subjects == ["orders-value", "bids-value"]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        "not a registry",
        {"version": 1},
        {"version": 1, "schema": 7},
        {"version": 1, "schema": "{}", "references": "customer"},
        {"version": 1, "schema": "{}", "references": ["customer"]},
        {"version": 1, "schema": "{}", "references": [{"name": "customer", "subject": 7, "version": 1}]},
    ],
)
def test_an_answer_in_another_form_than_a_registrys_is_no_schema(answer: object) -> None:
    registry = Registry("http://registry", httpx.MockTransport(lambda request: httpx.Response(200, json=answer)))

    topic_schema = registry.schema_of("orders")

    assert topic_schema is None
    with pytest.raises(NotProvidedError):
        registry.version("orders-value", 1)
    registry.close()
