"""Authentication and body size limit of the control API, both checked before a body is read."""

import hmac
import logging
from http import HTTPStatus
from typing import Final

from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

_MOST_BYTES: Final = 8 << 20
"""The body size limit. The longest pipeline file accepted takes 6 MB in JSON if each character is escaped."""
_TOO_LARGE: Final = f"body: larger than the limit of {_MOST_BYTES >> 20} MB"
_LONGEST_LENGTH: Final = 18


class Guard:
    """Requires the bearer token, if there is one, and limits the size of a body."""

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._expected = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request, or pass it to the app."""
        headers = Headers(scope=scope)
        if self._expected is not None and not hmac.compare_digest(
            headers.get("authorization", "").encode(), self._expected
        ):
            log.warning("a request was refused", extra={"route": scope["path"], "rule": "http.token_env"})
            asked = {"WWW-Authenticate": "Bearer"}
            await failure(HTTPStatus.UNAUTHORIZED, "expected the agent's bearer token", asked)(scope, receive, send)
        elif _is_too_large(headers.get("content-length", "0")):
            await failure(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send)


def failure(status: int, message: str, headers: object = None) -> JSONResponse:
    """The JSON error response; lone surrogates in the message, which may quote the caller, are escaped."""
    text = message.encode(errors="backslashreplace").decode()
    return JSONResponse({"code": int(status), "message": text}, status, headers)  # type: ignore[arg-type]


def _is_too_large(length: str) -> bool:
    return length.isascii() and length.isdigit() and (len(length) > _LONGEST_LENGTH or int(length) > _MOST_BYTES)


def _bounded(receive: Receive) -> Receive:
    size = 0

    async def bounded() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > _MOST_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
        return message

    return bounded
