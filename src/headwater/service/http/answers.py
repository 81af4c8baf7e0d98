"""JSON responses, and the form of times and numbers in them."""

from datetime import timedelta
from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

import orjson
from starlette.responses import Response

from headwater.model.times import EPOCH, FIRST_US, LAST_US

_LARGEST: Final = 2**63

NumberT = TypeVar("NumberT", int, int | float)


def answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401  any shape of `shapes`
    """A JSON response that must not be cached."""
    return answer_json(orjson.dumps(value), status)


def answer_json(body: bytes, status: int = 200) -> Response:
    """A response from finished JSON, which must not be cached."""
    return Response(body, status, {"cache-control": "no-store"}, "application/json")


def writable(number: NumberT | None) -> NumberT | None:
    """The number, or None beyond 64 bits, which orjson does not write; the facet itself has it."""
    return number if number is not None and abs(number) < _LARGEST else None


@lru_cache(maxsize=4_096)  # the time of a run's last event is also that of its job and datasets
def iso(time_us: int, to: Literal["milliseconds", "microseconds"] = "milliseconds") -> str:
    """The ISO form, in UTC, of a time in microseconds since 1970.

    Times that an offset moved beyond the calendar are clamped to its ends.

    >>> iso(1_740_823_200_000_999)
    '2025-03-01T10:00:00.000Z'
    """
    minutes, rest_us = divmod(min(max(time_us, FIRST_US), LAST_US), 60_000_000)
    seconds, us = divmod(rest_us, 1_000_000)
    fraction = f"{us:06d}" if to == "microseconds" else f"{us // 1_000:03d}"
    return f"{_minute(minutes)}{seconds:02d}.{fraction}Z"


@lru_cache(maxsize=4_096)  # an answer may hold thousands of times, few minutes apart
def _minute(minutes: int) -> str:
    """The ISO form up to the minute, with the colon before the seconds."""
    return (EPOCH + timedelta(minutes=minutes)).isoformat()[: len("2025-03-01T10:00:")]
