"""The other runs that wrote between two reads: those of a job that ended after the reader's previous run had read.

All they wrote is new to the reader: an appended table has the rows of each of these runs, and an error in one of them
may be in the data although later runs succeeded.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from headwater.graph.causes.attempts import may_be_retry
from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.record import NOTHING_REPORTED, RunSummary, last_ended
from headwater.graph.causes.rhythm import ends_us, usual_us
from headwater.graph.causes.visit import Visit, Window
from headwater.model.names import DatasetId, JobId

MOST: Final = 24
"""Runs of a job between two reads that are examined: the newest, failed and successful ones counted separately. An
hourly job has as many in a day."""
_RETRIED_WITHIN: Final = 0.5
"""In usual intervals: a run that began so soon after a failed one is a retry."""


_OVERWRITTEN: Final = 0.5


class Meanwhile(NamedTuple):
    """The runs to examine, failed ones first; `is_cut`: there were more."""

    runs: tuple[RunSummary, ...]
    is_cut: bool


def wrote_meanwhile(history: History, job: JobId, name: DatasetId, when: Window, known: Iterable[str]) -> Meanwhile:
    """The runs of the job that wrote the dataset in that window, or failed to, without those known already."""
    if history.is_stream(job):
        return Meanwhile((), is_cut=False)
    seen = {*known}
    failed = [*islice(_failed(history, job, when, seen), MOST + 1)]
    done = [*islice(_done(history, job, name, when, seen), MOST + 1)]
    runs = (*_not_retried(history, failed[:MOST]), *done[:MOST])
    return Meanwhile(runs, is_cut=len(failed) > MOST or len(done) > MOST)


def _done(history: History, job: JobId, name: DatasetId, when: Window, known: set[str]) -> Iterator[RunSummary]:
    for run in history.ended_in(job, when.after_us, when.until_us, has_failed=False):
        if name in run.writes and run.run_id not in known:
            yield run


def _failed(history: History, job: JobId, when: Window, known: set[str]) -> Iterator[RunSummary]:
    tried = history.ended_in(job, when.after_us, when.until_us, has_failed=True)
    return (run for run in tried if run.run_id not in known)


def _not_retried(history: History, failed: Sequence[RunSummary]) -> Iterator[RunSummary]:
    """The failed runs without a retry; the next scheduled run is no retry.

    Nor is a run with another nominal time. If the job has no regular interval, the next run counts as a retry.
    """
    if not failed:
        return
    usual = usual_us(ends_us(run for run in history.runs_of(failed[0].job) if run.state == "COMPLETED"))
    for run in failed:
        if not _was_retried(history, run, usual):
            yield run


def _was_retried(history: History, failed: RunSummary, usual: float | None) -> bool:
    begun = history.begun_since(failed.job, failed.end_us)
    since = islice((run for run in begun if may_be_retry(run, failed)), MOST)
    then = next((run for run in since if not _are_for_other_times(history, failed, run)), None)
    if then is None or usual is None:
        return then is not None
    is_part_too = failed.parent_run is not None and then.parent_run == failed.parent_run
    return is_part_too or then.started_us - failed.started_us < _RETRIED_WITHIN * usual


def _are_for_other_times(history: History, one: RunSummary, other: RunSummary) -> bool:
    """Whether a scheduler started the two for different nominal times; False if either reports none."""
    times = {history.record(run.run_id).nominal_us for run in (one, other)}
    return None not in times and len(times) > 1


def share_left(visit: Visit, history: History) -> float:
    """Factor on the weight of findings in a run that is visited because it wrote between two reads.

    Half if the last run that wrote before the read reports that it overwrote the dataset.
    """
    link = visit.path[-1] if visit.path else None
    if link is None or link.by != "meanwhile" or isinstance(link.source, JobId):
        return 1
    name, until_us = link.source, visit.news.until_us
    last = last_ended(run for run in writes_of(history, name, until_us) if run.has_completed_by(until_us))
    change = (
        None
        if last is None
        else history.record(last.run_id).ends.get(("output", name), NOTHING_REPORTED).lifecycle_change
    )
    return _OVERWRITTEN if change is not None and change[0] == "OVERWRITE" else 1
