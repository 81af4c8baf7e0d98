"""Search."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.service import shapes
from headwater.service.access import Known
from headwater.service.answers import answer
from headwater.service.routes.parameters import WRONG, Limit
from headwater.service.views import search

router = APIRouter(tags=["search"])


@router.get("/search", response_model=shapes.Hits, responses=WRONG)
async def get_hits(
    knowledge: Known,
    text: Annotated[str, Query(alias="q", description="A part of a name, in either case, or a whole node id.")],
    kind: Annotated[search.Kind | None, Query(alias="filter", description="Only these.")] = None,
    order: Annotated[search.Order, Query(alias="sort", description="By name, or the latest first.")] = "NAME",
    namespace: Annotated[str | None, Query(description="Only names in this namespace.")] = None,
    limit: Limit = 10,
) -> Response:
    """Jobs and datasets by a part of any of their names."""
    return answer(search.search(knowledge, search.Query(text, kind, namespace, order), limit))
