"""Statistics as Marquez's page draws them: what happened in each hour of a day, or in each day of a week."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, Literal
from zoneinfo import ZoneInfo

from headwater.service import shapes
from headwater.service.answers import iso, microseconds
from headwater.service.knowledge import Knowledge
from headwater.service.views.sources import all_sources

Period = Literal["DAY", "WEEK"]
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def edges_us(period: Period, now_us: int, zone: ZoneInfo) -> list[int]:
    """Where the intervals of a period meet, in microseconds since 1970.

    The last 24 hours, this one included; or the last 7 days of the time zone, today included: a day may have 23 or 25
    hours.
    """
    now = _EPOCH + timedelta(microseconds=now_us)
    if period == "DAY":
        hour = now.replace(minute=0, second=0, microsecond=0)
        return [microseconds(hour + timedelta(hours=n)) for n in range(-23, 2)]
    today = now.astimezone(zone).date()
    days = (today + timedelta(days=n) for n in range(-6, 2))
    return [microseconds(datetime(day.year, day.month, day.day, tzinfo=zone)) for day in days]


def event_stats(knowledge: Knowledge, edges: Sequence[int]) -> list[shapes.EventStats]:
    """How many run events of each kind happened between one edge and the next."""
    counted = [(span, knowledge.store.event_counts(*span)) for span in pairwise(edges)]
    return [
        shapes.EventStats(
            startInterval=iso(start),
            endInterval=iso(end),
            fail=counts.get("FAIL", 0),
            start=counts.get("START", 0),
            complete=counts.get("COMPLETE", 0),
            abort=counts.get("ABORT", 0),
        )
        for (start, end), counts in counted
    ]


def total_stats(created_us: Iterable[int], edges: Sequence[int]) -> list[shapes.TotalStats]:
    """How many there were by the end of each interval, from when each was first heard of."""
    ordered = sorted(created_us)
    return [
        shapes.TotalStats(startInterval=iso(start), endInterval=iso(end), count=bisect_left(ordered, end))
        for start, end in pairwise(edges)
    ]


def jobs_created_us(knowledge: Knowledge) -> Iterator[int]:
    """When each job was first heard of."""
    known = (job for job in knowledge.graph.jobs if knowledge.is_job(job))
    return (knowledge.activity(job).seen.first_us for job in known)


def datasets_created_us(knowledge: Knowledge) -> Iterator[int]:
    """When each dataset was first heard of."""
    return (knowledge.seen(name).first_us for name in knowledge.graph.shown_datasets())


def sources_created_us(knowledge: Knowledge) -> Iterator[int]:
    """When each source was first heard of."""
    return (microseconds(datetime.fromisoformat(each["createdAt"])) for each in all_sources(knowledge).values())
