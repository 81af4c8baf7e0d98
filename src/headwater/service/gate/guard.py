"""ASGI middleware: refuses requests by access control, and removes names from answers that a caller may not know."""

import json
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.access.redaction import Redactor
from headwater.errors import HeadwaterError, UnauthenticatedError
from headwater.service.gate.again import ADMITTED_AGAIN
from headwater.service.gate.gate import Gate
from headwater.service.gate.rules import matched
from headwater.service.gate.sight import SIGHT
from headwater.service.http.failures import failed
from headwater.service.http.paths import path_as_sent
from headwater.service.request.access import WHY_NOT_THEN

log = logging.getLogger(__name__)

_JSON: Final = b"application/json"
_EVENTS: Final = b"text/event-stream"
_NOT_THE_PAGE: Final = ("/api", "/metrics", "/healthz", "/openapi")


class Guard:
    """The outermost middleware; installed only with access control."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, if its caller may make it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = path_as_sent(scope)
        route_match = matched(scope["method"], path)
        if _is_page(scope, path) if route_match is None else route_match.rule is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            sight = await self._gate.admitted(request, route_match)
        except HeadwaterError as error:
            if isinstance(error, UnauthenticatedError):
                self._gate.count_stranger(path, str(error))
            response = await failed(request, error)
            await response(scope, receive, send)
            return
        scope[SIGHT] = sight
        scope[WHY_NOT_THEN] = sight.may_see
        scope[ADMITTED_AGAIN] = partial(self._gate.admitted, request, route_match)
        await self._app(
            scope, receive, send if sight.redactor is None else _Redacting(sight.redactor, sight.wrote, send)
        )


def _is_page(scope: Scope, path: str) -> bool:
    is_other = any(each.startswith(_NOT_THE_PAGE) for each in (path, scope["path"]))
    return scope["method"] == "GET" and not is_other


class _Redacting:
    """Filters an answer: a whole JSON answer, or each server-sent event."""

    def __init__(self, redactor: Redactor, wrote: Mapping[str, str], send: Send) -> None:
        self._redactor = redactor
        self._wrote = wrote
        self._send = send
        self._start: Message | None = None
        self._kind = b""
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = dict(message["headers"])
            self._kind = headers.get(b"content-type", b"").partition(b";")[0]
            if self._kind == _JSON and (message["status"] < 400 or self._wrote):
                self._start = message  # its length is not known yet
                return
        elif message["type"] == "http.response.body":
            if self._start is not None:
                await self._answer(message)
                return
            if self._kind == _EVENTS:
                message = {**message, "body": self._events(message.get("body", b""))}
        await self._send(message)

    async def _answer(self, message: Message) -> None:
        self._body += message.get("body", b"")
        if message.get("more_body") or self._start is None:
            return
        body = bytes(self._body)
        if self._start["status"] < 400 and not self._redactor.is_clear(body):
            body = json.dumps(self._redactor.over(json.loads(body)), separators=(",", ":")).encode()
        for instead, wrote in self._wrote.items():
            body = body.replace(instead.encode(), json.dumps(wrote)[1:-1].encode())
        start, self._start = self._start, None
        headers = [each for each in start["headers"] if each[0] != b"content-length"]
        await self._send({**start, "headers": [*headers, (b"content-length", b"%d" % len(body))]})
        await self._send({"type": "http.response.body", "body": body})

    def _events(self, text: bytes) -> bytes:
        """Whole events, as `Feed` sends them at once."""
        return b"".join(self._event(event) + b"\n\n" for event in text.split(b"\n\n") if event)

    def _event(self, event: bytes) -> bytes:
        head, data, json_text = event.partition(b"\ndata: ")
        if not data:
            return event
        change: dict[str, Any] = json.loads(json_text)
        if "jobs" in change:  # else it says no more than that changes were missed
            if change["run"] and any(self._redactor.hidden(job) is not None for job in change["jobs"]):
                change["run"] = self._redactor.run(change["run"])
            for key in ("jobs", "datasets", "schemas"):
                change[key] = change[key] and [
                    node_id for node_id in change[key] if self._redactor.hidden(node_id) is None
                ]
            shown = {*change["jobs"], *change["datasets"]}
            change["edges"] = change["edges"] and [edge for edge in change["edges"] if {*edge.values()} <= shown]
            if not shown:
                change["run"] = change["state"] = None
        return head + data + json.dumps(change, separators=(",", ":")).encode()
