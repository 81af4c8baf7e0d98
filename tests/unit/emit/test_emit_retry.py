from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.emit.retry import FIRST_MAX_S, LONGEST_MAX_S, RETRY_AFTER_MAX_S, backoff_s, retry_after_s

NOW = datetime(2013, 1, 1, tzinfo=UTC)


class Highest(Random):
    """Jitter at its upper end."""

    def uniform(self, a: float, b: float) -> float:
        return b


@given(st.integers(1, 10**6), st.integers())
def test_a_pause_is_never_longer_than_the_limit(failures: int, seed: int) -> None:
    assert 0 <= backoff_s(failures, Random(seed)) <= LONGEST_MAX_S  # noqa: S311


def test_pauses_double_up_to_the_limit() -> None:
    assert [backoff_s(failures, Highest()) for failures in range(1, 10)] == [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff_s(1, Highest()) == FIRST_MAX_S


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        (" 7 ", 7),
        ("99999999999999999999", RETRY_AFTER_MAX_S),
        ("Tue, 01 Jan 2013 00:01:00 GMT", 60),
        ("Tuesday, 01-Jan-13 00:01:00 GMT", 60),
        ("Tue Jan  1 00:01:00 2013", 60),
        ("Mon, 31 Dec 2012 23:59:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", RETRY_AFTER_MAX_S),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("Tue, 32 Jan 2013 00:01:00 GMT", None),
        ("Tue, 01 Jan 99999999999 00:01:00 GMT", None),
        ("Tue, 01 Jan 2013 00:01:00 +999999999999999999", None),
    ],
)
def test_retry_after_is_read_in_every_form_of_the_spec(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header, NOW) == seconds


@given(st.integers(0, int(RETRY_AFTER_MAX_S)))
def test_a_date_is_equivalent_to_its_distance_in_seconds(seconds: int) -> None:
    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)

    assert retry_after_s(date, NOW) == retry_after_s(str(seconds), NOW)


@given(st.text())
def test_any_header_gives_seconds_within_bounds_or_none(header: str) -> None:
    wait_s = retry_after_s(header, NOW)

    assert wait_s is None or 0 <= wait_s <= RETRY_AFTER_MAX_S
