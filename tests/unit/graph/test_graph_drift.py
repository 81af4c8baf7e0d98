from headwater.graph.drift import column_changes

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
