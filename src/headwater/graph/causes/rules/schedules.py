"""Inputs that are read much older than before, as since the schedule of their job or of the reader was moved."""

from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Final, NamedTuple

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.history import History
from headwater.graph.causes.record import Record, RunSummary, last_ended
from headwater.graph.causes.rhythm import ends_us, usual_us
from headwater.graph.causes.visit import WAS_BEFORE, Feed, Visit
from headwater.graph.causes.words import span
from headwater.graph.causes.writers import read_at_us, read_through
from headwater.model.names import JobId

_OLDER: Final = 0.55
_MUCH: Final = 0.5
"""In usual intervals of the writing job: so much older, it is mostly the data of the run before."""
_ALIKE: Final = 0.25
"""In usual intervals: ages that differ by less are alike."""
_FEWEST_SINCE: Final = 2
"""Reads that were so: one alone is a run that was late."""
_FEWEST_BEFORE: Final = 3
_LOOKED_BACK: Final = 10
"""In usual intervals, for the run that was read."""
_MOST_RUNS: Final = 10


class _Read(NamedTuple):
    """A run of the reader, and how old what it read was."""

    record: Record
    wrote: RunSummary
    age_us: int


def older_inputs(visit: Visit, history: History) -> Iterator[Finding]:
    """At this read and those before it, an input was much older than at the reads before these, yet new each time."""
    if visit.is_of_meanwhile or history.is_stream(visit.run.job):
        return
    for feed in visit.feeds:
        for job in feed.jobs:
            if job != visit.run.job and not history.is_stream(job):
                yield from _older(visit, history, feed, job)


def _older(visit: Visit, history: History, feed: Feed, job: JobId) -> Iterator[Finding]:
    begun = history.runs_of(job, feed.at_us)
    done = [run for run in begun if run.has_completed_by(feed.at_us)]
    usual, last = usual_us(ends_us(done)), last_ended(run for run in done if feed.dataset in run.writes)
    if usual is None or last is None or feed.at_us - last.end_us < _MUCH * usual:
        return
    if any(run.began > last.began and not run.has_ended_by(feed.at_us) for run in begun):
        return  # a newer run was under way
    reads = [*_reads(visit, history, feed, job, usual)]
    if len(reads) < _FEWEST_SINCE + _FEWEST_BEFORE:
        return
    now_us = reads[0].age_us
    since = [*takewhile(lambda read: abs(read.age_us - now_us) < _ALIKE * usual, reads)]
    before = reads[len(since) :]
    most_us = max((read.age_us for read in before), default=now_us)
    if len(since) < _FEWEST_SINCE or len(before) < _FEWEST_BEFORE or now_us - most_us < _MUCH * usual:
        return
    if reads[0].wrote == reads[1].wrote:
        return  # the job is late
    first = since[-1].record
    yield Finding(
        "freshness-gap",
        _OLDER * WAS_BEFORE,
        f"{visit.called(feed.dataset)}: at the last {len(since)} reads, what {visit.called(job)} had written was"
        f" {span(now_us)} old; at the {len(before)} before, {span(most_us)} at most",
        feed.dataset,
        visit,
        first.summary.started_us,
        tuple(dict.fromkeys((first.summary.run_id, before[0].record.summary.run_id, visit.run.run_id, last.run_id))),
        shown_by(first.first),
        is_of_feed=True,
        was_before=True,
    )


def _reads(visit: Visit, history: History, feed: Feed, job: JobId, usual: float) -> Iterator[_Read]:
    """The reads of the dataset by the visited run and those before it, newest first."""
    for record in (visit.record, *visit.earlier):
        if feed.dataset not in read_through(history, record.summary.reads):
            return
        at_us = read_at_us(history, record.summary)
        ended = history.ended_in(job, at_us - round(_LOOKED_BACK * usual), at_us, has_failed=False)
        last = last_ended(islice((run for run in ended if feed.dataset in run.writes), _MOST_RUNS))
        if last is None:
            return
        yield _Read(record, last, at_us - last.end_us)
