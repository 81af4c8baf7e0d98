"""All errors in one shape: `{"code": 404, "message": "…"}`; wrong parameters add `"errors"`, as in Marquez."""

import logging
import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    InvalidEventError,
    InvalidInputError,
    MalformedJsonError,
    NotFoundError,
    SetupError,
    UnauthenticatedError,
    UnavailableError,
    UntrustedEventError,
    UntrustedNoteError,
)
from headwater.service.http.answers import answer
from headwater.service.http.as_of import EXPECTED
from headwater.service.shapes.marquez import Failure

log = logging.getLogger(__name__)

STATUS_OF_ERROR: Final = (
    (MalformedJsonError, HTTPStatus.BAD_REQUEST),
    (InvalidEventError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (InvalidInputError, HTTPStatus.BAD_REQUEST),
    (UntrustedEventError, HTTPStatus.FORBIDDEN),
    (UntrustedNoteError, HTTPStatus.FORBIDDEN),
    (UnauthenticatedError, HTTPStatus.UNAUTHORIZED),
    (ForbiddenError, HTTPStatus.FORBIDDEN),
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (UnavailableError, HTTPStatus.SERVICE_UNAVAILABLE),
    (SetupError, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""The first match counts, so narrower classes come first."""

_RETRY_AFTER_S: Final = "1"
_OPTIONS: Final = "OPTIONS"
_NUMBERS: Final = {("query", name) for name in ("limit", "offset", "depth")}
"""Parameters that Marquez has, too."""
_SMALL: Final = {("query", "kind")}
"""Parameters with lower-case values; all of Marquez's own are upper case."""
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_A_TIME: Final = "expected a time such as 2026-05-22T14:23:11Z, or milliseconds since 1970"
_WHOLE: Final = {"body": "The request body"}
"""As Marquez calls what is there or not as a whole."""
_INDEX: Final = re.compile(r"\.(\d+)")
_QUOTED: Final = re.compile(r"'([^']*)'")


def handle_failures(app: FastAPI) -> None:
    """Have every failure of the app answered in the one shape."""
    app.add_exception_handler(HeadwaterError, _ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_parameters)
    app.add_exception_handler(ClientDisconnect, _disconnected)
    app.add_exception_handler(Exception, _unexpected)


async def failed(request: Request, error: HeadwaterError | HTTPException | ClientDisconnect) -> Response:
    """The answer to a request that failed."""
    if isinstance(error, HeadwaterError):
        return await _ours(request, error)
    return await (_disconnected if isinstance(error, ClientDisconnect) else _of_http)(request, error)


def status_of(error: Exception) -> HTTPStatus:
    """The HTTP status for an error, by what the caller can do about it."""
    statuses = (status for kind, status in STATUS_OF_ERROR if isinstance(error, kind))
    return next(statuses, HTTPStatus.INTERNAL_SERVER_ERROR)


async def _ours(_: Request, error: Exception) -> Response:
    status = status_of(error)
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return await _unexpected(_, error)
    failure = Failure(code=status, message=str(error))
    if isinstance(error, InvalidEventError) and (faults := _faults(error)) is not None:
        failure["errors"] = faults
    if isinstance(error, HeadwaterError) and status == HTTPStatus.FORBIDDEN:
        failure["retriable"] = error.is_retriable
    response = answer(failure, status)
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["retry-after"] = _RETRY_AFTER_S
    if status == HTTPStatus.UNAUTHORIZED:
        response.headers["www-authenticate"] = 'Bearer realm="headwater"'
    return response


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101  registered for nothing else
    is_plain = error.detail == HTTPStatus(error.status_code).phrase
    message = _phrase(HTTPStatus(error.status_code)) if is_plain else error.detail
    response = _failure(error.status_code, message)
    response.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        if request.method == _OPTIONS:
            response = Response()
        response.headers["allow"] = ", ".join(sorted(_methods(request)))
    return response


def _methods(request: Request) -> set[str]:
    """The methods of the request's path; each is of a route of its own, and Starlette names those of the first.

    Whatever answers GET answers HEAD, and every path tells its methods by OPTIONS.

    Source: RFC 9110, 9.3.7
    """
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    methods = {method for route in routes for method in getattr(route, "methods", None) or ()}
    return methods | ({"HEAD", _OPTIONS} if "GET" in methods else {_OPTIONS})


async def _of_parameters(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101  registered for nothing else
    faults = error.errors()
    wrong = [*dict.fromkeys(map(_wording, faults))]  # a parameter that two parts of a route read has a fault in each
    status = _status_of_faults(faults)
    message = _phrase(status) if status == HTTPStatus.NOT_FOUND else "; ".join(wrong)
    return answer(Failure(code=status, message=message, errors=wrong), status)


def _status_of_faults(faults: Sequence[Any]) -> HTTPStatus:
    """As in Marquez: for Jersey, an unreadable number in a path is a path that does not exist."""
    if any(fault["loc"] in _NUMBERS and fault["type"].startswith("int_parsing") for fault in faults):
        return HTTPStatus.NOT_FOUND
    is_of_body = all(fault["loc"][0] == "body" for fault in faults)
    return HTTPStatus.UNPROCESSABLE_ENTITY if is_of_body else HTTPStatus.BAD_REQUEST


def _phrase(status: HTTPStatus) -> str:
    return f"HTTP {status} {status.phrase}"


async def _disconnected(_: Request, __: Exception) -> Response:
    return _failure(HTTPStatus.BAD_REQUEST, "the connection ended before the body was complete")  # nobody will read it


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("a request failed", exc_info=error, extra={"method": request.method, "path": request.url.path})
    return _failure(HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; see the service's log")


def _failure(status: int, message: str) -> Response:
    return answer(Failure(code=status, message=message), status)


def _faults(error: InvalidEventError) -> list[str] | None:
    """The faults of an event; missing members in the words of Marquez.

    >>> _faults(InvalidEventError("inputs.0.name: is required", ("inputs.0.name",)))
    ['inputs[0].name must not be null']
    """
    if isinstance(error, MalformedJsonError):
        return None
    missing = [_INDEX.sub(r"[\1]", path) for path in error.missing]
    return [f"{_WHOLE.get(path, path)} must not be null" for path in missing] or [str(error)]


def _wording(fault: Any) -> str:  # noqa: ANN401  pydantic's own mapping
    location, *path = fault["loc"]
    name = ".".join(str(step) for step in path)
    subject = (name or "body") if location == "body" else f"{location} param {path[0]}"
    if fault["type"] == "missing" or (location == "body" and fault["input"] is None):
        return f"{subject} must not be {'blank' if subject == 'query param q' else 'null'}"
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "greater_than_equal":
            problem = f"must be greater than or equal to {bounds['ge']}"
        case "less_than_equal":
            problem = f"must be less than or equal to {bounds['le']}"
        case "int_parsing" | "int_parsing_size":
            problem = "must be a whole number"
        case "bool_parsing":
            problem = "must be true or false"
        case "literal_error" if location == "query":
            words = bounds["expected"] if tuple(fault["loc"]) in _SMALL else bounds["expected"].upper()
            problem = f"must be one of [{', '.join(_QUOTED.findall(words))}]"
        case "literal_error":
            problem = f"must be {bounds['expected']}"
        case "date_from_datetime_parsing" if not _DAY.fullmatch(str(fault["input"])):
            problem = f'must match "^{_DAY.pattern}$"'
        case kind if kind.startswith("date_"):
            problem = "cannot be read: expected an existing day, such as 2026-05-22"
        case kind if kind.startswith(("datetime_", "timezone_")):
            problem = f"cannot be read: {_A_TIME if location == 'query' else EXPECTED}"
        case "model_attributes_type" | "model_type" | "dict_type" | "mapping_type":
            problem = "must be a JSON object"
        case "blank":
            problem = str(fault["msg"])
        case _:
            problem = f"cannot be read: {fault['msg']}"
    return f"{subject} {problem}"
