"""The fast path for ordinary run events.

The wire classes of `headwater.model.wire` define what an event must be, and name the path of a fault. Whatever is
accepted here is accepted there, in a fraction of the time; anything else is left to them.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec

from headwater.model.wire import EventType

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
"""RFC 3339 as programs write it, including Java's nanoseconds, which both paths truncate to microseconds."""

_Name = Annotated[str, msgspec.Meta(min_length=1)]


class PlainRun(msgspec.Struct):
    """A run, by its id."""

    runId: _Name


class PlainName(msgspec.Struct):
    """A job or a dataset, by its name."""

    namespace: _Name
    name: _Name


class PlainRunEvent(msgspec.Struct):
    """A run event without its facets."""

    eventTime: str
    producer: str
    run: PlainRun
    job: PlainName
    inputs: list[PlainName] | None = None
    outputs: list[PlainName] | None = None
    eventType: EventType | None = None
    schemaURL: str = ""

    @property
    def time(self) -> datetime | None:
        """The event time, if written in the usual form."""
        if _TIME.fullmatch(self.eventTime) is None:
            return None
        try:
            return datetime.fromisoformat(self.eventTime)
        except ValueError:  # invalid date
            return None


def plain_run_event(shell: Mapping[str, Any]) -> PlainRunEvent | None:
    """The event, if it is an ordinary one; `shell` comes from `outline`."""
    try:
        event = msgspec.convert(shell, PlainRunEvent)
    except msgspec.ValidationError:
        return None
    names = (event.job, *(event.inputs or ()), *(event.outputs or ()))
    has_nul = "\0" in event.run.runId or any("\0" in each.namespace or "\0" in each.name for each in names)
    return None if has_nul else event
