"""The JSON of `/root-cause`, as types."""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.causes.finding import Kind
from headwater.graph.causes.visit import By
from headwater.model.facts import RunState
from headwater.service.shapes.marquez import Name


class CauseRun(TypedDict):
    """A run that the walk examined, or started from."""

    id: str
    job: Name
    state: RunState
    startedAt: str
    endedAt: str | None


class CauseLink(TypedDict):
    """One step up: this run read the dataset (a node id), that run wrote it, and how we know.

    The node id of a job stands there where that job's run handed the data over without a dataset between, is a part of
    the run, or is missing and was to be a part of the other.
    """

    reader: str
    dataset: str
    writer: str
    by: By
    words: str


class EventEvidence(TypedDict):
    """An event that shows it; its place in the log, and the SHA-256 of its bytes."""

    logIndex: int
    digest: str


class UnusualRows(TypedDict):
    """A number of rows, the usual one, and how far apart they are; null if the usual one never differs."""

    count: int
    usual: float
    robustZ: float | None


class CauseFinding(TypedDict):
    """What changed or failed. A consequence is explained by another finding further up, and counts half.

    `rows` is null unless it is a `volume-jump`.
    """

    rank: int
    kind: Kind
    score: float
    words: str
    nodeId: str
    at: str
    distance: int
    consequence: bool
    runs: Sequence[str]
    events: Sequence[EventEvidence]
    path: Sequence[CauseLink]
    rows: UnusualRows | None


class InputLookedAt(TypedDict):
    """What a run read, or a job that bears on it without a dataset between, by node id, and the runs that it is about.

    No writers: see `words`.
    """

    dataset: str
    versions: Sequence[str]
    writers: Sequence[CauseLink]
    words: str


class RunLookedAt(TypedDict):
    """A run that was examined, and with how many earlier runs of its job it was compared."""

    run: CauseRun
    distance: int
    comparedWith: int
    inputs: Sequence[InputLookedAt]


class RootCause(TypedDict):
    """Findings, likeliest cause first; `isCut`: there was more upstream than one walk examines."""

    nodeId: str
    column: str | None
    run: CauseRun | None
    summary: str
    findings: Sequence[CauseFinding]
    lookedAt: Sequence[RunLookedAt]
    isCut: bool
