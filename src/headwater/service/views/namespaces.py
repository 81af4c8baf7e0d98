"""Namespaces: those that jobs and datasets are in, under any of their names."""

from collections.abc import Iterator
from functools import reduce
from itertools import islice

from headwater.errors import NotFoundError
from headwater.model.facts import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service import shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge


def namespaces(knowledge: Knowledge, limit: int, offset: int) -> shapes.Namespaces:
    """A page of the namespaces, by name."""
    seen: dict[str, Seen] = {}
    for namespace, when in _mentions(knowledge):
        seen[namespace] = seen[namespace].union(when) if namespace in seen else when
    page = islice(sorted(seen.items()), offset, offset + limit)
    return shapes.Namespaces(namespaces=[_namespace(name, when) for name, when in page], totalCount=len(seen))


def namespace(knowledge: Knowledge, name: str) -> shapes.Namespace:
    """One namespace.

    Raises:
        NotFoundError: nothing is in it.
    """
    seen = [when for namespace, when in _mentions(knowledge) if namespace == name]
    if not seen:
        raise NotFoundError(f"Namespace '{name}' not found.")
    return _namespace(name, reduce(Seen.union, seen))


def jobs_in(knowledge: Knowledge, name: str) -> list[JobId]:
    """The jobs of a namespace.

    Raises:
        NotFoundError: nothing is in it.
    """
    jobs = [job for job in knowledge.graph.jobs if job.namespace == name and knowledge.is_job(job)]
    return jobs if jobs or namespace(knowledge, name) else []


def datasets_in(knowledge: Knowledge, name: str) -> list[DatasetId]:
    """The datasets that are shown under a name in this namespace, by name.

    Raises:
        NotFoundError: nothing is in it.
    """
    datasets = sorted(dataset for dataset in knowledge.graph.shown_datasets() if dataset.namespace == name)
    return datasets if datasets or namespace(knowledge, name) else []


def _mentions(knowledge: Knowledge) -> Iterator[tuple[str, Seen]]:
    for job in knowledge.graph.jobs:
        if knowledge.is_job(job):
            yield job.namespace, knowledge.activity(job).seen
    for name, dataset in knowledge.graph.datasets.items():
        if dataset.is_known:
            seen = dataset.seen
            members = knowledge.graph.identities.members(name)
            yield from ((member.namespace, seen) for member in members if member.is_complete)


def _namespace(name: str, seen: Seen) -> shapes.Namespace:
    return shapes.Namespace(
        name=name,
        createdAt=iso(seen.first_us),
        updatedAt=iso(seen.last_us),
        ownerName="anonymous",
        description=None,
        isHidden=False,
    )
