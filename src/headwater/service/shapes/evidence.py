"""The JSON of `/identity`, `/quality`, `/flow`, `/control-flow`, `/containment` and `/silent-streams`, as types."""

from collections.abc import Sequence
from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.flow import Derivation
from headwater.graph.identity import Reason
from headwater.model.events import Direction
from headwater.service.shapes.marquez import Name


class NameOfDataset(Name):
    """One of the names of a dataset; `runs` read or wrote it under this very name."""

    isShown: bool
    runs: int


class NameEvidence(TypedDict):
    """Evidence that two names are one dataset; without times and runs if only the spelling says so."""

    name: Name
    other: Name
    reason: Reason
    firstSeen: str | None
    lastSeen: str | None
    runs: int


class Identity(TypedDict):
    """The names of a dataset, the evidence that they are one, and the requested path from one to another."""

    shown: Name
    names: Sequence[NameOfDataset]
    evidence: Sequence[NameEvidence]
    path: Sequence[NameEvidence] | None


class QualityPoint(TypedDict):
    """An assertion, metric or test at one time; `run` is None for a declaration."""

    at: str
    run: str | None
    direction: Direction | None
    kind: Literal["dataQualityAssertions", "dataQualityMetrics", "test"]
    passed: bool | None
    assertions: Sequence[Any]
    tests: Sequence[Any]
    metrics: Any


class QualityTimeline(TypedDict):
    """A page of a dataset's, a column's or a job's quality, newest first."""

    timeline: Sequence[QualityPoint]
    totalCount: int


class JobBesides(TypedDict):
    """A job before or after another."""

    job: Name
    dependency: str | None
    firstSeen: str
    lastSeen: str
    runs: int


class ControlFlow(TypedDict):
    """The jobs before a job and after it; no data need pass between them."""

    job: Name
    upstream: Sequence[JobBesides]
    downstream: Sequence[JobBesides]


class Containment(TypedDict):
    """The parent of a job, and its children, as the parents of runs say."""

    job: Name
    partOf: Name | None
    parts: Sequence[Name]
    totalCount: int


class SilentStream(TypedDict):
    """A run still going on, silent for longer than its job allows between two events."""

    job: Name
    run: str
    lastHeard: str
    windowSeconds: int
    staleSince: str


class SilentStreams(TypedDict):
    """A page of the silent streams, longest silent first."""

    silentStreams: Sequence[SilentStream]
    totalCount: int


class FlowSource(TypedDict):
    """A dataset that another is made from, with its derivation; `runs` 0: only declared."""

    dataset: Name
    derivation: Derivation
    firstSeen: str
    lastSeen: str
    runs: int


class FlowInto(TypedDict):
    """What a dataset is made from."""

    dataset: Name
    sources: Sequence[FlowSource]


class Flow(FlowInto):
    """What a dataset is made from, and the same for the other datasets asked for."""

    graph: Sequence[FlowInto]
