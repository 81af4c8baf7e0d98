"""Schema changes: when, who reported them, which columns, and what depends on these."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from typing import Final, NamedTuple

from headwater.errors import InvalidInputError
from headwater.graph.diff.compare import columns_of
from headwater.graph.drift import ColumnChange, ReportedSchema, drift
from headwater.graph.impact.places import Place
from headwater.graph.impact.reach import Flow, reach
from headwater.model.digest import as_text
from headwater.model.events import Stamp
from headwater.model.facets.dataset import SchemaFacet
from headwater.model.facets.own import SubjectFacet
from headwater.model.names import ColumnId, DatasetId, JobId
from headwater.service.background import collect_in_slices, result_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.history import declared_subject, judged
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request.node_ids import node_of
from headwater.service.shapes import drift as shapes
from headwater.service.views.impact import any_breaking, flow_through
from headwater.service.views.names import name_of
from headwater.store.entries import LoggedEvent
from headwater.store.reader import AnotherReader, Reader

_JOBS_SHOWN: Final = 10


class DriftQuery(NamedTuple):
    """Which changes are wanted: of one dataset or in one namespace, between two times (inclusive)."""

    node_id: str | None = None
    namespace: str | None = None
    from_us: int | None = None
    to_us: int | None = None
    limit: int = 100
    offset: int = 0


class _Report(NamedTuple):
    """A schema as reported."""

    stamp: Stamp
    is_written: bool
    name: DatasetId
    run_id: str | None
    schema: bytes


class _Drift(NamedTuple):
    report: _Report
    job: JobId | None
    changes: list[ColumnChange]


class _Below(NamedTuple):
    """What is downstream of a column: counts, and the nearest jobs."""

    reaches: shapes.Reaches
    jobs: list[str]


class _Downstream:
    """What is downstream of columns, walked once per column."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._reached: dict[ColumnId, _Below] = {}

    async def of(self, column: ColumnId) -> _Below:
        """Walk downstream; works in time slices."""
        if column not in self._reached:
            places = (await result_in_slices(reach(self._flow, [column]))).places
            reaches = shapes.Reaches(
                columns=_count(places, "column"), datasets=_count(places, "dataset"), jobs=_count(places, "job")
            )
            jobs = [place.node_id for place in places if place.kind == "job"][:_JOBS_SHOWN]
            self._reached[column] = _Below(reaches, jobs)
        return self._reached[column]


async def schema_drift(
    knowledge: Knowledge, query: DriftQuery, another_reader: AnotherReader | None = None
) -> shapes.Drift:
    """The changes of schemas, newest first.

    Reports about all datasets are scanned in another thread, if there is another reader.

    Raises:
        NotFoundError: no such dataset is known.
        InvalidInputError: the node is not a dataset.
    """
    names = await _requested_datasets(knowledge, query, another_reader)
    steps = await collect_in_slices(each for name in names for each in _drift_of(knowledge, name))
    found = (each for each in steps if each is not None and _is_between(each, query))
    matching = sorted(found, key=lambda each: each.report, reverse=True)
    page = matching[query.offset : query.offset + query.limit]
    events = knowledge.store.with_digests([each.report.stamp.digest for each in page])
    downstream = _Downstream(flow_through(knowledge))
    shown = [await _schema_drift(downstream, each, events[each.report.stamp.digest]) for each in page]
    return shapes.Drift(drift=shown, totalCount=len(matching))


async def _requested_datasets(
    knowledge: Knowledge, query: DriftQuery, another_reader: AnotherReader | None
) -> Sequence[DatasetId]:
    if query.node_id is not None:
        node = node_of(knowledge, query.node_id)
        if not isinstance(node, DatasetId):
            raise InvalidInputError("nodeId: expected a dataset, whose schema may change")
        return [node]
    several = (
        knowledge.store.datasets_with_several_schemas()
        if another_reader is None
        else await asyncio.to_thread(_several, another_reader)
    )
    shown = {knowledge.graph.shown(name) for name in several}
    return sorted(name for name in shown if query.namespace in (None, name.namespace) and knowledge.is_dataset(name))


def _several(another_reader: AnotherReader) -> list[DatasetId]:
    with closing(another_reader()) as reader:
        return reader.datasets_with_several_schemas()


def _drift_of(knowledge: Knowledge, name: DatasetId) -> Iterator[_Drift | None]:
    """The changes of a dataset's schema, with a step for each report, changed or not."""
    members = knowledge.graph.members(name)
    if len({schema for member in members for schema in _schemas(knowledge.store, member)}) < 2:
        return
    columns = cache(lambda schema: columns_of(knowledge.store.content(schema)))  # thousands of runs tell the same
    reports = sorted(each for member in members for each in _reports(knowledge.store, member))
    jobs = [_job_of(knowledge, each.run_id) for each in reports]
    schemas = (
        ReportedSchema(each.name if job is None else (job, each.name), columns(each.schema))
        for each, job in zip(reports, jobs, strict=True)
    )
    for each, job, changes in zip(reports, jobs, drift(schemas), strict=True):
        yield _Drift(each._replace(name=name), job, changes) if changes else None


def _schemas(store: Reader, name: DatasetId) -> Iterator[bytes]:
    yield from store.all_reported_schemas(name)
    yield from (declared.schema for declared in store.declared_shapes(name) if declared.schema is not None)


def _reports(store: Reader, name: DatasetId) -> Iterator[_Report]:
    for observed in store.facet_reports(name, [SchemaFacet.key]):
        yield _Report(observed.stamp, observed.direction == "output", name, observed.run_id, observed.content)
    for declared in store.declared_shapes(name):
        if declared.schema is not None:
            yield _Report(declared.stamp, False, name, None, declared.schema)


def _job_of(knowledge: Knowledge, run_id: str | None) -> JobId | None:
    run = None if run_id is None else knowledge.graph.runs.get(run_id)
    return run.of_job.job if run is not None and run.of_job is not None else None


def _is_between(found: _Drift, query: DriftQuery) -> bool:
    at_us = found.report.stamp.time_us
    return (query.from_us is None or at_us >= query.from_us) and (query.to_us is None or at_us <= query.to_us)


async def _schema_drift(downstream: _Downstream, found: _Drift, logged: LoggedEvent) -> shapes.SchemaDrift:
    report = found.report
    subject = declared_subject(logged) if report.run_id is None else None
    judgements = judged(found.changes, subject)
    changes = [_column(change, await downstream.of(ColumnId(report.name, change.column))) for change in judgements]
    return shapes.SchemaDrift(
        nodeId=report.name.node_id,
        at=iso(report.stamp.time_us),
        toldBy=None if found.job is None else name_of(found.job),
        runId=report.run_id,
        index=logged.log_index,
        digest=as_text(logged.digest),
        subject=None if subject is None else _version(subject),
        breaking=any_breaking(change["breaking"] for change in changes),
        changes=changes,
    )


def _column(change: ColumnChange, below: _Below) -> shapes.ColumnDrift:
    return shapes.ColumnDrift(
        column=change.column,
        change=change.change,
        before=change.before,
        after=change.after,
        breaking=change.is_breaking,
        reaches=below.reaches,
        jobs=below.jobs,
    )


def _count(places: Sequence[Place], kind: str) -> int:
    return sum(place.kind == kind for place in places)


def _version(subject: SubjectFacet) -> shapes.SubjectVersion:
    return shapes.SubjectVersion(
        subject=subject.subject,
        version=subject.version,
        compatibility=subject.compatibility,
        fitsRule=subject.fits_rule,
    )
