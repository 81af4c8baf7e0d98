"""The JSON of a diff."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from headwater.graph.diff.compare import Change, Element, Kind
from headwater.graph.diff.event_content import EventContent
from headwater.model.digest import as_text
from headwater.model.facet_texts import sorted_json
from headwater.service.http.answers import iso
from headwater.service.http.as_of import AsOf, written
from headwater.service.shapes import diff as shapes_diff
from headwater.service.views.names import name_of
from headwater.store.entries import LoggedEvent

FACETS: Final = frozenset[Kind]({"jobFacet", "runFacet", "datasetFacet"})


class ContentOfEvent(NamedTuple):
    """An event and its content."""

    logged: LoggedEvent
    content: EventContent


def answer(
    ends: tuple[shapes_diff.DiffEnd, shapes_diff.DiffEnd],
    changes: Sequence[Change],
    page: Sequence[Change],
    events: Sequence[ContentOfEvent | None],
) -> shapes_diff.Diff:
    """A page of the changes between these two ends, each with the event that reported it."""
    counts = Counter(change.kind for change in changes)
    return {
        "from": ends[0],
        "to": ends[1],
        "counts": shapes_diff.DiffCounts(came=counts["came"], went=counts["went"], changed=counts["changed"]),
        "changes": [_change(*each) for each in zip(page, events, strict=True)],
        "totalCount": len(changes),
    }


def end(as_of: AsOf, run_id: str | None = None) -> shapes_diff.DiffEnd:
    """One end of a comparison."""
    return shapes_diff.DiffEnd(asOf=written(as_of.time_us or 0), logSize=as_of.log_size or 0, runId=run_id)


def _change(change: Change, event: ContentOfEvent | None) -> shapes_diff.Change:
    kind, ends, detail = change.element
    ids = [end.node_id for end in ends]
    return shapes_diff.Change(
        change=change.kind,
        kind=kind,
        nodeId=ids[0] if len(ids) == 1 else None,
        origin=ids[0] if len(ids) == 2 else None,
        destination=ids[1] if len(ids) == 2 else None,
        facet=detail if kind in FACETS else None,
        before=_value(change.element, change.before),
        after=_value(change.element, change.after),
        event=None if event is None else _event(event),
    )


def _value(element: Element, value: Any) -> Any:  # noqa: ANN401  whatever a facet holds
    match element.kind:
        case _ if value is None:
            return None
        case "dataset":
            return [name.node_id for name in value]
        case "schema":
            return [{"name": name, "type": kind} for name, kind in value]
        case "columnEdge":
            return [{"type": kind, "subtype": subtype, "masking": masking} for kind, subtype, masking in value]
        case kind if kind in FACETS:
            return orjson.Fragment(sorted_json(value))
    return value


def _event(event: ContentOfEvent) -> shapes_diff.DiffEvent:
    logged, content = event
    run_id, job = next(iter(content.runs.items()), (None, content.declared))
    return shapes_diff.DiffEvent(
        index=logged.log_index,
        digest=as_text(logged.digest),
        eventTime=iso(logged.event_us),
        eventType=logged.event_type,
        runId=run_id,
        job=None if job is None else name_of(job),
    )
