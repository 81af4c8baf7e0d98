"""Resolves node ids. Names may contain colons, and colons also separate them, so a node id may be ambiguous."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import Final

from headwater.errors import InvalidNameError, NotFoundError
from headwater.graph.structs import lies_in
from headwater.model.names import AnyNode, ColumnId, DatasetId, JobId, is_uuid, readings
from headwater.service.knowledge.knowledge import SCHEMA, Knowledge
from headwater.service.shapes.marquez import Field

_RUN: Final = "run:"
_VERSION: Final = "#"
"""Separates a version, as in Marquez's ids."""
_MAX_READINGS: Final = 1_000
"""Limit per node id: there is one reading per pair of colons, and no real name has so many."""
UNREADABLE: Final = (
    "cannot be read: expected dataset:NAMESPACE:NAME, datasetField:NAMESPACE:NAME:FIELD, job:NAMESPACE:NAME or run:ID"
)


def node_of(
    knowledge: Knowledge,
    node_id: str,
    unreadable: str = f"query param nodeId {UNREADABLE}",
    *,
    is_also_column: Callable[[ColumnId], bool] = lambda _: False,
) -> AnyNode:
    """The node of a node id: the first known one of its readings, datasets by shown names.

    A run (`run:ID`) stands for its job. `is_also_column` decides about columns of known datasets that are not known
    otherwise.

    Raises:
        NotFoundError: no reading is known, or there is none.
    """
    if (run_id := run_of(node_id)) is not None:
        return knowledge.job(knowledge.run(run_id).job)
    try:
        candidates = [*chain.from_iterable(meanings(node_id))]
    except InvalidNameError as fault:
        raise NotFoundError(unreadable) from fault
    for each in candidates:
        if (node := _known(knowledge, each, is_also_column)) is not None:
            return node
    match candidates[0]:
        case ColumnId() as column:
            raise _no_column(column)
        case JobId(_, name):
            raise NotFoundError(f"Job '{name}' not found.")
        case DatasetId(_, name):
            raise NotFoundError(f"Dataset '{name}' not found.")


def node_under(knowledge: Knowledge, node: AnyNode, names: Iterable[DatasetId]) -> AnyNode | None:
    """The job, or the dataset or column under the first of these names that is a dataset's; None if it is not there.

    For a past, in which a dataset may not have had all its names yet.

    Raises:
        NotFoundError: the dataset has no such column.
    """
    if isinstance(node, JobId):
        return node if knowledge.is_job(node) else None
    name = next(filter(knowledge.is_dataset, names), None)
    if name is None or isinstance(node, DatasetId):
        return name and knowledge.graph.shown(name)
    if not has_column(knowledge, name, node.column):
        raise _no_column(node)
    return ColumnId(knowledge.graph.shown(name), node.column)


def meanings(node_id: str) -> Iterator[Sequence[AnyNode]]:
    """The readings of a node id, likeliest first: as written, then without a version at its end.

    None for a run's node id; see `run_of`.

    Raises:
        InvalidNameError: it is not a node id.
    """
    if run_of(node_id) is not None:
        return
    yield _read(node_id)
    unversioned, sharp, _ = node_id.rpartition(_VERSION)
    if sharp:
        with suppress(InvalidNameError):  # the sign belongs to a name
            yield _read(unversioned)


def run_of(node_id: str) -> str | None:
    """The run id in a node id such as `run:0198f7d0-…#…`; None for other node ids."""
    return node_id.removeprefix(_RUN).partition(_VERSION)[0] if node_id.startswith(_RUN) else None


def version_of(node_id: str) -> str | None:
    """The version (a lower-case UUID) in a node id such as `job:etl:load#…`; None if there is none."""
    _, _, version = node_id.rpartition(_VERSION)
    return version.lower() if is_uuid(version) and version != node_id else None


def versioned(node_id: str, version: str | None) -> str:
    """The node id with a version, if there is one."""
    return node_id if version is None else f"{node_id}{_VERSION}{version}"


def _read(node_id: str) -> list[AnyNode]:
    return [reading.node for reading in islice(readings(node_id), _MAX_READINGS)]


def _no_column(column: ColumnId) -> NotFoundError:
    return NotFoundError(f"Field '{column.column}' of dataset '{column.dataset.name}' not found.")


def _known(knowledge: Knowledge, node: AnyNode, is_also_column: Callable[[ColumnId], bool]) -> AnyNode | None:
    match node:
        case JobId() as job if knowledge.is_job(job):
            return job
        case DatasetId() as name if knowledge.is_dataset(name) or knowledge.seen_as_source(name) is not None:
            return knowledge.graph.shown(name)
        case ColumnId(dataset, column) if has_column(knowledge, dataset, column):
            return ColumnId(knowledge.graph.shown(dataset), column)
        case ColumnId(dataset, column) if knowledge.is_dataset(dataset):
            shown = ColumnId(knowledge.graph.shown(dataset), column)
            return shown if is_also_column(shown) else None
    return None


def has_column(knowledge: Knowledge, dataset: DatasetId, column: str) -> bool:
    """Whether a dataset that is not deleted has the column, which may be the path of a nested one."""
    if knowledge.graph.hides(dataset):
        return False
    return column in knowledge.all_columns(dataset) or bool(fields_to(knowledge, dataset, column))


def fields_to(knowledge: Knowledge, dataset: DatasetId, column: str) -> tuple[Field, ...]:
    """The schema fields on the path to a column, outermost first, the column last; empty if there is no such column."""
    return _on_path(knowledge.facets.fields(knowledge.graph.digest_of(dataset, SCHEMA)), column)


def _on_path(fields: Iterable[Field], path: str) -> tuple[Field, ...]:
    for field in fields:
        if path == field["name"]:
            return (field,)
        inner = field.get("fields", ()) if lies_in(path, field["name"]) else ()
        if found := _on_path(inner, path[len(field["name"]) + 1 :]):
            return (field, *found)
    return ()
