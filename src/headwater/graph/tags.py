"""Tags on a job, or on a dataset and its columns: those set over the API, and those that producers report."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from headwater.graph.edits import Edits
from headwater.model.edits import target_of
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.names import DatasetId, JobId

Tag = tuple[str | None, str]
"""The column (None: the entire node), and the tag; over the API, a column's tag is in capitals."""


class TagsSetByPeople(NamedTuple):
    """The tags set over the API; one put under one name and removed under another counts as put."""

    put: Mapping[Tag, None]
    """In the order in which they were put."""
    taken_off: AbstractSet[Tag]
    """The tags removed over the API, whether the API or a producer had put them."""


def tags_set_by_people(edits: Edits, names: Iterable[DatasetId | JobId]) -> TagsSetByPeople:
    """The tags set over the API under any of the names."""
    put: dict[Tag, None] = {}
    taken_off: set[Tag] = set()
    for name in names if edits else ():
        fields = edits.fields_of(name) if isinstance(name, DatasetId) else ()
        for column, target in ((None, target_of(name)), *((target[3], target) for target in fields)):
            put.update({(column, word): None for word in edits.tags(target)})
            taken_off.update((column, word) for word in edits.tags_taken_off(target))
    return TagsSetByPeople(put, taken_off)


def tags_in_job_facet(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags in a job's `tags` facet."""
    read = TagsFacet.readable({TagsFacet.key: facet})
    return frozenset() if read is None else {*read.words}


def tags_in_dataset_facet(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags in a dataset's `tags` facet."""
    read = DatasetTagsFacet.readable({DatasetTagsFacet.key: facet})
    return frozenset() if read is None else {*map(api_spelling, read.words)}


def api_spelling(tag: Tag) -> Tag:
    """The tag in the spelling of the API, so that one removal covers every producer's spelling."""
    column, word = tag
    return tag if column is None else (column, word.upper())
