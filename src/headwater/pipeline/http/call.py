"""Calls to an API, with retries and authentication, and without following redirects to other hosts."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final
from urllib.parse import urlsplit

import httpx

from headwater.errors import InvalidInputError, UnavailableError
from headwater.http_client import opened_client
from headwater.model.producer import VERSION
from headwater.model.words import so_many
from headwater.pipeline.environment import from_environment
from headwater.pipeline.spec import HttpAuth, HttpCall

_FOR_NOW: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_FIRST_WAIT_S: Final = 0.25
_LONGEST_WAIT_S: Final = 10.0


class Caller:
    """Calls one API, over a persistent connection."""

    def __init__(self, call: HttpCall, client: httpx.Client) -> None:
        self._call = call
        self._client = client

    def get(self, url: str, params: Mapping[str, str]) -> httpx.Response:
        """The answer to a GET; raises the same errors as `send`."""
        return self._answered(self._client.build_request("GET", url, params=dict(params) or None))

    def send(self, method: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Send a body.

        Raises:
            InvalidInputError: the API refused it; the message has only the status, since the answer may quote the body.
            UnavailableError: it did not answer, or failed, in all attempts.
        """
        self._answered(self._client.build_request(method, self._call.url, content=body, headers=dict(headers)))

    def _answered(self, request: httpx.Request) -> httpx.Response:
        where = f"{request.method} {shown(str(request.url))}"
        problem = ""
        for attempt in range(self._call.retries + 1):
            if attempt:
                time.sleep(_wait_s(attempt))
            try:
                answer = self._client.send(request)
            except httpx.TransportError as fault:
                problem = type(fault).__name__
                continue
            if answer.is_success:
                return answer
            problem = f"{answer.status_code} {answer.reason_phrase}".rstrip()
            if answer.status_code not in _FOR_NOW:
                raise InvalidInputError(f"{where}: {problem}")
        raise UnavailableError(f"{where}: {problem}, after {so_many(self._call.retries + 1, 'attempt')}")


@contextmanager
def caller_of(call: HttpCall) -> Iterator[Caller]:
    """A caller with the API's headers and authentication.

    Raises:
        SetupError: an environment variable that `auth` names is not set, or a proxy of the environment cannot be used.
    """
    headers = {"User-Agent": f"headwater/{VERSION}", **call.headers, **_token(call.auth)}
    basic = _basic(call.auth)
    with opened_client(timeout=call.timeout, headers=headers, auth=basic, follow_redirects=False) as client:
        yield Caller(call, client)


def shown(url: str) -> str:
    """A URL without its query, which may hold a key."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _token(auth: HttpAuth | None) -> dict[str, str]:
    if auth is None or auth.token_env is None:
        return {}
    token = from_environment(auth.token_env)
    return {auth.header: token} if auth.header is not None else {"Authorization": f"Bearer {token}"}


def _basic(auth: HttpAuth | None) -> httpx.BasicAuth | None:
    if auth is None or auth.user_env is None or auth.password_env is None:
        return None
    return httpx.BasicAuth(from_environment(auth.user_env), from_environment(auth.password_env))


def _wait_s(attempt: int) -> float:
    return float(min(_FIRST_WAIT_S * 2 ** (attempt - 1), _LONGEST_WAIT_S))
