"""The graph around a node: jobs and datasets, or columns."""

from collections.abc import Callable
from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BeforeValidator

from headwater.errors import InvalidInputError, NotFoundError
from headwater.model.facts import FlowDirection
from headwater.model.names import AnyNode, ColumnId, without_column
from headwater.model.numbers import Whole
from headwater.service.background import result_in_slices
from headwater.service.http.answers import answer, answer_json
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.knowledge.versions import Had, last_had
from headwater.service.request.access import Known, ReadThrough, Replaying, Until
from headwater.service.request.node_ids import node_of, node_under, version_of
from headwater.service.routes.parameters import (
    EITHER_CASE,
    MAX_PAGE,
    NOT_FOUND,
    OR_DEFAULT,
    WRONG,
    Depth,
    Limit,
    NodeId,
    Offset,
)
from headwater.service.shapes import lineage as shapes_lineage
from headwater.service.views.columns import Options, column_lineage
from headwater.service.views.lineage import lineage
from headwater.service.views.neighbours import Kind, neighbours
from headwater.service.views.path import path
from headwater.service.views.upstream import upstream_runs

router = APIRouter(prefix=API, tags=["lineage"], route_class=KnownQuery)

_UNREADABLE: Final = "HTTP 404 Not Found"
"""For an unreadable node id, in Marquez's words."""


@router.get("/lineage", response_model=shapes_lineage.Lineage, responses=NOT_FOUND | WRONG)
async def get_lineage(knowledge: Known, node_id: NodeId, depth: Depth = 20) -> Response:
    """The jobs within `depth` jobs of a node, in both directions, with everything they read and write."""
    return answer_json(await lineage(knowledge, node_of(knowledge, node_id, _UNREADABLE), depth))


@router.get("/path", response_model=shapes_lineage.Path, responses=NOT_FOUND | WRONG)
async def get_path(
    knowledge: ReadThrough,
    node_id: NodeId,
    depth: Depth = 20,
    limit: Annotated[
        Whole, OR_DEFAULT, Query(ge=1, le=MAX_PAGE, description="How many nodes to expand in each direction at most.")
    ] = MAX_PAGE,
) -> Response:
    """The data path through a job or dataset: the edges upstream and downstream of it, within `depth` jobs.

    Of all that a job reads and writes only what events say goes from the one to the other, by the strongest of what
    they say, as in `/flow`. A column stands for its dataset.
    """
    return answer(await path(knowledge, without_column(node_of(knowledge, node_id)), depth, limit))


@router.get("/neighbours", response_model=shapes_lineage.Neighbours, responses=NOT_FOUND | WRONG)
async def get_neighbours(
    knowledge: Known,
    node_id: NodeId,
    way: Annotated[FlowDirection, Query(description="On which side.")],
    kind: Annotated[Kind, EITHER_CASE, Query(alias="type", description="Of which type.")],
    limit: Limit = 100,
    offset: Offset = 0,
) -> Response:
    """A page of the neighbours of a node in `/lineage`, jobs or datasets, by name."""
    return answer(await neighbours(knowledge, without_column(node_of(knowledge, node_id)), way, kind, limit, offset))


@router.get("/column-lineage", response_model=shapes_lineage.ColumnLineage, responses=NOT_FOUND | WRONG)
async def get_column_lineage(
    knowledge: ReadThrough,
    until: Until,
    node_id: NodeId,
    depth: Depth = 20,
    with_downstream: Annotated[
        bool,
        BeforeValidator(lambda text: str(text).lower() == "true"),  # whatever else is said, as in Java
        Query(alias="withDownstream", description="Include columns downstream, not only upstream."),
    ] = False,
) -> Response:
    """The columns within `depth` hops (at least one) of a column, a dataset's columns, or the columns a job writes."""
    version = version_of(node_id)
    if with_downstream and version is not None:
        raise InvalidInputError("Node version cannot be specified when withDownstream is true")  # in Marquez's words
    if version is not None:
        named = node_of(knowledge, node_id, _UNREADABLE, is_also_column=_may_have_been)
        had = await result_in_slices(last_had(knowledge, without_column(named), version))
        if had is not None:
            return answer(await _columns_then(until, named, had, Options(max(1, depth), with_versions=True)))
    node = node_of(knowledge, node_id, _UNREADABLE)
    options = Options(max(1, depth), with_downstream, version is not None)
    return answer(await column_lineage(knowledge, node, options))


def _may_have_been(column: ColumnId) -> bool:
    """Whether a column of an earlier version of a dataset may be meant; not one whose name has the version in it."""
    return version_of(column.column) is None


async def _columns_then(
    until: Callable[[int], Replaying], named: AnyNode, had: Had, options: Options
) -> shapes_lineage.ColumnLineage:
    """The column lineage of the last moment at which a node had a version and was not deleted."""
    for time_us in had.moments_us:
        then = await until(time_us)
        node = node_under(then, named, had.names)
        if node is not None:
            return await column_lineage(then, node, options)
    raise NotFoundError("The version is of a time for which nothing is known of the node.")


@router.get("/runlineage/upstream", response_model=shapes_lineage.UpstreamRuns, responses=NOT_FOUND | WRONG)
async def get_upstream_runs(
    knowledge: Known,
    run_id: Annotated[str, Query(alias="runId", description="A run id.")],
    depth: Depth = 20,
) -> Response:
    """A run, the runs that wrote what it read, and so on, up to `depth` runs away.

    A writer is the run that wrote the version that was read, if reported, else the last to write before it began.

    Runs that fed it directly, without a dataset between, are included too (`inputJobs`).
    """
    return answer(await upstream_runs(knowledge, knowledge.run(run_id), depth))
