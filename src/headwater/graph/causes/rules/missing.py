"""Runs that were expected and did not happen."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.history import History, writes_of
from headwater.graph.causes.lateness import Lateness, lateness
from headwater.graph.causes.record import RunSummary
from headwater.graph.causes.visit import WAS_BEFORE, Feed, Visit
from headwater.graph.causes.words import listed, span
from headwater.model.names import JobId

_NEVER_RAN: Final = 0.85
_LATE: Final = 0.75


def missing_runs(visit: Visit, history: History) -> Iterator[Finding]:
    """A job that writes an input had not run by then, or is overdue; so is the output's own job, as of now.

    If it should have run as part of another run that failed, that failure is the evidence. Runs that were late between
    two reads, but ended before the second, are not reported.
    """
    if visit.is_of_meanwhile:
        return
    missing = {each.job: writer.run for each in visit.handovers for writer in each.writers if writer.by == "whole"}
    for job, parent in missing.items():
        yield _missing_parts(visit, history, job, parent)
    if visit.run.job not in missing:
        yield from _of_output(visit, history)
    for feed in visit.feeds:
        tried = {writer.run.job for writer in feed.writers if writer.by == "attempt"}
        for job in feed.jobs:
            if history.is_stream(job) or job == visit.run.job or job in tried or job in missing:
                continue
            last = _last(visit, history, feed, job)
            if last is not None:
                yield from _overdue(visit, history, last, feed)
            elif not feed.writers:
                yield from _never(visit, history, feed, job)


def _missing_parts(visit: Visit, history: History, job: JobId, parent: RunSummary) -> Finding:
    return Finding(
        "missing-run",
        _LATE,
        f"{visit.called(job)} should have run as part of {visit.called(parent.job)}, a run of which had failed",
        job,
        visit,
        parent.end_us,
        (parent.run_id, visit.run.run_id),
        shown_by(history.record(parent.run_id).last),
        is_of_feed=job != visit.run.job,
    )


def _last(visit: Visit, history: History, feed: Feed, job: JobId) -> RunSummary | None:
    """The last run of the job that had written an input when it was read, or whose version was read."""
    read = {writer.run.run_id for writer in feed.writers if writer.by == "version"}
    runs = [run for run in history.runs_of(job, visit.run.last_us) if run.run_id in read or _had_written(run, feed)]
    return max(runs, key=lambda run: (run.end_us, run.run_id), default=None)


def _had_written(run: RunSummary, feed: Feed) -> bool:
    return run.has_completed_by(feed.at_us) and feed.dataset in run.writes


def _never(visit: Visit, history: History, feed: Feed, job: JobId) -> Iterator[Finding]:
    begun = [*history.runs_of(job, feed.at_us)]
    if any(run.has_completed_by(feed.at_us) for run in begun):
        return  # its outputs are not reported: unknown
    runs = (run for run in chain(reversed(begun), history.begun_since(job, feed.at_us)) if run != visit.run)
    later = next(runs, None)
    if later is None:
        return
    yield Finding(
        "missing-run",
        _NEVER_RAN,
        f"{visit.called(job)} writes {visit.called(feed.dataset)} and had completed no run when it was read",
        job,
        visit,
        feed.at_us,
        (visit.run.run_id, later.run_id),
        shown_by(history.record(later.run_id).first),
        is_of_feed=True,
    )


def _of_output(visit: Visit, history: History) -> Iterator[Finding]:
    """The job that writes the output itself, unless it began another run, or tried to."""
    if visit.is_due:
        yield from _overdue(visit, history, visit.run, None)


def _overdue(visit: Visit, history: History, last: RunSummary, feed: Feed | None) -> Iterator[Finding]:
    """By its usual interval when the feed was read, or, without a feed, when a newer run was expected."""
    late = lateness(visit, history, last, feed)
    if late is None:
        return
    since = "" if feed is None else _since(visit, history, last, feed)
    yield Finding(
        "missing-run",
        _LATE * late.share * (WAS_BEFORE if late.was_before else 1),
        f"{visit.called(last.job)} usually ends a run every {span(late.usual_us)}, {_age(visit, late, feed)}{since}",
        last.job,
        visit,
        last.end_us + round(late.usual_us),
        (last.run_id, visit.run.run_id),
        shown_by(history.record(last.run_id).last),
        is_of_feed=feed is not None,
        was_before=late.was_before,
    )


def _age(visit: Visit, late: Lateness, feed: Feed | None) -> str:
    if feed is None:
        return f"and its last one is {span(late.age_us)} old"
    again = ", and had been read before" if late.is_read_again else ""
    return f"and its last one was {span(late.age_us)} old when {visit.called(feed.dataset)} was read{again}"


def _since(visit: Visit, history: History, last: RunSummary, feed: Feed) -> str:
    """Who wrote it instead, and when the job's next run began, if one did after the read."""
    instead = sorted({visit.called(job) for job in _instead(history, last, feed)})
    then = next((run for run in history.begun_since(last.job, feed.at_us) if run != last), None)
    said = [f"{listed(instead)} had written it since"] if instead else []
    said += [] if then is None else [f"its next one began {span(then.started_us - feed.at_us)} later"]
    return "".join(f"; {each}" for each in said)


def _instead(history: History, last: RunSummary, feed: Feed) -> Iterator[JobId]:
    """The other jobs that had written the dataset since that run when it was read."""
    for run in writes_of(history, feed.dataset, feed.at_us):
        if run.job != last.job and run.has_completed_by(feed.at_us) and run.end_us > last.end_us:
            yield run.job
