"""Nodes: the edge machines whose signed events came, and whether their records are whole."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Known, Now
from headwater.service.routes.parameters import NOT_FOUND, WRONG, Limit, Offset
from headwater.service.shapes import nodes as shapes_nodes
from headwater.service.views.nodes import node, nodes

router = APIRouter(prefix=API, tags=["nodes"], route_class=KnownQuery)


@router.get("/nodes", response_model=shapes_nodes.Nodes, responses=WRONG)
async def get_nodes(knowledge: Known, now_us: Now, limit: Limit = 100, offset: Offset = 0) -> Response:
    """All nodes (edge machines), the state of each node's chain of events, and how much of it is missing or wrong."""
    return answer(await nodes(knowledge, now_us, limit, offset))


@router.get("/nodes/{node_id:encoded}", response_model=shapes_nodes.NodeDetail, responses=NOT_FOUND | WRONG)
async def get_node(
    knowledge: Known, now_us: Now, node_id: Annotated[str, Path(description="A node's id.")], limit: Limit = 100
) -> Response:
    """One node with its epochs, newest first, and each fault in its chain of events."""
    return answer(await node(knowledge, node_id, now_us, limit))
