"""Statistics for Marquez's page: counts in each hour of a day, or each day of a week."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal
from zoneinfo import ZoneInfo

from headwater.model.times import FIRST_US, LAST_US, microseconds, time_at
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import overview as shapes_overview
from headwater.service.views.sources import all_sources

Period = Literal["DAY", "WEEK"]
_HOUR_US: Final = 3_600_000_000
_SAME_DAYS_US: Final = 146_097 * 24 * _HOUR_US
"""400 years: after so many days the calendar is the same again, by the month and by the day of the week."""


def edges_us(period: Period, now_us: int, zone: ZoneInfo) -> list[int]:
    """The boundaries of a period's intervals, in microseconds since 1970.

    The last 24 hours, this one included; or the last 7 days of the time zone, today included: a day may have 23 or 25
    hours.
    """
    if period == "DAY":
        hour_us = now_us - now_us % _HOUR_US
        return [hour_us + n * _HOUR_US for n in range(-23, 2)]
    inward_us = _inward_us(now_us)
    today = time_at(now_us + inward_us).astimezone(zone).date()
    days = (today + timedelta(days=n) for n in range(-6, 2))
    return [microseconds(datetime(day.year, day.month, day.day, tzinfo=zone)) - inward_us for day in days]


def _inward_us(now_us: int) -> int:
    """The distance from either end of the calendar to the same date in years that have neighbours."""
    if now_us < FIRST_US + _SAME_DAYS_US:
        return _SAME_DAYS_US
    return -_SAME_DAYS_US if now_us > LAST_US - _SAME_DAYS_US else 0


def event_stats(knowledge: Knowledge, edges: Sequence[int]) -> list[shapes_overview.EventStats]:
    """The number of run events of each type in each interval."""
    counted = [(span, knowledge.store.event_counts(*span)) for span in pairwise(edges)]
    return [
        shapes_overview.EventStats(
            startInterval=iso(start),
            endInterval=iso(end),
            fail=counts.get("FAIL", 0),
            start=counts.get("START", 0),
            complete=counts.get("COMPLETE", 0),
            abort=counts.get("ABORT", 0),
        )
        for (start, end), counts in counted
    ]


def job_stats(knowledge: Knowledge, edges: Sequence[int]) -> list[shapes_overview.TotalStats]:
    """The number of jobs known by the end of each interval."""
    first_events = knowledge.job_tallies.by_first_event()
    return _total_stats(edges, lambda end: bisect_left(first_events, end, key=_time_us))


def dataset_stats(knowledge: Knowledge, edges: Sequence[int]) -> list[shapes_overview.TotalStats]:
    """The number of datasets known by the end of each interval."""
    first_events = knowledge.dataset_tallies.by_first_event()
    return _total_stats(edges, lambda end: bisect_left(first_events, end, key=_time_us))


def source_stats(knowledge: Knowledge, edges: Sequence[int]) -> list[shapes_overview.TotalStats]:
    """The number of sources known by the end of each interval."""
    created = (datetime.fromisoformat(each["createdAt"]) for each in all_sources(knowledge).values())
    first_events = sorted(map(microseconds, created))
    return _total_stats(edges, lambda end: bisect_left(first_events, end))


def _total_stats(edges: Sequence[int], count_by: Callable[[int], int]) -> list[shapes_overview.TotalStats]:
    return [
        shapes_overview.TotalStats(startInterval=iso(start), endInterval=iso(end), count=count_by(end))
        for start, end in pairwise(edges)
    ]


def _time_us(first_events: tuple[int, object]) -> int:
    return first_events[0]
