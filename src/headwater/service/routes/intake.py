"""POST /lineage: where events come in.

The route is documented like every other, but an event does not go through routing: that, and what goes with it, takes
as long as the rest of its way through the server.
"""

from typing import Any, Final

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import HeadwaterError
from headwater.service.access import service_of
from headwater.service.body import read_body
from headwater.service.failures import failed
from headwater.service.shapes import Failure

_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": Failure, "description": "No JSON; the message gives the position."},
    403: {"model": Failure, "description": "The service takes only events that are signed by a trusted key."},
    413: {"model": Failure, "description": "The body is too large."},
    415: {"model": Failure, "description": "The body is packed in a way that is not known."},
    422: {"model": Failure, "description": "No event; the message gives the path of the first bad field."},
    503: {
        "model": Failure,
        "description": "It could not be stored now; the header Retry-After says when to try again.",
    },
}
_PATH: Final = "/api/v1/lineage"
_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "An OpenLineage 2.0.2 run event, job event or dataset event; any content type will do.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


class StraightIn:
    """ASGI middleware: takes posted events, and hands every other request on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the event."""
        if scope["type"] != "http" or scope["path"] != _PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await take_event(request)
        except (HeadwaterError, HTTPException, ClientDisconnect) as error:
            response = await failed(request, error)
        await response(scope, receive, send)


def add_intake(app: FastAPI) -> None:
    """Add the route."""
    app.add_middleware(StraightIn)
    app.router.add_api_route(
        _PATH,
        take_event,
        methods=["POST"],
        status_code=201,
        response_class=Response,
        responses={
            200: {"description": "These very bytes were stored before."},
            201: {"description": "The event is stored, on disk, and in every answer from now on."},
            **_FAILURES,
        },
        openapi_extra=_BODY,
        tags=["events"],
    )


async def take_event(request: Request) -> Response:
    """Store an event."""
    service = service_of(request)
    try:
        raw = await read_body(request, service.body_limit)
    except HTTPException:
        service.metrics.refuse("body")
        raise
    answer = await service.intake.take(raw)
    return Response(status_code=201 if answer.is_new else 200)
