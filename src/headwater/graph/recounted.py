"""Edges of a job as they were, told from those of now: only by how many runs, and until when, is another matter."""

from collections.abc import Iterator, Mapping, Sequence

from headwater.graph.records import Edge, Run
from headwater.model.events import Direction
from headwater.model.facts import Seen
from headwater.model.names import DatasetId


def edges_by(
    runs: Sequence[Run], way: Direction, edges: Mapping[DatasetId, Edge], *, of_runs: int
) -> Iterator[tuple[DatasetId, Edge]]:
    """Those of a job's edges that these of its runs made: all that had said by some time whatever they say.

    `edges` are those that all its runs made, `of_runs` of them, and nobody else. All others of these spoke later only.
    """
    newest = max(runs, key=_last_us, default=None)
    if newest is None:
        return
    last_us = _last_us(newest)
    for name, edge in edges.items():
        end = (way, name)
        seen = newest.observed.get(end)
        if seen is not None and seen.last_us == last_us and edge.runs == of_runs:
            yield name, Edge(Seen(edge.seen.first_us, last_us), len(runs))  # all made it, and none of them later
            continue
        times = [seen for run in runs if (seen := run.observed.get(end)) is not None]
        if (over := Seen.over(times)) is not None:
            yield name, Edge(over, len(times))


def _last_us(run: Run) -> int:
    return 0 if run.times is None else run.times.seen.last_us
