"""Statistics, for the front of Marquez's page."""

from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo, available_timezones

from fastapi import APIRouter, Depends, Query, Response
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from headwater.errors import InvalidInputError
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import DatasetsCounted, JobsCounted, Known, Now
from headwater.service.routes.parameters import EITHER_CASE, WRONG
from headwater.service.shapes import overview as shapes_overview
from headwater.service.views import stats

router = APIRouter(prefix=f"{API}/stats", tags=["statistics"], route_class=KnownQuery)

_ZONES: Final = available_timezones()


def _zone(name: str) -> str:
    if name not in _ZONES:
        raise PydanticCustomError("zone", "expected the name of a time zone such as Europe/Berlin")
    return name


Period = Annotated[
    stats.Period,
    EITHER_CASE,
    Query(description="The last 24 hours, by hour, or the last 7 days, by day."),
]
Zone = Annotated[
    str | None,
    AfterValidator(lambda name: name and _zone(name)),
    Query(description="The time zone whose days are counted."),
]


async def _edges(now_us: Now, period: Period, timezone: Zone = None) -> list[int]:
    if period == "WEEK" and not timezone:
        raise InvalidInputError("query param timezone must be specified for period 'WEEK'")
    return stats.edges_us(period, now_us, ZoneInfo(timezone or "UTC"))


Edges = Annotated[list[int], Depends(_edges)]
_EVENTS: Final[dict[str, Any]] = {"response_model": list[shapes_overview.EventStats], "responses": WRONG}
_TOTALS: Final[dict[str, Any]] = {"response_model": list[shapes_overview.TotalStats], "responses": WRONG}


@router.get("/lineage-events", **_EVENTS)
async def get_events(knowledge: Known, edges: Edges) -> Response:
    """The number of run events of each type in each hour or day."""
    return answer(stats.event_stats(knowledge, edges))


@router.get("/jobs", **_TOTALS)
async def get_jobs(knowledge: JobsCounted, edges: Edges) -> Response:
    """The number of jobs known by the end of each hour or day."""
    return answer(stats.job_stats(knowledge, edges))


@router.get("/datasets", **_TOTALS)
async def get_datasets(knowledge: DatasetsCounted, edges: Edges) -> Response:
    """The number of datasets known by the end of each hour or day."""
    return answer(stats.dataset_stats(knowledge, edges))


@router.get("/sources", **_TOTALS)
async def get_sources(knowledge: DatasetsCounted, edges: Edges) -> Response:
    """The number of sources known by the end of each hour or day."""
    return answer(stats.source_stats(knowledge, edges))
