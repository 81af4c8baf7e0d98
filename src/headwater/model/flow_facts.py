"""Flows in an event beyond inputs and outputs: explicit lineage entries, and job dependencies."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from headwater.model.facts import ControlFlow, FlowDirection
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.objects import objects
from headwater.model.sources import names_sources


class Flow(NamedTuple):
    """A flow between jobs, or between a job and a dataset; None is the reporter's own job.

    For a job at an end, its run may be named.
    """

    source: JobId | DatasetId | None
    target: JobId | DatasetId | None
    source_run: str | None = None
    target_run: str | None = None

    @property
    def is_of_own(self) -> bool:
        """Whether the reporter's own job is at an end."""
        return self.source is None or self.target is None

    def between(self, own: JobId, own_run: str | None = None) -> "Flow":
        """The flow with the reporter's job, and its run if named, filled in."""
        return Flow(
            self.source or own,
            self.target or own,
            own_run if self.source is None else self.source_run,
            own_run if self.target is None else self.target_run,
        )


class Maker(NamedTuple):
    """A job that makes a dataset, and its run, if named."""

    job: JobId
    run_id: str | None = None


_NOBODY: Final = JobId("", "")
_DIRECTIONS: Final[tuple[FlowDirection, ...]] = ("upstream", "downstream")


def explicit_targets(explicit: Mapping[str, Any]) -> Iterator[DatasetId]:
    """The datasets whose sources a job's `lineage` facet reports; unreadable entries are skipped."""
    for entry in objects(explicit.get("entries")):
        if entry.get("type") == "DATASET" and (target := _dataset(entry)) is not None and names_sources(entry):
            yield target


def explicit_flows(explicit: Mapping[str, Any], own: JobId, own_run: str | None = None) -> Iterator[Flow]:
    """The flows in a job's `lineage` facet that involve a job, without duplicates.

    Flows between datasets are not included: they are read as column edges from the facet itself. A run of the own job
    other than the reporting one is named like those of other jobs.

    Source: OpenLineage LineageFacet 1-0-0 `LineageJobEntry`, `LineageJobInput`
    """
    reporter = _Reporter(own, own_run)
    flows: dict[tuple[object, ...], Flow] = {}
    for entry in objects(explicit.get("entries")):
        for target, target_run in _ends(entry, reporter):
            for source, source_run in _sources(entry, reporter):
                flow = Flow(source, target, source_run, target_run)
                ends = [(type(end), end) for end in flow.between(own)[:2]]
                if not (isinstance(source, DatasetId) and isinstance(target, DatasetId)) and ends[0] != ends[1]:
                    flows[type(source), type(target), *flow] = flow
    return iter(flows.values())


def reports_uses(explicit: Mapping[str, Any]) -> bool:
    """Whether a job's `lineage` facet may report what jobs use themselves, without making a dataset of it."""
    return any(entry.get("type") == "JOB" and entry.get("inputs") for entry in objects(explicit.get("entries")))


def explicit_makers(explicit: Mapping[str, Any]) -> Iterator[Maker]:
    """The jobs that a dataset's own `lineage` facet names as its producers; entries without a name are skipped."""
    for source, run_id in _sources(explicit, _Reporter(_NOBODY, None)):
        if isinstance(source, JobId) and source != _NOBODY:
            yield Maker(source, run_id)


def control_flow(run_id: str, facet: Mapping[str, Any], seen: Seen) -> Iterator[ControlFlow]:
    """The jobs that a run's `jobDependencies` facet names."""
    for direction in _DIRECTIONS:
        for dependency in objects(facet.get(direction)):
            job = dependency.get("job")
            if isinstance(job, dict) and (pair := _pair(job)) is not None:
                kind = dependency.get("dependency_type")
                yield ControlFlow(run_id, direction, JobId(*pair), kind if isinstance(kind, str) else "", seen)


_End = tuple[JobId | DatasetId | None, str | None]
"""An end of a flow, and the job's run unless it is the reporting one."""


class _Reporter(NamedTuple):
    job: JobId
    run_id: str | None


def _sources(entry: Mapping[str, Any], reporter: _Reporter) -> Iterator[_End]:
    fields = entry.get("fields")
    holders = (entry, *(fields.values() if isinstance(fields, dict) else ()))
    for holder in holders:
        for source in objects(holder.get("inputs") if isinstance(holder, dict) else None):
            yield from _ends(source, reporter)


def _ends(entity: Mapping[str, Any], reporter: _Reporter) -> Iterator[_End]:
    """The dataset or job; none where it cannot be read."""
    match entity.get("type"):
        case "DATASET" if (dataset := _dataset(entity)) is not None:
            yield dataset, None
        case "JOB" if (pair := _pair(entity)) is not None:
            yield _end(JobId(*pair), _run(entity), reporter)
        case "JOB" if entity.get("namespace") is None and entity.get("name") is None:
            yield _end(reporter.job, _run(entity), reporter)


def _end(job: JobId, run_id: str | None, reporter: _Reporter) -> _End:
    return (None, None) if job == reporter.job and run_id in (None, reporter.run_id) else (job, run_id)


def _run(entity: Mapping[str, Any]) -> str | None:
    run_id = entity.get("runId")
    return run_id_of(run_id) if isinstance(run_id, str) and run_id else None


def _dataset(entity: Mapping[str, Any]) -> DatasetId | None:
    """The dataset, possibly without a namespace."""
    namespace, name = entity.get("namespace"), entity.get("name")
    return DatasetId(namespace, name) if isinstance(namespace, str) and isinstance(name, str) and name else None


def _pair(entity: Mapping[str, Any]) -> tuple[str, str] | None:
    namespace, name = entity.get("namespace"), entity.get("name")
    return (namespace, name) if isinstance(namespace, str) and isinstance(name, str) and namespace and name else None
