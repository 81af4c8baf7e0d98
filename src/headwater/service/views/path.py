"""Data flow through a job or dataset."""

from headwater.graph.path import path as path_of
from headwater.model.names import DatasetId, JobId
from headwater.service.background import result_in_slices
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import lineage as shapes


async def path(knowledge: Knowledge, node: DatasetId | JobId, max_hops: int, most: int) -> shapes.Path:
    """The edges upstream and downstream of the node; works in time slices."""
    found = await result_in_slices(path_of(knowledge.graph, node, max_hops, most))
    return shapes.Path(
        edges=[shapes.Edge(origin=origin.node_id, destination=end.node_id) for origin, end in found.edges],
        isCut=found.is_cut,
    )
