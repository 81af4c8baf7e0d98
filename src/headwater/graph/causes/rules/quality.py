"""Failed checks of what a run read or wrote, by itself or by other readers of the same data."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from headwater.graph.causes.finding import Finding
from headwater.graph.causes.history import History, runs_before
from headwater.graph.causes.meanwhile import share_left
from headwater.graph.causes.record import NOTHING_REPORTED, Check, FailedCheck, Record, RunSummary
from headwater.graph.causes.visit import WAS_BEFORE, Visit, Window
from headwater.graph.causes.words import listed
from headwater.model.events import Direction
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US

_ERROR: Final = 0.8
_WARNING: Final = 0.4
_ELSEWHERE: Final = 0.3
"""Factor on the weight if no checked column matters."""
_MOST_CHECKERS: Final = 20
_MOST_LOOKED_AT: Final = 200
"""Runs among which the next write is looked for."""


def failed_checks(visit: Visit, history: History) -> Iterator[Finding]:
    """The run, or another reader of the same data, reported a failed expectation; for a stream at any time."""
    sides: tuple[Direction, ...] = ("output", "input")
    for direction in sides:
        for name, end in visit.sides(direction):
            own_before = [check for each in visit.earlier[:1] for check in _checks(each, direction, name)]
            meanwhile = _meanwhile(visit, history, direction, name)
            yield from _weighed(_failed(visit, name, end.checks, own_before, visit.record, meanwhile), visit, history)
    yield from _weighed(_failed_tests(visit), visit, history)
    for name in sorted(name for name in visit.run.writes if visit.concerns("output", name)):
        for record in _checkers(visit, history, name):
            checks, before = _checks(record, "input", name), _checked_before(history, record.summary, name)
            yield from _weighed(_failed(visit, name, checks, before, record), visit, history)


def _weighed(found: Iterable[Finding], visit: Visit, history: History) -> Iterator[Finding]:
    return (replace(each, weight=each.weight * share_left(visit, history)) for each in found)


def _meanwhile(visit: Visit, history: History, direction: Direction, name: DatasetId) -> Sequence[FailedCheck]:
    """The failed checks of a stream that were news for its reader, each at its first failure."""
    is_stream = history.is_stream(visit.run.job)
    failed = history.failed_checks_while_running(visit.run.run_id) if is_stream else ()
    first: dict[tuple[object, ...], FailedCheck] = {}
    for each in failed:
        if (each.direction, each.dataset) == (direction, name) and visit.news.has(each.at_us):
            first.setdefault(each.check.assertion.check, each)
    return [*first.values()]


def _checks(record: Record, direction: Direction, name: DatasetId) -> Sequence[Check]:
    return record.ends.get((direction, name), NOTHING_REPORTED).checks


def _checked_before(history: History, checker: RunSummary, name: DatasetId) -> Sequence[Check]:
    """The results of the checking job's previous run that read the dataset."""
    last = next((run for run in runs_before(history, checker) if name in run.reads), None)
    return () if last is None else _checks(history.record(last.run_id), "input", name)


def _failed(
    visit: Visit,
    name: DatasetId,
    checks: Sequence[Check],
    before: Sequence[Check],
    reporter: Record,
    meanwhile: Sequence[FailedCheck] = (),
) -> Iterator[Finding]:
    failed = [each.check for each in meanwhile] + [check for check in checks if not check.assertion.success]
    if not failed:
        return
    failed_before = {each.assertion.check for each in before if not each.assertion.success}
    was_before = all(check.assertion.check in failed_before for check in failed)
    is_own = reporter is visit.record
    first_us = min((each.at_us for each in meanwhile), default=visit.run.started_us)
    names = listed(sorted({_named(check) for check in failed}))
    by = "" if is_own else f", found by {visit.called(reporter.summary.job)}"
    yield Finding(
        "failed-check",
        max(_weight(visit, name, check, failed_before) for check in failed),
        f"{visit.called(name)}: {names} failed{', as before' if was_before else ''}{by}",
        name,
        visit,
        first_us if is_own else reporter.summary.last_us,
        tuple(dict.fromkeys((reporter.summary.run_id, visit.run.run_id))),
        tuple(dict.fromkeys(check.event for check in failed)),
        was_before=was_before,
        what=f"{names}{by}",
    )


def _weight(visit: Visit, name: DatasetId, check: Check, failed_before: Container[object]) -> float:
    assertion = check.assertion
    weight = _WARNING if (assertion.severity or "").lower().startswith("warn") else _ERROR
    if assertion.of_column is not None and not visit.matters(name, assertion.of_column):
        weight *= _ELSEWHERE
    return weight * (WAS_BEFORE if assertion.check in failed_before else 1)


def _named(check: Check) -> str:
    column = check.assertion.of_column
    return check.assertion.assertion if column is None else f"{check.assertion.assertion} on {column}"


def _failed_tests(visit: Visit) -> Iterator[Finding]:
    failed = [each for each in visit.record.tests if each.test.passed is False]
    if failed:
        warns = all((each.test.severity or "").lower().startswith("warn") for each in failed)
        names = sorted({each.test.name for each in failed})
        before = {each.test.name for run in visit.earlier[:1] for each in run.tests if each.test.passed is False}
        was_before = before.issuperset(names)
        yield Finding(
            "failed-check",
            (_WARNING if warns else _ERROR) * (WAS_BEFORE if was_before else 1),
            f"{visit.called(visit.run.job)}: {listed(names)} failed{', as before' if was_before else ''}",
            visit.run.job,
            visit,
            visit.run.started_us,
            (visit.run.run_id,),
            tuple(dict.fromkeys(each.event for each in failed)),
            was_before=was_before,
            what=listed(names),
        )


def _checkers(visit: Visit, history: History, name: DatasetId) -> Iterator[Record]:
    """Runs of other jobs that read the run's output before it was written again; the newest, if there are many."""
    begun_us = visit.run.started_us
    until_us = min(
        (_written_again_us(history, job, name, begun_us) for job in history.writers(name)), default=AFTER_ALL_US
    )
    news = visit.news if visit.path and history.is_stream(visit.run.job) else None  # a stream writes on
    found: list[RunSummary] = []
    for job in history.readers(name):
        if job != visit.run.job:
            runs = [
                run for run in history.runs_of(job, until_us - 1) if name in run.reads and run.started_us >= begun_us
            ]
            found += [run for run in runs if news is None or _is_news(news, run, reads_on=history.is_stream(job))]
    for run in sorted(found, key=lambda run: (-run.started_us, run.run_id))[:_MOST_CHECKERS]:
        yield history.record(run.run_id)


def _written_again_us(history: History, job: JobId, name: DatasetId, begun_us: int) -> int:
    """When the job's next run began that completed and wrote the dataset; the end of time if none did."""
    since = islice(history.begun_since(job, begun_us + 1), _MOST_LOOKED_AT)
    return next((run.started_us for run in since if run.state == "COMPLETED" and name in run.writes), AFTER_ALL_US)


def _is_news(news: Window, checker: RunSummary, *, reads_on: bool) -> bool:
    """Whether what a job read of a stream's output was news for the reader; all is, if that read it the first time."""
    is_first = news.after_us >= news.until_us
    return checker.started_us <= news.until_us and (is_first or reads_on or checker.started_us > news.after_us)
