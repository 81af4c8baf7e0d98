"""The whole at a glance: the graph in numbers, the quarantine, and a stream of changes."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Request, Response
from starlette.responses import StreamingResponse

from headwater.service.gate.again import while_admitted
from headwater.service.http.answers import answer
from headwater.service.http.paths import API
from headwater.service.http.query import KnownQuery
from headwater.service.request.access import Known, ServiceHere, Summed
from headwater.service.routes.parameters import WRONG, Limit, Offset
from headwater.service.shapes import overview as shapes_overview
from headwater.service.views.counts import quarantine, summary

_DIGITS: Final = 18
"""Limit on the digits of a number of entries; no log has more."""

router = APIRouter(prefix=API, tags=["overview"], route_class=KnownQuery)


@router.get("/summary", response_model=shapes_overview.Summary, responses=WRONG)
async def get_summary(service: ServiceHere, knowledge: Summed) -> Response:
    """A summary: sizes of the graph, and events by verdict; refused events are counted for now only."""
    refused = service.metrics.refused if knowledge is service.knowledge else 0
    return answer(summary(knowledge, knowledge.store.verdict_counts(), refused))


@router.get("/quarantine", response_model=shapes_overview.Quarantine, responses=WRONG)
async def get_quarantine(knowledge: Known, limit: Limit = 100, offset: Offset = 0) -> Response:
    """Datasets in quarantine: mentioned without a full name; kept, but not part of the graph."""
    return answer(quarantine(knowledge, limit, offset))


@router.get(
    "/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def get_stream(
    request: Request,
    service: ServiceHere,
    last_event_id: Annotated[str | None, Header(description="The last change received, to resume after it.")] = None,
) -> Response:
    """Server-sent events: a `change` for each stored event.

    It says which nodes the event touched, its run's state by now, which edges are new and which datasets have another
    schema; these three are null for what came before anybody listened. `missed` comes first where changes since
    `Last-Event-ID` are no longer kept (the last thousand are), or the log is shorter than that: all of it is new then.
    The stream ends when the key or token that it was asked for with is revoked or runs out.
    """
    after = _number(last_event_id or "")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    changes = service.feed.listen(after, service.knowledge.store.size())
    return StreamingResponse(while_admitted(request, changes), media_type="text/event-stream", headers=headers)


def _number(text: str) -> int | None:
    """The number in a text, or None; more digits than any log index has count as beyond the log."""
    return int(text.lstrip("0")[:_DIGITS] or "0") if text.isascii() and text.isdigit() else None
