from headwater.graph.drift import Telling, column_changes, drift

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
    changes = drift(Telling(teller, columns) for teller, columns in tellings)
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


def test_another_spelling_inside_a_type_is_no_change() -> None:
    before, after = {"s": "struct<a:int,b:string>"}, {"s": "struct<a: int, b: string>"}

    assert column_changes(before, after) == []
