"""The JSON of `/diff`, as types."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.graph.diff.compare import ChangeKind, Kind
from headwater.service.shapes.marquez import Name


class DiffEnd(TypedDict):
    """One end of the comparison: events up to a time, among the first of the log, or of one run."""

    asOf: str
    logSize: int
    runId: str | None


class DiffEvent(TypedDict):
    """The event that made a change; `runId` and `job` are None for one that declares a dataset, `runId` for a job."""

    index: int
    digest: str
    eventTime: str
    eventType: str
    runId: str | None
    job: Name | None


class Change(TypedDict):
    """Something that was added, removed or changed.

    `nodeId` is that of a job, dataset or column; an edge has `origin` and `destination` instead, in the direction of
    the data, a facet its `facet`. `before` and `after` say what it was like: a column's type, a schema's columns, a
    dataset's node ids, the word of a tag, what is done on the way of a column edge, the members of a facet.
    """

    change: ChangeKind
    kind: Kind
    nodeId: str | None
    origin: str | None
    destination: str | None
    facet: str | None
    before: Any
    after: Any
    event: DiffEvent | None


class DiffCounts(TypedDict):
    """The number of changes of each sort."""

    came: int
    went: int
    changed: int


Diff = TypedDict(
    "Diff",
    {"from": DiffEnd, "to": DiffEnd, "counts": DiffCounts, "changes": Sequence[Change], "totalCount": int},
)
"""A page of the changes, by kind and then by node id."""
