"""Rules across several keys of an HTTP input or output."""

from typing import Final
from urllib.parse import urlsplit

from headwater.pipeline.checking.problems import Complaints
from headwater.pipeline.spec import HttpAuth, HttpCall, HttpInput, Paging

_MOST_RETRIES: Final = 100
_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "x-api-key"})
_NEEDED: Final = {
    "bearer": frozenset({"token_env"}),
    "header": frozenset({"header", "token_env"}),
    "basic": frozenset({"user_env", "password_env"}),
}


def http_input(reads: HttpInput, streams: bool) -> Complaints:
    """An input's complaints."""
    yield from http_call(reads, streams)
    if urlsplit(reads.url).query:
        yield ("url",), "expected no query; set it in params"
    if reads.paging is not None:
        yield from ((("paging", *path), message) for path, message in _paging(reads.paging))


def http_call(call: HttpCall, _: bool) -> Complaints:
    """What an input and an output have in common; an output's complaints."""
    if not 0 <= call.retries <= _MOST_RETRIES:
        yield ("retries",), f"expected a number from 0 to {_MOST_RETRIES}"
    for name in call.headers:
        if name.lower() in _SECRET_HEADERS:
            yield ("headers", name), "expected auth instead, with the name of an environment variable"
    if call.auth is not None:
        yield from _auth(call.auth)


def _auth(auth: HttpAuth) -> Complaints:
    given = {key for key in ("header", "token_env", "user_env", "password_env") if getattr(auth, key) is not None}
    if given != _NEEDED[auth.type]:
        yield ("auth",), f"type: {auth.type} takes {' and '.join(sorted(_NEEDED[auth.type]))}, and nothing else"


def _paging(paging: Paging) -> Complaints:
    if (paging.by == "cursor") != (paging.next is not None):
        yield ("next",), "by: cursor needs next, the path of the cursor in the answer; other kinds take no next"
    if paging.by == "link" and paging.parameter is not None:
        yield ("parameter",), "by: link follows the links in the answers and takes no parameter"
    if paging.size_parameter is not None and paging.size is None:
        yield ("size_parameter",), "expected size as well"
