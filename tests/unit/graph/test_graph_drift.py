from headwater.graph.drift import ReportedSchema, column_changes, drift

BEFORE = {"id": "bigint", "price": "decimal(10,2)", "address": "struct", "address.city": "string", "note.txt": "string"}


def test_the_same_columns_in_another_order_and_spelling_are_no_change() -> None:
    assert column_changes(BEFORE, {**dict(reversed(BEFORE.items())), "id": "long"}) == []


def test_what_is_inside_a_column_that_went_or_came_is_not_told_apart() -> None:
    after = {"id": "bigint", "price": "decimal(10,2)", "customer": "struct", "customer.name": "string"}

    assert [(change.column, change.change) for change in column_changes(BEFORE, after)] == [
        ("address", "removed"),
        ("note.txt", "removed"),  # a dot in a name is no nesting
        ("customer", "added"),
    ]


def test_other_bounds_of_a_type_depend_on_who_reads() -> None:
    (change,) = column_changes(BEFORE, {**BEFORE, "price": "decimal(12,4)"})

    assert (change.change, change.is_breaking) == ("retyped", None)


def test_a_type_that_nobody_tells_is_no_change() -> None:
    assert column_changes(BEFORE, {**BEFORE, "id": None}) == []


def told(*tellings: tuple[str, dict[str, str | None]]) -> list[list[tuple[str, str]]]:
    changes = drift(ReportedSchema(teller, columns) for teller, columns in tellings)
    return [[(change.column, change.change) for change in some] for some in changes]


def test_who_spells_a_schema_in_another_way_does_not_change_it() -> None:
    narrow, wide = {"id": "int"}, {"id": "decimal(38,0)", "note": "varchar"}

    assert told(("spark", narrow), ("oracle", wide), ("spark", narrow), ("oracle", wide)) == [[], [], [], []]


def test_what_several_tell_of_changed_with_the_first_of_them() -> None:
    before: dict[str, str | None] = {"id": "int"}
    after: dict[str, str | None] = {"id": "long", "note": "string"}

    assert told(("a", before), ("b", before), ("a", after), ("b", after), ("a", before), ("b", before)) == [
        [],
        [],
        [("id", "retyped"), ("note", "added")],
        [],
        [("id", "retyped"), ("note", "removed")],
        [],
    ]


def test_a_column_that_may_be_null_now_breaks_its_readers_and_one_that_never_is_does_not() -> None:
    told_so, silent = {"id": "BIGINT NOT NULL"}, {"id": "BIGINT"}

    changes = [*column_changes(told_so, silent), *column_changes(silent, told_so)]

    assert [(change.change, change.is_breaking) for change in changes] == [("retyped", True), ("retyped", False)]


def test_who_tells_nothing_of_null_tells_the_same_change_as_who_does() -> None:
    flink: list[dict[str, str | None]] = [{"id": "INT NOT NULL"}, {"id": "BIGINT NOT NULL"}, {"id": "BIGINT"}]
    spark: list[dict[str, str | None]] = [{"id": "int"}, {"id": "bigint"}, {"id": "bigint"}]
    both = [each for some in zip(flink, spark, strict=True) for each in zip(("flink", "spark"), some, strict=True)]

    assert told(*both) == [[], [], [("id", "retyped")], [], [("id", "retyped")], []]
    assert told(*both[1::-1], *both[3:1:-1], *both[:3:-1]) == [[], [], [("id", "retyped")], [], [], [("id", "retyped")]]


def test_another_spelling_inside_a_type_is_no_change() -> None:
    before, after = {"s": "struct<a:int,b:string>"}, {"s": "struct<a: int, b: string>"}

    assert column_changes(before, after) == []
