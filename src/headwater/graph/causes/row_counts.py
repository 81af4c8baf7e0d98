"""Whether a number of rows is unusual: for the runs before, and for the same time of earlier days and weeks."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final, Literal, NamedTuple

_FEWEST: Final = 3
"""The number of earlier runs that a usual count needs."""
_FAR: Final = 3.5
"""Robust z-scores beyond this are outliers. Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)."""
_MAD_TO_SIGMA: Final = 0.6745
"""The median absolute deviation of a normal distribution, in standard deviations."""
_RATIO: Final = 1.5
"""A smaller change is no jump, however stable the earlier runs were."""
_STEP: Final = 1.25
"""A greater one, from a run to the next, is not little by little."""
_FEWEST_STEPS: Final = 5
_BACK: Final = 1.1
"""A drift may go back by so much for a week."""
_LATEST: Final = 3
_MOST: Final = 0.75


class Jump(NamedTuple):
    """The deviation of a count from the usual; `z` None: all earlier runs had the same count."""

    usual: float
    ratio: float
    z: float | None


class Judged(NamedTuple):
    """What is unusual about a count, and with which earlier ones it was compared, newest first.

    `drift`: the same time of earlier weeks, from which the counts led here little by little, or some time ago.
    """

    jump: Jump
    by: Literal["runs", "days", "weeks", "drift"]
    compared: Sequence[int]


def jump(rows: int, earlier: Sequence[int]) -> Jump | None:
    """The count's distance from the median of the earlier ones, or None where it is as usual or they are too few.

    >>> jump(10, [1000, 1010, 990])
    Jump(usual=1000, ratio=0.01, z=-66.7755)
    """
    if len(earlier) < _FEWEST:
        return None
    usual = median(earlier)
    spread = median(abs(count - usual) for count in earlier)
    ratio = _ratio(rows, usual)
    if rows == usual or 1 / _RATIO < ratio < _RATIO:
        return None
    z = _MAD_TO_SIGMA * (rows - usual) / spread if spread else None
    return Jump(usual, ratio, z) if z is None or abs(z) > _FAR else None


def judged(rows: int, runs: Sequence[int], days: Sequence[int], weeks: Sequence[int]) -> Judged | None:
    """What is unusual about a count, by the runs before and those at the same time of earlier days and weeks.

    All are passed newest first. If the counts at this time usually differ from those of the runs before, as on Sundays,
    only these count.
    """
    if _is_pattern(weeks, runs):
        return _judged(rows, weeks, "weeks")
    is_as_last_week = bool(weeks) and are_alike(rows, weeks[0])
    if weeks and not is_as_last_week and _is_pattern(days, runs):
        return _judged(rows, days, "days")
    is_usual_then = is_as_last_week or (bool(days) and are_alike(rows, days[0]))
    if not is_usual_then and not _is_little_by_little([rows, *runs]) and (found := _judged(rows, runs, "runs")):
        return found
    has_drifted = bool(runs) and are_alike(rows, median(runs[:_LATEST])) and _has_drifted(rows, weeks)
    return Judged(Jump(weeks[-1], _ratio(rows, weeks[-1]), None), "drift", weeks) if has_drifted else None


def usual_among(counts: Sequence[int]) -> Sequence[int]:
    """The counts without outliers."""
    return [count for count in counts if jump(count, counts) is None]


def _judged(rows: int, earlier: Sequence[int], by: Literal["runs", "days", "weeks"]) -> Judged | None:
    found = jump(rows, earlier)
    return None if found is None else Judged(found, by, earlier)


def _ratio(rows: float, usual: float) -> float:
    return rows / usual if usual else math.inf


def are_alike(rows: float, others: float) -> bool:
    """Whether they differ by less than a jump.

    >>> are_alike(1_000, 1_400), are_alike(1_000, 10), are_alike(0, 0)
    (True, False, True)
    """
    return rows == others or (others > 0 and 1 / _RATIO < rows / others < _RATIO)


def _is_pattern(then: Sequence[int], runs: Sequence[int]) -> bool:
    """Whether the counts at this time agree with each other, and not with most of the runs before."""
    if len(then) < _FEWEST:
        return False
    usual = median(then)
    as_then = sum(are_alike(each, usual) for each in runs)
    return all(are_alike(each, usual) for each in then) and as_then < _MOST * len(runs)


def _is_little_by_little(counts: Sequence[int]) -> bool:
    """Whether all of the counts rise, or all fall, in small steps."""
    if len(counts) <= _FEWEST_STEPS or 0 in counts:
        return False
    steps = [now / before for now, before in pairwise(counts)]
    return all(1 < step <= _STEP for step in steps) or all(1 / _STEP <= step < 1 for step in steps)


def _has_drifted(rows: int, weeks: Sequence[int]) -> bool:
    if len(weeks) < _FEWEST or are_alike(rows, weeks[-1]):
        return False
    way = [rows, *weeks] if rows < weeks[-1] else [-rows, *(-each for each in weeks)]
    return all(now <= before + (_BACK - 1) * abs(before) for now, before in pairwise(way))
