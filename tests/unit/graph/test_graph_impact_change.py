"""Which changes can be said, and which types read which, by hand from Avro's rules of schema resolution."""

import pytest

from headwater.errors import InvalidInputError
from headwater.graph.impact.change import Change, Fit, fit


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
def test_what_is_no_change_is_refused_with_what_was_expected(text: str) -> None:
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
def test_avros_promotions_lose_nothing(before: str, after: str) -> None:
    assert fit(before, after) == "promoted"


@pytest.mark.parametrize(("after", "before"), [pair for pair in PROMOTED if pair[0] not in ("string", "bytes")])
def test_avros_promotions_go_one_way_only(before: str, after: str) -> None:
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
        ("struct<a:int>", "struct<a:long>", "unreadable"),
    ],
)
def test_types_are_compared_across_the_spellings_of_engines(before: str, after: str, expected: Fit) -> None:
    assert fit(before, after) == expected
