"""Whether a job's last run is older than it should be, by the job's usual interval and the reader's earlier reads."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from headwater.graph.causes.attempts import replaced_us
from headwater.graph.causes.history import History
from headwater.graph.causes.parent_runs import completed_without
from headwater.graph.causes.record import RunSummary, last_ended
from headwater.graph.causes.rhythm import ends_us, intervals_us, usual_us
from headwater.graph.causes.visit import BASELINE, Feed, Visit
from headwater.graph.causes.writers import read_at_us, read_through
from headwater.model.names import DatasetId, JobId

_LATE_AFTER: Final = 2.0
"""In usual intervals: one run was skipped."""
_LATE_IF_REGULAR: Final = 1.1
"""The same, for a job none of whose intervals was ever that long."""
_FEWEST_REGULAR: Final = 5
"""Intervals that are needed to conclude that a job is regular."""
_FEWEST_TURNS: Final = 4
"""Transitions from one read to the next that are needed to conclude that each usually brings new data."""
_RARELY: Final = 8
"""At most one transition in this many may have brought nothing new."""
_PAUSES: Final = 2
"""This many pauses as long as this one are normal, if there is one per `_HABIT` intervals."""
_HABIT: Final = 50
_PAUSED_ONCE: Final = 0.3
"""Factor on the weight if the job had paused as long once before."""


class Lateness(NamedTuple):
    """The age of the last run, and the usual interval; `share`: factor on the weight, by earlier pauses."""

    age_us: int
    usual_us: float
    is_read_again: bool
    """The reader's previous read had already seen what that run wrote, and reads usually bring new data."""
    share: float
    was_before: bool
    """Another job has written since, and the reader's previous run had read that."""


def lateness(visit: Visit, history: History, last: RunSummary, feed: Feed | None) -> Lateness | None:
    """The lateness of a job's last run when the feed was read, or, without a feed, when a newer run was expected.

    None: it is not late, the job often pauses so long, or another job has long been writing instead.
    """
    at_us = feed.at_us if feed is not None else visit.awaited_us or 0
    ends = ends_us(run for run in history.runs_of(last.job, last.end_us) if run.has_completed_by(last.end_us))
    usual, age_us = usual_us(ends), at_us - last.end_us
    if usual is None or age_us <= usual:
        return None
    since_us = None if feed is None else replaced_us(history, feed.dataset, last.job, last.end_us, at_us)
    is_read_again = feed is not None and since_us is None and _is_read_again(visit, history, last, feed)
    is_past_its_time = feed is None and _is_regular(intervals_us(ends), usual) and age_us > _LATE_IF_REGULAR * usual
    if age_us <= _LATE_AFTER * usual and not is_read_again and not is_past_its_time:
        return None
    share = _share(intervals_us(ends), age_us, is_read_again=is_read_again)
    before = [] if since_us is None else _were_so(visit, history, since_us, last.end_us + _LATE_AFTER * usual)
    if share == 0 or (len(before) == BASELINE and all(before)):
        return None
    return Lateness(age_us, usual, is_read_again, share, any(before[:1]))


def _is_regular(intervals: Sequence[int], usual: float) -> bool:
    return len(intervals) >= _FEWEST_REGULAR and max(intervals) <= _LATE_IF_REGULAR * usual


def is_due(visit: Visit, history: History) -> bool:
    """Whether a newer run of the visited run's job was expected, and none began.

    It is if the job is overdue, and for a regular job as soon as its last run is older than it ever was.
    """
    run = visit.run
    if visit.awaited_us is None or run.state != "COMPLETED" or history.is_stream(run.job):
        return False
    if history.runs_of(run.job)[0].run_id != run.run_id:
        return False
    ends = ends_us(each for each in history.runs_of(run.job) if each.state == "COMPLETED")
    intervals, usual, age_us = intervals_us(ends), usual_us(ends), visit.awaited_us - run.end_us
    is_past_its_time = usual is not None and _is_regular(intervals, usual) and age_us > max(intervals)
    return is_past_its_time or lateness(visit, history, run, None) is not None


def _share(intervals: Sequence[int], age_us: int, *, is_read_again: bool) -> float:
    """0 if the job pauses so long regularly, as at night or at weekends."""
    as_long = sum(interval >= age_us for interval in intervals)
    if as_long >= _PAUSES and as_long * _HABIT >= len(intervals):
        return 0
    return _PAUSED_ONCE if as_long and not is_read_again else 1


def _were_so(visit: Visit, history: History, replaced: int, late_us: float) -> list[bool]:
    """For each earlier run, newest first: whether another job had already written instead, and it was late."""
    reads = (read_at_us(history, each.summary) for each in visit.earlier)
    return [at_us >= max(replaced, late_us) for at_us in reads]


def _is_read_again(visit: Visit, history: History, last: RunSummary, feed: Feed) -> bool:
    """Whether the previous read had seen the same run's output, while earlier reads nearly always saw something new.

    A run in progress is late, not missing; and the parent run may have completed without it.
    """
    if history.is_stream(visit.run.job) or completed_without(history, last, feed.at_us):
        return False
    begun = (run for run in history.runs_of(last.job, feed.at_us) if feed.dataset in run.writes)
    if any(not run.has_ended_by(feed.at_us) for run in begun):
        return False
    readers = (each.summary for each in visit.earlier)
    reads = [run.started_us for run in readers if feed.dataset in read_through(history, run.reads)]
    fed = [_newest(history, last.job, feed.dataset, at_us) for at_us in reads]
    turns = [then == before for then, before in pairwise(fed) if then is not None and before is not None]
    is_same = bool(fed) and fed[0] == _newest(history, last.job, feed.dataset, feed.at_us) == last
    return is_same and len(turns) >= _FEWEST_TURNS and sum(turns) * _RARELY <= len(turns)


def _newest(history: History, job: JobId, name: DatasetId, at_us: int) -> RunSummary | None:
    """The run of the job that had written the dataset last by then."""
    runs = history.runs_of(job, at_us)
    return last_ended(run for run in runs if name in run.writes and run.has_completed_by(at_us))
