"""How long to wait before the next try.

Without a retry library, because a delivery is retried for as long as the process lives, must wake at once when the
emitter closes, and takes its jitter from the caller: only one line of arithmetic would be left to the library.
"""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import Final

FIRST_MAX_S: Final = 0.25
LONGEST_MAX_S: Final = 30.0
RETRY_AFTER_MAX_S: Final = 600.0
"""The longest `Retry-After` that is respected: a wrong header must not stop lineage for days."""

_DOUBLINGS: Final = 7
"""After this many the longest wait is reached: 0.25 s · 2⁷ > 30 s."""


def backoff_s(failures: int, rng: Random) -> float:
    """Seconds to wait after the given number of failures in a row: exponential with full jitter.

    Source: https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/, "Full Jitter"
    """
    doublings = min(max(failures - 1, 0), _DOUBLINGS)
    return rng.uniform(0, min(LONGEST_MAX_S, FIRST_MAX_S * 2**doublings))


def retry_after_s(header: str | None, now: datetime) -> float | None:
    """Seconds that a `Retry-After` header asks for, from 0 to `RETRY_AFTER_MAX_S`; None if it says nothing readable.

    >>> retry_after_s("120", datetime(2013, 1, 1, tzinfo=UTC))
    120.0
    >>> retry_after_s("Tue, 01 Jan 2013 00:00:30 GMT", datetime(2013, 1, 1, tzinfo=UTC))
    30.0

    Source: RFC 9110, section 10.2.3
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        asked = float(text)
    else:
        try:
            time = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        asked = (time.replace(tzinfo=time.tzinfo or UTC) - now).total_seconds()
    return min(max(asked, 0.0), RETRY_AFTER_MAX_S)
