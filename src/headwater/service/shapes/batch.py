"""The JSON that answers a batch of events, as types."""

from collections.abc import Sequence
from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.service.shapes.log import Receipt


class EventAnswer(TypedDict):
    """The result for one event of a batch: 201 stored, 200 stored before, else the status it would have alone."""

    index: int
    status: int
    retriable: bool
    message: NotRequired[str]
    receipt: NotRequired[Receipt]


class FailedEvent(TypedDict):
    """An event of a batch that was not stored; `retriable` if the same bytes may be taken later."""

    index: int
    reason: str
    retriable: bool


class BatchSummary(TypedDict):
    """Counts for a batch."""

    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class BatchAnswer(TypedDict):
    """The result of a batch."""

    status: Literal["success", "partial_success", "failure"]
    summary: BatchSummary
    failed_events: Sequence[FailedEvent]
    results: Sequence[EventAnswer]
