"""Sources: where datasets are kept."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from headwater.service.gate.sight import By
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import DatasetsCounted, ServiceHere
from headwater.service.routes.parameters import NOT_FOUND, WRITTEN, WRONG, Limit, Offset
from headwater.service.shapes import marquez as shapes
from headwater.service.views import sources
from headwater.service.writing import writing

router = APIRouter(prefix=API, tags=["sources"], route_class=bodies.StrictBody, strict_content_type=False)

_SOURCE = "/sources/{name:encoded}"
SourceName = Annotated[str, Path(description="The name of a source, percent-encoded, slashes too.")]


@router.get("/sources", response_model=shapes.Sources, responses=WRONG)
async def get_sources(knowledge: DatasetsCounted, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Sources: those put over the API, and those in datasets' `dataSource` facets."""
    return answer(sources.sources(knowledge, limit, offset))


@router.get(_SOURCE, response_model=shapes.Source, responses=NOT_FOUND)
async def get_source(knowledge: DatasetsCounted, name: SourceName) -> Response:
    """One source."""
    return answer(sources.source(knowledge, name))


@router.put(_SOURCE, response_model=shapes.Source, responses=WRITTEN)
async def put_source(service: ServiceHere, name: SourceName, body: bodies.SourceBody, by: By = None) -> Response:
    """Create or change a source."""
    await writing.put_source(service, name, body, by)
    return answer(sources.source(service.knowledge, name))
