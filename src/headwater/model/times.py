"""Times: RFC 3339 text outside, microseconds since 1970 inside."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from headwater.errors import InvalidEventError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_US, LAST_US = (
    (each.replace(tzinfo=UTC) - EPOCH) // timedelta.resolution for each in (datetime.min, datetime.max)
)
"""The range of the calendar in UTC; an offset may move a time beyond it."""
BEFORE_ALL_US: Final = -(2**62)
AFTER_ALL_US: Final = 2**62
"""Sentinels before and after all times, within 64 bits."""
_SIXTIETH: Final = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d):60((?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d))", re.ASCII)

_NO_ZONE: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?", re.ASCII | re.IGNORECASE)
_ZONE_NAMES: Final = re.compile(r"(?:\[!?[A-Za-z0-9_.+/=-]+\])+")


def read_time(text: str) -> datetime:
    """The time, with its offset from UTC where the text has one.

    >>> read_time("2025-03-01t11:00:00z").isoformat()
    '2025-03-01T11:00:00+00:00'

    A leap second is the second after it:

    >>> read_time("2016-12-31T23:59:60Z").isoformat()
    '2017-01-01T00:00:00+00:00'

    Raises:
        ValueError: it is none.

    Source: RFC 3339, 5.6, lets `t` and `z` stand, of which Python reads no `z`.
    """
    upper = without_zone_name(text).upper()
    leap = _SIXTIETH.fullmatch(upper)
    return datetime.fromisoformat(upper) if leap is None else _after_leap(leap[1], leap[2])


def without_zone_name(text: str) -> str:
    """The time without what its zone is called, which Java's own form of it has behind the offset.

    >>> without_zone_name("2025-03-01T11:00:00Z[Europe/London]")
    '2025-03-01T11:00:00Z'

    Source: RFC 9557, 4.1
    """
    time, bracket, names = text.partition("[")
    return time if _ZONE_NAMES.fullmatch(bracket + names) else text


def with_offset(text: str) -> str:
    """The time in UTC if it has no zone; else unchanged.

    >>> with_offset("2025-03-01T11:00:00.5")
    '2025-03-01T11:00:00.5Z'

    Source: Marquez takes it so; Airflow's integration (of tasks that failed), dbt's and Great Expectations' wrote it so
    """
    return f"{text}Z" if _NO_ZONE.fullmatch(text) else text


def is_leap(text: str) -> bool:
    """Whether the time has second 60, which `read_time` accepts and few other parsers do."""
    return _SIXTIETH.fullmatch(text.upper()) is not None


def _after_leap(minute: str, rest: str) -> datetime:
    """The second after a leap second, which clocks without leap seconds show for it.

    Source: RFC 3339, 5.7: one is at the end of a month, in UTC.
    """
    try:
        time = datetime.fromisoformat(f"{minute}:59{rest}") + timedelta(seconds=1)
        utc = time.astimezone(UTC)
    except OverflowError as fault:
        raise ValueError("out of the range of years") from fault
    if (utc.day, utc.hour, utc.minute, utc.second) != (1, 0, 0, 0):
        raise ValueError("no leap second at that time")
    return time


def timestamp(time: datetime) -> str:
    """RFC 3339 in UTC, always with six digits of a second, so that text order is time order.

    Raises:
        InvalidEventError: the time has no zone.
    """
    if time.tzinfo is None:
        raise InvalidEventError("eventTime: the time has no zone")
    return time.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def microseconds(time: datetime) -> int:
    """Microseconds since 1970; a time without an offset is in UTC."""
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds  # in half the time of a division


def time_at(time_us: int) -> datetime:
    """The time so many microseconds after the beginning of 1970, in UTC.

    The first and last moments of the calendar stand for what an offset from UTC moved beyond them.

    >>> time_at(microseconds(datetime.fromisoformat("9999-12-31T23:59:59-14:00"))).isoformat()
    '9999-12-31T23:59:59.999999+00:00'
    """
    return EPOCH + timedelta(microseconds=min(max(time_us, FIRST_US), LAST_US))
