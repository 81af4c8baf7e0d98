"""The log: every event as it came."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Path, Query, Response

from headwater.model.times import microseconds
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Known, ServiceHere
from headwater.service.routes.parameters import SMALL, WRONG, Limit, Moment, Offset
from headwater.service.shapes.marquez import Events
from headwater.service.views.log import count_of_namespace
from headwater.store.entries import LoggedEvent
from headwater.store.log_reader import EventsQuery

router = APIRouter(prefix=API, tags=["events"], route_class=KnownQuery)

Before = Annotated[Moment, Query(description="Only events before this time.")]
After = Annotated[Moment, Query(description="Only events at or after this time.")]
NamespaceAsItIs = Annotated[
    str, Path(description="A namespace; slashes need not be encoded, as Marquez's Python client sends them.")
]
Direction = Annotated[Literal["desc", "asc"], SMALL, Query(alias="sortDirection", description="By event time.")]


@router.get("/events/lineage", response_model=Events, responses=WRONG)
async def events_of_runs(
    knowledge: Known,
    before: Before = None,
    after: After = None,
    direction: Direction = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Run events by event time, each as it came."""
    query = _query(before, after)._replace(order=direction, of_runs=True)
    return _events(*knowledge.store.events(query, limit, offset))


@router.get("/events", response_model=Events, responses=WRONG)
async def all_events(
    knowledge: Known,
    before: Before = None,
    after: After = None,
    direction: Direction = "desc",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Events by event time, each as it came: run events, job events and dataset events."""
    return _events(*knowledge.store.events(_query(before, after)._replace(order=direction), limit, offset))


@router.get("/events/{namespace:rest}", response_model=Events, responses=WRONG)
async def events_of_namespace(
    service: ServiceHere, knowledge: Known, namespace: NamespaceAsItIs, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """Run events of a namespace's jobs, newest first; an unknown namespace has none."""
    count = await count_of_namespace(knowledge, namespace, service.pasts.another_reader)
    return _events(knowledge.store.events_of_namespace(namespace, count, limit, offset), count)


def _query(before: datetime | None, after: datetime | None) -> EventsQuery:
    query = EventsQuery() if before is None else EventsQuery(before_us=microseconds(before))
    return query if after is None else query._replace(after_us=microseconds(after))


def _events(page: Sequence[LoggedEvent], total: int) -> Response:
    return answer(Events(events=[orjson.Fragment(logged.raw) for logged in page], totalCount=total))
