"""The direct neighbours of a job or dataset."""

from typing import Literal

from headwater.model.facts import FlowDirection
from headwater.model.names import DatasetId, JobId
from headwater.service.background import collect_in_slices
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import lineage as shapes
from headwater.service.views.names import other_names

Kind = Literal["JOB", "DATASET"]


async def neighbours(
    knowledge: Knowledge, node: DatasetId | JobId, direction: FlowDirection, kind: Kind, limit: int, offset: int
) -> shapes.Neighbours:
    """A page of the jobs, or of the datasets, at the other end of an edge, by name.

    Works in time slices.
    """
    found: list[DatasetId | JobId] = []
    found.extend(_jobs(knowledge, node, direction) if kind == "JOB" else _datasets(knowledge, node, direction))
    found.sort(key=lambda each: (each.name, each.namespace))
    page = await collect_in_slices(_neighbour(knowledge, each) for each in found[offset : offset + limit])
    return shapes.Neighbours(neighbours=page, totalCount=len(found))


def _jobs(knowledge: Knowledge, node: DatasetId | JobId, direction: FlowDirection) -> list[JobId]:
    graph = knowledge.graph
    if isinstance(node, DatasetId):
        jobs = graph.writers(node) if direction == "upstream" else graph.readers(node)
    else:
        jobs = (graph.jobs[node].fed_by if direction == "upstream" else graph.jobs[node].feeds).keys()
    return [job for job in jobs if knowledge.is_job(job)]


def _datasets(knowledge: Knowledge, node: DatasetId | JobId, direction: FlowDirection) -> list[DatasetId]:
    graph = knowledge.graph
    if isinstance(node, JobId):
        return [*filter(graph.shows, graph.reads(node) if direction == "upstream" else graph.writes(node))]
    knowledge.catch_up_derivations()
    derivations = knowledge.derivations
    return [*(derivations.sources(node) if direction == "upstream" else derivations.targets(node))]


def _neighbour(knowledge: Knowledge, node: DatasetId | JobId) -> shapes.Neighbour:
    shape = shapes.Neighbour(nodeId=node.node_id, namespace=node.namespace, name=node.name)
    if isinstance(node, DatasetId):
        shape["symlinks"] = other_names(knowledge, node)
    return shape
