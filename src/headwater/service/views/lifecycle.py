"""What was done to a dataset as a whole, and whether it is still there."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

from headwater.graph.identity import Link
from headwater.graph.walk import reachable
from headwater.model.events import Direction
from headwater.model.facets.dataset import LifecycleStateChangeFacet
from headwater.model.facets.own import DeclaredFacet
from headwater.model.names import DatasetId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import current_shape

_DROP = "DROP"
_KEY = LifecycleStateChangeFacet.key


class _Change(NamedTuple):
    at_us: int
    name: DatasetId
    """By which of its names it was told."""
    state: str


def lifecycle_state(knowledge: Knowledge, name: DatasetId, digests: Mapping[str, bytes]) -> str | None:
    """What was done to the dataset last, nothing where it was dropped and is there again; `digests` are of its facets.

    As Marquez has it: None for a dataset without a version, and for one that was put and that no run wrote.
    """
    change = knowledge.facets.view(LifecycleStateChangeFacet, digests)
    if change is not None:
        if not _is_drop(change):
            return change.lifecycle_state_change
        last = _last_change(knowledge, name)
        return "" if last.state == _DROP and _is_there_again(knowledge, name, last) else last.state
    was_put = knowledge.facets.view(DeclaredFacet, digests) is not None
    has_none = current_shape(knowledge.graph, name) is None or (was_put and not _was_written(knowledge, name))
    return None if has_none else ""


def is_dropped(knowledge: Knowledge, name: DatasetId, digests: Mapping[str, bytes]) -> bool:
    """Whether it was dropped, and since then no run has begun to write it and nobody declared it."""
    change = knowledge.facets.view(LifecycleStateChangeFacet, digests)
    if change is None or not _is_drop(change):
        return False
    last = _last_change(knowledge, name)
    return last.state == _DROP and not _is_there_again(knowledge, name, last)


def _is_there_again(knowledge: Knowledge, name: DatasetId, drop: _Change) -> bool:
    """Whether a run has begun to write it since it was dropped, or somebody declared it."""
    told = (each.stamp.time_us for dataset in knowledge.names(name) for each in dataset.declared.values())
    return any(time_us > drop.at_us for time_us in chain(told, _writes_began(knowledge, name)))


def _is_drop(change: LifecycleStateChangeFacet) -> bool:
    return change.lifecycle_state_change == _DROP


def _last_change(knowledge: Knowledge, name: DatasetId) -> _Change:
    """What was done last to a dataset that was dropped under one of its names.

    Tables change places by their names: t becomes t_old, t_new becomes t, t_old is dropped. What is told of the three
    is told of one dataset, and that is still there: nobody has renamed t since it came back.
    """
    first, *others = sorted(_changes(knowledge, name), reverse=True)
    links = knowledge.graph.identities.links(name) if others else []
    renames = [link for link in links if link.reason == "rename"]
    gone = _joined_with(first.name, [link for link in links if link.reason != "rename"])
    for change in others:
        since = (link.seen for link in renames if change.name in (link.name, link.other))
        is_left = any(seen is not None and seen.last_us > change.at_us for seen in since)
        if change.state != _DROP and change.name not in gone and not is_left:
            return change
    return first


def _joined_with(name: DatasetId, links: Sequence[Link]) -> AbstractSet[DatasetId]:
    """The name, and all others that these links make one with it."""

    def linked(known: DatasetId) -> Iterator[DatasetId]:
        return (end for link in links if known in (link.name, link.other) for end in (link.name, link.other))

    return reachable([name], linked, len(links)).keys()


def _changes(knowledge: Knowledge, name: DatasetId) -> Iterator[_Change]:
    """What was told last by each name."""
    for member in knowledge.graph.members(name):
        dataset = knowledge.graph.datasets.get(member)
        said = None if dataset is None else dataset.current_facets().get(_KEY)
        change = None if said is None else knowledge.facets.view(LifecycleStateChangeFacet, {_KEY: said.content})
        if said is not None and change is not None:
            yield _Change(said.stamp.time_us, member, change.lifecycle_state_change)


def _was_written(knowledge: Knowledge, name: DatasetId) -> bool:
    return next(_writes_began(knowledge, name), None) is not None


def _writes_began(knowledge: Knowledge, name: DatasetId) -> Iterator[int]:
    """When each run that wrote it was first told to."""
    graph = knowledge.graph
    runs = (graph.runs[run_id] for job in graph.writers(name) for run_id in graph.jobs[job].runs)
    ends: list[tuple[Direction, DatasetId]] = [("output", member) for member in graph.members(name)]
    return (run.observed[end].first_us for run in runs for end in ends if end in run.observed)
