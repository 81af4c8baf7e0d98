"""A job's runs further back than the ten that each run is compared with: how far, and how few of them are read.

A job may have tens of thousands of runs in four weeks. So only some of them are read: those at the same time of earlier
days or weeks, the oldest one, and, where that differs, those that a search by halves passes.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from headwater.graph.causes.history import History
from headwater.graph.causes.record import Record, RunSummary
from headwater.graph.causes.visit import BASELINE, Visit

DAY_US: Final = 86_400_000_000
WEEK_US: Final = 7 * DAY_US
TIMES: Final = 4
"""So many days or weeks before."""
_SAME_TIME_US: Final = 5_400_000_000
"""One and a half hours: daylight saving moves a run by one."""
_MOST_TRIED: Final = 20
"""Runs that are tried to find one that completed."""


class Then(NamedTuple):
    """A run at the same time so many days or weeks before, and what it reported."""

    back: int
    record: Record


def at_same_time(visit: Visit, history: History, period_us: int) -> Iterator[Then]:
    """The runs of the job at the same time in earlier periods, newest first; none among the latest of the ten.

    What began lately would otherwise look as if it had always been so.
    """
    run, latest = visit.run, visit.earlier[: BASELINE // 2]
    if len(latest) < BASELINE // 2:
        return
    before_us = latest[-1].summary.started_us
    for back in range(1, TIMES + 1):
        found = _nearest(history, run, run.started_us - back * period_us)
        if found is not None and found.started_us < before_us:
            yield Then(back, history.record(found.run_id))


def _nearest(history: History, run: RunSummary, then_us: int) -> RunSummary | None:
    """The completed run of the job that began nearest to a time, if any did at about that time."""
    before = history.begun_between(run.job, then_us - _SAME_TIME_US, then_us)
    since = history.begun_between(run.job, then_us, then_us + _SAME_TIME_US)
    found = (_first_completed(history, ids) for ids in (before, reversed(since)))
    near = (each for each in found if each is not None and each.began < run.began)
    return min(near, key=lambda each: (abs(each.started_us - then_us), each.run_id), default=None)


def _first_completed(history: History, run_ids: Iterable[str]) -> RunSummary | None:
    tried = (history.summary(run_id) for run_id in islice(run_ids, _MOST_TRIED))
    return next((run for run in tried if run is not None and run.state == "COMPLETED"), None)


class Boundary(NamedTuple):
    """The runs between which a state began."""

    after: Record | None
    """The first that had it; None: the oldest of the ten."""
    before: Record
    former: Iterator[tuple[int, Record]]
    """The run before and those before that, newest first, each with its place."""


class OlderRuns:
    """A job's runs before the ten, back to four weeks before a run, newest first; read where needed."""

    def __init__(self, visit: Visit, history: History) -> None:
        self._history = history
        self._ids: Sequence[str] = ()
        if len(visit.earlier) == BASELINE and not visit.is_of_meanwhile and not history.is_stream(visit.run.job):
            oldest_us = min(map(attrgetter("summary.started_us"), visit.earlier))
            since_us = visit.run.started_us - TIMES * WEEK_US - _SAME_TIME_US
            self._ids = history.begun_between(visit.run.job, since_us, oldest_us - 1)

    def oldest(self) -> Record | None:
        """The oldest that completed."""
        found = _first_completed(self._history, reversed(self._ids))
        return None if found is None else self._history.record(found.run_id)

    def boundary(self, oldest: Record, is_same: Callable[[Record], bool | None]) -> Boundary:
        """Where a state began that the oldest of these runs did not have, found in a few steps.

        `is_same`: whether a run had it; None: it does not tell.
        """
        near, far, after, before = -1, len(self._ids), None, oldest
        while far - near > 1:
            middle = (near + far) // 2
            told = ((place, record, is_same(record)) for place, record in self._completed(middle, far))
            place, record, same = next((each for each in told if each[2] is not None), (middle, None, None))
            if record is None:
                far = middle
            elif same:
                near, after = place, record
            else:
                far, before = place, record
        return Boundary(after, before, self._completed(far, len(self._ids)))

    def _completed(self, start: int, stop: int) -> Iterator[tuple[int, Record]]:
        """The completed runs from a place on, older and older; only the first if there are many."""
        for place in range(start, min(stop, start + _MOST_TRIED)):
            run = self._history.summary(self._ids[place])
            if run is not None and run.state == "COMPLETED":
                yield place, self._history.record(run.run_id)
