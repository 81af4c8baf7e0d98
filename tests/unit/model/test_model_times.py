"""Times as texts and as microseconds since 1970."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.times import microseconds, read_time, time_at, timestamp

ZONES = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)


@pytest.mark.parametrize("text", ["2025-03-01T11:00:00Z", "2025-03-01t11:00:00z", "2025-03-01T12:00:00+01:00"])
def test_a_time_is_read_in_every_spelling_of_rfc_3339(text: str) -> None:
    assert read_time(text) == datetime(2025, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["2025-03-01T11:00:00Z[Europe/London]", "2025-03-01T12:00:00+01:00[!Europe/Paris][u-ca=hebrew]"]
)
def test_the_name_of_a_zone_is_ignored(text: str) -> None:
    assert read_time(text) == datetime(2025, 3, 1, 11, tzinfo=UTC)


def test_a_time_without_an_offset_is_in_utc() -> None:
    assert microseconds(datetime(1970, 1, 1, 0, 0, 1)) == 1_000_000


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=ZONES))
def test_a_time_is_the_same_as_microseconds_and_as_text(time: datetime) -> None:
    assert time_at(microseconds(time)) == time
    assert read_time(timestamp(time)) == time
