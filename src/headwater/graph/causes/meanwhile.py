"""The other runs that wrote between two reads: those of a job that ended after the reader's previous run had read.

All they wrote is new to the reader: an appended table has the rows of each of these runs, and an error in one of them
may be in the data although later runs succeeded.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final, NamedTuple

from headwater.graph.causes.attempts import may_be_retry
from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.record import NOTHING_REPORTED, Record, RunSummary, last_ended
from headwater.graph.causes.rhythm import ends_us, usual_us
from headwater.graph.causes.row_counts import are_alike
from headwater.graph.causes.visit import Visit, Window
from headwater.graph.drift import column_changes
from headwater.model.names import DatasetId, JobId

MOST: Final = 24
"""Runs of a job between two reads that are examined: the newest, failed and successful ones counted separately. An
hourly job has as many in a day."""
_SAMPLES: Final = 24
"""Of the runs before these, so many are compared with each other."""
_MOST_TURNS: Final = 8
_RETRIED_WITHIN: Final = 0.5
"""In usual intervals: a run that began so soon after a failed one is a retry."""


_OVERWRITTEN: Final = 0.5


class Meanwhile(NamedTuple):
    """The runs to examine, failed ones first; `is_cut`: there were more."""

    runs: tuple[RunSummary, ...]
    is_cut: bool


def wrote_meanwhile(
    history: History, job: JobId, name: DatasetId, when: Window, known: Iterable[str], *, only_newest: bool
) -> Meanwhile:
    """The runs of the job that wrote the dataset in that window, or failed to, without those known already.

    The newest of them and, unless only these are wanted, of the others those since which something differs.
    """
    if history.is_stream(job):
        return Meanwhile((), is_cut=False)
    seen = {*known}
    failed = [*islice(_failed(history, job, when, seen), MOST + 1)]
    done = [*islice(_done(history, job, name, when, seen), MOST + 1)]
    has_more = len(done) > MOST and not only_newest
    older = islice(_turned(history, job, name, when, done[:MOST]), _MOST_TURNS) if has_more else ()
    runs = (*_not_retried(history, failed[:MOST]), *done[:MOST], *older)
    return Meanwhile(runs, is_cut=len(failed) > MOST or len(done) > MOST)


def _done(history: History, job: JobId, name: DatasetId, when: Window, known: set[str]) -> Iterator[RunSummary]:
    for run in history.ended_in(job, when.after_us, when.until_us, has_failed=False):
        if name in run.writes and run.run_id not in known:
            yield run


def _turned(
    history: History, job: JobId, name: DatasetId, when: Window, newest: Sequence[RunSummary]
) -> Iterator[RunSummary]:
    """Of the runs before the newest, those since which rows, columns or failed checks differ, newest first.

    A sample is compared, and where two neighbours differ, a search by halves leads to the run.
    """
    begun_us = min(run.started_us for run in newest)
    ids = history.begun_between(job, when.after_us, begun_us - 1)
    places = sorted({round(each * (len(ids) - 1) / (_SAMPLES - 1)) for each in range(_SAMPLES)}) if ids else []
    sample = [(place, run) for place in places if (run := _written(history, ids[place], name)) is not None]
    for (near, newer), (far, older) in pairwise(sample):
        if not _are_alike(newer, older, name):
            yield _first_alike(history, ids[near:far], newer, name).summary


def _first_alike(history: History, ids: Sequence[str], newest: Record, name: DatasetId) -> Record:
    """The oldest of these runs that is still like the newest, passed newest first, by halves."""
    near, far, first = 0, len(ids), newest
    while far - near > 1:
        middle = (near + far) // 2
        record = _written(history, ids[middle], name)
        if record is not None and _are_alike(newest, record, name):
            near, first = middle, record
        else:
            far = middle
    return first


def _written(history: History, run_id: str, name: DatasetId) -> Record | None:
    run = history.summary(run_id)
    return history.record(run_id) if run is not None and run.state == "COMPLETED" and name in run.writes else None


def _are_alike(one: Record, other: Record, name: DatasetId) -> bool:
    """Whether two runs report alike rows, and the same columns and failed checks, of what they wrote."""
    ends = [each.ends.get(("output", name), NOTHING_REPORTED) for each in (one, other)]
    rows = [end.rows[0] for end in ends if end.rows is not None]
    columns = [end.columns[0] for end in ends if end.columns is not None]
    failed = [{each.assertion.check for each in end.checks if not each.assertion.success} for end in ends]
    has_alike_rows = len(rows) < len(ends) or are_alike(rows[0], rows[1])
    has_same_columns = len(columns) < len(ends) or not [*column_changes(columns[0], columns[1])]
    return has_alike_rows and has_same_columns and failed[0] == failed[1]


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
