"""Events by HTTP: each is a POST of its own, over a connection that is kept open."""

import contextlib
import json
import os
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

import httpx

from headwater.emit.config import HttpConfig
from headwater.emit.retry import retry_after_s
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable
from headwater.model.producer import VERSION

_ACKNOWLEDGED: Final = frozenset({200, 201, 202, 204})
_WORTH_A_RETRY: Final = frozenset({408, 425, 429})
_ANSWER_MAX_BYTES: Final = 4096
_MESSAGE_MAX_CHARS: Final = 200


class HttpTransport:
    """Posts events to a service.

    The bearer token is read from the environment at every delivery and is nowhere kept, shown or logged. While its
    variable is empty nothing is sent: the events wait, rather than be refused one by one.
    """

    name: Final = "http"

    def __init__(
        self,
        config: HttpConfig,
        *,
        environ: Mapping[str, str] = os.environ,
        network: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._config = config
        self._environ = environ
        self._network = network
        self._now = now
        self._client: httpx.Client | None = None

    @property
    def target(self) -> str:
        """The endpoint without its query, which may hold a key."""
        return urlsplit(self._config.endpoint)._replace(query="", fragment="").geturl()

    def send(self, event: bytes) -> Outcome:
        """Post the event once.

        Source: RFC 9110, section 15, for what a status says about trying again
        """
        headers = {"Content-Type": "application/json", "User-Agent": f"headwater/{VERSION}"}
        if self._config.token_env is not None:
            token = self._environ.get(self._config.token_env, "").strip()
            if not _fits_a_header(token):
                return Unavailable(f"environment variable {self._config.token_env} holds no bearer token")
            headers["Authorization"] = f"Bearer {token}"
        try:
            with self._opened().stream("POST", self._config.endpoint, content=event, headers=headers) as response:
                return self._outcome(response, _beginning(response))
        except httpx.HTTPError as failure:
            return Unavailable(f"{type(failure).__name__}: {failure}")

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _opened(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(
                verify=_trusted(self._config.endpoint),
                timeout=self._config.timeout_s,
                limits=httpx.Limits(max_connections=1),
                transport=self._network,
            )
        return self._client

    def _outcome(self, response: httpx.Response, answer: bytes) -> Outcome:
        status = response.status_code
        if status in _ACKNOWLEDGED:
            return Acknowledged()
        why = f"{status} {_message(answer)}".rstrip()
        if 400 <= status < 500 and status not in _WORTH_A_RETRY:
            return Refused(why)
        # What is neither: 5xx, and a redirect, which is not followed since it would carry the token elsewhere.
        return Unavailable(why, retry_after_s(response.headers.get("Retry-After"), self._now()))


def _trusted(endpoint: str) -> ssl.SSLContext | bool:
    """Whose certificates to trust: the machine's authorities, and nobody where the endpoint needs none.

    Reading the authorities takes 35 ms of CPU, in a new process 150 ms, which a run would pay before its first event.
    """
    return urlsplit(endpoint).scheme == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _fits_a_header(token: str) -> bool:
    return bool(token) and all("!" <= character <= "~" for character in token)


def _beginning(response: httpx.Response) -> bytes:
    """The answer, as far as it is of interest; one that is read whole leaves the connection open for the next event."""
    read = b""
    with contextlib.suppress(httpx.HTTPError):  # the status is what counts, and it is here already
        for chunk in response.iter_bytes():
            read += chunk
            if len(read) > _ANSWER_MAX_BYTES:
                break
    return read[:_ANSWER_MAX_BYTES]


def _message(answer: bytes) -> str:
    """What the service says, on one line: the `message` of a JSON error, else the text itself."""
    text = answer.decode("utf-8", errors="replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, dict) and isinstance(body.get("message"), str):
        text = body["message"]
    return " ".join(text.split())[:_MESSAGE_MAX_CHARS]
