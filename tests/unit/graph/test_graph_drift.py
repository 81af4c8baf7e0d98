from collections.abc import Mapping

from headwater.graph.drift import ReportedSchema, column_changes, drift

BEFORE = {"id": "bigint", "price": "decimal(10,2)", "address": "struct", "address.city": "string", "note.txt": "string"}


def test_another_order_or_spelling_of_columns_is_not_a_change() -> None:
    assert column_changes(BEFORE, {**dict(reversed(BEFORE.items())), "id": "long"}) == []


def test_nested_fields_of_an_added_or_removed_column_are_not_listed() -> None:
    after = {"id": "bigint", "price": "decimal(10,2)", "customer": "struct", "customer.name": "string"}

    assert [(change.column, change.change) for change in column_changes(BEFORE, after)] == [
        ("address", "removed"),
        ("note.txt", "removed"),  # a dot in a name does not mean nesting
        ("customer", "added"),
    ]


def test_whether_other_bounds_of_a_type_break_is_unknown() -> None:
    (change,) = column_changes(BEFORE, {**BEFORE, "price": "decimal(12,4)"})

    assert (change.change, change.is_breaking) == ("retyped", None)


def test_an_unknown_type_is_not_a_change() -> None:
    assert column_changes(BEFORE, {**BEFORE, "id": None}) == []


def drift_of(*reported: tuple[str, Mapping[str, str | None]]) -> list[list[tuple[str, str]]]:
    changes = drift(ReportedSchema(reporter, columns) for reporter, columns in reported)
    return [[(change.column, change.change) for change in some] for some in changes]


def test_another_reporters_spelling_of_a_schema_is_not_a_change() -> None:
    narrow, wide = {"id": "int"}, {"id": "decimal(38,0)", "note": "varchar"}

    assert drift_of(("spark", narrow), ("oracle", wide), ("spark", narrow), ("oracle", wide)) == [[], [], [], []]


def test_a_change_that_several_report_is_dated_by_the_first() -> None:
    before: dict[str, str | None] = {"id": "int"}
    after: dict[str, str | None] = {"id": "long", "note": "string"}

    assert drift_of(("a", before), ("b", before), ("a", after), ("b", after), ("a", before), ("b", before)) == [
        [],
        [],
        [("id", "retyped"), ("note", "added")],
        [],
        [("id", "retyped"), ("note", "removed")],
        [],
    ]


def test_a_column_that_becomes_nullable_breaks_and_one_that_becomes_not_null_does_not() -> None:
    not_null, nullable = {"id": "BIGINT NOT NULL"}, {"id": "BIGINT"}

    changes = [*column_changes(not_null, nullable), *column_changes(nullable, not_null)]

    assert [(change.change, change.is_breaking) for change in changes] == [("retyped", True), ("retyped", False)]


def test_reporters_with_and_without_nullability_report_the_same_change() -> None:
    flink: list[dict[str, str | None]] = [{"id": "INT NOT NULL"}, {"id": "BIGINT NOT NULL"}, {"id": "BIGINT"}]
    spark: list[dict[str, str | None]] = [{"id": "int"}, {"id": "bigint"}, {"id": "bigint"}]
    both = [each for some in zip(flink, spark, strict=True) for each in zip(("flink", "spark"), some, strict=True)]

    assert drift_of(*both) == [[], [], [("id", "retyped")], [], [("id", "retyped")], []]
    assert drift_of(*both[1::-1], *both[3:1:-1], *both[:3:-1]) == [
        [],
        [],
        [("id", "retyped")],
        [],
        [],
        [("id", "retyped")],
    ]


def test_another_spelling_inside_a_type_is_not_a_change() -> None:
    before, after = {"s": "struct<a:int,b:string>"}, {"s": "struct<a: int, b: string>"}

    assert column_changes(before, after) == []
