"""Times in answers."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.times import microseconds
from headwater.service.http.answers import iso


@pytest.mark.parametrize(
    ("time_us", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_740_823_200_000_999, "2025-03-01T10:00:00.000Z"),  # date -u -d @1740823200
        (-(10**18), "0001-01-01T00:00:00.000Z"),
        (10**18, "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_time_is_written_to_the_millisecond_in_utc(time_us: int, text: str) -> None:
    assert iso(time_us) == text


@given(st.datetimes(timezones=st.just(UTC)))
def test_a_written_time_is_read_the_same(time: datetime) -> None:
    written = iso(microseconds(time))

    assert microseconds(datetime.fromisoformat(written)) == microseconds(time) // 1000 * 1000
