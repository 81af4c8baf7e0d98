"""Past edges of a job, derived from current ones: only the run count and the last time differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwater.graph.records import Edge, Run
from headwater.model.events import Direction
from headwater.model.merging import Seen
from headwater.model.names import DatasetId


class Counted(NamedTuple):
    """The runs of a job that had all their events by some time; all others have only later ones."""

    runs: Callable[[], Sequence[Run]]
    newest: Run | None
    """One with the latest event; None where there is none."""
    by_then: int
    in_all: int
    """The number of runs that the job has now."""


def edges_by(
    counted: Counted, direction: Direction, edges: Mapping[DatasetId, Edge]
) -> Iterator[tuple[DatasetId, Edge]]:
    """The edges from these runs, computed from `edges`, which come from all of the job's runs and nothing else."""
    newest = counted.newest
    if newest is None:
        return
    last_us = last_event_us(newest)
    for name, edge in edges.items():
        end = (direction, name)
        seen = newest.observed.get(end)
        if seen is not None and seen.last_us == last_us and edge.runs == counted.in_all:
            yield name, Edge(Seen(edge.seen.first_us, last_us), counted.by_then)  # every run reports it
            continue
        times = [seen for run in counted.runs() if (seen := run.observed.get(end)) is not None]
        if (over := Seen.over(times)) is not None:
            yield name, Edge(over, len(times))


def last_event_us(run: Run) -> int:
    """The time of a run's last event; 0 for one without events."""
    return 0 if run.times is None else run.times.seen.last_us
