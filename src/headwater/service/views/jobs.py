"""Jobs: inputs, outputs and newest runs."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from headwater.errors import NotFoundError
from headwater.model.addresses import url_or_none
from headwater.model.events import Direction
from headwater.model.facets.about import DocumentationFacet
from headwater.model.facets.job import JobTypeFacet, SourceCodeLocationFacet
from headwater.model.facets.own import DeclaredFacet
from headwater.model.facets.view import View
from headwater.model.names import DatasetId, JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.job_type import job_type
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import (
    declared_version,
    job_uuid,
    job_version,
    newest_giving_version,
    runs_giving_version,
)
from headwater.service.shapes import marquez as shapes
from headwater.service.views.names import name_of, names_of, stored_facets
from headwater.service.views.runs import run_shapes, run_texts
from headwater.service.views.tags import tags_of

ViewT = TypeVar("ViewT", bound=View)

_NEWEST: Final = 10
"""The number of runs returned with a job."""
OF_JOB_CORE: Final = frozenset(
    kind.key for kind in (DocumentationFacet, SourceCodeLocationFacet, JobTypeFacet, DeclaredFacet)
)
"""The facets used in the members of a job in every answer."""


def job_shapes(knowledge: Knowledge, jobs: Sequence[JobId]) -> list[shapes.Job]:
    """The jobs, in order, each with its newest runs."""
    newest = newest_runs(knowledge, jobs, _NEWEST)
    facets = stored_facets(knowledge, (knowledge.graph.job_digests(job) for job in jobs))
    return [_job(knowledge, job, newest[job], facets_of_job) for job, facets_of_job in zip(jobs, facets, strict=True)]


def newest_runs(knowledge: Knowledge, jobs: Iterable[JobId], most: int) -> dict[JobId, list[shapes.Run]]:
    """For each job its newest runs, newest first, as finished JSON."""
    ids = {job: knowledge.activity(job).runs[:most] for job in jobs}
    runs = iter(run_texts(knowledge, (knowledge.run(run_id) for each in ids.values() for run_id in each)))
    return {job: list(islice(runs, len(each))) for job, each in ids.items()}


def job_core(knowledge: Knowledge, job: JobId, latest: shapes.Run | None) -> shapes.JobCore:
    """The members that every answer about a job has."""
    documentation = _facet(knowledge, job, DocumentationFacet)
    location = _facet(knowledge, job, SourceCodeLocationFacet)
    activity = knowledge.activity(job)
    named_parent = knowledge.parent_of(job)
    parent = named_parent if named_parent != job else None  # it may be a part of another run of its own
    return shapes.JobCore(
        id=name_of(job),
        type=job_type(knowledge, job),
        name=job.name,
        simpleName=_simple_name(job, parent),
        parentJobName=None if parent is None else parent.name,
        parentJobUuid=None if parent is None else str(job_uuid(parent)),
        createdAt=iso(activity.seen.first_us),
        updatedAt=iso(activity.seen.last_us),
        namespace=job.namespace,
        inputs=names_of(filter(knowledge.graph.shows, knowledge.graph.reads(job))),
        outputs=names_of(filter(knowledge.graph.shows, knowledge.graph.writes(job))),
        location=url_or_none(None if location is None else location.url),
        description=None if documentation is None else documentation.description,
        latestRun=latest,
    )


def _job(knowledge: Knowledge, job: JobId, runs: Sequence[shapes.Run], facets: shapes.Facets) -> shapes.Job:
    kind = _facet(knowledge, job, JobTypeFacet)
    labels = () if kind is None else (kind.job_type, kind.integration)
    return shapes.Job(
        **job_core(knowledge, job, runs[0] if runs else None),
        currentVersion=_current_version(knowledge, job),
        facets=facets,
        labels=[label for label in labels if label],
        latestRuns=runs or None,
        tags=tags_of(knowledge, job),
    )


def _facet(knowledge: Knowledge, job: JobId, kind: type[ViewT]) -> ViewT | None:
    return knowledge.facets.read(kind, knowledge.graph.job_digest(job, kind.key))


def _simple_name(job: JobId, parent: JobId | None) -> str:
    return job.name if parent is None else job.name.removeprefix(f"{parent.name}.") or job.name


def _current_version(knowledge: Knowledge, job: JobId) -> str | None:
    """The version defined by the newest run that defines one; if none does, the declared one, or None.

    A job that was put has none until then, as in Marquez.
    """
    newest = newest_giving_version(knowledge, job)
    if newest is not None:
        return str(job_version(knowledge.graph, job, knowledge.graph.runs[newest].observed))
    declared = declared_version(knowledge, job)
    return None if declared is None else str(declared.uuid)


class _Version(NamedTuple):
    newest: str | None
    """The id of the newest run with this version; None if only a declaration defines it."""
    since_us: int
    declared: Sequence[tuple[Direction, DatasetId]] = ()
    """The inputs and outputs by the declaration."""


def job_versions(knowledge: Knowledge, job: JobId, limit: int, offset: int) -> shapes.JobVersions:
    """A page of the versions given by the job's runs, newest first, then the declared one."""
    versions = _versions(knowledge, job)
    page = dict(islice(versions.items(), offset, offset + limit))
    return shapes.JobVersions(versions=_version_shapes(knowledge, job, page), totalCount=len(versions))


def job_version_shape(knowledge: Knowledge, job: JobId, uuid: str) -> shapes.JobVersion:
    """The job's version with that UUID.

    Raises:
        NotFoundError: no run gave it that version, and it was not declared so.
    """
    found = _versions(knowledge, job).get(uuid.lower())
    if found is None:
        raise NotFoundError(f"Job version '{uuid}' not found.")
    return _version_shapes(knowledge, job, {uuid.lower(): found})[0]


def _versions(knowledge: Knowledge, job: JobId) -> dict[str, _Version]:
    graph = knowledge.graph
    versions: dict[str, _Version] = {}
    version_of = cache(lambda ends: str(job_version(graph, job, ends)))  # thousands of runs read and write the same
    for run in runs_giving_version(knowledge, job):
        uuid = version_of(tuple(run.observed))
        known = versions.get(uuid)
        versions[uuid] = _Version(run.run_id if known is None else known.newest, run.seen.first_us)
    declared = declared_version(knowledge, job)
    if declared is not None:
        version = versions.setdefault(str(declared.uuid), _Version(None, declared.since_us, declared.ends))
        versions[str(declared.uuid)] = version._replace(since_us=min(version.since_us, declared.since_us))
    return versions


def _version_shapes(knowledge: Knowledge, job: JobId, versions: Mapping[str, _Version]) -> list[shapes.JobVersion]:
    newest = (each.newest for each in versions.values() if each.newest is not None)
    runs = iter(run_shapes(knowledge, map(knowledge.run, newest)))
    latest = (None if version.newest is None else next(runs) for version in versions.values())
    pairs = zip(versions.items(), latest, strict=True)
    return [_version(knowledge, job, uuid, version, run) for (uuid, version), run in pairs]


def _version(
    knowledge: Knowledge, job: JobId, uuid: str, version: _Version, run: shapes.Run | None
) -> shapes.JobVersion:
    inputs, outputs = _declared(version) if run is None else _observed(run)
    return shapes.JobVersion(
        id=shapes.Versioned(namespace=job.namespace, name=job.name, version=uuid),
        name=job.name,
        namespace=job.namespace,
        version=uuid,
        createdAt=iso(version.since_us),
        inputs=inputs,
        outputs=outputs,
        location=job_core(knowledge, job, None)["location"],
        latestRun=run,
    )


def _declared(version: _Version) -> tuple[list[shapes.Name], list[shapes.Name]]:
    inputs = names_of(name for side, name in version.declared if side == "input")
    return inputs, names_of(name for side, name in version.declared if side == "output")


def _observed(run: shapes.Run) -> tuple[list[shapes.Name], list[shapes.Name]]:
    return _names(run["inputDatasetVersions"]), _names(run["outputDatasetVersions"])


def _names(versions: Sequence[shapes.DatasetVersionOfRun]) -> list[shapes.Name]:
    ids = (version["datasetVersionId"] for version in versions)
    return [shapes.Name(namespace=each["namespace"], name=each["name"]) for each in ids]
