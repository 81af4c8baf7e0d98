"""The transforms that Kafka ships, by their documentation."""

from typing import Any, Final

import pytest

from headwater.capture.connect.chain import Column, columns_before, columns_behind, routed_topic, transform_properties

FIELDS = ["id", "price", "customer", "customer.name", "customer.email"]


def chain(*transforms: dict[str, str], kind: str = "$Value") -> dict[str, str]:
    names = [f"t{index}" for index in range(len(transforms))]
    properties = {"transforms": ",".join(names)}
    for name, transform in zip(names, transforms, strict=True):
        properties[f"transforms.{name}.type"] = f"org.apache.kafka.connect.transforms.{transform['type']}{kind}"
        properties |= {f"transforms.{name}.{key}": value for key, value in transform.items() if key != "type"}
    return properties


def same(*names: str) -> list[Column]:
    return [Column(name, name) for name in names]


@pytest.mark.parametrize(
    ("transform", "columns"),
    [
        ({"type": "ReplaceField", "exclude": "customer"}, same("id", "price")),
        ({"type": "ReplaceField", "include": "id"}, same("id")),
        ({"type": "ReplaceField", "blacklist": "customer,price"}, same("id")),
        (
            {"type": "ReplaceField", "renames": "id:order_id,customer:who", "exclude": "price"},
            [
                Column("order_id", "id"),
                Column("who", "customer"),
                Column("who.name", "customer.name"),
                Column("who.email", "customer.email"),
            ],
        ),
        (
            {"type": "MaskField", "fields": "price"},
            [Column("id", "id"), Column("price", "price", is_changed=True, is_masked=True), *same(*FIELDS[2:])],
        ),
        (
            {"type": "Cast", "spec": "price:float64"},
            [Column("id", "id"), Column("price", "price", is_changed=True), *same(*FIELDS[2:])],
        ),
        (
            {"type": "Flatten", "delimiter": "_"},
            [
                *same("id", "price"),
                Column("customer_name", "customer.name"),
                Column("customer_email", "customer.email"),
            ],
        ),
        (
            {"type": "ExtractField", "field": "customer"},
            [Column("name", "customer.name"), Column("email", "customer.email")],
        ),
        (
            {"type": "InsertField", "static.field": "site", "static.value": "x", "timestamp.field": "at!"},
            [*same(*FIELDS), Column("at", None), Column("site", None)],
        ),
        ({"type": "HoistField", "field": "v"}, [Column(f"v.{name}", name) for name in FIELDS]),
        ({"type": "HeaderFrom", "fields": "id", "headers": "h", "operation": "move"}, same(*FIELDS[1:])),
        ({"type": "HeaderFrom", "fields": "id", "headers": "h", "operation": "copy"}, same(*FIELDS)),
        ({"type": "ValueToKey", "fields": "id"}, same(*FIELDS)),
    ],
)
def test_the_columns_behind_a_transform(transform: dict[str, str], columns: list[Column]) -> None:
    assert columns_behind(chain(transform), FIELDS) == columns


def test_transforms_are_applied_in_order() -> None:
    properties = chain(
        {"type": "Flatten", "delimiter": "_"},
        {"type": "ReplaceField", "renames": "customer_email:email", "include": "id,customer_email"},
        {"type": "MaskField", "fields": "email"},
    )

    assert columns_behind(properties, FIELDS) == [
        Column("id", "id"),
        Column("email", "customer.email", is_changed=True, is_masked=True),
    ]


@pytest.mark.parametrize(
    "properties",
    [
        {"transforms": "t", "transforms.t.type": "com.example.Anything"},
        {"transforms": "t"},
    ],
)
def test_the_columns_and_topic_behind_an_unknown_transform_are_unknown(properties: dict[str, str]) -> None:
    assert columns_behind(properties, FIELDS) is None
    assert routed_topic(properties, "t") is None


def test_what_a_conditional_transform_would_change_is_unknown() -> None:
    excluding = chain({"type": "ReplaceField", "exclude": "id", "predicate": "p"})
    filtering = chain({"type": "Filter", "predicate": "isTombstone"}, kind="")
    routing = chain({"type": "RegexRouter", "regex": "t", "replacement": "u", "predicate": "p"}, kind="")

    assert (columns_behind(excluding, FIELDS), routed_topic(excluding, "t")) == (None, "t")
    assert (columns_behind(filtering, FIELDS), routed_topic(filtering, "t")) == (same(*FIELDS), "t")
    assert (routed_topic(routing, "t"), routed_topic(routing, "other")) == (None, "other")


def test_a_transform_of_the_key_does_not_change_the_value() -> None:
    assert columns_behind(chain({"type": "ReplaceField", "exclude": "id"}, kind="$Key"), FIELDS) == same(*FIELDS)


def test_for_a_source_the_columns_before_the_transforms_are_found() -> None:
    properties = chain({"type": "ReplaceField", "renames": "order_no:id"}, {"type": "MaskField", "fields": "email"})

    assert columns_before(properties, ["id", "email"]) == [
        Column("id", "order_no"),
        Column("email", "email", is_changed=True, is_masked=True),
    ]


def test_a_field_that_the_transforms_now_remove_comes_from_nowhere() -> None:
    assert columns_before(chain({"type": "ReplaceField", "exclude": "email"}), ["id", "email"]) == [Column("id", "id")]


def test_debeziums_unwrapped_columns_are_those_of_the_new_state() -> None:
    properties = {"transforms": "u", "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState"}

    assert columns_before(properties, ["id"]) == [Column("id", "after.id")]
    assert columns_behind(properties, ["before.id", "after.id", "op"]) == [Column("id", "after.id")]


UNWRAPPING: Final = {
    "transforms": "u",
    "transforms.u.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.u.add.fields": "op, source.ts_ms,lsn:position",
    "transforms.u.delete.tombstone.handling.mode": "rewrite",
}


def test_fields_that_debezium_adds_to_a_row_are_not_columns_of_the_table() -> None:
    fields = ["id", "__op", "__source_ts_ms", "__position", "__deleted"]

    assert columns_before(UNWRAPPING, fields) == [
        Column("id", "after.id"),
        *(Column(field, None) for field in fields[1:]),
    ]
    assert UNWRAPPING.keys() <= transform_properties(UNWRAPPING)


def test_fields_that_debezium_adds_to_a_row_are_from_its_envelope() -> None:
    envelope = ["before.id", "after.id", "after.__op", "op", "source.ts_ms", "source.lsn", "transaction.id"]
    prefixed = {**UNWRAPPING, "transforms.u.add.fields.prefix": "_", "transforms.u.add.fields": "op,id,source.ts_ms"}

    assert columns_behind(UNWRAPPING, envelope) == [
        Column("id", "after.id"),
        Column("__op", "op"),
        Column("__source_ts_ms", "source.ts_ms"),
        Column("__position", "source.lsn"),
        Column("__deleted", None),
    ]
    assert columns_behind(prefixed, envelope) == [
        Column("id", "after.id"),
        Column("__op", "after.__op"),
        Column("_op", "op"),
        Column("_id", "transaction.id"),
        Column("_source_ts_ms", "source.ts_ms"),
        Column("__deleted", None),
    ]


@pytest.mark.parametrize(
    ("regex", "replacement", "topic"),
    [
        ("shop\\.(.*)", "lake_$1", "lake_orders"),
        ("shop\\.(.*)", "$12", "orders2"),
        ("(?<shop>.*)\\.(?<table>.*)", "${table}-of-${shop}", "orders-of-shop"),
        ("(?<=x)", "y", "shop.orders"),
        ("other", "x", "shop.orders"),
        ("shop", "x", "shop.orders"),
        ("shop\\.(.*)", "lake\\.$1", "lake.orders"),
        ("shop\\.(.*)", "\\$1", "$1"),
        ("(raw\\.)?shop\\.(.*)", "$1$2", "orders"),
        ("shop\\.(.*?)(\\.v\\d+|ers)?", "$1", "orders"),
        ("(shop|.*)", "lake", "lake.orders"),
        ("(s)(h)(o)(p)(.)(o)(r)(d)(e)(rs)", "$10-$11-$9", "rs-s1-e"),
        ("(s)(h)(o)(p)(.)(o)(r)(d)(e)rs", "$10-$100", "s0-s00"),
        ("(?<shop>[^(?<]*)\\.(.*)", "$2", "orders"),
        ("shop\\(?<?\\.(.*)", "$1", "orders"),
        ("shop[]x.]orders", "y", "y"),
    ],
)
def test_a_transform_can_rename_a_topic(regex: str, replacement: str, topic: str) -> None:
    properties: dict[str, Any] = chain({"type": "RegexRouter", "regex": regex, "replacement": replacement}, kind="")

    assert routed_topic(properties, "shop.orders") == topic


@pytest.mark.parametrize(
    ("regex", "replacement"),
    [
        ("\\Qshop.\\E(.*)", "$1"),
        ("\\p{Alpha}+\\.(.*)", "$1"),
        ("shop.*", "$3"),
        ("shop.*", "lake$"),
        ("shop.*", "${1}"),
        ("shop.*", "lake\\"),
        ("[a-z&&[^x]]+\\.(.*)", "$1"),
        ("[a-z[.]]+(.*)", "$1"),
        ("(?P<shop>.*)", "${shop}"),
    ],
)
def test_a_topic_behind_an_expression_that_only_java_can_read_is_unknown(regex: str, replacement: str) -> None:
    properties: dict[str, Any] = chain({"type": "RegexRouter", "regex": regex, "replacement": replacement}, kind="")

    assert routed_topic(properties, "shop.orders") is None


def test_fields_named_by_a_config_provider_are_unknown_and_its_values_elsewhere_do_not_matter() -> None:
    with_unknown_fields = chain({"type": "ReplaceField", "exclude": "${env:PRIVATE}"})
    with_unknown_value = chain({"type": "MaskField", "fields": "price", "replacement": "${env:MASK}"})

    assert columns_behind(with_unknown_fields, FIELDS) is None
    assert columns_behind(with_unknown_value, ["price"]) == [Column("price", "price", is_changed=True, is_masked=True)]
