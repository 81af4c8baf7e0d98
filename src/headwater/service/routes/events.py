"""The log: every event as it came."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response

from headwater.model.times import microseconds
from headwater.service.access import Known
from headwater.service.answers import answer
from headwater.service.paths import API
from headwater.service.routes.parameters import OR_DEFAULT, SMALL, WRONG, Limit, NamespaceName, Offset
from headwater.service.shapes import Events
from headwater.store.entries import LoggedEvent

router = APIRouter(prefix=API, tags=["events"])

_END_US = 2**62


@router.get("/events/lineage", response_model=Events, responses=WRONG)
async def events(
    knowledge: Known,
    before: Annotated[datetime | None, OR_DEFAULT, Query(description="Only events before this time.")] = None,
    after: Annotated[datetime | None, OR_DEFAULT, Query(description="Only events at or after this time.")] = None,
    direction: Annotated[
        Literal["desc", "asc"], SMALL, Query(alias="sortDirection", description="By event time.")
    ] = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Events by event time, each as it came."""
    before_us = _END_US if before is None else microseconds(before)
    after_us = -_END_US if after is None else microseconds(after)
    return _events(*knowledge.store.events(before_us, after_us, direction, limit, offset))


@router.get("/events", response_model=Events, responses=WRONG)
async def all_events(knowledge: Known, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Events by event time, the newest first: what the Python client of Marquez asks for."""
    return _events(*knowledge.store.events(_END_US, -_END_US, "desc", limit, offset))


@router.get("/events/{namespace:encoded}", response_model=Events, responses=WRONG)
async def events_of_namespace(
    knowledge: Known, namespace: NamespaceName, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """Events of the runs of a namespace's jobs, the newest first; none where there is no such namespace."""
    return _events(*knowledge.store.events_of_namespace(namespace, limit, offset))


def _events(page: Sequence[LoggedEvent], total: int) -> Response:
    return answer(Events(events=[orjson.Fragment(logged.raw) for logged in page], totalCount=total))
