from headwater.capture.fields import Field
from headwater.capture.registry import changes

BEFORE = (
    Field("id", "long"),
    Field("price", "int"),
    Field("note", "string"),
    Field("customer", "struct", (Field("name", "string"), Field("email", "string"))),
)


def test_the_same_fields_in_another_order_are_no_change() -> None:
    assert changes(BEFORE, BEFORE[::-1]) == []


def test_fields_that_came_went_or_changed_are_told_with_whether_it_breaks_who_reads_them() -> None:
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


def test_whether_it_breaks_is_judged_by_the_language_of_the_schema() -> None:
    judged = {
        language: changes((Field("a", "int32"),), (Field("a", "double"),), language)[0]["isBreaking"]
        for language in ("AVRO", "PROTOBUF")
    }

    assert judged == {"AVRO": False, "PROTOBUF": True}  # Avro promotes an int; on Protobuf's wire they differ
