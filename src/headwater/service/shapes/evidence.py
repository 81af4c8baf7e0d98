"""The JSON of answers about evidence: what is one and why, quality over time, what waits for what, who is silent."""

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
    """Evidence that two names are one dataset; no times and no runs where the spelling alone says so."""

    name: Name
    other: Name
    reason: Reason
    firstSeen: str | None
    lastSeen: str | None
    runs: int


class Identity(TypedDict):
    """The names of a dataset, the evidence that they are one, and the way from one to another if it was asked for."""

    shown: Name
    names: Sequence[NameOfDataset]
    evidence: Sequence[NameEvidence]
    path: Sequence[NameEvidence] | None


class QualityPoint(TypedDict):
    """What was asserted, measured or tested at one time; `run` is None where a declaration says it."""

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
    """A job that comes before or after another."""

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
    """The job that a job is a part of, and those that are parts of it, as the parents of runs say."""

    job: Name
    partOf: Name | None
    parts: Sequence[Name]
    totalCount: int


class SilentStream(TypedDict):
    """A run that goes on by its events, and has been silent for longer than its job lets pass between two events."""

    job: Name
    run: str
    lastHeard: str
    windowSeconds: int
    staleSince: str


class SilentStreams(TypedDict):
    """A page of the silent streams, the longest silent first."""

    silentStreams: Sequence[SilentStream]
    totalCount: int


class FlowSource(TypedDict):
    """A dataset that another is made from, and how that is known; `runs` 0: it was only declared."""

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
    """What a dataset is made from, and what each of the others is that were asked for."""

    graph: Sequence[FlowInto]
