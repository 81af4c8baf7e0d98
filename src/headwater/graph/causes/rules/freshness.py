"""Silent streams, and inputs that were older than necessary."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from headwater.graph.causes.finding import Finding, shown_by
from headwater.graph.causes.history import History
from headwater.graph.causes.record import EventRef, RunSummary, last_ended
from headwater.graph.causes.visit import WAS_BEFORE, Feed, Visit
from headwater.graph.causes.words import span
from headwater.graph.causes.writers import by_time, read_at_us
from headwater.model.names import DatasetId

_SILENT: Final = 0.75
_PASSED_OVER: Final = 0.6
_UNFINISHED: Final = 0.55
_FEWEST_READS: Final = 3
"""Reads needed to conclude that a reader always reads while the next run is in progress."""


def silent_streams(visit: Visit, history: History) -> Iterator[Finding]:
    """A stream that feeds the run had been silent too long when read; for the output's own stream, until now."""
    for feed in () if visit.is_of_meanwhile else visit.feeds:
        for writer in feed.writers:
            if writer.by == "stream":
                yield from _silent(visit, history, writer.run, feed.at_us, is_of_feed=True)
    run = visit.run
    if visit.hops == 0 and run.state == "RUNNING" and history.is_stream(run.job):
        yield from _silent(visit, history, run, history.asked_us(), is_of_feed=False)


def _silent(visit: Visit, history: History, run: RunSummary, at_us: int, *, is_of_feed: bool) -> Iterator[Finding]:
    then = history.record_then(run.run_id, at_us)
    last_us, last = then.summary.last_us, then.last
    silent_us = at_us - last_us
    if then.summary.ended_us is not None or silent_us <= history.silence_us(run.job):
        return
    yield Finding(
        "silent-stream",
        _SILENT,
        f"{visit.called(run.job)} is running and had reported nothing for {span(silent_us)}",
        run.job,
        visit,
        last_us,
        (run.run_id,),
        shown_by(last),
        is_of_feed=is_of_feed,
    )


def freshness_gaps(visit: Visit, history: History) -> Iterator[Finding]:
    """The run read a version although a newer one existed, or was being made."""
    for feed in () if visit.is_of_meanwhile else visit.feeds:
        used = [writer.run for writer in feed.writers if writer.by in ("version", "time")]
        if not used:
            continue
        newest_used = max(used, key=lambda run: (run.ended_us or 0, run.run_id))
        for job in feed.jobs:
            if job == visit.run.job or history.is_stream(job):
                continue
            runs = [run for run in history.runs_of(job, feed.at_us) if feed.dataset in run.writes and run not in used]
            yield from _passed_over(visit, history, feed, newest_used, runs)
            yield from _unfinished(visit, history, feed, newest_used, runs)


def _passed_over(
    visit: Visit, history: History, feed: Feed, used: RunSummary, runs: Sequence[RunSummary]
) -> Iterator[Finding]:
    newest = last_ended(run for run in runs if run.has_completed_by(feed.at_us) and run.end_us > (used.ended_us or 0))
    if newest is not None and feed.versions and any(writer.by == "version" for writer in feed.writers):
        newer = f"as {visit.called(newest.job)} had written a newer one before"
        words = f"{visit.called(feed.dataset)}: the run read an old version, {newer}"
        shown_by = (history.record(newest.run_id).last,)
        yield _gap(visit, _PASSED_OVER, words, feed.dataset, newest.end_us, (newest, used), shown_by)


def _unfinished(
    visit: Visit, history: History, feed: Feed, used: RunSummary, runs: Sequence[RunSummary]
) -> Iterator[Finding]:
    late = _under_way(runs, used, feed.at_us)
    if not late:
        return
    first = min(late, key=attrgetter("began"))
    before = _were_under_way(visit, history, feed, first)
    if len(before) >= _FEWEST_READS and 2 * sum(before) > len(before):
        return
    still = "never ended" if first.ended_us is None else f"ended {span(first.ended_us - feed.at_us)} later"
    newer = f"a newer run of {visit.called(first.job)} was under way, which {still}"
    words = f"{visit.called(feed.dataset)}: read while {newer}"
    record, was_before = history.record(first.run_id), any(before[:1])
    shown_by = (record.first, None if first.ended_us is None else record.last)
    weight = _UNFINISHED * (WAS_BEFORE if was_before else 1)
    gap = _gap(visit, weight, words, feed.dataset, first.started_us, (first, used), shown_by)
    yield replace(gap, was_before=was_before)


def _under_way(runs: Iterable[RunSummary], used: RunSummary, at_us: int) -> list[RunSummary]:
    """The runs that began later than the one used and had not ended by then."""
    begun = (run for run in runs if used.started_us < run.started_us <= at_us)
    return [run for run in begun if not run.has_ended_by(at_us)]


def _were_under_way(visit: Visit, history: History, feed: Feed, now: RunSummary) -> list[bool]:
    """For each earlier run of the reader, newest first: whether another run of this one's job was in progress then."""
    found = []
    for at_us in (read_at_us(history, each.summary) for each in visit.earlier):
        runs = [run for run in history.runs_of(now.job, at_us) if feed.dataset in run.writes and run != now]
        used = by_time(history, now.job, runs, at_us)
        if used is not None:
            found.append(bool(_under_way(runs, used.run, at_us)))
    return found


def _gap(
    visit: Visit,
    weight: float,
    words: str,
    where: DatasetId,
    at_us: int,
    runs: tuple[RunSummary, ...],
    shown_by: tuple[EventRef | None, ...],
) -> Finding:
    ids = (visit.run.run_id, *(run.run_id for run in runs))
    events = tuple(event for event in shown_by if event is not None)
    return Finding("freshness-gap", weight, words, where, visit, at_us, ids, events, is_of_feed=True)
