"""The usual interval between the ends of a job's runs."""

from collections.abc import Iterable
from itertools import pairwise
from operator import attrgetter
from statistics import median
from typing import Final

from headwater.graph.causes.record import RunSummary

_FEWEST_INTERVALS: Final = 3
"""Intervals between runs that are needed for a usual interval."""


def ends_us(runs: Iterable[RunSummary]) -> list[int]:
    """The ends of these runs, in no order, in microseconds since 1970; runs without an end are skipped.

    Overlapping runs with the same parent, as those of a mapped task, count as one that ended when the last of them did.
    """
    ends: list[int] = []
    last_part: dict[str | None, int] = {}
    for run in sorted(runs, key=attrgetter("began")):
        if run.ended_us is None:
            continue
        index = None if run.parent_run is None else last_part.get(run.parent_run)
        if index is not None and run.started_us < ends[index]:
            ends[index] = max(ends[index], run.ended_us)
        else:
            last_part[run.parent_run] = len(ends)
            ends.append(run.ended_us)
    return ends


def usual_us(ends: Iterable[int]) -> float | None:
    """The median time between the ends of runs, in microseconds, or None where there are too few.

    >>> usual_us([40, 10, 20, 31])
    10
    """
    intervals = intervals_us(ends)
    return median(intervals) if len(intervals) >= _FEWEST_INTERVALS else None


def intervals_us(ends: Iterable[int]) -> list[int]:
    """The times between the ends of runs, oldest first."""
    return [later - earlier for earlier, later in pairwise(sorted(ends))]
