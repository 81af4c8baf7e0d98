"""Edges of a job as they were, told from those of now: only by how many runs, and until when, is another matter."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwater.graph.records import Edge, Run
from headwater.model.events import Direction
from headwater.model.merging import Seen
from headwater.model.names import DatasetId


class Counted(NamedTuple):
    """Those of a job's runs that had said by some time whatever they say: all others spoke later only."""

    runs: Callable[[], Sequence[Run]]
    newest: Run | None
    """One of those that spoke last; None where there is none."""
    by_then: int
    in_all: int
    """How many runs the job has now."""


def edges_by(counted: Counted, way: Direction, edges: Mapping[DatasetId, Edge]) -> Iterator[tuple[DatasetId, Edge]]:
    """Those of a job's edges that these of its runs made, of `edges` that all its runs made, and nobody else."""
    newest = counted.newest
    if newest is None:
        return
    last_us = last_told_us(newest)
    for name, edge in edges.items():
        end = (way, name)
        seen = newest.observed.get(end)
        if seen is not None and seen.last_us == last_us and edge.runs == counted.in_all:
            yield name, Edge(Seen(edge.seen.first_us, last_us), counted.by_then)  # all made it, and none of them later
            continue
        times = [seen for run in counted.runs() if (seen := run.observed.get(end)) is not None]
        if (over := Seen.over(times)) is not None:
            yield name, Edge(over, len(times))


def last_told_us(run: Run) -> int:
    """When a run spoke last; 0 for one that never did."""
    return 0 if run.times is None else run.times.seen.last_us
