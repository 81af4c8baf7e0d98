"""Tags: the words there are, and which of them are on what."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from headwater.model.edits import DESCRIBED, described, target_of
from headwater.model.names import DatasetId, JobId
from headwater.service import shapes
from headwater.service.knowledge import Knowledge

KNOWN_TAGS: Final = {
    "PII": "Personally identifiable information",
    "SENSITIVE": "Contains sensitive information",
}
"""Tags that are there from the start, as in Marquez's own configuration."""


def tags(knowledge: Knowledge, limit: int, offset: int) -> shapes.Tags:
    """A page of the tags that somebody described or put on something, by name."""
    edits = knowledge.graph.edits
    names = {target[1] for target in edits.targets("tag")} | KNOWN_TAGS.keys()
    for kind in ("dataset", "field", "job"):
        names.update(tag for target in edits.targets(kind) for tag in edits.tags(target))
    page = islice(sorted(names), offset, offset + limit)
    return shapes.Tags(tags=[tag_shape(knowledge, name) for name in page])


def tag_shape(knowledge: Knowledge, name: str) -> shapes.Tag:
    """One tag, whether anybody used it or not."""
    said = knowledge.graph.edits.said(("tag", name), DESCRIBED)
    text = KNOWN_TAGS.get(name) if said is None else described(said.value)["description"]
    return shapes.Tag(name=name, description=text)


def tags_of(knowledge: Knowledge, node: DatasetId | JobId) -> list[str]:
    """The tags on a job, or on a dataset under any of its names."""
    edits = knowledge.graph.edits
    if not edits or isinstance(node, JobId):
        return edits.tags(target_of(node))
    return list(dict.fromkeys(tag for name in knowledge.graph.members(node) for tag in edits.tags(target_of(name))))


def tagged(knowledge: Knowledge, name: DatasetId, fields: Sequence[shapes.Field]) -> Sequence[shapes.Field]:
    """The columns of a dataset with the tags on each of them, under any of the dataset's names."""
    edits = knowledge.graph.edits
    if not edits:
        return fields
    on = {
        target[3]: edits.tags(target) for member in knowledge.graph.members(name) for target in edits.fields_of(member)
    }
    return [{**field, "tags": on.get(field["name"], ())} for field in fields] if on else fields
