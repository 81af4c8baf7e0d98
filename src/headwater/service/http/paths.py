"""Names in paths: `s3://bucket` is one name, written in a path as `s3%3A%2F%2Fbucket`.

Servers pass the path decoded, which would split such a name at its slashes. So routes are matched against the path as
sent, and a parameter `{name:encoded}` is decoded after matching. A trailing slash in the API's paths is ignored:
Marquez's page requests `/api/v1/search/`.

Browsers and many clients resolve `.` and `..` as path steps, even percent-encoded. As names they may be written with a
trailing semicolon, where the parameters of a segment begin: `..;` is the name `..`.
"""

import re
from typing import Final
from urllib.parse import quote, unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.types import ASGIApp, Receive, Scope, Send

from headwater.model.credentials import without_secrets

API: Final = "/api/v1"
"""The prefix of the API's paths."""
_STEP: Final = re.compile(r"(\.\.?);")
"""A name that clients would resolve as a path step. Source: RFC 3986, 3.3; URL Standard, double-dot URL path segment"""


def name_in_path(segment: str) -> str:
    """The name that a segment of a path as sent is, without the password that it may be asked for with.

    >>> name_in_path("postgres%3A%2F%2Freader%3Asecret%40shop%3A5432")
    'postgres://shop:5432'
    >>> name_in_path("..;"), name_in_path("..%3B")
    ('..', '..;')
    """
    step = _STEP.fullmatch(segment)
    return step[1] if step else without_secrets(unquote(segment))


class EncodedName(Convertor[str]):
    """One segment of a path as sent, percent-encoded."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        """The decoded name."""
        return name_in_path(value)

    def to_string(self, value: str) -> str:
        """The segment."""
        return quote(value, safe="")


class RestOfPath(EncodedName):
    """The rest of a path as sent: a name with its slashes, percent-encoded or not."""

    regex = ".+"


class RunMark(Convertor[str]):
    """The last segment of `/jobs/runs/ID/start` and its siblings, and of no other path."""

    regex = "start|complete|fail|abort"

    def convert(self, value: str) -> str:
        """The word."""
        return value

    def to_string(self, value: str) -> str:
        """The segment."""
        return value


register_url_convertor("encoded", EncodedName())
register_url_convertor("rest", RestOfPath())
register_url_convertor("mark", RunMark())


def path_as_sent(scope: Scope) -> str:
    """The path that routes are matched against, still percent-encoded."""
    raw_path: bytes = scope.get("raw_path") or b""
    path: str = raw_path.decode("latin-1") if b"%" in raw_path else scope["path"]
    return path.removesuffix("/") if path.startswith(f"{API}/") else path


class PathsAsSent:
    """ASGI middleware: replaces the decoded path with the path as sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "lifespan":
            scope["path"] = path_as_sent(scope)
        await self._app(scope, receive, send)
