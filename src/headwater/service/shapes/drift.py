"""The JSON of `/drift`, as types."""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.drift import DriftKind
from headwater.service.shapes.marquez import Name


class SubjectVersion(TypedDict):
    """The version of a schema registry's subject that a schema is from; `fitsRule` by the registry's own judgement."""

    subject: str
    version: int
    compatibility: str | None
    fitsRule: bool | None


class ColumnDrift(TypedDict):
    """A column that was added, removed or retyped, and what depends on it now.

    `breaking` is about who reads the column, None where events do not tell enough. `reaches` counts what lies
    downstream of it, `jobs` are the nearest of those that read it, at most ten.
    """

    column: str
    change: DriftKind
    before: str | None
    after: str | None
    breaking: bool | None
    reaches: "Reaches"
    jobs: Sequence[str]


class Reaches(TypedDict):
    """How much is downstream of a column."""

    columns: int
    datasets: int
    jobs: int


class SchemaDrift(TypedDict):
    """A schema change of a dataset, at the time of its first report.

    `toldBy` is the job whose run told of it, None for a declaration; `index` and `digest` are those of the event in
    the log. `breaking` is what the columns' are together.
    """

    nodeId: str
    at: str
    toldBy: Name | None
    runId: str | None
    index: int
    digest: str
    subject: SubjectVersion | None
    breaking: bool | None
    changes: Sequence[ColumnDrift]


class Drift(TypedDict):
    """Schema changes, newest first."""

    drift: Sequence[SchemaDrift]
    totalCount: int
