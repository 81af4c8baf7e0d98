"""The JSON of the overview: counts, the quarantine, the state of the service."""

from collections.abc import Sequence

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.model.events import Direction
from headwater.service.shapes.marquez import Name


class EventStats(TypedDict):
    """The number of run events of each type in an interval."""

    startInterval: str
    endInterval: str
    fail: int
    start: int
    complete: int
    abort: int


class TotalStats(TypedDict):
    """The number that there were by the end of an interval."""

    startInterval: str
    endInterval: str
    count: int


class EventCounts(TypedDict):
    """The number of stored events, by signature verdict, and of events refused since the service started."""

    stored: int
    verified: int
    unsigned: int
    unknownKey: int
    tampered: int
    malformed: int
    refused: int


class Summary(TypedDict):
    """The graph in numbers; `edges` are between jobs and datasets, `columnEdges` between columns.

    `headwater audit verify` counts jobs, runs, datasets, edges and quarantined names the same from a bundle's entries.
    """

    jobs: int
    runs: int
    datasets: int
    columns: int
    edges: int
    columnEdges: int
    quarantined: int
    events: EventCounts


class QuarantinedName(TypedDict):
    """A dataset that an event mentioned without a full name; `candidates` are those that it may mean, if any."""

    subject: str
    direction: Direction
    namespace: str
    name: str
    firstSeen: str
    lastSeen: str
    candidates: Sequence[Name]


class Quarantine(TypedDict):
    """A page of what is in quarantine, newest first."""

    quarantine: Sequence[QuarantinedName]
    totalCount: int


class Health(TypedDict):
    """`ok`, or what is wrong."""

    status: str
