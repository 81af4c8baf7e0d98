"""Search."""

from datetime import UTC, date, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from headwater.model.times import microseconds
from headwater.service.gate.sight import Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Known
from headwater.service.request.bodies import Word
from headwater.service.routes.parameters import AS_NAMED, EITHER_CASE, OR_DEFAULT, WRONG, Limit
from headwater.service.shapes import marquez as shapes
from headwater.service.views import search

router = APIRouter(prefix=API, tags=["search"], route_class=KnownQuery)

Kind = Annotated[search.Kind, EITHER_CASE]
Order = Annotated[
    search.Order,
    BeforeValidator(lambda word: "UPDATE_AT" if word == "UPDATED_AT" else word),  # as Marquez's description has it
    EITHER_CASE,
]
Match = Annotated[search.Match, EITHER_CASE]


@router.get("/search", response_model=shapes.Hits, responses=WRONG)
async def get_hits(
    knowledge: Known,
    text: Annotated[
        Word, AS_NAMED, Query(alias="q", description="A part of a name, in either case, or a whole node id.")
    ],
    kind: Annotated[Kind | None, OR_DEFAULT, Query(alias="filter", description="Only these.")] = None,
    order: Annotated[Order, OR_DEFAULT, Query(alias="sort", description="By name, or the latest first.")] = "NAME",
    namespace: Annotated[str | None, AS_NAMED, OR_DEFAULT, Query(description="Only names in this namespace.")] = None,
    before: Annotated[
        date | None, OR_DEFAULT, Query(description="Only nodes whose last event was before this day, in UTC.")
    ] = None,
    after: Annotated[
        date | None, OR_DEFAULT, Query(description="Only nodes with an event on or after this day, in UTC.")
    ] = None,
    match: Annotated[
        Match, OR_DEFAULT, Query(description="Match any part of a name (`PART`), or only a full name (`NAME`).")
    ] = "PART",
    limit: Limit = 10,
    sees: Sees = None,
) -> Response:
    """Search for jobs and datasets by a part of any of their names."""
    query = search.Query(text, kind, namespace, order, _start_us(before), _start_us(after), sees, match)
    return answer(search.search(knowledge, query, limit))


def _start_us(day: date | None) -> int | None:
    return None if day is None else microseconds(datetime(day.year, day.month, day.day, tzinfo=UTC))
