"""How much a graph holds, counted at a stroke: what `/api/v1/summary` keeps up event by event, and audits compare."""

from collections.abc import Iterator
from typing import NamedTuple

from headwater.graph.lineage import Graph
from headwater.model.facts import Quarantined
from headwater.model.names import DatasetId


class Counts(NamedTuple):
    """What is shown of a graph, in numbers."""

    jobs: int
    """That ran, were declared, have runs below theirs, or were told to read, write or feed something; none deleted."""
    runs: int
    """That were named, be it only as another's parent."""
    datasets: int
    """Each once under all its names, deleted ones and those in quarantine left out."""
    edges: int
    """Between these jobs and what they read and write."""
    quarantined: int
    """Names that no evidence places."""


def counts_of(graph: Graph) -> Counts:
    """Count what is shown of a graph."""
    jobs = [name for name in graph.jobs if graph.has_job(name) and not graph.hides(name)]
    return Counts(
        len(jobs),
        len(graph.runs),
        sum(1 for _ in graph.shown_datasets()),
        sum(len(graph.reads(job)) + len(graph.writes(job)) for job in jobs),
        sum(1 for _ in unplaced(graph)),
    )


def unplaced(graph: Graph) -> Iterator[Quarantined]:
    """The mentions of datasets without a full name that no evidence places."""
    for each in graph.quarantined.values():
        if not graph.shown(DatasetId(each.namespace, each.name)).is_complete:
            yield each
