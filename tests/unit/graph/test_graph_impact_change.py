"""Which changes can be expressed, and which types can read which, by Avro's rules of schema resolution."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.errors import InvalidInputError
from headwater.graph.impact.change import Change, Fit, fit
from headwater.graph.impact.types import read_type


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("drop", Change("drop")),
        ("rename:arrival_delay", Change("rename", "arrival_delay")),
        ("rename:a:b", Change("rename", "a:b")),
        ("retype: decimal(10,2)", Change("retype", "decimal(10,2)")),
    ],
)
def test_a_change_is_read_from_its_text(text: str, change: Change) -> None:
    assert Change.parse(text) == change


@pytest.mark.parametrize("text", ["", "drop:it", "rename", "rename:", "retype: ", "DROP", "move:there", ":"])
def test_an_invalid_change_is_refused_with_the_expected_form(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^change: expected drop, rename:NEW or retype:TYPE"):
        Change.parse(text)


PROMOTED = [
    ("int", "long"),
    ("int", "float"),
    ("int", "double"),
    ("long", "float"),
    ("long", "double"),
    ("float", "double"),
    ("string", "bytes"),
    ("bytes", "string"),
]
"""Avro 1.12, Schema Resolution: every promotion it lists."""


@pytest.mark.parametrize(("before", "after"), PROMOTED)
def test_avros_promotions_are_promotions(before: str, after: str) -> None:
    assert fit(before, after) == "promoted"


@pytest.mark.parametrize(("after", "before"), [pair for pair in PROMOTED if pair[0] not in ("string", "bytes")])
def test_avros_promotions_are_one_way(before: str, after: str) -> None:
    assert fit(before, after) == "unreadable"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("INTEGER", "int", "same"),
        ("bigint", "LONG", "same"),
        ("Double Precision", "double", "same"),
        ("decimal(10, 2)", "DECIMAL(10,2)", "same"),
        ("decimal(10,2)", "decimal(12,2)", "other bounds"),
        ("varchar(20)", "string", "other bounds"),
        ("smallint", "int", "promoted"),
        ("int", "string", "unreadable"),
        ("timestamp", "date", "unreadable"),
        ("boolean", "int", "unreadable"),
        ("struct<a:int>", "struct<a:int>", "same"),
        ("struct<a:int>", "struct<a:long>", "promoted"),
        ("timestamptz", "TIMESTAMP WITH TIME ZONE", "same"),
        ("timestamp(6) with time zone", "timestamptz", "other bounds"),
        ("timestamp(6) with time zone", "timestamp with time zone", "other bounds"),
        ("timestamp", "timestamp without time zone", "same"),
        ("timestamp", "timestamp with time zone", "unreadable"),
        ("timestamp", "timestamp_ntz", "unreadable"),
        ("time with time zone", "timetz", "same"),
        ("number(10,2)", "decimal(10, 2)", "same"),
        ("character varying(20)", "varchar(20)", "same"),
    ],
)
def test_types_are_compared_across_engines_spellings(before: str, after: str, expected: Fit) -> None:
    assert fit(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("array<int>", "array<INTEGER>", "same"),
        ("array<int>", "ARRAY< int >", "same"),
        ("array<int>", "list<int>", "same"),
        ("array<int>", "array(integer)", "same"),
        ("array<int>", "int[]", "same"),
        ("array<int>", "array<bigint>", "promoted"),
        ("array<bigint>", "array<int>", "unreadable"),
        ("array<int>", "int", "unreadable"),
        ("array<decimal(10,2)>", "array<number(10, 2)>", "same"),
        ("array<decimal(10,2)>", "array<decimal(12,2)>", "other bounds"),
        ("array<array<int>>", "int[][]", "same"),
        ("map<string,int>", "map<varchar, integer>", "same"),
        ("map<string,int>", "map(varchar, bigint)", "promoted"),
        ("map<string,bigint>", "map<string,int>", "unreadable"),
        ("map<int,int>", "map<bigint,int>", "unreadable"),
        ("struct<a:int,b:string>", "struct<a: int, b: string>", "same"),
        ("struct<a:int,b:string>", "row(a integer, b varchar)", "same"),
        ("struct<a:int,b:string>", 'ROW<`a` INT, "b" STRING>', "same"),
        ("struct<a:int,b:string>", "struct<b:string,a:int>", "same"),
        ("struct<key:int>", "struct<key:bigint>", "promoted"),
        ("struct<a:int,b:string>", "struct<a:int,b:boolean>", "unreadable"),
        ("struct<a:int>", "struct<a:int,b:string>", "promoted"),
        ("struct<a:int,b:string>", "struct<a:int>", "unreadable"),
        ("struct<a:decimal(10,2),b:int>", "struct<a:decimal(12,2),b:long>", "other bounds"),
        ("struct<a:struct<b:array<int>>,c:map<string,struct<d:real>>>",
         "struct<a: struct<b: array<long>>, c: map<string, struct<d: float>>>", "promoted"),
        ("struct<x: decimal(10,2)>", "row(x numeric(10,2))", "same"),
    ],
)  # fmt: skip
def test_nested_types_are_compared_part_by_part(before: str, after: str, expected: Fit) -> None:
    assert fit(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("INT NOT NULL", "integer not  null", "same"),
        ("INT NOT NULL", "BIGINT NOT NULL", "promoted"),
        ("BIGINT NOT NULL", "INT NOT NULL", "unreadable"),
        ("INT NOT NULL", "INT", "may be null"),
        ("INT NOT NULL", "bigint", "may be null"),
        ("DECIMAL(10, 2) NOT NULL", "decimal(12,2)", "may be null"),
        ("INT NOT NULL", "STRING", "unreadable"),
        ("INT", "INT NOT NULL", "promoted"),
        ("int", "BIGINT NOT NULL", "promoted"),
        ("bigint", "INT NOT NULL", "unreadable"),
        ("DECIMAL(10, 2) NOT NULL", "decimal(10,2) not null", "same"),
        ("timestamp(3) with local time zone not null", "TIMESTAMP_LTZ(3) NOT NULL", "same"),
        ("ROW<`x` INT NOT NULL>", "struct<x:int not null>", "same"),
        ("ROW<`x` INT NOT NULL>", "ROW<`x` BIGINT NOT NULL>", "promoted"),
        ("ROW<`x` INT NOT NULL>", "ROW<`x` INT>", "may be null"),
        ("ROW<`x` INT>", "ROW<`x` INT NOT NULL> NOT NULL", "promoted"),
        ("ROW<`x` INT> NOT NULL", "ROW<`x` INT>", "may be null"),
        ("ARRAY<INT NOT NULL> NOT NULL", "ARRAY<BIGINT NOT NULL> NOT NULL", "promoted"),
        ("INT[] NOT NULL", "ARRAY<INT> NOT NULL", "same"),
        ("MAP<STRING NOT NULL, INT NOT NULL>", "map<string,int>", "may be null"),
        ("MAP<STRING NOT NULL, INT>", "map<string,int>", "same"),
        ("map<string,int>", "MAP<STRING NOT NULL, INT>", "same"),
    ],
)
def test_becoming_nullable_breaks_readers_and_becoming_not_null_does_not(
    before: str, after: str, expected: Fit
) -> None:
    assert fit(before, after) == expected


@pytest.mark.parametrize(
    "malformed",
    ["array<", "array<>", "struct<a:>", "struct<:int>", "struct<a:int,a:int>", "map<int>", "row(int)", ">a<", "(", ""],
)
def test_a_malformed_type_equals_only_itself(malformed: str) -> None:
    assert fit(malformed, malformed.upper()) == "same"
    assert fit(malformed, "array<int>") == "unreadable"


def test_a_type_can_be_arbitrarily_deep_and_long() -> None:
    deep = f"{'array<' * 20_000}int{'>' * 20_000}"

    assert fit(deep, deep.upper()) == "same"
    assert fit(deep, f"array<{deep}>") == "unreadable"
    assert fit("int" + "[]" * 20_000, "(" * 20_000) == "unreadable"


@pytest.mark.parametrize("opening", ["array<", "map<int,", "struct<a:", "row(a "])
def test_a_type_is_parsed_in_one_pass_at_any_depth(opening: str) -> None:
    closing, lines = ")" if "(" in opening else ">", 0

    def count(*_: object) -> Any:  # noqa: ANN401  as `sys.settrace` has it
        nonlocal lines
        lines += 1
        return count

    tracing = sys.gettrace()
    sys.settrace(count)
    try:
        read_type.__wrapped__(opening * 2_000 + "int" + closing * 2_000)
    finally:
        sys.settrace(tracing)

    assert lines < 20 * 4_000  # of Python, for that many brackets


def test_below_a_hundred_levels_types_are_compared_as_text() -> None:
    def nested(item: str, depth: int) -> str:
        return "array<" * depth + item + ">" * depth

    assert fit(nested("int", 99), nested("integer", 99)) == "same"
    assert fit(nested("int", 101), nested("INT", 101)) == "same"
    assert fit(nested("int", 101), nested("integer", 101)) == "unreadable"


@pytest.mark.parametrize("depth", [99, 100, 101, 150])
def test_a_field_next_to_a_deep_type_is_compared_like_any_other(depth: int) -> None:
    deep = "array<" * depth + "int" + ">" * depth

    assert fit(f"struct<a: {deep}, b: int>", f"struct<a: {deep}, b: bigint>") == "promoted"
    assert fit(f"map<string, struct<a: {deep}, b: int>>", f"map<string, struct<a: {deep}, b: text>>") == "unreadable"


@given(st.text('<>()[],: abint`"', max_size=40), st.text('<>()[],: abint`"', max_size=40))
def test_any_two_types_can_be_compared_and_any_equals_itself(first: str, other: str) -> None:
    fit(first, other)

    assert fit(first, f" {first.upper()} ") == "same"
