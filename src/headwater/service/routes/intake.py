"""POST /lineage and /lineage/batch: where events come in.

The routes are documented like all others, but events bypass routing, which takes as long as the rest of an event's way
through the server.
"""

from asyncio import CancelledError
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.errors import HeadwaterError, InvalidInputError, UnavailableError
from headwater.service.gate.sight import sight_of
from headwater.service.http.answers import answer
from headwater.service.http.body import read_body
from headwater.service.http.failures import failed
from headwater.service.http.paths import API
from headwater.service.http.query import refuse_unknown
from headwater.service.ingest.batch import NDJSON, batch_answer, events_in
from headwater.service.ingest.recording import WhyNot
from headwater.service.request.access import Service, service_of
from headwater.service.shapes.batch import BatchAnswer
from headwater.service.shapes.log import Received

router = APIRouter()

_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"description": "Not JSON; the message gives the position."},
    403: {"description": "The service takes only events that are signed by a trusted key."},
    413: {"description": "The body is too large."},
    415: {"description": "The content encoding is not supported."},
    422: {"description": "Not an event; the message gives the path of the first bad field."},
    503: {"description": "It could not be stored now; the header Retry-After says when to try again."},
}
_PATH: Final = f"{API}/lineage"
_RECEIPT: Final = "receipt"
_ASKING: Final = {
    "parameters": [
        {
            "name": _RECEIPT,
            "in": "query",
            "required": False,
            "description": "Answer with a receipt; the header `Prefer: receipt` asks for the same.",
            "schema": {"type": "boolean", "default": False},
        }
    ]
}
_BATCH_PATH: Final = f"{_PATH}/batch"
_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "An OpenLineage 2.0.2 run event, job event or dataset event; any content type is accepted.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
_BATCH_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "Events of any kind: the elements of an array, or one a line.",
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
            NDJSON: {"schema": {"type": "string"}},
        },
    }
}


class IntakeMiddleware:
    """ASGI middleware: takes posted events, and passes all other requests on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take the events."""
        take = _HANDLERS.get(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if take is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await take(request)
        except (HeadwaterError, HTTPException, ClientDisconnect) as error:
            response = await failed(request, error)
        except CancelledError:  # it took longer than a service waits that was told to stop
            response = await failed(request, UnavailableError("the service is stopping"))
        await response(scope, receive, send)


@router.post(
    _PATH,
    status_code=201,
    response_class=Response,
    responses={
        200: {"model": Received, "description": "The same bytes were stored before; no body unless requested."},
        201: {
            "model": Received,
            "description": "Stored, on disk, and in every answer from now on; no body unless requested.",
        },
        **_FAILURES,
    },
    openapi_extra=_BODY | _ASKING,
    tags=["events"],
)
async def take_event(request: Request) -> Response:
    """Store an event."""
    service = service_of(request)
    stored = await service.intake.take(await _body(service, request), _why_not(request))
    status = 201 if stored.is_new else 200
    if not _asks_for_receipt(request):
        return Response(status_code=status)
    return _applied(answer(Received(receipt=service.proofs.receipt(stored.log_index, stored.growth)), status))


@router.post(
    _BATCH_PATH,
    response_class=Response,
    responses={
        200: {"model": BatchAnswer, "description": "The outcome of each event; some may not have been stored."},
        **{status: _FAILURES[status] for status in (400, 413, 415)},
    },
    openapi_extra=_BATCH_BODY | _ASKING,
    tags=["events"],
)
async def take_batch(request: Request) -> Response:
    """Store many events, each independently of the others."""
    service = service_of(request)
    refuse_unknown(request.query_params.keys(), frozenset({_RECEIPT}))
    body = await _body(service, request)
    events = events_in(body, request.headers.get("content-type", ""))
    outcomes = await service.intake.take_all(events, _why_not(request))
    if not _asks_for_receipt(request):
        return answer(batch_answer(outcomes))
    return _applied(answer(batch_answer(outcomes, service.proofs.receipt)))


def _why_not(request: Request) -> WhyNot | None:
    sight = sight_of(request)
    return None if sight is None else sight.may_bring


def _asks_for_receipt(request: Request) -> bool:
    """Whether the sender wants receipts, which Marquez's clients would not expect.

    Source: RFC 7240 (Prefer)
    """
    preferred = request.headers.get("prefer", "")
    if preferred and any(each.strip().lower() == _RECEIPT for each in preferred.split(",")):
        return True
    parameter = request.query_params.get(_RECEIPT) if request.scope["query_string"] else None
    if parameter not in (None, "true", "false"):
        raise InvalidInputError("receipt: expected true or false")
    return parameter == "true"


def _applied(response: Response) -> Response:
    response.headers["preference-applied"] = _RECEIPT
    return response


async def _body(service: Service, request: Request) -> bytes:
    try:
        return await read_body(request, service.body_limit)
    except HTTPException:
        service.metrics.refuse("body")
        raise


_HANDLERS: Final = {_PATH: take_event, _BATCH_PATH: take_batch}
