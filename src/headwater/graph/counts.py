"""The size of a graph, counted from scratch: `/api/v1/summary` maintains the same incrementally, audits compare."""

from collections.abc import Iterator
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.facts import Quarantined
from headwater.model.names import DatasetId


class Counts(NamedTuple):
    """The sizes of a graph, as shown to users."""

    jobs: int
    """Jobs that ran, were declared, have child runs, or are reported to read, write or feed something; none deleted."""
    runs: int
    """All named runs, including those named only as a parent."""
    datasets: int
    """Each counted once under all its names; deleted and quarantined ones excluded."""
    edges: int
    """Between these jobs and the datasets they read and write."""
    quarantined: int
    """Names that no evidence resolves."""


def counts_of(graph: Graph) -> Counts:
    """Count what the graph shows."""
    jobs = [name for name in graph.jobs if graph.has_job(name) and not graph.hides(name)]
    return Counts(
        len(jobs),
        len(graph.runs),
        sum(1 for _ in graph.shown_datasets()),
        sum(len(graph.reads(job)) + len(graph.writes(job)) for job in jobs),
        sum(1 for _ in unplaced(graph)),
    )


def unplaced(graph: Graph) -> Iterator[Quarantined]:
    """The quarantined names that no evidence resolves."""
    for each in graph.quarantined.values():
        if not graph.shown(DatasetId(each.namespace, each.name)).is_complete:
            yield each
