"""Namespaces: those of jobs and datasets, under any of their names, and those put over the API."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import reduce
from itertools import chain, islice
from typing import Final

from headwater.errors import NotFoundError
from headwater.model.edits import DESCRIBED, described
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.background import collect_in_slices
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes
from headwater.service.tallies.totals import Nodes

DEFAULT: Final = "default"
"""A namespace that is always there, as in Marquez."""
_DEFAULT_DESCRIPTION: Final = (
    "The default global namespace for dataset, job, and run metadata not belonging to a user-specified namespace."
)
_ALWAYS: Final = Seen(0, 0)


def namespaces(
    knowledge: Knowledge, limit: int, offset: int, sees: Callable[[str], bool] | None = None
) -> shapes.Namespaces:
    """A page of the namespaces, by name; a deleted one is marked as hidden, for clients to leave out.

    `sees` says which may be named, by default all.
    """
    mentions = _mentions(knowledge)
    known = sorted({*chain(*mentions)})
    if sees is not None:
        known = [*filter(sees, known)]
    page = islice(known, offset, offset + limit)
    shown = [_namespace(knowledge, each, reduce(Seen.union, _seen(mentions, each))) for each in page]
    return shapes.Namespaces(namespaces=shown, totalCount=len(known))


def namespace(knowledge: Knowledge, name: str) -> shapes.Namespace:
    """One namespace; a deleted one is marked as hidden.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    seen = _seen(_mentions(knowledge), name)
    if not seen:
        raise NotFoundError(f"Namespace '{name}' not found.")
    return _namespace(knowledge, name, reduce(Seen.union, seen))


async def check_namespace(name: str | None, *known: Knowledge) -> None:
    """Check that a namespace exists in one of these; None passes.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    *others, last = known
    if name is None:
        return
    for each in others:
        with suppress(NotFoundError):
            return await _check(each, name)
    await _check(last, name)


async def _check(knowledge: Knowledge, name: str) -> None:
    await collect_in_slices(_check_exists(knowledge, name))


def namespace_description(knowledge: Knowledge, name: str) -> str | None:
    """The description of a namespace, if it has one."""
    edit = knowledge.graph.edits.get(("namespace", name), DESCRIBED)
    if edit is None:
        return _DEFAULT_DESCRIPTION if name == DEFAULT else None
    text: str | None = described(edit.value)["description"]
    return text


def datasets_in(knowledge: Knowledge, name: str) -> Generator[None, None, Nodes[DatasetId]]:
    """The datasets whose shown name is in this namespace, by name; works in steps.

    Raises:
        NotFoundError: nothing is in it, and nobody put it.
    """
    yield from knowledge.dataset_tallies.catch_up()
    datasets = knowledge.dataset_tallies.by_name(name)
    if not datasets:
        yield from _check_exists(knowledge, name)
    return datasets


def all_datasets(
    knowledge: Knowledge, limit: int, offset: int, sees: Callable[[str], bool] | None = None
) -> Generator[None, None, tuple[list[DatasetId], int]]:
    """A page of all datasets, by namespace and name, and how many there are; works in steps.

    `sees` says in which namespaces they may be, by default in all.
    """
    yield from knowledge.dataset_tallies.catch_up()
    page: list[DatasetId] = []
    total = 0
    for name, datasets in knowledge.dataset_tallies.by_namespace():
        if sees is None or sees(name):
            page += datasets.page(limit - len(page), max(0, offset - total))
            total += len(datasets)
    return page, total


def _check_exists(knowledge: Knowledge, name: str) -> Iterator[None]:
    for tallies in (knowledge.job_tallies, knowledge.dataset_tallies):
        yield from tallies.catch_up_namespace_times()
    namespace(knowledge, name)


def dataset_in(knowledge: Knowledge, name: DatasetId) -> DatasetId:
    """The same name, checked to belong to a dataset.

    Raises:
        NotFoundError: none does, or there is not even such a namespace; Marquez's clients tell the two apart.
    """
    if not knowledge.is_dataset(name):
        namespace(knowledge, name.namespace)
    return knowledge.dataset(name)


def job_in(knowledge: Knowledge, name: JobId) -> JobId:
    """The same name, checked to belong to a job.

    Raises:
        NotFoundError: none does, or there is not even such a namespace.
    """
    if not knowledge.is_job(name):
        namespace(knowledge, name.namespace)
    return knowledge.job(name)


def _mentions(knowledge: Knowledge) -> tuple[Mapping[str, Seen], ...]:
    edits = knowledge.graph.edits
    described_names = ((target[1], edits.get(target, DESCRIBED)) for target in edits.targets("namespace"))
    return (
        {DEFAULT: _ALWAYS},
        {name: edit.seen for name, edit in described_names if edit is not None},
        knowledge.job_tallies.namespaces(),
        knowledge.dataset_tallies.namespaces(),
    )


def _seen(mentions: Iterable[Mapping[str, Seen]], name: str) -> list[Seen]:
    return [times[name] for times in mentions if name in times]


def _is_deleted(knowledge: Knowledge, name: str) -> bool:
    return ("namespace", name) in knowledge.graph.edits.deleted


def _namespace(knowledge: Knowledge, name: str, seen: Seen) -> shapes.Namespace:
    edit = knowledge.graph.edits.get(("namespace", name), DESCRIBED)
    return shapes.Namespace(
        name=name,
        createdAt=iso(seen.first_us),
        updatedAt=iso(seen.last_us),
        ownerName=(edit and described(edit.value)["ownerName"]) or "anonymous",
        description=namespace_description(knowledge, name),
        isHidden=_is_deleted(knowledge, name),
    )
