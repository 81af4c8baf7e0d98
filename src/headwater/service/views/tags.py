"""Tags, and what they are on: added by people over the API, or reported by producers."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from headwater.graph.tags import api_spelling, tags_set_by_people
from headwater.model.edits import DESCRIBED, described
from headwater.model.facts import Target
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes

KNOWN_TAGS: Final = {
    "PII": "Personally identifiable information",
    "SENSITIVE": "Contains sensitive information",
}
"""Tags that are there from the start, as in Marquez's own configuration."""


def tags(knowledge: Knowledge, limit: int, offset: int, sees: Callable[[str], bool] | None = None) -> shapes.Tags:
    """A page of the tags that are described, or that are on something not deleted, by name.

    `sees` tells in which namespaces what is tagged may be known; None: in all.
    """
    sees = sees or (lambda _: True)
    edits = knowledge.graph.edits
    names = {target[1] for target in edits.targets("tag")} | KNOWN_TAGS.keys()
    for kind in ("dataset", "field", "job"):
        tagged = ((target, words) for target in edits.targets(kind) if (words := edits.tags(target)))
        standing = (words for target, words in tagged if sees(target[1]) and _exists(knowledge, target))
        names.update(word for words in standing for word in words)
    for tallies in (knowledge.job_tallies, knowledge.dataset_tallies):
        for word, nodes in tallies.tagged().items():
            if any(sees(node.namespace) and _is_still_on(knowledge, node, word) for node in nodes):
                names.add(word)
    page = islice(sorted(names), offset, offset + limit)
    return shapes.Tags(tags=[tag_shape(knowledge, name) for name in page])


def _exists(knowledge: Knowledge, target: Target) -> bool:
    """Whether a job or dataset, or a column's dataset, is known and not deleted."""
    kind, namespace, name = target[:3]
    if kind == "job":
        return knowledge.is_job(JobId(namespace, name))
    return knowledge.is_dataset(DatasetId(namespace, name))


def _is_still_on(knowledge: Knowledge, node: DatasetId | JobId, word: str) -> bool:
    """Whether people left a tag that producers reported, on the node or on one of its columns."""
    names = knowledge.graph.members(node) if isinstance(node, DatasetId) else (node,)
    if not tags_set_by_people(knowledge.graph.edits, names).taken_off or word in tags_of(knowledge, node):
        return True
    return isinstance(node, DatasetId) and any(word in words for words in _on_columns(knowledge, node).values())


def tag_shape(knowledge: Knowledge, name: str) -> shapes.Tag:
    """One tag, in use or not."""
    edit = knowledge.graph.edits.get(("tag", name), DESCRIBED)
    text = KNOWN_TAGS.get(name) if edit is None else described(edit.value)["description"]
    return shapes.Tag(name=name, description=text)


def tags_of(knowledge: Knowledge, node: DatasetId | JobId) -> list[str]:
    """The tags on a job, or on a dataset under any of its names: those added by people, then those reported."""
    reported: Iterable[str]
    if isinstance(node, JobId):
        names: Iterable[DatasetId | JobId] = (node,)
        reported = knowledge.reported_job_tags(node)
    else:
        names = knowledge.graph.members(node)
        reported = (word for column, word in knowledge.reported_tags(node) if column is None)
    by_people = tags_set_by_people(knowledge.graph.edits, names)
    added = (word for column, word in by_people.put if column is None)
    return list(dict.fromkeys((*added, *(word for word in reported if (None, word) not in by_people.taken_off))))


def tagged(knowledge: Knowledge, name: DatasetId, fields: Sequence[shapes.Field]) -> Sequence[shapes.Field]:
    """The columns of a dataset with their tags, under any of the dataset's names.

    A nested column is named by its path, `address.city`.
    """
    on = _on_columns(knowledge, name)
    return list(_with_tags(fields, on, "")) if on else fields


def _with_tags(fields: Iterable[shapes.Field], on: "dict[str, dict[str, None]]", path: str) -> Iterator[shapes.Field]:
    for field in fields:
        column_path = f"{path}{field['name']}"
        shown: shapes.Field = {**field, "tags": list(on.get(column_path, ()))}
        if "fields" in field:
            shown["fields"] = list(_with_tags(field["fields"], on, f"{column_path}."))
        yield shown


def _on_columns(knowledge: Knowledge, name: DatasetId) -> "dict[str, dict[str, None]]":
    """By column: its tags in order."""
    by_people = tags_set_by_people(knowledge.graph.edits, knowledge.graph.members(name))
    reported = (tag for tag in knowledge.reported_tags(name) if api_spelling(tag) not in by_people.taken_off)
    on: dict[str, dict[str, None]] = defaultdict(dict)
    for column, word in (*by_people.put, *reported):
        if column is not None:
            on[column][word] = None
    return on
