"""More or fewer rows than usual, compared with the job's own earlier runs."""

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.history import History, runs_before
from headwater.graph.causes.meanwhile import share_left
from headwater.graph.causes.visit import Visit
from headwater.model.events import Direction
from headwater.model.names import DatasetId
from headwater.model.words import so_many

_FEWEST: Final = 3
"""The number of earlier runs that a usual count needs."""
_FAR: Final = 3.5
"""Robust z-scores beyond this are outliers. Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993)."""
_MAD_TO_SIGMA: Final = 0.6745
"""The median absolute deviation of a normal distribution, in standard deviations."""
_RATIO: Final = 1.5
"""A smaller change is no jump, however stable the earlier runs were."""
_DAY_US: Final = 86_400_000_000
_SAME_TIME_US: Final = 3_600_000_000
"""Within an hour counts as the same time of another day."""
_NOTHING: Final = 0.85
_LEAST: Final = 0.45
_MOST: Final = 0.8


class Jump(NamedTuple):
    """The deviation of a count from the usual; `z` None: all earlier runs had the same count."""

    usual: float
    ratio: float
    z: float | None


def jump(rows: int, earlier: Sequence[int]) -> Jump | None:
    """The count's distance from the median of the earlier ones, or None where it is as usual or they are too few.

    >>> jump(10, [1000, 1010, 990])
    Jump(usual=1000, ratio=0.01, z=-66.7755)
    """
    if len(earlier) < _FEWEST:
        return None
    usual = median(earlier)
    spread = median(abs(count - usual) for count in earlier)
    ratio = rows / usual if usual else math.inf
    if rows == usual or 1 / _RATIO < ratio < _RATIO:
        return None
    z = _MAD_TO_SIGMA * (rows - usual) / spread if spread else None
    return Jump(usual, ratio, z) if z is None or abs(z) > _FAR else None


def volume_jumps(visit: Visit, history: History) -> Iterator[Finding]:
    """The run read or wrote far more or fewer rows than the job's earlier runs."""
    sides: tuple[Direction, ...] = ("output", "input")
    for direction in sides:
        for name, end in visit.sides(direction):
            count = end.rows
            earlier = [
                (before.rows[0], record.summary.run_id)
                for record in visit.earlier
                if record.summary.state == "COMPLETED"
                and (before := record.ends.get((direction, name))) is not None
                and before.rows is not None
            ]
            if count is None or (found := jump(count[0], [rows for rows, _ in earlier])) is None:
                continue
            if visit.run.ended_us is None and found.ratio < 1:
                continue  # it may still come to as many as the runs that had ended
            if visit.is_of_meanwhile and _is_usual_then(visit, history, direction, name, count[0]):
                continue
            yield Finding(
                "volume-jump",
                _weight(count[0], found) * share_left(visit, history),
                _words(direction, name, count[0], found, len(earlier), is_retry=_follows_failure(visit, history)),
                name,
                visit,
                visit.run.started_us,
                (visit.run.run_id, *(run_id for _, run_id in earlier)),
                (count[1],),
                what=f"{visit.run.job.name} {direction} {'more' if found.ratio > 1 else 'fewer'}",
            )


def _is_usual_then(visit: Visit, history: History, direction: Direction, name: DatasetId, rows: int) -> bool:
    """Whether the job's run at the same time a day or a week before had about as many rows.

    Runs between two reads may be, for example, one at night and one in the morning.
    """
    run = visit.run
    for back_us in (_DAY_US, 7 * _DAY_US):
        then_us = run.started_us - back_us
        near = [
            each
            for each in history.runs_of(run.job, then_us + _SAME_TIME_US)
            if abs(each.started_us - then_us) < _SAME_TIME_US
        ]
        done = [each for each in near if each.state == "COMPLETED" and each != run]
        for each in sorted(done, key=lambda each: (abs(each.started_us - then_us), each.run_id))[:1]:
            end = history.record(each.run_id).ends.get((direction, name))
            if end is not None and end.rows is not None and _are_alike(rows, end.rows[0]):
                return True
    return False


def _are_alike(rows: int, others: int) -> bool:
    return rows == others or (others > 0 and 1 / _RATIO < rows / others < _RATIO)


def _weight(rows: int, found: Jump) -> float:
    if rows == 0:
        return _NOTHING
    doublings = abs(math.log2(found.ratio)) if math.isfinite(found.ratio) else math.inf
    return min(_MOST, _LEAST + 0.1 * doublings)


def _follows_failure(visit: Visit, history: History) -> bool:
    """Whether the job's run before this one had failed."""
    last = next(runs_before(history, visit.run), None)
    return last is not None and last.has_failed


def _words(direction: Direction, name: DatasetId, rows: int, found: Jump, compared: int, *, is_retry: bool) -> str:
    verb = "wrote" if direction == "output" else "read"
    far = "" if found.z is None else f" (robust z {found.z:.1f})"
    after = " after a run that failed" if is_retry else ""
    before = f"the median of the {compared} runs before is {found.usual:,.0f}{far}"
    return f"{name.name}: {verb} {so_many(rows, 'row')}{after}; {before}"
