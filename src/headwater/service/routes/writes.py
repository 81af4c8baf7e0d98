"""Datasets, jobs and runs that are written over the API: each becomes an event."""

from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response

from headwater.errors import ForbiddenError
from headwater.model.names import DatasetId, JobId
from headwater.model.wire import EventType
from headwater.service.gate.sight import By, Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import ServiceHere
from headwater.service.routes.parameters import (
    DATASET,
    JOB,
    NOT_FOUND,
    WRITTEN,
    Moment,
    NamespaceName,
    ResourceName,
    RunId,
)
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import dataset_shapes
from headwater.service.views.jobs import job_shapes
from headwater.service.views.runs import run_shapes
from headwater.service.writing import writing

router = APIRouter(prefix=API, route_class=bodies.StrictBody, strict_content_type=False)

_EVENT_TYPE: Final[dict[str, EventType]] = {
    "start": "START",
    "complete": "COMPLETE",
    "fail": "FAIL",
    "abort": "ABORT",
}
At = Annotated[Moment, Query(description="The time of the change; by default now. A time without an offset is in UTC.")]
Mark = Annotated[Literal["start", "complete", "fail", "abort"], Path(description="What the run did.")]


@router.put(DATASET, response_model=shapes.Dataset, responses=NOT_FOUND | WRITTEN, tags=["datasets"])
async def put_dataset(
    service: ServiceHere,
    namespace: NamespaceName,
    name: ResourceName,
    body: bodies.DatasetBody,
    by: By = None,
    sees: Sees = None,
) -> Response:
    """Declare a dataset: a dataset event, or an event of the run that wrote it."""
    dataset = DatasetId(namespace, name)
    if sees is not None and body.runId is not None and not sees(service.knowledge.run(body.runId).job.namespace):
        raise ForbiddenError("runId: the run is one of a namespace that no scope covers")
    await writing.put_dataset(service, dataset, body, by, sees)
    return answer(dataset_shapes(service.knowledge, [dataset])[0])


@router.put(JOB, response_model=shapes.Job, responses=NOT_FOUND | WRITTEN, tags=["jobs"])
async def put_job(
    service: ServiceHere,
    namespace: NamespaceName,
    name: ResourceName,
    body: bodies.JobBody,
    by: By = None,
    sees: Sees = None,
) -> Response:
    """Declare a job with its inputs and outputs: a job event."""
    job = JobId(namespace, name)
    await writing.put_job(service, job, body, by, sees)
    return answer(job_shapes(service.knowledge, [job])[0])


@router.post(f"{JOB}/runs", status_code=201, response_model=shapes.Run, responses=NOT_FOUND | WRITTEN, tags=["runs"])
async def post_run(
    service: ServiceHere, namespace: NamespaceName, name: ResourceName, body: bodies.RunBody, by: By = None
) -> Response:
    """Create a run that has not started: a run event of type OTHER."""
    run_id = await writing.create_run(service, JobId(namespace, name), body, by)
    response = answer(run_shapes(service.knowledge, [service.knowledge.run(run_id)])[0], 201)
    response.headers["location"] = f"{API}/jobs/runs/{quote(run_id, safe='')}"
    return response


@router.post(
    "/jobs/runs/{run_id:encoded}/{mark:mark}", response_model=shapes.Run, responses=NOT_FOUND | WRITTEN, tags=["runs"]
)
async def post_mark(service: ServiceHere, run_id: RunId, mark: Mark, at: At = None, by: By = None) -> Response:
    """Mark a run as started, completed, failed or aborted: a run event."""
    run = service.knowledge.run(run_id)
    await writing.mark_run(service, run, _EVENT_TYPE[mark], at, by)
    return answer(run_shapes(service.knowledge, [service.knowledge.run(run_id)])[0])
