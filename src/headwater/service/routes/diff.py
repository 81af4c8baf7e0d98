"""The differences between two times, or between two runs."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from headwater.errors import InvalidInputError
from headwater.service.http.answers import answer
from headwater.service.http.as_of import AsOf, AsOfTime, LogSize, end_of_comparison
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import ServiceHere, past_of, state_bounds
from headwater.service.routes.parameters import AS_NAMED, NOT_FOUND, WRONG, Limit, Offset
from headwater.service.shapes import diff as shapes_diff
from headwater.service.views.diff import DiffQuery, diff, diff_of_runs
from headwater.service.views.namespaces import check_namespace

router = APIRouter(prefix=API, tags=["questions"], route_class=KnownQuery)


@router.get("/diff", response_model=shapes_diff.Diff, responses=NOT_FOUND | WRONG)
async def get_diff(
    request: Request,
    service: ServiceHere,
    begin: Annotated[
        str | None,
        Query(alias="from", description="A time with its zone, milliseconds since 1970, or `log:N`: N events known."),
    ] = None,
    end: Annotated[str | None, Query(alias="to", description="As `from`; else now.")] = None,
    from_run: Annotated[str | None, Query(alias="fromRun", description="A run, instead of a time.")] = None,
    to_run: Annotated[str | None, Query(alias="toRun", description="The run that is compared with it.")] = None,
    node_id: Annotated[str | None, Query(alias="nodeId", description="Only what touches this node.")] = None,
    namespace: Annotated[
        str | None, AS_NAMED, Query(description="Only what touches something in this namespace.")
    ] = None,
    as_of: AsOfTime = None,
    log_size: LogSize = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """What was added, removed or changed in the graph between two times or two runs, with the event that did it.

    `asOf` and `logSize` bound what two runs had told, and what `to` is where it is left out.
    """
    query = DiffQuery(node_id, namespace, limit, offset)
    if from_run is not None and to_run is not None and begin is None and end is None:
        now = await past_of(request, AsOf(as_of, log_size))
        state_bounds(request, now.as_of)
        await check_namespace(namespace, now.knowledge)
        runs = now.knowledge.run(from_run), now.knowledge.run(to_run)
        return answer(await diff_of_runs(now.knowledge, now.as_of, runs, query, service.pasts.another_reader))
    if begin is None or from_run is not None or to_run is not None:
        raise InvalidInputError("query params: give from, and to unless it is now; or both fromRun and toRun")
    size = service.knowledge.store.size()
    before = await past_of(request, end_of_comparison("from", begin, size))
    after = await past_of(request, AsOf(as_of, log_size) if end is None else end_of_comparison("to", end, size))
    state_bounds(request, after.as_of)
    await check_namespace(namespace, before.knowledge, after.knowledge)
    return answer(await diff(before, after, query, service.pasts.another_reader))
