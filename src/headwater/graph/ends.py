"""What a run reads and writes: what it names itself, and on a side where it names nothing, what is said of its job.

Many producers declare once what a job reads and writes, and then tell of its runs only that they began and ended.
"""

from collections.abc import Collection, Iterable, Iterator

from headwater.graph.declared import dataset_of, references
from headwater.graph.lineage import Graph
from headwater.graph.records import RunEnd
from headwater.model.events import Direction
from headwater.model.names import JobId


def said_of(graph: Graph, job: JobId) -> frozenset[RunEnd]:
    """What a job is declared to read and write, and what others say that it does, by the names that they use."""
    known = graph.jobs[job]
    if known.declaration is None:
        return frozenset(known.told)
    declared = references(graph.content(known.declaration.content))
    return frozenset((*known.told, *((direction, dataset_of(reference)) for direction, reference in declared)))


def ends_of(observed: Collection[RunEnd], said: Iterable[RunEnd]) -> Iterator[RunEnd]:
    """What a run read and wrote that named these itself, and of whose job that is said."""
    yield from observed
    yield from (end for end in said if names_none(observed, end[0]))


def names_none(observed: Collection[RunEnd], direction: Direction) -> bool:
    """Whether a run that named these named nothing on that side."""
    return all(side != direction for side, _ in observed)
