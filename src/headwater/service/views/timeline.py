"""The quality of a dataset, or of one of its columns, over time, and how the tests of a job went.

A `test` facet belongs to a run and names no dataset: it counts for the job, and for a dataset if that is the run's only
input or output. A run may report some tests now and others later: of each test its last report counts.

Of dataset events, facts keep only the last; earlier ones are read from the log.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, islice, takewhile
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast

import orjson

from headwater.model import strict_json
from headwater.model.events import DatasetEvent, Direction, Stamp
from headwater.model.extract import content_of
from headwater.model.facets.counts import as_numbers
from headwater.model.facets.lenient import scalar_text
from headwater.model.facets.quality import DataQualityAssertionsFacet, RunTestsFacet
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.model.objects import objects
from headwater.service.background import collect_in_slices, groups, result_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.store.entries import as_today
from headwater.store.facet_reader import ReportedFacet, ReportedRunFacet

_OfDataset = Literal["dataQualityAssertions", "dataQualityMetrics"]
_OF_DATASET: Final[tuple[_OfDataset, ...]] = ("dataQualityAssertions", "dataQualityMetrics")
_TOGETHER: Final = 32
"""Events read from the log, or facets read, per time slice: a few milliseconds' work at most."""
_DELETED: Final = b'"_deleted"'


class _Report(NamedTuple):
    stamp: Stamp
    run_id: str | None
    direction: Direction | None
    kind: _OfDataset | Literal["test"]
    content: bytes
    settled: frozenset[str] = frozenset()
    """The tests that the run reported again later."""


_ReportT = TypeVar("_ReportT", bound=_Report | ReportedFacet | ReportedRunFacet)


async def quality_timeline(
    knowledge: Knowledge, node: DatasetId | ColumnId | JobId, limit: int, offset: int
) -> shapes.QualityTimeline:
    """A page of assertions, metrics and tests, newest first; for a column, only those about it.

    Works in time slices.
    """
    column = node.column if isinstance(node, ColumnId) else None
    reports = await collect_in_slices(_reports(knowledge, node))
    reports.sort(key=lambda each: (each.stamp, each.kind, each.content), reverse=True)
    shown = [report for report in await collect_in_slices(_shown(knowledge, reports, column)) if report is not None]
    page = islice(shown, offset, offset + limit)
    points = (_point(each, _parts(_facet(body), each, column), column) for each, body in _with_bodies(knowledge, page))
    return shapes.QualityTimeline(timeline=await collect_in_slices(points), totalCount=len(shown))


async def is_measured(knowledge: Knowledge, column: ColumnId) -> bool:
    """Whether a column has assertions or metrics; it need not be known otherwise. Works in time slices."""
    return await result_in_slices(_is_measured(knowledge, column))


def _is_measured(knowledge: Knowledge, column: ColumnId) -> Generator[None, None, bool]:
    for each in _shown(knowledge, _reports(knowledge, column), column.column):
        if each is not None:
            return True
        yield
    return False


def _shown(knowledge: Knowledge, reports: Iterable[_Report], column: str | None) -> Iterator[_Report | None]:
    """The reports that say something about the dataset, column or job; None for each other one."""
    for each, body in _with_bodies(knowledge, reports):
        yield each if _parts(_facet(body), each, column).is_any else None


def _with_bodies(knowledge: Knowledge, reports: Iterable[_ReportT]) -> Iterator[tuple[_ReportT, bytes]]:
    """Each report with the JSON of its facet; a stream may have made thousands."""
    for group in groups(reports, _TOGETHER):
        bodies = knowledge.store.bodies([*{each.content for each in group}])
        yield from ((each, bodies[each.content]) for each in group)


def _reports(knowledge: Knowledge, node: DatasetId | ColumnId | JobId) -> Iterator[_Report]:
    match node:
        case JobId():
            yield from _tests(knowledge, _testing(knowledge, knowledge.graph.jobs[node].runs))
        case ColumnId(dataset=dataset):
            yield from _reports_of_dataset(knowledge, dataset)
        case DatasetId():
            yield from _reports_of_dataset(knowledge, node)
            yield from _tests(knowledge, _testing_no_other(knowledge, node))


def _reports_of_dataset(knowledge: Knowledge, name: DatasetId) -> Iterator[_Report]:
    graph = knowledge.graph
    members = graph.members(name)
    of_runs = (row for member in members for row in knowledge.store.facet_reports(member, _OF_DATASET))
    for row in _without_repetitions(_standing(knowledge, of_runs)):
        yield _Report(row.stamp, row.run_id, row.direction, cast(_OfDataset, row.name), row.content)
    for member in members:
        dataset = graph.datasets.get(member)
        declared = [*dataset.declared.values()] if dataset else []
        for each in declared:
            for kind in _OF_DATASET:
                if kind in each.facets:
                    yield _Report(each.stamp, None, None, kind, each.facets[kind].content)
        yield from _declared_before(knowledge, member, {each.stamp for each in declared})


def _declared_before(knowledge: Knowledge, name: DatasetId, holding: AbstractSet[Stamp]) -> Iterator[_Report]:
    """Reports in dataset events that were replaced since; `holding` are the current declarations."""
    replaced = [shape.stamp.digest for shape in knowledge.store.declared_shapes(name) if shape.stamp not in holding]
    for digests in groups(replaced, _TOGETHER):
        for logged in knowledge.store.with_digests(digests).values():
            event = as_today(logged.event_type, logged.raw)
            if isinstance(event, DatasetEvent):
                yield from _declared(event)


def _declared(event: DatasetEvent) -> Iterator[_Report]:
    for kind in _OF_DATASET:
        if (facet := event.dataset.facets.get(kind)) is not None:
            yield _Report(event.stamp, None, None, kind, content_of(facet).digest)


def _standing(knowledge: Knowledge, reports: Iterable[ReportedFacet]) -> Iterator[ReportedFacet]:
    """What runs reported, without what they withdrew later; of each run newest first."""
    newest_first = sorted(reports, key=lambda each: (*_of_run(each), each.stamp, each.content), reverse=True)
    for _, of_one in groupby(_with_bodies(knowledge, newest_first), key=lambda each: _of_run(each[0])):
        yield from (each for each, _ in takewhile(lambda each: not _is_withdrawn(each[1]), of_one))


def _of_run(report: ReportedFacet) -> tuple[str, Direction, str]:
    return report.run_id, report.direction, report.name


def _is_withdrawn(body: bytes) -> bool:
    return _DELETED in body and _facet(body).get("_deleted") is True


def _without_repetitions(newest_first: Iterable[ReportedFacet]) -> Iterator[ReportedFacet]:
    """The last of consecutive equal reports of a run."""
    for _, same in groupby(newest_first, key=lambda each: (*_of_run(each), each.content)):
        yield next(same)


def _tests(knowledge: Knowledge, runs: Iterable[str]) -> Iterator[_Report]:
    ids = sorted(runs)
    reports = knowledge.store.reported_run_facets(ids, RunTestsFacet.key) if ids else []
    reports.sort(key=lambda row: (row.run_id, row.stamp, row.content), reverse=True)
    for run_id, rows in groupby(reports, key=lambda row: row.run_id):
        settled: frozenset[str] = frozenset()
        for row, _ in takewhile(lambda each: not _is_withdrawn(each[1]), _with_bodies(knowledge, rows)):
            yield _Report(row.stamp, run_id, None, "test", row.content, settled)
            read = knowledge.facets.read(RunTestsFacet, row.content)
            settled |= {test.name for test in (() if read is None else read.tests)}


def _testing(knowledge: Knowledge, runs: Iterable[str]) -> Iterator[str]:
    """The runs that reported tests, as few do."""
    known = knowledge.graph.runs
    return (run_id for run_id in runs if (extras := known[run_id].extras) is not None and extras.has_tested)


def _testing_no_other(knowledge: Knowledge, name: DatasetId) -> set[str]:
    """The runs that reported tests, and have this dataset as their only input or output."""
    graph = knowledge.graph
    members = frozenset(graph.members(name))
    jobs = graph.readers(name) | graph.writers(name)
    testing = {run_id for job in jobs for run_id in _testing(knowledge, graph.jobs[job].runs)}
    observed = ((run_id, graph.runs[run_id].observed) for run_id in testing)
    return {run_id for run_id, ends in observed if ends and all(dataset in members for _, dataset in ends)}


def _facet(body: bytes) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], strict_json.parse(body))


class _Parts(NamedTuple):
    """What a facet says about the dataset, column or job."""

    facet: Mapping[str, Any]
    assertions: Sequence[Mapping[str, Any]] = ()
    tests: Sequence[Mapping[str, Any]] = ()
    metrics: Mapping[str, Any] | None = None

    @property
    def is_any(self) -> bool:
        return bool(self.assertions or self.tests) or self.metrics is not None


def _parts(facet: Mapping[str, Any], report: _Report, column: str | None) -> _Parts:
    if facet.get("_deleted") is True:
        return _Parts(facet)
    if report.settled:
        tests = [test for test in objects(facet.get("tests")) if scalar_text(test.get("name")) not in report.settled]
        facet = {**facet, "tests": tests}
    return _Parts(
        facet,
        [each for each in objects(facet.get("assertions")) if column in (None, each.get("column"))],
        [*objects(facet.get("tests"))] if report.kind == "test" else [],
        _metrics(facet, column) if report.kind == "dataQualityMetrics" else None,
    )


def _point(report: _Report, parts: _Parts, column: str | None) -> shapes.QualityPoint:
    outcomes = [*(_outcomes_of_tests(parts.facet) if parts.tests else _outcomes(parts.facet, column))]
    return shapes.QualityPoint(
        at=iso(report.stamp.time_us),
        run=report.run_id,
        direction=report.direction,
        kind=report.kind,
        passed=all(outcomes) if outcomes else None,
        assertions=[_written(each) for each in parts.assertions],
        tests=[_written(each) for each in parts.tests],
        metrics=None if parts.metrics is None else _written(as_numbers(parts.metrics)),
    )


def _outcomes_of_tests(facet: Mapping[str, Any]) -> Iterator[bool]:
    """The outcomes of the tests that were carried out."""
    read = RunTestsFacet.readable({RunTestsFacet.key: facet})
    for test in () if read is None else read.tests:
        if test.passed is not None:
            yield test.passed


def _outcomes(facet: Mapping[str, Any], column: str | None) -> Iterator[bool]:
    """The outcomes of assertions; for a column, those about it."""
    read = DataQualityAssertionsFacet.readable({DataQualityAssertionsFacet.key: facet})
    for assertion in () if read is None else read.assertions:
        if column in (None, assertion.of_column):
            yield assertion.success


def _metrics(facet: Mapping[str, Any], column: str | None) -> Mapping[str, Any] | None:
    columns = facet.get("columnMetrics")
    if column is not None:
        of_column = columns.get(column) if isinstance(columns, dict) else None
        return of_column if isinstance(of_column, dict) else None
    return {name: value for name, value in facet.items() if not name.startswith("_")}


def _written(value: Mapping[str, Any]) -> orjson.Fragment:
    """As JSON, including numbers beyond 64 bits."""
    return orjson.Fragment(content_of(value).body)
