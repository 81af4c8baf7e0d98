"""Ask a lineage service, for the commands that read from one."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import quote

import httpx
import typer

from headwater.cli.http_client import no_answer, opened_client
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
from headwater.model.credentials import fits_a_header, without_credentials
from headwater.model.words import so_many

DEFAULT_URL = "http://127.0.0.1:5000"

UrlOption = Annotated[
    str, typer.Option("--url", metavar="URL", envvar="HEADWATER_URL", help="The lineage service's address.")
]
OldUrlOption = Annotated[str | None, typer.Option("--to", metavar="URL", hidden=True)]
"""What `--url` was called where a command tells a service something; still taken, see `address`."""
AsOfOption = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="TIME",
        help="As it was then: a time with its zone such as 2026-05-22T14:23:11Z, or milliseconds since 1970.",
    ),
]
LogSizeOption = Annotated[
    int | None,
    typer.Option(
        "--log-size",
        metavar="N",
        min=0,
        help="As it was known by the first N events of the log; with --as-of, what these say of then.",
    ),
]

LONG_S: Final = 600.0
"""How long the first question about a past may take, for which the service replays its log."""


TOKEN: Final = "HEADWATER_TOKEN"  # noqa: S105  the variable's name
"""The environment variable with the API key or bearer token that says who asks."""


OPTIONS: Final[Mapping[str, str]] = {
    "asOf": "--as-of",
    "logSize": "--log-size",
    "from": "--from",
    "to": "--to",
    "change": "--change",
}
"""What people write who call a command, by what the API calls it."""
_PARAMETER: Final = re.compile(r"query param (?P<name>\w+)(?P<unread> cannot be read)?:|^(?P<bare>change):")
"""As the service names what it cannot read."""


class Then(NamedTuple):
    """What of the log an answer counts; None: all of it."""

    as_of: str | None = None
    """Events that had happened by then."""
    log_size: int | None = None
    """So many, the first that came."""

    @property
    def asked(self) -> dict[str, str]:
        """As the API's parameters."""
        return {name: str(value) for name, value in zip(("asOf", "logSize"), self, strict=True) if value is not None}

    def __str__(self) -> str:
        """For example `as of 2026-05-22T14:23:11Z by the first 1,200 events of the log`; empty for now."""
        by = None if self.log_size is None else f"by the first {so_many(self.log_size, 'event')} of the log"
        return " ".join(filter(None, [self.as_of and f"as of {self.as_of}", by]))


NOW: Final = Then()


def address(url: str, older: str | None) -> str:
    """What a person named the service by, where a command takes it under its older name, too."""
    return url if older is None else older


@contextmanager
def service_at(
    url: str,
    timeout_s: float = 30.0,
    then: Then = NOW,
    token: str | None = None,
    options: Mapping[str, str] = OPTIONS,
) -> Iterator["ServiceClient"]:
    """A client of the lineage service at a URL such as `http://127.0.0.1:5000`; it asks about `then`.

    It says who asks by the token, else by the one in the environment, if there is one. What the service cannot read
    of the API's parameters is told by the names that `options` give them.
    """
    timeout = timeout_s if then == NOW else LONG_S
    try:
        base = httpx.URL(f"{url.rstrip('/')}/api/v1")
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise InvalidInputError(f"{url!r} is no URL ({fault}); expected one like {DEFAULT_URL}") from fault
    if not is_web_address(url):
        raise InvalidInputError(f"{url!r} is no URL of a web server; expected one like {DEFAULT_URL}")
    with opened_client(base_url=base, timeout=timeout, params=then.asked, headers=bearer(token)) as client:
        yield ServiceClient(without_credentials(url.rstrip("/")), client, _NOBODY, then=then, options=options)


_NOBODY: Final = (
    "no lineage service answers at {url} ({why}); start one with `headwater serve`, or name another with --url"
)
_ELSEWHERE: Final = frozenset({httpx.codes.NOT_FOUND, httpx.codes.METHOD_NOT_ALLOWED, httpx.codes.NOT_IMPLEMENTED})
"""What a web server answers to a path that it does not know."""


def in_path(name: str) -> str:
    """A name as one step of a path: slashes are encoded, and the dots of `.` and `..`, which httpx would follow.

    Raises:
        InvalidNameError: it is empty, and would name what lists all.
        InvalidInputError: it cannot be encoded.
    """
    if not name:
        raise InvalidNameError("the name is empty")
    try:
        return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
    except UnicodeEncodeError as fault:
        raise InvalidInputError(_unaskable(fault)) from fault


def bearer(token: str | None = None) -> dict[str, str]:
    """The header that says who asks; none without a token. Raises as `key_in`."""
    token = token or key_in(TOKEN)
    return {"Authorization": f"Bearer {token}"} if token else {}


def key_in(variable: str) -> str:
    """The API key or bearer token that an environment variable holds; empty where it holds nothing.

    Raises:
        SetupError: it can be none.
    """
    key = os.environ.get(variable, "").strip()
    if key and not fits_a_header(key):
        raise SetupError(
            f"{variable} holds no API key: a blank, the end of a line, or a letter like … is in it; set it to the key "
            "alone, as it was shown"
        )
    return key


def no_service_there(url: str, status: int) -> str:
    """What to say where something answers that is no lineage service."""
    return (
        f"there is no lineage service at {url}: what is there answered {status}; name what stands before /api/v1 in "
        f"the service's addresses, like {DEFAULT_URL} or https://example.org/lineage"
    )


class ServiceClient:
    """Speaks to the API of one lineage service, or of another program of ours."""

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
        """`nobody` is what to say where none answers at `{url}`, with `{why}`.

        What one that `is_here`, on this machine, finds wrong is told in its words alone: there is a line for each.
        """
        self.then = then
        self._is_here = is_here
        self._options = options
        self._url = url
        self._client = client
        self._nobody = nobody
        self._is_known = is_here
        """Whether what answers is known to be ours."""

    def get(self, path: str, params: Mapping[str, str | int | bool] | None = None) -> Any:  # noqa: ANN401
        """The JSON answer to a GET below `/api/v1`.

        Raises:
            UnavailableError: no service answers there, or none whose certificate is trusted; or another program does.
            UnauthenticatedError: the service asks who calls.
            NotFoundError: the service does not know what was asked for.
            InvalidInputError: it cannot read what was typed, or cannot be asked for that.
            HeadwaterError: the service refused, in its own words; or what answers is no lineage service.
        """
        return self._asked(lambda: self._client.get(path, params=params))

    def post(self, path: str, body: object) -> Any:  # noqa: ANN401
        """The JSON answer to a POST of JSON; raises as `get`."""
        return self._asked(lambda: self._client.post(path, json=body))

    def delete(self, path: str, params: Mapping[str, str] | None = None) -> Any:  # noqa: ANN401
        """The JSON answer to a DELETE; raises as `get`."""
        return self._asked(lambda: self._client.delete(path, params=params))

    def _asked(self, ask: Callable[[], httpx.Response]) -> Any:  # noqa: ANN401
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
                f"{self._url} answered {answer.status_code} and sends on to {answer.headers['location']!r}: name the "
                "lineage service itself"
            )
        try:
            told = answer.json()
            self._is_known = True
            return told
        except ValueError as fault:
            raise HeadwaterError(f"{self._url} answered with no JSON: something else than a lineage service") from fault

    def _is_ours(self) -> bool:
        """Whether a lineage service is there: one that says its log's key, as all do, to everybody."""
        if not self._is_known:
            try:
                self._is_known = "+" in self._client.get("/log/key").raise_for_status().text
            except httpx.HTTPError:
                return False
        return self._is_known

    def _unknown_caller(self, answer: httpx.Response) -> str:
        if "authorization" not in answer.request.headers:
            how = "which `headwater access key create` makes there"
            return f"{self._url} asks who calls: set {TOKEN} to an API key, {how}"
        return f"{self._url} does not know who calls: set {TOKEN} to another API key ({_message(answer)})"

    def _is_of_the_call(self, answer: httpx.Response) -> bool:
        """Whether the service could not read what was typed, rather than what the command made of it."""
        named = [_name(found) for found in _PARAMETER.finditer(_message(answer))]
        return bool(named) and all(name in self._options for name in named)

    def _typed(self, named: re.Match[str], answer: httpx.Response) -> str:
        name = _name(named)
        if name not in self._options:
            return named[0]
        typed = answer.request.url.params.get(name, "")
        return f"{self._options[name]}:" + (f" {typed!r} cannot be read:" if named["unread"] else "")


def _name(parameter: re.Match[str]) -> str:
    name: str = parameter["name"] or parameter["bare"]
    return name


def _unaskable(fault: httpx.InvalidURL | UnicodeError) -> str:
    """What to say where no question can be made of what was typed."""
    if isinstance(fault, UnicodeEncodeError):
        return f"what was typed is no text in UTF-8 ({fault.reason})"
    return f"no service can be asked for what was typed: {fault}"


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.reason_phrase
