"""Versions: of a dataset by its schema and its own version facet, of a job by what a run read and wrote.

A version has no state of its own. Its id is a UUID over its content, so the same content has the same id wherever and
whenever it is computed, and a late event just falls into its place.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, Literal, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson

from headwater.graph.lineage import Graph
from headwater.model.events import Direction, Stamp
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import HEADWATER_FACETS
from headwater.service.knowledge import Knowledge
from headwater.store.reader import ShapeChange

ShapePart = Literal["schema", "version"]
_PARTS: Final[tuple[ShapePart, ...]] = ("schema", "version")
_OURS: Final = uuid5(NAMESPACE_URL, HEADWATER_FACETS)


class Shape(NamedTuple):
    """What makes a version of a dataset: the digests of its schema facet and its version facet."""

    schema: bytes | None = None
    version: bytes | None = None


class DatasetVersion(NamedTuple):
    """A dataset from one change of its shape to the next."""

    uuid: UUID
    shape: Shape
    since_us: int
    told_by: tuple[str, Direction, DatasetId] | None
    """Run, direction and the name it used, where a run told of the change."""


@lru_cache(maxsize=20_000)  # a version stands in the answer of each run that met it
def content_uuid(*content: str | None) -> UUID:
    """A UUID that equal texts have in common, and no others."""
    return uuid5(_OURS, orjson.dumps(content).decode())


def job_uuid(job: JobId) -> UUID:
    """The UUID of a job itself."""
    return content_uuid("job", *job)


def job_version(graph: Graph, job: JobId, observed: Iterable[tuple[Direction, DatasetId]]) -> UUID:
    """The UUID of a job that reads and writes just these."""
    shown = ((direction, graph.shown(name)) for direction, name in observed)
    ends = sorted({(direction, *name) for direction, name in shown if name.is_complete})
    return content_uuid("job version", *job, *(part for end in ends for part in end))


def declared_version(graph: Graph, job: JobId) -> UUID:
    """The UUID of a job that no run has ended of: what it reads and writes by its declaration."""
    ends: list[tuple[Direction, DatasetId]] = [("input", name) for name in graph.reads(job)]
    return job_version(graph, job, [*ends, *(("output", name) for name in graph.writes(job))])


def shape_uuid(graph: Graph, name: DatasetId, shape: Shape) -> UUID:
    """The UUID of a version of a dataset, the same under each of its names."""
    digests = (None if digest is None else digest.hex() for digest in shape)
    return content_uuid("dataset version", *graph.shown(name), *digests)


def current_shape(graph: Graph, name: DatasetId) -> Shape | None:
    """The newest schema and version; None for a dataset that was declared without either and that no run touched."""
    facets = graph.facets_of(name)
    shape = Shape(*(facets[part][1] if part in facets else None for part in _PARTS))
    was_touched = any(graph.datasets[member].observed for member in graph.members(name) if member in graph.datasets)
    return shape if was_touched or shape != Shape() else None


def shape_at(knowledge: Knowledge, name: DatasetId, time_us: int, own: Mapping[str, bytes]) -> Shape:
    """The shape that a run met: what it told itself (`own`, by facet name), else what was told last until then."""
    known = knowledge.graph.facets_of(name)
    return Shape(
        *(own.get(part) or (_told_last(knowledge, name, part, time_us) if part in known else None) for part in _PARTS)
    )


def _told_last(knowledge: Knowledge, name: DatasetId, part: ShapePart, time_us: int) -> bytes | None:
    told = [
        found
        for member in knowledge.graph.members(name)
        if (found := knowledge.store.facet_at(member, part, time_us)) is not None
    ]
    told += [
        (change.stamp, change.content)
        for change in _declared_changes(knowledge.graph, name)
        if change.name == part and change.stamp.time_us <= time_us
    ]
    return max(told)[1] if told else None


class _Change(NamedTuple):
    stamp: Stamp
    name: ShapePart
    content: bytes
    told_by: tuple[str, Direction, DatasetId] | None


def dataset_versions(knowledge: Knowledge, name: DatasetId) -> list[DatasetVersion]:
    """The versions of a dataset, oldest first; neighbours differ."""
    shape = Shape()
    versions: list[DatasetVersion] = []
    for _, together in groupby(_changes(knowledge, name), key=lambda change: change.stamp):
        changes = list(together)
        before, shape = shape, shape._replace(**{change.name: change.content for change in changes})
        if shape != before:
            told_by, since_us = changes[0].told_by, changes[0].stamp.time_us
            versions.append(DatasetVersion(shape_uuid(knowledge.graph, name, shape), shape, since_us, told_by))
    if not versions and current_shape(knowledge.graph, name) is not None:
        since_us = knowledge.seen(name).first_us
        versions.append(DatasetVersion(shape_uuid(knowledge.graph, name, shape), shape, since_us, None))
    return versions


def _changes(knowledge: Knowledge, name: DatasetId) -> list[_Change]:
    told = (change for member in knowledge.graph.members(name) for change in knowledge.store.shape_changes(member))
    changes = [*map(_told, told), *_declared_changes(knowledge.graph, name)]
    return sorted(changes, key=lambda change: (change.stamp, change.name))


def _told(change: ShapeChange) -> _Change:
    return _Change(change.stamp, change.name, change.content, (change.run_id, change.direction, change.dataset))


def _declared_changes(graph: Graph, name: DatasetId) -> Iterator[_Change]:
    for member in graph.members(name):
        dataset = graph.datasets.get(member)
        for declared in dataset.declared.values() if dataset else ():
            for part in _PARTS:
                if part in declared.digests:
                    yield _Change(declared.stamp, part, declared.digests[part], None)
