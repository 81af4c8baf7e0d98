"""Jobs."""

from itertools import compress
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import BeforeValidator

from headwater.model.facts import RunState
from headwater.model.names import JobId
from headwater.service.background import collect_in_slices, result_in_slices
from headwater.service.gate.sight import Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request.access import Known
from headwater.service.routes.parameters import (
    EITHER_CASE,
    JOB,
    NOT_FOUND,
    WRONG,
    Limit,
    NamespaceName,
    Offset,
    ResourceName,
)
from headwater.service.shapes import marquez as shapes
from headwater.service.tallies.totals import Nodes
from headwater.service.views.jobs import job_shapes, job_version_shape, job_versions
from headwater.service.views.namespaces import job_in
from headwater.service.views.runs import run_texts

router = APIRouter(prefix=API, tags=["jobs"], route_class=KnownQuery)


States = Annotated[
    list[Annotated[RunState, EITHER_CASE]],
    BeforeValidator(lambda words: [word for word in words if word] if isinstance(words, list) else words),
    Query(alias="lastRunStates", description="Only jobs whose newest run is in one of these states."),
]


async def _named(knowledge: Known, namespace: NamespaceName, name: ResourceName) -> JobId:
    return job_in(knowledge, JobId(namespace, name))


Named = Annotated[JobId, Depends(_named)]


@router.get("/jobs", response_model=shapes.Jobs, responses=WRONG)
async def get_all_jobs(
    knowledge: Known,
    states: States = [],  # noqa: B006  FastAPI copies it
    limit: Limit = 100,
    offset: Offset = 0,
    sees: Sees = None,
) -> Response:
    """The jobs of all namespaces, latest event first."""
    is_page = sees is None and not states
    jobs = await result_in_slices(knowledge.job_tallies.newest(offset + limit if is_page else None))
    if sees is not None:
        visible = [job for job in jobs.page(None) if sees(job.namespace)]
        return _chosen(knowledge, await _in_states(knowledge, visible, states) if states else visible, limit, offset)
    return await _page(knowledge, jobs, states, limit, offset)


@router.get("/namespaces/{namespace:encoded}/jobs", response_model=shapes.Jobs, responses=WRONG)
async def get_jobs(
    knowledge: Known,
    namespace: NamespaceName,
    states: States = [],  # noqa: B006  FastAPI copies it
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """The jobs of a namespace, latest event first; an unknown namespace has none."""
    jobs = await result_in_slices(knowledge.job_tallies.newest(None if states else offset + limit, namespace))
    return await _page(knowledge, jobs, states, limit, offset)


async def _page(knowledge: Knowledge, jobs: Nodes[JobId], states: list[RunState], limit: int, offset: int) -> Response:
    if states:
        return _chosen(knowledge, await _in_states(knowledge, jobs.page(None), states), limit, offset)
    return answer(shapes.Jobs(jobs=job_shapes(knowledge, jobs.page(limit, offset)), totalCount=len(jobs)))


def _chosen(knowledge: Knowledge, jobs: list[JobId], limit: int, offset: int) -> Response:
    return answer(shapes.Jobs(jobs=job_shapes(knowledge, jobs[offset : offset + limit]), totalCount=len(jobs)))


async def _in_states(knowledge: Knowledge, jobs: list[JobId], states: list[RunState]) -> list[JobId]:
    """The jobs whose newest run is in one of the states; works in time slices, as all jobs are examined."""
    are_in = await collect_in_slices(_is_in(knowledge, job, states) for job in jobs)
    return [*compress(jobs, are_in)]


def _is_in(knowledge: Knowledge, job: JobId, states: list[RunState]) -> bool:
    newest = knowledge.activity(job).runs[:1] if knowledge.is_job(job) else ()  # it may turn out to be none meanwhile
    return bool(newest) and knowledge.run(newest[0]).state in states


@router.get(JOB, response_model=shapes.Job, responses=NOT_FOUND | WRONG)
async def get_job(knowledge: Known, name: Named) -> Response:
    """One job."""
    return answer(job_shapes(knowledge, [name])[0])


@router.get(f"{JOB}/runs", response_model=shapes.Runs, responses=NOT_FOUND | WRONG)
async def get_runs(knowledge: Known, name: Named, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The runs of a job, newest first."""
    ids = knowledge.activity(name).runs
    page = run_texts(knowledge, map(knowledge.run, ids[offset : offset + limit]))
    return answer(shapes.Runs(runs=page, totalCount=len(ids)))


@router.get(f"{JOB}/versions", response_model=shapes.JobVersions, responses=NOT_FOUND | WRONG)
async def get_versions(knowledge: Known, name: Named, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The versions of a job, newest first; each is one set of inputs and outputs, by its runs or as declared."""
    return answer(job_versions(knowledge, name, limit, offset))


@router.get(f"{JOB}/versions/{{version}}", response_model=shapes.JobVersion, responses=NOT_FOUND)
async def get_version(
    knowledge: Known, name: Named, version: Annotated[str, Path(description="The version's UUID.")]
) -> Response:
    """One version of a job."""
    return answer(job_version_shape(knowledge, name, version))
