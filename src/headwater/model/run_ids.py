"""Ids of runs."""

from typing import Final
from uuid import UUID

RANDOM_BITS: Final = 74


def run_id(unix_ms: int, random: int) -> str:
    """A UUID of version 7 in lower case, so that ids sort by when their runs began.

    Args:
        unix_ms: milliseconds since 1970.
        random: `RANDOM_BITS` random bits.

    Source: RFC 9562, section 5.7; the example is its appendix A.6

    >>> run_id(0x017F22E279B0, 0xCC3 << 62 | 0x18C4DC0C0C07398F)
    '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'
    """
    random_a, random_b = divmod(random, 1 << 62)
    return str(UUID(int=unix_ms << 80 | 0x7 << 76 | random_a << 64 | 0b10 << 62 | random_b))
