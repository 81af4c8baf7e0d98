"""How often a job's runs end."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Final

_FEWEST_INTERVALS: Final = 3
"""Between runs, from which a job's rhythm can be told."""


def usual_us(ends_us: Iterable[int | None]) -> float | None:
    """The median time between the ends of runs, in microseconds, or None where there are too few.

    >>> usual_us([40, 10, 20, 31])
    10
    """
    intervals = intervals_us(ends_us)
    return median(intervals) if len(intervals) >= _FEWEST_INTERVALS else None


def intervals_us(ends_us: Iterable[int | None]) -> list[int]:
    """The times between the ends of runs, oldest first; of those that did not end nothing counts."""
    in_order = sorted(end for end in ends_us if end is not None)
    return [later - earlier for earlier, later in pairwise(in_order)]
