"""Times: text as RFC 3339 has it where they come and go, and microseconds since 1970 in between."""

from datetime import UTC, datetime, timedelta
from typing import Final

from headwater.errors import InvalidEventError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_time(text: str) -> datetime:
    """The time, with its offset from UTC where the text has one.

    >>> read_time("2025-03-01t11:00:00z").isoformat()
    '2025-03-01T11:00:00+00:00'

    Raises:
        ValueError: it is none.

    Source: RFC 3339, 5.6, lets `t` and `z` stand, of which Python reads no `z`.
    """
    return datetime.fromisoformat(text.upper())


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
    """The time so many microseconds after the beginning of 1970, in UTC."""
    return EPOCH + timedelta(microseconds=time_us)
