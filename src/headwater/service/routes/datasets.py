"""Datasets, under any of their names."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from headwater.model.names import DatasetId
from headwater.service.background import collect_in_slices, result_in_slices
from headwater.service.gate.sight import Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.knowledge.versions import dataset_versions
from headwater.service.request.access import Known
from headwater.service.routes.parameters import DATASET, NOT_FOUND, WRONG, Limit, NamespaceName, Offset, ResourceName
from headwater.service.shapes import marquez as shapes
from headwater.service.views.datasets import dataset_shapes, version_shape, version_shapes
from headwater.service.views.namespaces import all_datasets, dataset_in, datasets_in

router = APIRouter(prefix=API, tags=["datasets"], route_class=KnownQuery)


async def _named(knowledge: Known, namespace: NamespaceName, name: ResourceName) -> DatasetId:
    return dataset_in(knowledge, DatasetId(namespace, name))


Named = Annotated[DatasetId, Depends(_named)]


@router.get("/datasets", response_model=shapes.Datasets, responses=WRONG)
async def get_all_datasets(knowledge: Known, limit: Limit = 100, offset: Offset = 0, sees: Sees = None) -> Response:
    """The datasets of all namespaces, by namespace and name, each under its shown name."""
    page, total = await result_in_slices(all_datasets(knowledge, limit, offset, sees))
    return answer(shapes.Datasets(datasets=dataset_shapes(knowledge, page), totalCount=total))


@router.get("/namespaces/{namespace:encoded}/datasets", response_model=shapes.Datasets, responses=NOT_FOUND | WRONG)
async def get_datasets(knowledge: Known, namespace: NamespaceName, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The datasets of a namespace, by name; each dataset is listed only in the namespace of its shown name."""
    names = await result_in_slices(datasets_in(knowledge, namespace))
    page = dataset_shapes(knowledge, names.page(limit, offset))
    return answer(shapes.Datasets(datasets=page, totalCount=len(names)))


@router.get(DATASET, response_model=shapes.Dataset, responses=NOT_FOUND | WRONG)
async def get_dataset(knowledge: Known, name: Named) -> Response:
    """One dataset, under the name in the request, which may be any of its names."""
    return answer(dataset_shapes(knowledge, [name])[0])


@router.get(f"{DATASET}/versions", response_model=shapes.DatasetVersions, responses=NOT_FOUND | WRONG)
async def get_versions(knowledge: Known, name: Named, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The versions of a dataset, newest first; each lasts from one change of its schema or version to the next."""
    versions = await collect_in_slices(dataset_versions(knowledge, name))
    return answer(version_shapes(knowledge, name, versions, limit, offset))


@router.get(f"{DATASET}/versions/{{version}}", response_model=shapes.DatasetVersion, responses=NOT_FOUND | WRONG)
async def get_version(
    knowledge: Known, name: Named, version: Annotated[str, Path(description="The version's UUID.")]
) -> Response:
    """One version of a dataset."""
    versions = await collect_in_slices(dataset_versions(knowledge, name))
    return answer(version_shape(knowledge, name, versions, version))
