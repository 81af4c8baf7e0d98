"""Questions about the graph that take reasoning: what a change reaches, why an output is wrong, what is missing."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headwater.errors import InvalidInputError
from headwater.graph.coverage import GapKind
from headwater.graph.impact.change import Change
from headwater.model.names import run_id_of
from headwater.model.numbers import Whole
from headwater.service.gate.sight import Sees
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Counted, Now, ReadThrough, ServiceHere
from headwater.service.request.node_ids import node_of, run_of
from headwater.service.routes.parameters import (
    A_TIME,
    AS_NAMED,
    NOT_FOUND,
    SMALL,
    WRONG,
    At,
    LastTime,
    Limit,
    NodeId,
    Offset,
    Time,
)
from headwater.service.shapes import causes as shapes_causes
from headwater.service.shapes import coverage as shapes_coverage
from headwater.service.shapes import drift as shapes_drift
from headwater.service.shapes import impact as shapes_impact
from headwater.service.views.causes import Question, root_cause
from headwater.service.views.coverage import CoverageQuery, coverage
from headwater.service.views.drift import DriftQuery, schema_drift
from headwater.service.views.impact import Page, column_of, impact
from headwater.service.views.namespaces import check_namespace

router = APIRouter(prefix=API, tags=["questions"], route_class=KnownQuery)

Column = Annotated[str | None, Query(description="A column of the dataset; nested fields are written with dots.")]
Since = Annotated[Time, Query(alias="from", description=f"Only changes reported at this time or later: {A_TIME}")]
Until = Annotated[LastTime, Query(alias="to", description=f"Only changes reported up to this time: {A_TIME}")]


@router.get("/impact", response_model=shapes_impact.Impact, responses=NOT_FOUND | WRONG)
async def get_impact(
    knowledge: ReadThrough,
    node_id: NodeId,
    column: Column = None,
    change: Annotated[
        str | None,
        Query(
            description="The proposed change: `drop`, `rename:NEW` or `retype:TYPE`; without it, only what is reached."
        ),
    ] = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Impact: everything downstream that a change of a dataset or column reaches, nearest first, and what breaks."""
    node = column_of(knowledge, node_of(knowledge, node_id), column)
    proposed = None if change is None else Change.parse(change)
    return answer(await impact(knowledge, node, proposed, Page(limit, offset)))


@router.get("/root-cause", response_model=shapes_causes.RootCause, responses=NOT_FOUND | WRONG)
async def get_root_cause(
    knowledge: ReadThrough,
    now_us: Now,
    node_id: NodeId,
    run: Annotated[str | None, Query(description="The run that wrote the bad output; by default the last one.")] = None,
    column: Column = None,
    depth: Annotated[Whole, Query(ge=0, le=100, description="How many datasets to go upstream at most.")] = 20,
    sees: Sees = None,
) -> Response:
    """Root cause: what changed or failed in the runs that made an output and those upstream, likeliest cause first."""
    node = column_of(knowledge, node_of(knowledge, node_id), column)
    return answer(await root_cause(knowledge, Question(node, _requested_run(node_id, run), depth, now_us, sees)))


def _requested_run(node_id: str, run: str | None) -> str | None:
    """The run in a node id such as `run:ID`, or else in the parameter `run`."""
    own = run_of(node_id)
    if own is not None and run is not None and run_id_of(own) != run_id_of(run):
        raise InvalidInputError(f"query param run names another run than nodeId, {node_id!r}; leave one of them out")
    return run if own is None else own


@router.get("/coverage", response_model=shapes_coverage.Coverage, responses=NOT_FOUND | WRONG)
async def get_coverage(
    service: ServiceHere,
    knowledge: Counted,
    now_us: Now,
    namespace: Annotated[str | None, AS_NAMED, Query(description="Only the gaps of this namespace.")] = None,
    kind: Annotated[
        GapKind | None, SMALL, Query(description="List only gaps of this kind; the counts still cover all kinds.")
    ] = None,
    at: At = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Known gaps: what events should have reported and did not, or what could not be used as reported."""
    query = CoverageQuery(now_us if at is None else at, namespace, kind, limit, offset)
    return answer(await coverage(knowledge, query, service.another_log_reader(knowledge)))


@router.get("/drift", response_model=shapes_drift.Drift, responses=NOT_FOUND | WRONG)
async def get_drift(
    service: ServiceHere,
    knowledge: Counted,
    node_id: Annotated[str | None, Query(alias="nodeId", description="Only this dataset's schema.")] = None,
    namespace: Annotated[str | None, AS_NAMED, Query(description="Only datasets of this namespace.")] = None,
    begin: Since = None,
    end: Until = None,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """Schema drift: changes of schemas, newest first, with who reported them, the columns and their dependents."""
    if begin is not None and end is not None and begin > end:
        raise InvalidInputError("query param from must not be later than query param to")
    await check_namespace(namespace, knowledge)
    query = DriftQuery(node_id, namespace, begin, end, limit, offset)
    return answer(await schema_drift(knowledge, query, service.another_reader(knowledge)))
