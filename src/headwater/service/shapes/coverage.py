"""The JSON that `/coverage` answers with, as types."""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.coverage import GapKind
from headwater.service.shapes.nodes import TroubleCounts


class GapCounts(TypedDict):
    """How many gaps there are of each kind."""

    quarantinedNames: int
    runsWithoutStart: int
    runsWithoutEnd: int
    extractionErrors: int
    unreadOperators: int
    silentStreams: int
    edgesWithoutColumns: int
    datasetsWithoutSchema: int


class VerdictCounts(TypedDict):
    """How the signatures of events fared; `verifiedShare` is from 0 to 1, None where there are no events."""

    events: int
    verified: int
    unsigned: int
    unknownKey: int
    tampered: int
    malformed: int
    verifiedShare: float | None


class Covered(TypedDict):
    """What there is, and the gaps in it."""

    jobs: int
    runs: int
    datasets: int
    gaps: GapCounts
    signatures: VerdictCounts


class CoveredNamespace(Covered):
    """The same of one namespace."""

    namespace: str


class Signer(TypedDict):
    """The events that name a key (None: that name none), and how their signatures fared."""

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
    """How many nodes sign what they tell, and what does not fit in their records: see `/nodes`."""

    nodes: int
    troubles: TroubleCounts


class Coverage(TypedDict):
    """The gaps that are known, in numbers and one by one, newest of each kind first; silence is measured at `at`.

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
