"""The latest quality of a dataset or column, check by check, from whichever facet reports it."""

import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain, groupby, takewhile
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from headwater.errors import UnavailableError
from headwater.model.events import RunEvent, Stamp
from headwater.model.facets.quality import Assertion, CheckId, DataQualityAssertionsFacet, DataQualityMetricsFacet
from headwater.model.facets.view import View
from headwater.model.names import DatasetId, JobId
from headwater.service.http.answers import iso, writable
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes.impact import FailedAssertion, Quality
from headwater.store.entries import as_today
from headwater.store.facet_reader import ReportedFacet

ViewT = TypeVar("ViewT", bound=View)

_KEYS: Final = (DataQualityAssertionsFacet.key, DataQualityMetricsFacet.key)
_MOST_JOBS: Final = 50
"""Limit on a dataset's jobs, latest event first, whose newest runs may have measured it."""


class _Report(NamedTuple):
    stamp: Stamp
    job: JobId | None
    """The job whose run reported it; None for a declaration, or if the event cannot be read."""
    name: str
    facet: Any

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Newest first; at equal times, the one whose job is known."""
        return -self.stamp.time_us, self.job is None, json.dumps(self.facet, sort_keys=True), self.job or ()


class Newest(NamedTuple):
    """The last assertions about a dataset, newest first, and its last metrics; None if there are none.

    All assertions that count: each job's last report of each check. dbt runs every test as a job of its own, which
    may have the name and column of another.
    """

    at_us: int | None
    """The time of the newest of both."""
    asserted: tuple[Assertion, ...]
    measured: DataQualityMetricsFacet | None


def newest_quality(knowledge: Knowledge, name: DatasetId) -> Generator[None, None, Newest]:
    """The latest reports about the dataset and its columns. Yields between steps: a stream may have made thousands."""
    reports: list[tuple[tuple[object, ...], _Report]] = []
    for each in _reports(knowledge, name):
        reports.append((each.sort_key, each))
        yield
    asserted, measured, times = _LastWords(), list[DataQualityMetricsFacet](), list[int]()
    for _, each in sorted(reports, key=itemgetter(0)):
        if (checks := _read(each, DataQualityAssertionsFacet)) is not None:
            asserted.add(each.job, checks)
        elif (metrics := _read(each, DataQualityMetricsFacet)) is not None:
            measured.append(metrics)
        else:
            continue
        times.append(each.stamp.time_us)
        yield
    return Newest(max(times, default=None), tuple(asserted.assertions), measured[0] if measured else None)


def quality_of(newest: Newest, column: str | None = None) -> Quality | None:
    """The last reported quality of a dataset, in numbers; None if nothing was reported.

    With `column`, reports about that column or about none.
    """
    if newest.at_us is None:
        return None
    assertions = [each for each in newest.asserted if column is None or each.of_column in (None, column)]
    metrics = newest.measured
    of_column = None if metrics is None or column is None else metrics.column_metrics.get(column)
    return Quality(
        at=iso(newest.at_us),
        passed=all(each.success for each in assertions) if assertions else None,
        assertions=len(assertions),
        failed=[
            FailedAssertion(assertion=each.assertion, column=each.of_column, severity=each.severity)
            for each in assertions
            if not each.success
        ],
        rowCount=None if metrics is None else writable(metrics.row_count),
        nullCount=None if of_column is None else writable(of_column.null_count),
    )


class _LastWords:
    """The assertions that count, newest first; all those of one facet, even two of one check."""

    def __init__(self) -> None:
        self.assertions: list[Assertion] = []
        self._reporters: dict[CheckId, set[JobId | None]] = {}

    def add(self, job: JobId | None, facet: DataQualityAssertionsFacet) -> None:
        """Take in what was reported before all others; `job` is None for a declaration."""
        checked = [(each.check, each) for each in facet.assertions]
        new = [pair for pair in checked if not _is_settled(job, self._reporters.get(pair[0], set()))]
        for check, assertion in new:
            self._reporters.setdefault(check, set()).add(job)
            self.assertions.append(assertion)


def _is_settled(job: JobId | None, newer: AbstractSet[JobId | None]) -> bool:
    """Whether later reports of the check replace what the job reported of it."""
    return bool(newer) if job is None else job in newer or None in newer


def _read(report: _Report, kind: type[ViewT]) -> ViewT | None:
    return kind.readable({kind.key: report.facet}) if report.name == kind.key else None


def _reports(knowledge: Knowledge, name: DatasetId) -> Iterator[_Report]:
    stamps = set[Stamp]()
    for each in _reports_of_runs(knowledge, name):
        stamps.add(each.stamp)
        yield each
    for facet, newest in [*knowledge.graph.facets_of(name).items()]:
        if facet in _KEYS and newest.stamp not in stamps:
            content = knowledge.store.content(newest.content)
            yield _Report(newest.stamp, _reporter(knowledge, newest.stamp), facet, content)


def _reporter(knowledge: Knowledge, stamp: Stamp) -> JobId | None:
    """The job whose run sent the event; None for an event without a run, or one that cannot be read."""
    with suppress(UnavailableError):  # it may be in a segment
        for logged in knowledge.store.with_digests([stamp.digest]).values():
            event = as_today(logged.event_type, logged.raw)
            return knowledge.graph.job_of(event.run_id) if isinstance(event, RunEvent) else None
    return None


def _reports_of_runs(knowledge: Knowledge, name: DatasetId) -> Iterator[_Report]:
    """Reports of the newest run of each job that touches the dataset, about the dataset or that one read or write.

    All assertions of a run count that it did not withdraw: it may report checks one by one.
    """
    jobs = knowledge.graph.readers(name) | knowledge.graph.writers(name)
    activities = [(knowledge.activity(job), job) for job in jobs]
    newest = sorted((-each.seen.last_us, each.runs[0], job) for each, job in activities if each.runs)[:_MOST_JOBS]
    job_of = {run_id: job for _, run_id, job in newest}
    for member in knowledge.graph.members(name):
        reported = knowledge.store.reported_facets([*job_of], member, _KEYS) if job_of else []
        for row in chain(reported, _asserted_before(knowledge, reported, member)):
            yield _Report(row.stamp, job_of[row.run_id], row.name, knowledge.store.content(row.content))


def asserted_by(knowledge: Knowledge, run_ids: Sequence[str], name: DatasetId) -> Iterator[ReportedFacet]:
    """The assertions of these runs on the dataset under that very name, without withdrawn ones; some of them twice."""
    latest = knowledge.store.reported_facets(run_ids, name, [DataQualityAssertionsFacet.key]) if run_ids else []
    yield from latest
    yield from _asserted_before(knowledge, latest, name)


def _asserted_before(knowledge: Knowledge, latest: Iterable[ReportedFacet], name: DatasetId) -> Iterator[ReportedFacet]:
    """Further assertions of the runs with the latest reports, back to where one withdrew all of them."""
    run_ids = sorted({row.run_id for row in latest if row.name == DataQualityAssertionsFacet.key})
    if not run_ids:
        return
    since_us = knowledge.graph.first_us_of(run_ids)
    reports = knowledge.store.reports_of_runs(run_ids, since_us, name, [DataQualityAssertionsFacet.key])
    reports.sort(key=lambda each: (each.run_id, each.direction, each.stamp, each.content), reverse=True)
    for _, of_one in groupby(reports, key=lambda each: (each.run_id, each.direction)):
        yield from takewhile(lambda each: knowledge.store.content(each.content).get("_deleted") is not True, of_one)
