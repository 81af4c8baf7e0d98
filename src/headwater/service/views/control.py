"""Control flow around a job."""

from headwater.graph.control import ControlEdge, control_edges
from headwater.graph.records import Edge
from headwater.model.facts import FlowDirection
from headwater.model.names import JobId
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import evidence as shapes
from headwater.service.views.names import name_of


def control_flow(knowledge: Knowledge, job: JobId) -> shapes.ControlFlow:
    """The jobs before and after a job."""
    edges = sorted(control_edges(knowledge.graph, job).items(), key=lambda item: item[0])

    def neighbours(direction: FlowDirection) -> list[shapes.JobBesides]:
        return [_neighbour(named, edge) for named, edge in edges if named.direction == direction]

    return shapes.ControlFlow(job=name_of(job), upstream=neighbours("upstream"), downstream=neighbours("downstream"))


def _neighbour(named: ControlEdge, edge: Edge) -> shapes.JobBesides:
    return shapes.JobBesides(
        job=name_of(named.job),
        dependency=named.dependency or None,
        firstSeen=iso(edge.seen.first_us),
        lastSeen=iso(edge.seen.last_us),
        runs=edge.runs,
    )
