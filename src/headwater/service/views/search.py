"""Search for jobs and datasets by a part of any of their names."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal, NamedTuple

from headwater.errors import InvalidNameError
from headwater.model.names import DatasetId, JobId, readings
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import marquez as shapes
from headwater.service.views.names import other_names

Kind = Literal["DATASET", "JOB"]
Order = Literal["NAME", "UPDATE_AT"]
Match = Literal["PART", "NAME"]


class Query(NamedTuple):
    """What to search for; None means any. Times in microseconds since 1970."""

    text: str
    kind: Kind | None
    namespace: str | None
    order: Order
    before_us: int | None = None
    """Exclusive."""
    after_us: int | None = None
    """Inclusive."""
    sees: Callable[[str], bool] | None = None
    """Which namespaces may be named; None: all."""
    match: Match = "PART"


class _Found(NamedTuple):
    kind: Kind
    node: DatasetId | JobId


def search(knowledge: Knowledge, query: Query, limit: int) -> shapes.Hits:
    """The first hits, by name or latest first.

    A hit contains the text in one of its names, ignoring case, or has it as node id; `%` in the text stands for any
    characters, as in Marquez. A dataset is found under each of its names, and shown under one.

    By `NAME`, a hit has the text as a full name, as `NAMESPACE:NAME` or as node id; if there is none, as the end of a
    name, after a dot or a slash. That includes datasets known only as sources of others, which are in no list.
    """
    if query.match == "NAME":
        found = _by_full_name(knowledge, query)
    else:
        found = _existing(knowledge, query, _named(knowledge, query), knowledge.is_dataset)
    found.sort(key=_by_name)
    if query.order != "NAME" or query.before_us is not None or query.after_us is not None:
        updated_us = {hit: _updated_us(knowledge, hit) for hit in found}  # computed only if needed
        found = [hit for hit in found if _is_within(updated_us[hit], query)]
        if query.order != "NAME":
            found.sort(key=lambda hit: -updated_us[hit])
    return shapes.Hits(totalCount=len(found), results=[_hit(knowledge, hit) for hit in found[:limit]])


def _by_full_name(knowledge: Knowledge, query: Query) -> list[_Found]:
    """Nodes with the text as full name, else at the end of one; listed ones before unlisted ones."""

    def is_mentioned(name: DatasetId) -> bool:
        return knowledge.seen_as_source(name) is not None

    for called in (_called, _ending):
        known = knowledge.name_index.holding([query.text.casefold()])
        if found := _existing(knowledge, query, called(query, known), knowledge.is_dataset):
            return found
        knowledge.catch_up_derivations()
        if found := _existing(knowledge, query, called(query, knowledge.derivations.named()), is_mentioned):
            return found
    return []


def _existing(
    knowledge: Knowledge,
    query: Query,
    named: Iterable[DatasetId | JobId],
    is_dataset: Callable[[DatasetId], bool],
) -> list[_Found]:
    """The candidates that exist and are not hidden."""
    found: set[_Found] = set()
    for node in named:
        if query.namespace is not None and node.namespace != query.namespace:
            continue
        if query.sees is not None and not query.sees(node.namespace):
            continue  # else each guess at a part of another name of a dataset would be confirmed
        if isinstance(node, JobId):
            if query.kind != "DATASET" and knowledge.is_job(node):
                found.add(_Found("JOB", node))
        elif query.kind != "JOB" and is_dataset(node):
            found.add(_Found("DATASET", knowledge.graph.shown(node)))
    return [hit for hit in found if query.sees is None or query.sees(hit.node.namespace)]


def _by_name(hit: _Found) -> tuple[str, str, Kind]:
    return hit.node.name, hit.node.namespace, hit.kind


def _updated_us(knowledge: Knowledge, hit: _Found) -> int:
    return knowledge.seen_of(hit.node).last_us


def _is_within(updated_us: int, query: Query) -> bool:
    is_before = query.before_us is None or updated_us < query.before_us
    return is_before and (query.after_us is None or updated_us >= query.after_us)


def _named(knowledge: Knowledge, query: Query) -> Iterator[DatasetId | JobId]:
    """All candidates that contain the text in this name, existing or not."""
    text = query.text.casefold()
    parts = text.split("%")
    may_be_node_id = text.startswith(("job:", "dataset:"))
    for node in knowledge.name_index.holding([] if may_be_node_id else parts):
        if _contains_in_order(parts, node.name.casefold()) or (may_be_node_id and text == node.node_id.casefold()):
            yield node


def _called(query: Query, nodes: Iterable[DatasetId | JobId]) -> Iterator[DatasetId | JobId]:
    """Candidates named by the text in full: as a name, as namespace and name, or as node id."""
    yield from (node for node in nodes if node.name == query.text)
    for node_id in (query.text, f"dataset:{query.text}", f"job:{query.text}"):
        with suppress(InvalidNameError):
            yield from (read.node for read in readings(node_id) if isinstance(read.node, DatasetId | JobId))


def _ending(query: Query, nodes: Iterable[DatasetId | JobId]) -> Iterator[DatasetId | JobId]:
    """Candidates whose name ends with the text, at a part's boundary."""
    ends = (f".{query.text}", f"/{query.text}")
    yield from (node for node in nodes if node.name.endswith(ends))


def _contains_in_order(parts: Sequence[str], name: str) -> bool:
    """Whether the name contains all the parts, one after the other."""
    end = 0
    for part in parts:
        start = name.find(part, end)
        if start < 0:
            return False
        end = start + len(part)
    return True


def _hit(knowledge: Knowledge, found: _Found) -> shapes.Hit:
    node = found.node
    return shapes.Hit(
        type=found.kind,
        name=node.name,
        namespace=node.namespace,
        nodeId=node.node_id,
        updatedAt=iso(_updated_us(knowledge, found)),
        symlinks=other_names(knowledge, node) if isinstance(node, DatasetId) else [],
    )
