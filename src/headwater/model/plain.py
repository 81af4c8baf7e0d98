"""Whether an event is as plain as nearly all are: then what is read of it needs no closer look.

The wire classes of `headwater.model.events` say what an event must be, and name the path of what is not. This asks the
same of the usual case in a fraction of the time; it accepts nothing that they refuse, and leaves to them what it does
not know.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

_TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})"
)
"""RFC 3339 as programs write it; other forms of it are rare."""
_EVENT_TYPES: Final = frozenset({"START", "RUNNING", "COMPLETE", "ABORT", "FAIL", "OTHER", None})
_SLOTS: Final = ("facets", "inputFacets", "outputFacets")


def time_of_run_event(body: Mapping[str, Any]) -> datetime | None:
    """The time of a run event, if it is a plain one."""
    run, job = body["run"], body.get("job")
    is_plain = (
        isinstance(run, dict)
        and isinstance(job, dict)
        and _is_name(run.get("runId"))
        and _is_name(job.get("namespace"))
        and _is_name(job.get("name"))
        and _are_facets(run.get("facets"))
        and _are_facets(job.get("facets"))
        and _is_event_type(body.get("eventType"))
        and _are_datasets(body.get("inputs"))
        and _are_datasets(body.get("outputs"))
        and isinstance(body.get("producer"), str)
        and isinstance(body.get("schemaURL", ""), str)
    )
    return _time(body.get("eventTime")) if is_plain else None


def _is_event_type(value: object) -> bool:
    return value is None or (isinstance(value, str) and value in _EVENT_TYPES)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


def _are_facets(value: object) -> bool:
    return value is None or (isinstance(value, dict) and _are_objects(value.values()))


def _are_objects(values: Iterable[object]) -> bool:
    return all([isinstance(each, dict) for each in values])  # faster than a generator


def _are_datasets(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(map(_is_dataset, value)))


def _is_dataset(value: object) -> bool:
    return (
        isinstance(value, dict)
        and _is_name(value.get("namespace"))
        and _is_name(value.get("name"))
        and all(_are_facets(value[slot]) for slot in _SLOTS if slot in value)
    )


def _time(value: object) -> datetime | None:
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:  # no such day
        return None
