"""The JSON of `/impact`, as types."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.columns import Kind
from headwater.graph.impact.change import ChangeKind
from headwater.graph.impact.effects import Effect
from headwater.graph.impact.reach import Use
from headwater.model.facts import RunState
from headwater.service.shapes.marquez import Name

PlaceType = Literal["DATASET_FIELD", "DATASET", "JOB"]


class Owner(TypedDict):
    """An owner of a job or dataset, from its ownership facet."""

    name: str
    type: str | None


class LastRun(TypedDict):
    """The newest run of a job, or of the jobs that write a dataset."""

    id: str
    job: Name
    state: RunState
    startedAt: str | None
    endedAt: str | None


class FailedAssertion(TypedDict):
    """An expectation that the data did not meet."""

    assertion: str
    column: str | None
    severity: str | None


class Quality(TypedDict):
    """The last quality of a dataset, or of a column; `passed` None: there were no assertions."""

    at: str
    passed: bool | None
    assertions: int
    failed: Sequence[FailedAssertion]
    rowCount: int | None
    nullCount: int | None


class ProposedChange(TypedDict):
    """The proposed change; `typeNow` is the column's type by the newest schema."""

    kind: ChangeKind
    to: str | None
    typeNow: str | None


class ImpactStep(TypedDict):
    """One step of a path, by node ids; `type` None: no event reports which columns are used.

    `lastSeen` is when it was told last.
    """

    origin: str
    destination: str
    type: Kind | None
    subtype: str | None
    description: str | None
    masking: bool
    jobs: Sequence[str]
    lastSeen: str | None


class Reached(TypedDict):
    """What the change reaches, how, and whether it breaks there (None: the events do not report enough)."""

    id: str
    type: PlaceType
    namespace: str
    name: str
    field: str | None
    distance: int
    use: Use
    effect: Effect | None
    breaking: bool | None
    reason: str | None
    owners: Sequence[Owner]
    lastRun: LastRun | None
    quality: Quality | None
    path: Sequence[ImpactStep]


class ImpactCounts(TypedDict):
    """The number of places reached; `breaking` and `unknown` count places of all three kinds."""

    columns: int
    datasets: int
    jobs: int
    breaking: int
    unknown: int


class Impact(TypedDict):
    """Everything downstream that the change reaches, nearest first; `breaking` is None if that is unknown."""

    nodeId: str
    change: ProposedChange | None
    breaking: bool | None
    summary: str
    counts: ImpactCounts
    reached: Sequence[Reached]
    totalCount: int
