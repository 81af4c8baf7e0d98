"""Tags."""

from fastapi import APIRouter, Response

from headwater.service import shapes
from headwater.service.answers import answer

router = APIRouter(tags=["tags"])


@router.get("/tags", response_model=shapes.Tags)
async def get_tags() -> Response:
    """All tags: none, since nobody can set one here yet; what producers tag stands in the facet `tags`."""
    return answer(shapes.Tags(tags=()))
