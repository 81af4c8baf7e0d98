"""Runs."""

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Query, Response

from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.knowledge.activity import KnownRun
from headwater.service.request.access import Known
from headwater.service.routes.parameters import NOT_FOUND, SMALL, WRONG, Limit, Offset, RunId
from headwater.service.shapes import marquez as shapes
from headwater.service.views import runs

router = APIRouter(prefix=API, tags=["runs"], route_class=KnownQuery)

_RUN: Final = "/jobs/runs/{run_id:encoded}"


async def _named(knowledge: Known, run_id: RunId) -> KnownRun:
    return knowledge.run(run_id)


Named = Annotated[KnownRun, Depends(_named)]


@router.get(_RUN, response_model=shapes.Run, responses=NOT_FOUND | WRONG)
async def get_run(knowledge: Known, run: Named) -> Response:
    """One run."""
    return answer(runs.run_shape(knowledge, run))


@router.get(f"{_RUN}/facets", response_model=shapes.RunFacets, responses=NOT_FOUND | WRONG)
async def get_facets(
    knowledge: Known,
    run: Named,
    kind: Annotated[
        Literal["run", "job"], SMALL, Query(alias="type", description="The facets of the run, or of its job.")
    ],
) -> Response:
    """The facets of a run, or of its job as the run reported them."""
    return answer(runs.run_facets(knowledge, run) if kind == "run" else await runs.job_facets_of_run(knowledge, run))


@router.get(f"{_RUN}/events", response_model=shapes.RunEvents, responses=NOT_FOUND | WRONG)
async def get_events(knowledge: Known, run: Named, limit: Limit = 1_000, offset: Offset = 0) -> Response:
    """The events of a run by event time, each with its signature verdict."""
    return answer(runs.run_events(knowledge, run, limit, offset))
