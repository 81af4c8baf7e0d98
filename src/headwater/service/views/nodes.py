"""Nodes (edge machines): what is known of them, and faults in their chains of events."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from headwater.errors import NotFoundError
from headwater.graph.nodes import Epoch, Trouble, troubles
from headwater.model.digest import hash_of
from headwater.service.http.answers import iso
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.shapes import nodes as shapes

Epochs = Mapping[str, Epoch]


async def nodes(knowledge: Knowledge, now_us: int, limit: int, offset: int) -> shapes.Nodes:
    """A page of the nodes, by id."""
    await knowledge.read_nodes()
    known, unproved = knowledge.graph.nodes.epochs, knowledge.graph.nodes.unproved
    page = islice(sorted(known), offset, offset + limit)
    return shapes.Nodes(
        nodes=[_node(each, known[each], unproved(each), now_us) for each in page], totalCount=len(known)
    )


async def node(knowledge: Knowledge, node_id: str, now_us: int, limit: int) -> shapes.NodeDetail:
    """One node with its epochs and faults, as many of each as `limit`.

    Raises:
        NotFoundError: no signed event named it.
    """
    await knowledge.read_nodes()
    epochs = knowledge.graph.nodes.epochs_of(node_id)
    if not epochs:
        raise NotFoundError(f"Node '{node_id}' not found.")
    found = [*troubles(epochs, now_us), *_missing_unsigned(knowledge, epochs)]
    newest = sorted(epochs.items(), key=lambda each: (each[1].seen.last_us, each[0]), reverse=True)
    return shapes.NodeDetail(
        **_node(node_id, epochs, knowledge.graph.nodes.unproved(node_id), now_us),
        ofEpochs=[_epoch(name, epoch) for name, epoch in newest[:limit]],
        listed=[_trouble(each) for each in found[:limit]],
        listedCount=len(found),
    )


class Counted(NamedTuple):
    """What all nodes together have."""

    nodes: int
    unproved: int
    troubles: shapes.TroubleCounts


async def counted(knowledge: Knowledge, now_us: int) -> Counted:
    """The number of nodes, of events in their names that do not count, and of faults in all their chains, by kind."""
    await knowledge.read_nodes()
    known, unproved = knowledge.graph.nodes.epochs, knowledge.graph.nodes.unproved
    found = _counts(each for epochs in known.values() for each in troubles(epochs, now_us))
    return Counted(len(known), sum(map(unproved, known)), found)


def _missing_unsigned(knowledge: Knowledge, epochs: Epochs) -> Iterable[Trouble]:
    """Events without a run that a node vouched for, and that are not in the log."""
    for name, epoch in sorted(epochs.items()):
        announced = {digest for text in epoch.unsigned if (digest := hash_of(text)) is not None}
        missing = announced - knowledge.store.known_digests(sorted(announced))
        if missing:
            words = "events of jobs or datasets that a signed event names are missing"
            yield Trouble("hole", name, words, epoch.seen.last_us, len(missing))


def _node(node_id: str, epochs: Epochs, unproved: int, now_us: int) -> shapes.Node:
    newest_name, newest = max(epochs.items(), key=lambda each: (each[1].seen.last_us, each[0]))
    known = epochs.values()
    return shapes.Node(
        nodeId=node_id,
        firstSeen=iso(min(epoch.seen.first_us for epoch in known)),
        lastSeen=iso(newest.seen.last_us),
        lastReceivedAt=iso(max(epoch.received.last_us for epoch in known)),
        events=sum(epoch.events for epoch in known),
        unproved=unproved,
        epochs=len(epochs),
        epoch=newest_name,
        lastSequence=newest.last,
        headHash=newest.head_hash,
        heartbeatSeconds=_interval_s(newest),
        clockAheadMs=max(0, *(epoch.ahead_us // 1_000 for epoch in known)),
        delayMs=min(epoch.delay_us // 1_000 for epoch in known),
        troubles=_counts(troubles(epochs, now_us)),
    )


def _epoch(name: str, epoch: Epoch) -> shapes.NodeEpoch:
    return shapes.NodeEpoch(
        epoch=name,
        firstSeen=iso(epoch.seen.first_us),
        lastSeen=iso(epoch.seen.last_us),
        lastReceivedAt=iso(epoch.received.last_us),
        events=epoch.events,
        lastSequence=epoch.last,
        headHash=epoch.head_hash,
        heartbeatSeconds=_interval_s(epoch),
        isOver=epoch.is_over,
        follows=sorted({followed for followed, _, _ in epoch.follows}),
    )


def _interval_s(epoch: Epoch) -> float | None:
    return None if epoch.interval_us is None else epoch.interval_us / 1_000_000


def _counts(found: Iterable[Trouble]) -> shapes.TroubleCounts:
    counts = shapes.TroubleCounts(missing=0, forks=0, broken=0, replays=0, dropped=0, silentEpochs=0, clockAhead=0)
    for each in found:
        match each.kind:
            case "hole":
                counts["missing"] += each.events
            case "fork":
                counts["forks"] += 1
            case "broken":
                counts["broken"] += 1
            case "replay":
                counts["replays"] += each.events
            case "dropped":
                counts["dropped"] += each.events
            case "silence":
                counts["silentEpochs"] += 1
            case "clock":
                counts["clockAhead"] += 1
    return counts


def _trouble(each: Trouble) -> shapes.NodeTrouble:
    return shapes.NodeTrouble(
        kind=each.kind,
        epoch=each.epoch,
        words=each.words,
        at=iso(each.at_us),
        events=each.events,
        first=each.first,
        last=each.last,
    )
