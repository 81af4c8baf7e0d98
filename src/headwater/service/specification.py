"""The OpenAPI document, completed with what applies to all routes: access control and checks of parameters."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from pydantic import TypeAdapter

from headwater.service.gate.rules import OPEN, RULES
from headwater.service.http.paths import API
from headwater.service.shapes.marquez import Failure

Json = dict[str, Any]

_SCHEME: Final = "bearer"
_SCHEMES: Final = {
    _SCHEME: {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key (`hw_…`), or a token of the identity provider. Not needed if access control "
        "is off, as on loopback by default.",
    }
}
_FAILURE: Final = {"application/json": {"schema": {"$ref": f"#/components/schemas/{Failure.__name__}"}}}
_WRONG: Final = "A query parameter is unknown or invalid."
_UNKNOWN: Final = "Not authenticated: the key or token is missing, unknown, revoked or expired."
_FORBIDDEN: Final = "Not permitted; the message names the required role and scope."
_OF_FASTAPI: Final = "#/components/schemas/HTTPValidationError"
_SHAPES_OF_FASTAPI: Final = ("HTTPValidationError", "ValidationError")


class Described(FastAPI):
    """An app whose OpenAPI document includes authentication and the common error responses."""

    def openapi(self) -> Json:
        """The document, built once."""
        if self.openapi_schema is None:
            self.openapi_schema = _with_access(super().openapi())
        return self.openapi_schema


def _with_access(page: Json) -> Json:
    for route, operation in _operations(page):
        operation["summary"] = _first_sentence(operation["description"])
        _describe_wrong_parameters(route, operation["responses"])
        if route not in OPEN:
            _close(operation, may_be_forbidden=RULES[route].action is not None)
    shapes = {**page["components"]["schemas"], Failure.__name__: TypeAdapter(Failure).json_schema()}
    for shape in _SHAPES_OF_FASTAPI:
        shapes.pop(shape, None)
    return {**page, "components": {"schemas": dict(sorted(shapes.items())), "securitySchemes": _SCHEMES}}


def _operations(page: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    """Each operation by its method and path, as `rules.py` has them."""
    for path, methods in page["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _first_sentence(description: str) -> str:
    """As plain text, which a summary is."""
    return description.partition("\n")[0].removesuffix(".").replace("`", "")


def _close(operation: Json, *, may_be_forbidden: bool) -> None:
    operation["security"] = [{}, {_SCHEME: []}]
    responses = operation["responses"]
    responses[str(HTTPStatus.UNAUTHORIZED.value)] = {"description": _UNKNOWN, "content": _FAILURE}
    if may_be_forbidden:
        forbidden = str(HTTPStatus.FORBIDDEN.value)
        also = responses[forbidden]["description"] if forbidden in responses else ""
        responses[forbidden] = {"description": f"{also} {_FORBIDDEN}".strip(), "content": _FAILURE}


def _describe_wrong_parameters(route: str, responses: Json) -> None:
    """A wrong parameter is a 400 in the one error shape, instead of what FastAPI would answer itself."""
    if f" {API}/" in route:
        responses.setdefault(str(HTTPStatus.BAD_REQUEST.value), {"description": _WRONG, "content": _FAILURE})
    for status, response in [*responses.items()]:
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        if schema.get("$ref") == _OF_FASTAPI:
            del responses[status]
        elif int(status) >= HTTPStatus.BAD_REQUEST.value:
            response.setdefault("content", _FAILURE)
