"""Tags: words on jobs, datasets and columns, set by people or reported by producers."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from headwater.service.gate.sight import By, Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.request import bodies
from headwater.service.request.access import Known, ServiceHere
from headwater.service.routes.parameters import WRITTEN, WRONG, Limit, Offset
from headwater.service.shapes import marquez as shapes
from headwater.service.views import tags
from headwater.service.writing import writing

router = APIRouter(prefix=API, tags=["tags"], route_class=bodies.StrictBody, strict_content_type=False)

TagWord = Annotated[str, Path(description="The tag, percent-encoded.")]


@router.get("/tags", response_model=shapes.Tags, responses=WRONG)
async def get_tags(knowledge: Known, sees: Sees = None, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Tags by name: those described or added over the API, and those reported by producers."""
    return answer(tags.tags(knowledge, limit, offset, sees))


@router.put("/tags/{name:encoded}", response_model=shapes.Tag, responses=WRITTEN)
async def put_tag(service: ServiceHere, name: TagWord, body: bodies.TagBody, by: By = None) -> Response:
    """Create or describe a tag."""
    await writing.put_tag(service, name, body, by)
    return answer(tags.tag_shape(service.knowledge, name))
