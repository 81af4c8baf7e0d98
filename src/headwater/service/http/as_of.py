"""Bounds of a read: `asOf` limits events by when they happened, `logSize` by when they became known."""

import re
from datetime import timedelta
from typing import Annotated, Final, NamedTuple

from fastapi import Query
from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from headwater.errors import InvalidInputError
from headwater.model.numbers import Whole
from headwater.model.times import EPOCH, microseconds, read_time
from headwater.service.http.answers import iso

_MILLISECONDS: Final = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_FINER: Final = re.compile(r"[.,]\d{4}", re.ASCII)
"""Matches a time more precise than a millisecond."""
_REST_US: Final = 999
"""From the first microsecond of a millisecond to its last."""
_LOST_PLUS: Final = re.compile(r" (?=\d\d:?\d\d$)", re.ASCII)
"""An offset whose `+` was decoded as a space, since it was not written as `%2B02:00`."""
EXPECTED: Final = "expected a time with its zone such as 2026-05-22T14:23:11Z, or milliseconds since 1970"


class AsOf(NamedTuple):
    """The events up to a time (inclusive) among the first entries of the log; None: no such bound."""

    time_us: int | None = None
    """Microseconds since 1970, UTC."""
    log_size: int | None = None

    def counts(self, event_us: int, log_index: int) -> bool:
        """Whether an event is within the bounds."""
        is_early = self.time_us is None or event_us <= self.time_us
        return is_early and (self.log_size is None or log_index < self.log_size)

    def without_idle_bounds(self, newest: "AsOf") -> "AsOf":
        """Without bounds that exclude nothing; `newest` is the latest event time and the size of the log."""
        is_all = self.log_size is None or self.log_size >= (newest.log_size or 0)
        is_now = self.time_us is None or newest.time_us is None or self.time_us >= newest.time_us
        return AsOf(None if is_now else self.time_us, None if is_all else self.log_size)


def time_us(text: object) -> object:
    """Parse a time with a zone, or milliseconds since 1970, to microseconds since 1970.

    >>> time_us("2025-03-01T11:00:00+01:00") == time_us("1740823200000")
    True
    """
    if not isinstance(text, str):
        return text
    try:
        if _MILLISECONDS.fullmatch(text):
            return microseconds(EPOCH + timedelta(milliseconds=int(text)))
        time = read_time(with_lost_plus(text))
        if time.tzinfo is not None:
            return microseconds(time)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("time", EXPECTED)


def until_us(text: object) -> object:
    """As `time_us`, but to the last microsecond of a time given to the millisecond, as answers show it.

    >>> until_us("2025-03-01T10:00:00.123Z"), until_us("2025-03-01T10:00:00.123000Z")
    (1740823200123999, 1740823200123000)
    """
    read = time_us(text)
    if isinstance(read, int) and isinstance(text, str) and _FINER.search(text) is None:
        return read + _REST_US
    return read


def with_lost_plus(text: str) -> str:
    """The text with the plus sign of its offset restored, which was decoded as a space."""
    return _LOST_PLUS.sub("+", text)


def begin_us(until_us: int) -> int:
    """The first microsecond of a bound's millisecond, if the bound includes all of it; else the bound itself."""
    return until_us - _REST_US if _includes_millisecond(until_us) else until_us


def _includes_millisecond(until_us: int) -> bool:
    """Whether a bound includes a whole millisecond."""
    return until_us % 1_000 == _REST_US


def written(time_us: int) -> str:
    """A bound as text for `until_us`: to the microsecond, or as the millisecond that it includes.

    >>> written(1_740_823_200_123_999), written(1_740_823_200_123_000)
    ('2025-03-01T10:00:00.123Z', '2025-03-01T10:00:00.123000Z')
    """
    return iso(time_us, "milliseconds" if _includes_millisecond(time_us) else "microseconds")


TIME_AS_TEXT: Final = WithJsonSchema({"type": "string", "examples": ["2026-05-22T14:23:11Z", "1779459791000"]})
AsOfTime = Annotated[
    int | None,
    BeforeValidator(until_us),
    TIME_AS_TEXT,
    Query(
        alias="asOf",
        description="Answer as if only the events up to this time, to the millisecond, had happened: a time with its "
        "zone, or milliseconds since 1970. By the time in the events, not by when they were received.",
    ),
]
LogSize = Annotated[
    Whole | None,
    Query(
        alias="logSize",
        ge=0,
        le=2**53,
        description="Answer from the first entries of the log only: what was known then. The log's current size "
        "means now.",
    ),
]

_SIZE: Final = re.compile(r"log:(\d{1,15})", re.ASCII)
_RUN: Final = "run:"


def end_of_comparison(name: str, text: str, log_size: int) -> AsOf:
    """One end of a comparison: a time, or `log:N` for the first N entries of the log.

    Raises:
        InvalidInputError: it is neither, or beyond the log; the message names the parameter.
    """
    if text.startswith(_RUN):
        raise InvalidInputError(
            f"query param {name} cannot be read: expected a time or log:N; compare two runs by fromRun=ID and toRun=ID"
        )
    if size := _SIZE.fullmatch(text):
        if int(size[1]) > log_size:
            raise InvalidInputError(f"query param {name}: {text} is beyond the end of the log, log:{log_size}")
        return AsOf(log_size=int(size[1]))
    try:
        read = until_us(text)
    except PydanticCustomError as fault:
        raise InvalidInputError(f"query param {name} cannot be read: {EXPECTED}, or log:N") from fault
    assert isinstance(read, int)  # noqa: S101  as it does for every text
    return AsOf(read)
