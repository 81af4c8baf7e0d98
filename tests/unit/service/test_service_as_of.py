"""The bounds of reads of the past."""

import pytest
from pydantic_core import PydanticCustomError

from headwater.errors import InvalidInputError
from headwater.service.http.as_of import AsOf, begin_us, end_of_comparison, time_us, until_us

TEN_US = 1_740_823_200_000_000
"""2025-03-01T10:00:00Z, by `date -u -d @1740823200`."""


@pytest.mark.parametrize(
    ("bounds", "event_us", "log_index", "counts"),
    [
        (AsOf(), 7, 7, True),
        (AsOf(time_us=7), 7, 99, True),
        (AsOf(time_us=7), 8, 0, False),
        (AsOf(log_size=7), 99, 6, True),
        (AsOf(log_size=7), 0, 7, False),
        (AsOf(7, 7), 7, 6, True),
        (AsOf(7, 7), 8, 6, False),
        (AsOf(7, 7), 7, 7, False),
    ],
)
def test_a_time_is_inclusive_and_a_size_counts_the_first_entries(
    bounds: AsOf, event_us: int, log_index: int, counts: bool
) -> None:
    assert bounds.counts(event_us, log_index) is counts


@pytest.mark.parametrize(
    ("bounds", "newest", "expected"),
    [
        (AsOf(), AsOf(7, 3), AsOf()),
        (AsOf(7, 3), AsOf(7, 3), AsOf()),
        (AsOf(8, 4), AsOf(7, 3), AsOf()),
        (AsOf(6, 3), AsOf(7, 3), AsOf(time_us=6)),
        (AsOf(7, 2), AsOf(7, 3), AsOf(log_size=2)),
        (AsOf(7, 0), AsOf(None, 0), AsOf()),
    ],
)
def test_a_bound_that_excludes_nothing_is_left_out(bounds: AsOf, newest: AsOf, expected: AsOf) -> None:
    assert bounds.without_idle_bounds(newest) == expected


@pytest.mark.parametrize(
    ("text", "us", "last_us"),
    [
        ("2025-03-01T10:00:00Z", 0, 999),
        ("2025-03-01T10:00:00.002Z", 2_000, 2_999),
        ("2025-03-01T10:00:00.002000Z", 2_000, 2_000),
        ("2025-03-01T10:00:00.002345Z", 2_345, 2_345),
        ("2025-03-01T10:00:00,002345Z", 2_345, 2_345),
        ("2025-03-01T11:00:00+01:00", 0, 999),
        ("2025-03-01T11:00:00 01:00", 0, 999),  # a plus that a form decodes to a space
        ("2025-03-01T11:00:00 0100", 0, 999),
        ("1740823200000", 0, 999),
        ("+1740823200000", 0, 999),
    ],
)
def test_a_time_to_the_millisecond_includes_all_of_it(text: str, us: int, last_us: int) -> None:
    assert (time_us(text), until_us(text)) == (TEN_US + us, TEN_US + last_us)
    assert begin_us(TEN_US + last_us) == TEN_US + us


def test_a_value_that_is_not_text_is_passed_on() -> None:
    assert [until_us(None), until_us(7)] == [None, 7]


@pytest.mark.parametrize(
    "text", ["", "now", "2025-03-01T10:00:00", "2025-03-01", "١٢", "9" * 15, "9" * 16, "2025-02-30T10:00:00Z", "1.5"]
)
def test_a_text_that_is_not_a_time_with_a_zone_is_refused(text: str) -> None:
    with pytest.raises(PydanticCustomError, match="expected a time with its zone"):
        time_us(text)


def test_an_end_of_a_comparison_is_a_time_or_a_log_size() -> None:
    assert end_of_comparison("from", "log:0", 7) == AsOf(log_size=0)
    assert end_of_comparison("from", "log:7", 7) == AsOf(log_size=7)
    assert end_of_comparison("from", "2025-03-01T10:00:00Z", 7) == AsOf(TEN_US + 999)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("log:8", "query param to: log:8 is beyond the end of the log, log:7"),
        ("run:x", "query param to cannot be read: expected a time or log:N; compare two runs by fromRun=ID"),
        ("log:-1", "query param to cannot be read: "),
        ("log:٣", "query param to cannot be read: "),
        ("yesterday", "query param to cannot be read: "),
    ],
)
def test_an_invalid_end_of_a_comparison_is_refused_with_its_parameter(text: str, message: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        end_of_comparison("to", text, 7)

    assert str(refused.value).startswith(message)
