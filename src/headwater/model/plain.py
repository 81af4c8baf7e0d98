"""An event that is as plain as nearly all run events are: what is read of it needs no closer look.

The wire classes of `headwater.model.wire` say what an event must be, and name the path of what is not. What passes here
passes there, in a fraction of the time; what does not is left to them.
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
"""RFC 3339 as programs write it, Java's nanoseconds too, which both ways cut to microseconds."""

_Name = Annotated[str, msgspec.Meta(min_length=1)]


class PlainRun(msgspec.Struct):
    """A run, by its id."""

    runId: _Name


class PlainName(msgspec.Struct):
    """A job or a dataset, by its name."""

    namespace: _Name
    name: _Name


class PlainRunEvent(msgspec.Struct):
    """A run event but for its facets."""

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
        """When it happened, if that is written as programs write it."""
        if _TIME.fullmatch(self.eventTime) is None:
            return None
        try:
            return datetime.fromisoformat(self.eventTime)
        except ValueError:  # no such day
            return None


def plain_run_event(shell: Mapping[str, Any]) -> PlainRunEvent | None:
    """The event, if it is a plain one; `shell` is what `outline` leaves of it."""
    try:
        event = msgspec.convert(shell, PlainRunEvent)
    except msgspec.ValidationError:
        return None
    names = (event.job, *(event.inputs or ()), *(event.outputs or ()))
    has_nul = "\0" in event.run.runId or any("\0" in each.namespace or "\0" in each.name for each in names)
    return None if has_nul else event
