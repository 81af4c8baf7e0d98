"""Silent streams, and inputs that were older than they need have been."""

from collections.abc import Iterator
from typing import Final

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.history import History
from headwater.graph.causes.record import Outline
from headwater.graph.causes.visit import Feed, Visit
from headwater.graph.causes.words import span
from headwater.model.names import DatasetId

_SILENT: Final = 0.75
_PASSED_OVER: Final = 0.6
_UNFINISHED: Final = 0.55


def silent_streams(visit: Visit, history: History) -> Iterator[Finding]:
    """A stream that feeds the run had been silent for longer than it may; the output's own, until it is asked."""
    for feed in () if visit.is_of_meanwhile else visit.feeds:
        for writer in feed.writers:
            if writer.by == "stream":
                yield from _silent(visit, history, writer.run, feed.at_us, is_of_feed=True)
    run = visit.run
    if visit.hops == 0 and run.state == "RUNNING" and history.is_stream(run.job):
        yield from _silent(visit, history, run, history.asked_us(), is_of_feed=False)


def _silent(visit: Visit, history: History, run: Outline, at_us: int, *, is_of_feed: bool) -> Iterator[Finding]:
    then = history.record_then(run.run_id, at_us)
    last_us, last = then.outline.last_us, then.last
    silent_us = at_us - last_us
    if then.outline.ended_us is not None or silent_us <= history.silence_us(run.job):
        return
    yield Finding(
        "silent-stream",
        _SILENT,
        f"{run.job.name} runs and had said nothing for {span(silent_us)}",
        run.job,
        visit,
        last_us,
        (run.run_id,),
        () if last is None else (last,),
        is_of_feed=is_of_feed,
    )


def freshness_gaps(visit: Visit, history: History) -> Iterator[Finding]:
    """The run read a version although a newer one was there, or while a newer one was being made."""
    for feed in () if visit.is_of_meanwhile else visit.feeds:
        used = [writer.run for writer in feed.writers if writer.by in ("version", "time")]
        if not used:
            continue
        newest_used = max(used, key=lambda run: (run.ended_us or 0, run.run_id))
        for job in feed.jobs:
            if job == visit.run.job or history.is_stream(job):
                continue
            runs = [run for run in history.runs_of(job) if feed.dataset in run.writes and run not in used]
            yield from _passed_over(visit, feed, newest_used, runs)
            yield from _unfinished(visit, feed, newest_used, runs)


def _passed_over(visit: Visit, feed: Feed, used: Outline, runs: list[Outline]) -> Iterator[Finding]:
    newer = [
        run
        for run in runs
        if run.state == "COMPLETED" and run.ended_us is not None and (used.ended_us or 0) < run.ended_us <= feed.at_us
    ]
    if newer and feed.versions and any(writer.by == "version" for writer in feed.writers):
        newest = max(newer, key=lambda run: (run.ended_us or 0, run.run_id))
        words = f"{feed.dataset.name}: the run read a version that {newest.job.name} had written anew before"
        yield _gap(visit, _PASSED_OVER, words, feed.dataset, newest.ended_us or 0, (newest, used))


def _unfinished(visit: Visit, feed: Feed, used: Outline, runs: list[Outline]) -> Iterator[Finding]:
    meanwhile = [
        run for run in runs if run.started_us <= feed.at_us and (run.ended_us is None or run.ended_us > feed.at_us)
    ]
    late = [run for run in meanwhile if run.started_us > used.started_us]
    if late:
        first = min(late, key=lambda run: (run.started_us, run.run_id))
        still = "never ended" if first.ended_us is None else f"ended {span(first.ended_us - feed.at_us)} later"
        words = f"{feed.dataset.name}: read while a newer run of {first.job.name} was under way, which {still}"
        yield _gap(visit, _UNFINISHED, words, feed.dataset, first.started_us, (first, used))


def _gap(visit: Visit, weight: float, words: str, where: DatasetId, at_us: int, runs: tuple[Outline, ...]) -> Finding:
    ids = (visit.run.run_id, *(run.run_id for run in runs))
    return Finding("freshness-gap", weight, words, where, visit, at_us, ids, (), is_of_feed=True)
