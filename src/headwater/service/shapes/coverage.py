"""The JSON of `/coverage`, as types."""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.coverage import GapKind
from headwater.service.shapes.nodes import TroubleCounts


class GapCounts(TypedDict):
    """The number of gaps of each kind."""

    quarantinedNames: int
    runsWithoutStart: int
    runsWithoutEnd: int
    extractionErrors: int
    unreadOperators: int
    silentStreams: int
    edgesWithoutColumns: int
    datasetsWithoutSchema: int


class VerdictCounts(TypedDict):
    """Signature verdicts of events; `verifiedShare` is from 0 to 1, None without events."""

    events: int
    verified: int
    unsigned: int
    unknownKey: int
    tampered: int
    malformed: int
    verifiedShare: float | None


class Covered(TypedDict):
    """Counts of what there is, and of its gaps."""

    jobs: int
    runs: int
    datasets: int
    gaps: GapCounts
    signatures: VerdictCounts


class CoveredNamespace(Covered):
    """The same for one namespace."""

    namespace: str


class Signer(TypedDict):
    """The events that name a key (None: no key), by verdict."""

    keyId: str | None
    signatures: VerdictCounts


class KnownGap(TypedDict):
    """One gap; `nodeId` is the node it is at (None where a dataset event has no full name), `related` are others."""

    kind: GapKind
    nodeId: str | None
    namespace: str
    words: str
    at: str
    related: Sequence[str]


class NodeCounts(TypedDict):
    """The number of nodes that sign their events, and faults in their chains: see `/nodes`."""

    nodes: int
    unproved: int
    troubles: TroubleCounts


class Coverage(TypedDict):
    """Known gaps, as counts and as a list, newest of each kind first; silence is measured at `at`.

    `nodes` are all nodes, whatever namespace was asked for.
    """

    at: str
    namespace: str | None
    total: Covered
    namespaces: Sequence[CoveredNamespace]
    signers: Sequence[Signer]
    nodes: NodeCounts
    gaps: Sequence[KnownGap]
    totalCount: int
