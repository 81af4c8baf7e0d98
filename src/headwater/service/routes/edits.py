"""Edits by users: owners of namespaces, tags, deletions; and the list of all edits."""

from typing import Annotated, Final

import orjson
from fastapi import APIRouter, Depends, Path, Response

from headwater.model.digest import as_text
from headwater.model.names import DatasetId, JobId
from headwater.service.gate.sight import By
from headwater.service.http.answers import answer, iso
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import Known, ServiceHere
from headwater.service.routes.parameters import (
    DATASET,
    JOB,
    NOT_FOUND,
    WRITTEN,
    WRONG,
    Limit,
    NamespaceName,
    Offset,
    ResourceName,
)
from headwater.service.routes.tags import TagWord
from headwater.service.shapes import evidence as shapes_evidence
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import dataset_shapes
from headwater.service.views.identity import identity
from headwater.service.views.jobs import job_shapes
from headwater.service.views.namespaces import dataset_in, job_in, namespace
from headwater.service.writing import writing

router = APIRouter(prefix=API, route_class=bodies.StrictBody, strict_content_type=False)

_NAMESPACE: Final = "/namespaces/{name:encoded}"
_FIELD_TAG: Final = f"{DATASET}/fields/{{field:encoded}}/tags/{{tag:encoded}}"
_ANSWERS: Final = NOT_FOUND | WRITTEN

FieldName = Annotated[str, Path(description="The name of a column, percent-encoded.")]


async def _dataset(service: ServiceHere, namespace: NamespaceName, name: ResourceName) -> DatasetId:
    return dataset_in(service.knowledge, DatasetId(namespace, name))


async def _job(service: ServiceHere, namespace: NamespaceName, name: ResourceName) -> JobId:
    return job_in(service.knowledge, JobId(namespace, name))


DatasetHere = Annotated[DatasetId, Depends(_dataset)]
JobHere = Annotated[JobId, Depends(_job)]


@router.get("/edits", response_model=shapes.Edits, responses=WRONG, tags=["events"])
async def get_edits(knowledge: Known, limit: Limit = 100, offset: Offset = 0) -> Response:
    """All edits made over the API (those that are not events), newest first."""
    page, total = knowledge.store.edits(limit, offset)
    edits = [
        shapes.Edit(
            index=logged.log_index,
            receivedAt=iso(logged.received_us),
            digest=as_text(logged.digest),
            entry=orjson.Fragment(logged.raw),
        )
        for logged in page
    ]
    return answer(shapes.Edits(edits=edits, totalCount=total))


@router.put(_NAMESPACE, response_model=shapes.Namespace, responses=WRITTEN, tags=["namespaces"])
async def put_namespace(
    service: ServiceHere, name: NamespaceName, body: bodies.NamespaceBody, by: By = None
) -> Response:
    """Set the owner and description of a namespace."""
    await writing.put_namespace(service, name, body, by)
    return answer(namespace(service.knowledge, name))


@router.post("/identity/apart", response_model=shapes_evidence.Identity, responses=_ANSWERS, tags=["evidence"])
async def part_names(service: ServiceHere, body: bodies.PartingBody, by: By = None) -> Response:
    """Split two names that are not one dataset, whatever events say; the answer is the first name's remaining group."""
    return await _parted(service, body, by, is_apart=True)


@router.delete("/identity/apart", response_model=shapes_evidence.Identity, responses=_ANSWERS, tags=["evidence"])
async def join_names(service: ServiceHere, body: bodies.PartingBody, by: By = None) -> Response:
    """Undo a split of two names: events decide again."""
    return await _parted(service, body, by, is_apart=False)


async def _parted(service: ServiceHere, body: bodies.PartingBody, by: str | None, *, is_apart: bool) -> Response:
    name, other = (service.knowledge.named(DatasetId(each.namespace, each.name)) for each in (body.name, body.other))
    await writing.part(service, name, other, by, is_apart=is_apart)
    return answer(identity(service.knowledge, name, None))


@router.delete(_NAMESPACE, response_model=shapes.Namespace, responses=_ANSWERS, tags=["namespaces"])
async def delete_namespace(service: ServiceHere, name: NamespaceName, by: By = None) -> Response:
    """Delete a namespace with its jobs and datasets: they are hidden until events name them again."""
    before = namespace(service.knowledge, name)
    await writing.delete_namespace(service, name, by)
    return answer(before)


@router.delete(DATASET, response_model=shapes.Dataset, responses=_ANSWERS, tags=["datasets"])
async def delete_dataset(service: ServiceHere, dataset: DatasetHere, by: By = None) -> Response:
    """Delete a dataset under all its names: it is hidden until an event names it again."""
    (before,) = dataset_shapes(service.knowledge, [dataset])
    await writing.delete(service, dataset, by)
    return answer(before)


@router.delete(JOB, response_model=shapes.Job, responses=_ANSWERS, tags=["jobs"])
async def delete_job(service: ServiceHere, job: JobHere, by: By = None) -> Response:
    """Delete a job: it is hidden until an event names it again."""
    (before,) = job_shapes(service.knowledge, [job])
    await writing.delete(service, job, by)
    return answer(before)


@router.post(f"{DATASET}/tags/{{tag:encoded}}", response_model=shapes.Dataset, responses=_ANSWERS, tags=["datasets"])
async def tag_dataset(service: ServiceHere, dataset: DatasetHere, tag: TagWord, by: By = None) -> Response:
    """Add a tag to a dataset."""
    await writing.tag_node(service, dataset, tag, by, is_on=True)
    return answer(dataset_shapes(service.knowledge, [dataset])[0])


@router.delete(f"{DATASET}/tags/{{tag:encoded}}", response_model=shapes.Dataset, responses=_ANSWERS, tags=["datasets"])
async def untag_dataset(service: ServiceHere, dataset: DatasetHere, tag: TagWord, by: By = None) -> Response:
    """Remove a tag from a dataset."""
    await writing.tag_node(service, dataset, tag, by, is_on=False)
    return answer(dataset_shapes(service.knowledge, [dataset])[0])


@router.post(_FIELD_TAG, response_model=shapes.Dataset, responses=_ANSWERS, tags=["datasets"])
async def tag_field(
    service: ServiceHere, dataset: DatasetHere, field: FieldName, tag: TagWord, by: By = None
) -> Response:
    """Add a tag, in capital letters, to a column."""
    await writing.tag_field(service, dataset, field, tag, by, is_on=True)
    return answer(dataset_shapes(service.knowledge, [dataset])[0])


@router.delete(_FIELD_TAG, response_model=shapes.Dataset, responses=_ANSWERS, tags=["datasets"])
async def untag_field(
    service: ServiceHere, dataset: DatasetHere, field: FieldName, tag: TagWord, by: By = None
) -> Response:
    """Remove a tag from a column."""
    await writing.tag_field(service, dataset, field, tag, by, is_on=False)
    return answer(dataset_shapes(service.knowledge, [dataset])[0])


@router.post(f"{JOB}/tags/{{tag:encoded}}", response_model=shapes.Job, responses=_ANSWERS, tags=["jobs"])
async def tag_job(service: ServiceHere, job: JobHere, tag: TagWord, by: By = None) -> Response:
    """Add a tag to a job."""
    await writing.tag_node(service, job, tag, by, is_on=True)
    return answer(job_shapes(service.knowledge, [job])[0])


@router.delete(f"{JOB}/tags/{{tag:encoded}}", response_model=shapes.Job, responses=_ANSWERS, tags=["jobs"])
async def untag_job(service: ServiceHere, job: JobHere, tag: TagWord, by: By = None) -> Response:
    """Remove a tag from a job."""
    await writing.tag_node(service, job, tag, by, is_on=False)
    return answer(job_shapes(service.knowledge, [job])[0])
