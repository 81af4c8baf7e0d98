"""A client of a lineage service, for the commands that query it."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote

import httpx
import typer

from headwater.cli.http_client import no_answer
from headwater.cli.web_address import is_web_address
from headwater.errors import (
    HeadwaterError,
    InvalidInputError,
    InvalidNameError,
    NotFoundError,
    SetupError,
    UnauthenticatedError,
    UnavailableError,
)
from headwater.http_client import opened_client
from headwater.model.credentials import fits_a_header, without_credentials
from headwater.model.words import so_many

DEFAULT_URL = "http://127.0.0.1:5000"
MOST_ITEMS: Final = 1_000
"""The limit on the items of one page of an answer."""
Answer = Mapping[str, Any]
"""The JSON answer of a service, or a part of it."""

UrlOption = Annotated[
    str, typer.Option("--url", metavar="URL", envvar="HEADWATER_URL", help="The lineage service's address.")
]
OldUrlOption = Annotated[str | None, typer.Option("--to", metavar="URL", hidden=True)]
"""The old name of `--url` in commands that post to a service; still accepted, see `address`."""
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="The state as of a time with its zone, such as 2026-05-22T14:23:11Z, or milliseconds since 1970.",
    ),
]
LogSizeOption = Annotated[
    int | None,
    typer.Option(
        "--log-size",
        metavar="N",
        min=0,
        help="The state known from the first N events of the log; with --as-of, what these report of that time.",
    ),
]

LONG_S: Final = 600.0
"""The timeout of the first query as of a time, for which the service replays its log."""


TOKEN: Final = "HEADWATER_TOKEN"  # noqa: S105  the variable's name
"""The environment variable with the caller's API key or bearer token."""


OPTIONS: Final[Mapping[str, str]] = {
    "asOf": "--as-of",
    "logSize": "--log-size",
    "from": "--from",
    "to": "--to",
    "change": "--change",
}
"""Command line options by the API's parameter names, for error messages."""
_PARAMETER: Final = re.compile(r"query param (?P<name>\w+)(?P<unread> cannot be read)?:|^(?P<bare>change):")
"""How the service names a parameter that it cannot read."""


class Then(NamedTuple):
    """The part of the log that an answer is based on; None: all of it."""

    as_of: str | None = None
    """Only events that had happened by then."""
    log_size: int | None = None
    """Only the first so many events of the log."""

    @property
    def asked(self) -> dict[str, str]:
        """The API's parameters."""
        return {name: str(value) for name, value in zip(("asOf", "logSize"), self, strict=True) if value is not None}

    def __str__(self) -> str:
        """For example `as of 2026-05-22T14:23:11Z by the first 1,200 events of the log`; empty for now."""
        by = None if self.log_size is None else f"by the first {so_many(self.log_size, 'event')} of the log"
        return " ".join(filter(None, [self.as_of and f"as of {self.as_of}", by]))


NOW: Final = Then()


def address(url: str, older: str | None) -> str:
    """The service's URL, from the option's current or older name."""
    return url if older is None else older


@contextmanager
def service_at(
    url: str,
    timeout_s: float = 30.0,
    then: Then = NOW,
    token: str | None = None,
    options: Mapping[str, str] = OPTIONS,
) -> Iterator["ServiceClient"]:
    """A client of the lineage service at a URL such as `http://127.0.0.1:5000`, whose queries are as of `then`.

    It authenticates by the token, else by the one in the environment, if any. Errors about the API's parameters name
    the command line options in `options` instead.
    """
    timeout = timeout_s if then == NOW else LONG_S
    try:
        base = httpx.URL(f"{url.rstrip('/')}/api/v1")
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise InvalidInputError(f"{url!r} is not a URL ({fault}); expected one like {DEFAULT_URL}") from fault
    if not is_web_address(url):
        raise InvalidInputError(f"{url!r} is not an HTTP URL; expected one like {DEFAULT_URL}")
    with opened_client(base_url=base, timeout=timeout, params=then.asked, headers=bearer(token)) as client:
        yield ServiceClient(without_credentials(url.rstrip("/")), client, _NOBODY, then=then, options=options)


_NOBODY: Final = (
    "no lineage service answers at {url} ({why}); start one with `headwater serve`, or name another with --url"
)
_ELSEWHERE: Final = frozenset({httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED, httpx.codes.NOT_IMPLEMENTED})
"""A web server's answers to unknown paths."""


def in_path(name: str) -> str:
    """A name as one segment of a path: encodes slashes, and the dots of `.` and `..`, which httpx would resolve.

    Raises:
        InvalidNameError: it is empty, which would address the list of all.
        InvalidInputError: it cannot be encoded.
    """
    if not name:
        raise InvalidNameError("the name is empty")
    try:
        return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
    except UnicodeEncodeError as fault:
        raise InvalidInputError(_unaskable(fault)) from fault


def bearer(token: str | None = None) -> dict[str, str]:
    """The `Authorization` header; none without a token. Raises the same errors as `key_in`."""
    token = token or key_in(TOKEN)
    return {"Authorization": f"Bearer {token}"} if token else {}


def key_in(variable: str) -> str:
    """The API key or bearer token in an environment variable; empty if it is not set.

    Raises:
        SetupError: it cannot be a key or token.
    """
    key = os.environ.get(variable, "").strip()
    if key and not fits_a_header(key):
        raise SetupError(
            f"{variable} is not a valid API key: it contains a space, a line break or a non-ASCII character; set it to "
            "exactly the key that was shown"
        )
    return key


def no_service_there(url: str, status: int) -> str:
    """The error message for an answer of something other than a lineage service."""
    return (
        f"no lineage service at {url}: the server there answered {status}; use the part of the service's "
        f"addresses before /api/v1, like {DEFAULT_URL} or https://example.org/lineage"
    )


class ServiceClient:
    """A client of the API of a lineage service, or of another program of ours."""

    def __init__(
        self,
        url: str,
        client: httpx.Client,
        nobody: str,
        *,
        then: Then = NOW,
        is_here: bool = False,
        options: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`nobody` is the error message if nothing answers at `{url}`, with `{why}`.

        If it `is_here`, on this machine, its error messages are shown unchanged, since they may have several lines.
        """
        self.then = then
        self._is_here = is_here
        self._options = options
        self._url = url
        self._client = client
        self._nobody = nobody
        self._is_known = is_here
        """Whether the server is known to be one of ours."""

    def get(self, path: str, params: Mapping[str, str | int | None] | None = None) -> Any:  # noqa: ANN401
        """The JSON answer to a GET below `/api/v1`; parameters that are None are left out.

        Raises:
            UnavailableError: no service answers there, its certificate is not trusted, or another program answers.
            UnauthenticatedError: the service requires authentication.
            NotFoundError: the service does not know the resource.
            InvalidInputError: the service cannot read the input, or no request can be made of it.
            HeadwaterError: the service refused, in its own words; or the server is not a lineage service.
        """
        return self._asked(lambda: self._client.get(path, params=_given(params)))

    def get_text(self, path: str) -> str:
        """The answer to a GET below `/api/v1` that is not JSON; raises the same errors as `get`."""
        return self._answered(lambda: self._client.get(path)).text

    def get_whole(self, path: str, params: Mapping[str, str | int | None], items: str) -> dict[str, Any]:
        """As `get`, page by page, with all `items` of the answer."""
        asked = {**params, "limit": MOST_ITEMS}
        answer: dict[str, Any] = self.get(path, asked)
        while len(answer[items]) < answer["totalCount"]:
            more = self.get(path, {**asked, "offset": len(answer[items])})[items]
            if not more:  # events came in between, and the whole is shorter now
                break
            answer[items] += more
        return answer

    def post(self, path: str, body: object) -> Any:  # noqa: ANN401
        """The JSON answer to a POST of JSON; raises the same errors as `get`."""
        return self._asked(lambda: self._client.post(path, json=body))

    def delete(self, path: str, params: Mapping[str, str | None] | None = None) -> Any:  # noqa: ANN401
        """The JSON answer to a DELETE; as `get`."""
        return self._asked(lambda: self._client.delete(path, params=_given(params)))

    def _asked(self, ask: Callable[[], httpx.Response]) -> Any:  # noqa: ANN401
        answer = self._answered(ask)
        try:
            body = answer.json()
            self._is_known = True
            return body
        except ValueError as fault:
            raise HeadwaterError(f"the answer of {self._url} is not JSON: it is not a lineage service") from fault

    def _answered(self, ask: Callable[[], httpx.Response]) -> httpx.Response:
        try:
            answer = ask()
        except httpx.HTTPError as fault:
            raise UnavailableError(no_answer(fault, self._url, self._nobody)) from fault
        except (httpx.InvalidURL, UnicodeError) as fault:
            raise InvalidInputError(_unaskable(fault)) from fault
        if answer.status_code in _ELSEWHERE and not self._is_ours():
            raise UnavailableError(no_service_there(self._url, answer.status_code))
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFoundError(_message(answer))
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise UnauthenticatedError(self._unknown_caller(answer))
        if answer.status_code == httpx.codes.BAD_REQUEST and (self._is_here or self._is_of_the_call(answer)):
            raise InvalidInputError(_PARAMETER.sub(lambda named: self._typed(named, answer), _message(answer)))
        if answer.is_error:
            raise HeadwaterError(f"{self._url} answered {answer.status_code}: {_message(answer)}")
        if answer.is_redirect:
            raise HeadwaterError(
                f"{self._url} answered {answer.status_code} and redirects to {answer.headers['location']!r}: use "
                "the address of the lineage service itself"
            )
        return answer

    def _is_ours(self) -> bool:
        """Whether it is a lineage service: each of them shows its log's key to everybody."""
        if not self._is_known:
            try:
                self._is_known = "+" in self._client.get("/log/key").raise_for_status().text
            except httpx.HTTPError:
                return False
        return self._is_known

    def _unknown_caller(self, answer: httpx.Response) -> str:
        if "authorization" not in answer.request.headers:
            how = "from `headwater access key create` on its machine"
            return f"{self._url} requires authentication: set {TOKEN} to an API key {how}"
        return f"{self._url} rejects the API key: set {TOKEN} to another one ({_message(answer)})"

    def _is_of_the_call(self, answer: httpx.Response) -> bool:
        """Whether the error is about the user's input, rather than about a request made by the command."""
        named = [_name(found) for found in _PARAMETER.finditer(_message(answer))]
        return bool(named) and all(name in self._options for name in named)

    def _typed(self, named: re.Match[str], answer: httpx.Response) -> str:
        name = _name(named)
        if name not in self._options:
            return named[0]
        typed = answer.request.url.params.get(name, "")
        return f"{self._options[name]}:" + (f" {typed!r} cannot be read:" if named["unread"] else "")


def _given(params: Mapping[str, str | int | None] | None) -> dict[str, str | int] | None:
    return None if params is None else {name: value for name, value in params.items() if value is not None}


def _name(parameter: re.Match[str]) -> str:
    name: str = parameter["name"] or parameter["bare"]
    return name


def _unaskable(fault: httpx.InvalidURL | UnicodeError) -> str:
    """The error message if no request can be made of the input."""
    if isinstance(fault, UnicodeEncodeError) and fault.encoding != "idna":  # on Python 3.13 a host name may be at fault
        return f"an argument is not valid UTF-8 ({fault.reason})"
    return f"the arguments do not form a valid request: {fault}"


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
