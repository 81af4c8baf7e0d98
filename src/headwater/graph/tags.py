"""Tags on a job, or on a dataset and its columns: what people said of them over the API, and what producers told."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from headwater.graph.edits import Edits
from headwater.model.edits import target_of
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.names import DatasetId, JobId

Tag = tuple[str | None, str]
"""The column that it is on, None where it is on the whole; and its word, which people write in capitals on a column."""


def said_of(edits: Edits, names: Iterable[DatasetId | JobId]) -> dict[Tag, bool]:
    """Whether each tag is on of which people said anything, under any of the names."""
    said: dict[Tag, bool] = {}
    for name in names if edits else ():
        fields = edits.fields_of(name) if isinstance(name, DatasetId) else ()
        for column, target in ((None, target_of(name)), *((target[3], target) for target in fields)):
            said.update({(column, word): True for word in edits.tags(target)})
            for word in edits.tags_taken_off(target):
                said.setdefault((column, word), False)
    return said


def told_of_job(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags that a `tags` facet of a job tells."""
    read = TagsFacet.read({TagsFacet.key: facet})
    return {(None, tag.word) for tag in read.tags or ()} if isinstance(read, TagsFacet) else frozenset()


def told_of_dataset(facet: Mapping[str, Any]) -> AbstractSet[Tag]:
    """The tags that a `tags` facet of a dataset tells."""
    read = DatasetTagsFacet.read({DatasetTagsFacet.key: facet})
    if not isinstance(read, DatasetTagsFacet):
        return frozenset()
    return {(tag.field, tag.word.upper()) if tag.field else (None, tag.word) for tag in read.tags or ()}
