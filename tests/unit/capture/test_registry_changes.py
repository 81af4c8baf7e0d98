from headwater.capture.fields import Field
from headwater.capture.registry import changes

BEFORE = (
    Field("id", "long"),
    Field("price", "int"),
    Field("note", "string"),
    Field("customer", "struct", (Field("name", "string"), Field("email", "string"))),
)


def test_another_order_of_fields_is_not_a_change() -> None:
    assert changes(BEFORE, BEFORE[::-1]) == []


def test_added_removed_and_retyped_fields_are_listed_and_whether_they_break_readers() -> None:
    after = (
        Field("price", "double"),
        Field("note", "boolean"),
        Field("customer", "struct", (Field("name", "string"), Field("phone", "string"))),
        Field("at", "timestamp-millis"),
    )

    assert [tuple(change.values()) for change in changes(BEFORE, after)] == [
        ("id", "removed", "long", True),
        ("price", "retyped", "int", "double", False),  # Avro promotes
        ("note", "retyped", "string", "boolean", True),
        ("customer.email", "removed", "string", True),
        ("customer.phone", "added", "string", False),
        ("at", "added", "timestamp-millis", False),
    ]


def test_a_decimal_of_other_bounds_is_breaking() -> None:
    (change,) = changes((Field("price", "decimal(10,2)"),), (Field("price", "decimal(12,4)"),))

    assert change["isBreaking"] is True


def test_whether_a_change_breaks_depends_on_the_language_of_the_schema() -> None:
    is_breaking = {
        language: changes((Field("a", "int32"),), (Field("a", "double"),), language)[0]["isBreaking"]
        for language in ("AVRO", "PROTOBUF")
    }

    assert is_breaking == {"AVRO": False, "PROTOBUF": True}  # Avro promotes an int; on Protobuf's wire they differ
