"""The log: every event as it came."""

from datetime import datetime
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response

from headwater.service.access import Known
from headwater.service.answers import answer, microseconds
from headwater.service.routes.parameters import WRONG, Limit, Offset
from headwater.service.shapes import Events

router = APIRouter(tags=["events"])

_END_US = 2**62


@router.get("/events/lineage", response_model=Events, responses=WRONG)
async def events(
    knowledge: Known,
    before: Annotated[datetime | None, Query(description="Only events before this time.")] = None,
    after: Annotated[datetime | None, Query(description="Only events at or after this time.")] = None,
    direction: Annotated[Literal["asc", "desc"], Query(alias="sortDirection", description="By event time.")] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Events by event time, each as it came."""
    before_us = _END_US if before is None else microseconds(before)
    after_us = -_END_US if after is None else microseconds(after)
    page, total = knowledge.store.events(before_us, after_us, direction, limit, offset)
    return answer(Events(events=[orjson.Fragment(logged.raw) for logged in page], totalCount=total))
