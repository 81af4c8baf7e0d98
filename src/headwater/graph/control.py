"""Control flow: which jobs run before and after a job, by `jobDependencies` facets. No data need pass between them."""

from collections.abc import Iterator
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.graph.records import Edge
from headwater.model.facts import FlowDirection
from headwater.model.merging import Seen
from headwater.model.names import JobId


class ControlEdge(NamedTuple):
    """A job that runs before (upstream) or after another, and the type of the dependency; empty if not reported."""

    direction: FlowDirection
    job: JobId
    dependency: str


def control_edges(graph: Graph, job: JobId) -> dict[ControlEdge, Edge]:
    """The jobs before and after a job, whichever of the two reported it, with times and run counts."""
    edges: dict[ControlEdge, Edge] = {}
    counted: set[tuple[str, ControlEdge]] = set()
    for run_id, edge, seen in (*_reported_by(graph, job), *_reported_about(graph, job)):
        if edge not in edges:
            edges[edge] = Edge(seen, 1)
        else:
            edges[edge].count(seen, is_new_run=(run_id, edge) not in counted)
        counted.add((run_id, edge))
    return edges


def _reported_by(graph: Graph, job: JobId) -> Iterator[tuple[str, ControlEdge, Seen]]:
    for run_id in graph.jobs[job].runs if job in graph.jobs else ():
        extras = graph.runs[run_id].extras
        for (direction, other, dependency), seen in extras.control.items() if extras else ():
            yield run_id, ControlEdge(direction, other, dependency), seen


def _reported_about(graph: Graph, job: JobId) -> Iterator[tuple[str, ControlEdge, Seen]]:
    for run_id in graph.named_in_control.get(job, ()):
        run = graph.runs[run_id]
        for (direction, other, dependency), seen in run.extras.control.items() if run.extras and run.of_job else ():
            if other == job and run.of_job is not None:
                opposite: FlowDirection = "downstream" if direction == "upstream" else "upstream"
                yield run_id, ControlEdge(opposite, run.of_job.job, dependency), seen
