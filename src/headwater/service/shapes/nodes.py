"""The JSON that `/nodes` answers with, as types.

A node is an edge machine here, and so is what `nodeId` names; in all other answers that is a place in the graph.
"""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.nodes import TroubleKind


class TroubleCounts(TypedDict):
    """How many events are missing, forked and so on; of `silence` and `clock`, in how many epochs."""

    missing: int
    forks: int
    broken: int
    replays: int
    dropped: int
    silentEpochs: int
    clockAhead: int


class Node(TypedDict):
    """An edge machine, by what its signed events say; `lastReceivedAt` is by our clock, the other times by its own.

    `nodeId` is the machine's id: elsewhere it is that of a job, dataset or column, which `/nodes` knows nothing of.
    `events` are those that stand in its epochs. `unproved` counts those in its name that no key signed that was trusted
    then. If any event was signed by such a key, these stand in no epoch; those whose hash such an event names do, and
    are not `unproved`.
    `epoch`, `lastSequence` and `headHash` are of the epoch that was heard last; a hash that was erased is empty.
    """

    nodeId: str
    firstSeen: str
    lastSeen: str
    lastReceivedAt: str
    events: int
    unproved: int
    epochs: int
    epoch: str
    lastSequence: int
    headHash: str
    heartbeatSeconds: float | None
    clockAheadMs: int
    delayMs: int
    troubles: TroubleCounts


class NodeEpoch(TypedDict):
    """One emitter's part of a node's record; `follows` are the epochs that it says ended before it."""

    epoch: str
    firstSeen: str
    lastSeen: str
    lastReceivedAt: str
    events: int
    lastSequence: int
    headHash: str
    heartbeatSeconds: float | None
    isOver: bool
    follows: Sequence[str]


class NodeTrouble(TypedDict):
    """A fault in a node's chain: `events` are missing, forked, replayed or dropped, at these places."""

    kind: TroubleKind
    epoch: str
    words: str
    at: str
    events: int
    first: int | None
    last: int | None


class NodeDetail(Node):
    """A node with its epochs, newest first, and the faults in its chain."""

    ofEpochs: Sequence[NodeEpoch]
    listed: Sequence[NodeTrouble]
    listedCount: int


class Nodes(TypedDict):
    """A page of the nodes, by id."""

    nodes: Sequence[Node]
    totalCount: int
