"""Evidence: which names are one and why, quality over time, what waits for what, and who has fallen silent."""

from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Response

from headwater.errors import InvalidNameError, NotFoundError
from headwater.model.credentials import without_secrets
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.request.access import Known, Now, Replay
from headwater.service.request.node_ids import UNREADABLE, meanings, node_of
from headwater.service.routes.parameters import NOT_FOUND, WRONG, At, Depth, Limit, NodeId, Offset
from headwater.service.shapes import evidence as shapes_evidence
from headwater.service.views.containment import containment
from headwater.service.views.control import control_flow
from headwater.service.views.flow import flow
from headwater.service.views.identity import identity
from headwater.service.views.silence import silent_streams
from headwater.service.views.timeline import is_measured, quality_timeline

router = APIRouter(prefix=API, tags=["evidence"], route_class=KnownQuery)

NodeT = TypeVar("NodeT", JobId, DatasetId)


@router.get("/identity", response_model=shapes_evidence.Identity, responses=NOT_FOUND | WRONG)
async def get_identity(
    knowledge: Known,
    replay: Replay,
    node_id: Annotated[str | None, Query(alias="nodeId", description="`dataset:NAMESPACE:NAME`.")] = None,
    namespace: Annotated[str, Query(description="Instead of `nodeId`, with `name`: the dataset's namespace.")] = "",
    name: Annotated[str | None, Query(description="Instead of `nodeId`: the dataset's name.")] = None,
    other: Annotated[str | None, Query(description="A node id; `path` is then the evidence leading to it.")] = None,
) -> Response:
    """All names of a dataset, and the evidence that they are one; a name in quarantine has no namespace."""
    dataset = (
        _very_name(knowledge, node_id, "nodeId")
        if name is None
        else knowledge.named(DatasetId.sanitized(namespace, name))
    )
    if not knowledge.knows_when_linked(dataset):
        knowledge = await replay()
    return answer(identity(knowledge, dataset, None if other is None else _very_name(knowledge, other, "other")))


@router.get("/quality", response_model=shapes_evidence.QualityTimeline, responses=NOT_FOUND | WRONG)
async def get_quality(knowledge: Known, node_id: NodeId, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Assertions, metrics and tests of a dataset or column, or tests of a job, newest first."""
    node = await _measured_node(knowledge, node_id)
    return answer(await quality_timeline(knowledge, node, limit, offset))


@router.get("/flow", response_model=shapes_evidence.Flow, responses=NOT_FOUND | WRONG)
async def get_flow(knowledge: Known, node_id: NodeId, depth: Depth = 0) -> Response:
    """The datasets that a dataset is made from, each with its derivation: stated, from column lineage, or inferred.

    In `graph` the same of each dataset within `depth` jobs of it, both ways.
    """
    return answer(await flow(knowledge, _dataset(knowledge, node_id), depth))


@router.get("/control-flow", response_model=shapes_evidence.ControlFlow, responses=NOT_FOUND | WRONG)
async def get_control_flow(knowledge: Known, node_id: NodeId) -> Response:
    """The jobs before and after a job by `jobDependencies`: control flow, not data flow."""
    return answer(control_flow(knowledge, _job_in_control(knowledge, node_id)))


@router.get("/containment", response_model=shapes_evidence.Containment, responses=NOT_FOUND | WRONG)
async def get_containment(knowledge: Known, node_id: NodeId, limit: Limit = 100, offset: Offset = 0) -> Response:
    """The parent of a job, and a page of its children, such as a DAG and its tasks."""
    node = node_of(knowledge, node_id)
    if not isinstance(node, JobId):
        raise NotFoundError(f"Job '{without_secrets(node_id)}' not found.")
    return answer(await containment(knowledge, node, limit, offset))


@router.get("/silent-streams", response_model=shapes_evidence.SilentStreams, responses=WRONG)
async def get_silent_streams(
    knowledge: Known, now_us: Now, at: At = None, limit: Limit = 100, offset: Offset = 0
) -> Response:
    """Runs that have been silent for longer than their job's `emissionPattern` allows."""
    return answer(await silent_streams(knowledge, now_us if at is None else at, limit, offset))


async def _measured_node(knowledge: Knowledge, node_id: str) -> AnyNode:
    """As `node_of`, also for a column that only assertions or metrics name."""
    unknown: list[ColumnId] = []

    def is_known_otherwise(column: ColumnId) -> bool:
        unknown.append(column)
        return False

    found: AnyNode | NotFoundError
    try:
        found = node_of(knowledge, node_id, is_also_column=is_known_otherwise)
    except NotFoundError as fault:
        found = fault
    for column in unknown:  # likelier than what was found
        if await is_measured(knowledge, column):
            return column
    if isinstance(found, NotFoundError):
        raise found
    return found


def _very_name(knowledge: Knowledge, node_id: str | None, parameter: str) -> DatasetId:
    """The dataset name in the request, which need not be the shown one."""
    if node_id is None:
        raise InvalidNameError("nodeId: give a node id, or namespace and name")
    for name in _nodes_of_kind(node_id, DatasetId, parameter):
        if knowledge.graph.identities.knows(name):
            return name
    raise NotFoundError(f"Dataset '{without_secrets(node_id)}' not found.")


def _job_in_control(knowledge: Knowledge, node_id: str) -> JobId:
    """The job in the request, which may be known only as a dependency of others."""
    try:
        if isinstance(node := node_of(knowledge, node_id), JobId):
            return node
    except NotFoundError:
        graph = knowledge.graph
        for job in _nodes_of_kind(node_id, JobId, "nodeId"):
            if graph.named_in_control.get(job) and not graph.hides(job):
                return job
    raise NotFoundError(f"Job '{without_secrets(node_id)}' not found.")


def _nodes_of_kind(node_id: str, kind: type[NodeT], parameter: str) -> list[NodeT]:
    """The nodes of a kind that a node id may mean; none for a run's node id.

    Raises:
        NotFoundError: it is no node id.
    """
    try:
        return [node for candidates in meanings(node_id) for node in candidates if isinstance(node, kind)]
    except InvalidNameError as fault:
        raise NotFoundError(f"query param {parameter} {UNREADABLE}") from fault


def _dataset(knowledge: Knowledge, node_id: str) -> DatasetId:
    node = node_of(knowledge, node_id)
    if isinstance(node, DatasetId):
        return node
    raise NotFoundError(f"Dataset '{node.column if isinstance(node, ColumnId) else node.name}' not found.")
