"""Namespaces: those that jobs and datasets are in, under any of their names, and those that were put."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice
from typing import Final

from headwater.errors import NotFoundError
from headwater.model.edits import DESCRIBED, described
from headwater.model.facts import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service import shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge

DEFAULT: Final = "default"
"""A namespace that is always there, as in Marquez."""
_DEFAULT_DESCRIPTION: Final = (
    "The default global namespace for dataset, job, and run metadata not belonging to a user-specified namespace."
)
_ALWAYS: Final = Seen(0, 0)


def namespaces(knowledge: Knowledge, limit: int, offset: int) -> shapes.Namespaces:
    """A page of the namespaces that are not deleted, by name."""
    seen: dict[str, Seen] = {}
    for namespace, when in _mentions(knowledge):
        seen[namespace] = seen[namespace].union(when) if namespace in seen else when
    known = sorted((name, when) for name, when in seen.items() if not _is_deleted(knowledge, name))
    page = islice(known, offset, offset + limit)
    return shapes.Namespaces(namespaces=[_namespace(knowledge, *each) for each in page], totalCount=len(known))


def namespace(knowledge: Knowledge, name: str) -> shapes.Namespace:
    """One namespace; a deleted one says that it is hidden.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    seen = [when for namespace, when in _mentions(knowledge) if namespace == name]
    if not seen:
        raise NotFoundError(f"Namespace '{name}' not found.")
    return _namespace(knowledge, name, reduce(Seen.union, seen))


def jobs_in(knowledge: Knowledge, name: str) -> list[JobId]:
    """The jobs of a namespace that are not deleted, those heard of last first.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    jobs = [job for job in knowledge.heard_of_last.jobs() if job.namespace == name]
    return jobs if jobs or namespace(knowledge, name) else []


def datasets_in(knowledge: Knowledge, name: str) -> list[DatasetId]:
    """The datasets that are shown under a name in this namespace, by name.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    datasets = sorted(dataset for dataset in knowledge.graph.shown_datasets() if dataset.namespace == name)
    return datasets if datasets or namespace(knowledge, name) else []


def _mentions(knowledge: Knowledge) -> Iterator[tuple[str, Seen]]:
    yield DEFAULT, _ALWAYS
    edits = knowledge.graph.edits
    for target in edits.targets("namespace"):
        if (said := edits.said(target, DESCRIBED)) is not None:
            yield target[1], said.seen
    for name, job in knowledge.graph.jobs.items():
        if job.is_known:
            yield name.namespace, knowledge.activity(name).seen
    for dataset_name, dataset in knowledge.graph.datasets.items():
        if dataset.is_known:
            seen = dataset.seen
            members = knowledge.graph.identities.members(dataset_name)
            yield from ((member.namespace, seen) for member in members if member.is_complete)


def _is_deleted(knowledge: Knowledge, name: str) -> bool:
    return ("namespace", name) in knowledge.graph.edits.deleted


def _namespace(knowledge: Knowledge, name: str, seen: Seen) -> shapes.Namespace:
    said = knowledge.graph.edits.said(("namespace", name), DESCRIBED)
    what = {} if said is None else described(said.value)
    return shapes.Namespace(
        name=name,
        createdAt=iso(seen.first_us),
        updatedAt=iso(seen.last_us),
        ownerName=what.get("ownerName") or "anonymous",
        description=what.get("description", _DEFAULT_DESCRIPTION if name == DEFAULT else None),
        isHidden=_is_deleted(knowledge, name),
    )
