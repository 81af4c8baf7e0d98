"""Tags on a job, or on a dataset and its columns: what people said of them over the API, and what producers told."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from headwater.graph.edits import Edits
from headwater.model.edits import target_of
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.names import DatasetId, JobId

Tag = tuple[str | None, str]
"""The column that it is on, None where it is on the whole; and its word, which people write in capitals on a column."""


class Said(NamedTuple):
    """The tags people spoke of: where one was put under one name and taken off under another, it is on."""

    put: Mapping[Tag, None]
    """In the order in which they were put there."""
    taken_off: AbstractSet[Tag]
    """Whoever had put them there."""


def said_of(edits: Edits, names: Iterable[DatasetId | JobId]) -> Said:
    """What people said under any of the names."""
    put: dict[Tag, None] = {}
    taken_off: set[Tag] = set()
    for name in names if edits else ():
        fields = edits.fields_of(name) if isinstance(name, DatasetId) else ()
        for column, target in ((None, target_of(name)), *((target[3], target) for target in fields)):
            put.update({(column, word): None for word in edits.tags(target)})
            taken_off.update((column, word) for word in edits.tags_taken_off(target))
    return Said(put, taken_off)


def told_of_job(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags that a `tags` facet of a job tells."""
    read = TagsFacet.readable({TagsFacet.key: facet})
    return frozenset() if read is None else {*read.words}


def told_of_dataset(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags that a `tags` facet of a dataset tells."""
    read = DatasetTagsFacet.readable({DatasetTagsFacet.key: facet})
    return frozenset() if read is None else {*map(as_said, read.words)}


def as_said(tag: Tag) -> Tag:
    """The tag as people would write it: so one takes off any spelling that producers have."""
    column, word = tag
    return tag if column is None else (column, word.upper())
