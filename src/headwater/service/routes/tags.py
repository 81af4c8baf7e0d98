"""Tags."""

from fastapi import APIRouter, Response

from headwater.service import shapes
from headwater.service.access import Known
from headwater.service.answers import answer
from headwater.service.routes.parameters import WRONG

router = APIRouter(tags=["tags"])


@router.get("/tags", response_model=shapes.Tags, responses=WRONG)
async def get_tags(_: Known) -> Response:
    """All tags: none, since nobody can set one here yet; what producers tag stands in the facet `tags`."""
    return answer(shapes.Tags(tags=()))
