"""Search: jobs and datasets by a part of any of their names."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from headwater.model.names import DatasetId, JobId
from headwater.service import shapes
from headwater.service.answers import iso
from headwater.service.knowledge import Knowledge
from headwater.service.views.names import other_names

Kind = Literal["DATASET", "JOB"]
Order = Literal["NAME", "UPDATE_AT"]


class Query(NamedTuple):
    """What is looked for; None means any. Times in microseconds since 1970, both ends left out."""

    text: str
    kind: Kind | None
    namespace: str | None
    order: Order
    before_us: int | None = None
    after_us: int | None = None
    sees: Callable[[str], bool] | None = None
    """Which namespaces may be named; None: all."""


class _Found(NamedTuple):
    kind: Kind
    node: DatasetId | JobId
    updated_us: int


def search(knowledge: Knowledge, query: Query, limit: int) -> shapes.Hits:
    """The first hits, by name or the latest first.

    A hit has the text in one of its names, in either case, or as its whole node id; `%` in the text stands for any
    characters, as Marquez has it. A dataset is found under each of its names, and shown under one.
    """
    found = [hit for hit in _found(knowledge, query) if _is_within(hit, query)]
    if query.order == "NAME":
        found.sort(key=lambda hit: (hit.node.name, hit.node.namespace, hit.kind))
    else:
        found.sort(key=lambda hit: (-hit.updated_us, hit.node.name, hit.node.namespace, hit.kind))
    return shapes.Hits(totalCount=len(found), results=[_hit(knowledge, hit) for hit in found[:limit]])


def _found(knowledge: Knowledge, query: Query) -> Iterator[_Found]:
    datasets: set[DatasetId] = set()
    for node in _named(knowledge, query):
        if isinstance(node, JobId):
            if query.kind != "DATASET" and knowledge.is_job(node):
                yield _Found("JOB", node, knowledge.activity(node).seen.last_us)
        elif query.kind != "JOB" and knowledge.is_dataset(node):
            datasets.add(knowledge.graph.shown(node))
    for name in datasets:
        yield _Found("DATASET", name, knowledge.seen(name).last_us)


def _is_within(hit: _Found, query: Query) -> bool:
    if query.sees is not None and not query.sees(hit.node.namespace):
        return False
    is_before = query.before_us is None or hit.updated_us < query.before_us
    return is_before and (query.after_us is None or hit.updated_us > query.after_us)


def _named(knowledge: Knowledge, query: Query) -> Iterator[DatasetId | JobId]:
    """All, known or not, that have the text in this name of theirs."""
    text = query.text.casefold()
    parts = text.split("%")
    may_be_node_id = text.startswith(("job:", "dataset:"))
    for node in knowledge.name_index.holding([] if may_be_node_id else parts):
        if query.namespace is not None and node.namespace != query.namespace:
            continue
        if _stand_in_order(parts, node.name.casefold()) or (may_be_node_id and text == node.node_id.casefold()):
            yield node


def _stand_in_order(parts: Sequence[str], name: str) -> bool:
    """Whether the name holds all the parts, one behind the other."""
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
        updatedAt=iso(found.updated_us),
        symlinks=other_names(knowledge, node) if isinstance(node, DatasetId) else [],
    )
