"""Events over HTTP on a persistent connection: in batches if the service supports that, else one by one.

The answer to a batch says for each event whether it was stored, if not why, and whether the same bytes may be sent
again. A service that seems to have no batch route gets single events, and after many of them a batch again: the answer
may have been that of a proxy, while the service was restarting.
"""

import codecs
import logging
import os
import ssl
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import accumulate, takewhile
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import httpx

from headwater.emit.config import HttpConfig
from headwater.emit.receipts import Receipts
from headwater.emit.retry import retry_after_s
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable
from headwater.errors import InvalidEventError, SetupError
from headwater.http_client import opened_client
from headwater.model import strict_json
from headwater.model.credentials import fits_a_header
from headwater.model.producer import VERSION
from headwater.model.tls import TRUST_IT, authorities_to_trust, is_not_trusted

log = logging.getLogger(__name__)

_ACKNOWLEDGED: Final = frozenset({200, 201, 202, 204})
_ABOUT_THE_EVENT: Final = frozenset({400, 413, 422})
"""Statuses that reject the event itself, as invalid or too large: a retry would fail again, and hold up all others. A
403 rejects the event only with `"retriable": false`. Any other failure is about the sender, the address or the moment:
it passes or people fix it, and until then no event may be lost."""
_NOT_ABOUT_THE_ROUTE: Final = frozenset({401, 407, 408, 425, 429})
"""Any other 4xx to a batch may mean that the service has no batch route."""
_A_PAGE: Final = "with an HTML page, so this is not a lineage service but perhaps a proxy or a network's sign-in page"
_FORBIDDEN: Final = 403
_TOO_LARGE: Final = 413
_ELSEWHERE: Final = "redirects elsewhere, and no token is sent there: use the address of the service itself"
_ADDRESS: Final = "the address for events must end in /api/v1/lineage"
_ADVICE: Final[Mapping[int, str]] = {
    401: "set token_env to the environment variable that holds the token",
    403: "the sender is not allowed to: enrol this node's key, or have its API key granted the role it needs",
    404: _ADDRESS,
    405: _ADDRESS,
    407: "a proxy in between requires a login",
    413: "the event exceeds its size limit",
}
_NO_URL: Final = "the endpoint for events is not an HTTP URL"
_WHERE_NOBODY_ANSWERS: Final = "start the service, or set endpoint or HEADWATER_ENDPOINT to its address"
_ANSWER_MAX_BYTES: Final = 4096
"""The most bytes read of an answer, for each event sent."""
_MESSAGE_MAX_CHARS: Final = 200
_MOST_TOGETHER: Final = 1024
"""The most events in a batch, more than any caller passes; fewer after a timeout."""
_MOST_TOGETHER_BYTES: Final = 64 << 20
"""The most bytes in a batch, more than any caller passes; less after an answer that it is too large."""
_ALONE_WITHOUT_A_ROUTE: Final = 1024
"""Single events before a batch is tried again; for a service without the route, some 6 % of the bytes are wasted."""
_MORE_EACH_TIME: Final = 64
"""After a body was too large, each next limit grows by 1/64 until one is too large again: some 3 % of posts fail."""
_is_posting: Final = ContextVar("_is_posting", default=False)

# At INFO httpx logs every request of the process with its whole URL, whose query may hold a key.
logging.getLogger("httpx").addFilter(lambda _: not _is_posting.get())


class HttpTransport:
    """Posts events to a service.

    The bearer token is read from the environment at every delivery, and never stored, shown or logged. While its
    variable is empty nothing is sent: the events wait, rather than being refused one by one.
    """

    name: Final = "http"

    def __init__(
        self,
        config: HttpConfig,
        *,
        environ: Mapping[str, str] = os.environ,
        network: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        receipts: Receipts | None = None,
    ) -> None:
        """Opens no connection yet; `receipts` keeps the service's receipts."""
        self._config = config
        self._receipts = receipts
        self._environ = environ
        self._network = network
        self._now = now
        self._client: httpx.Client | None = None
        self._doubt: int | None = None
        """The status of the last batch, if it may mean that the service has no batch route."""
        self._next_alone = 0
        """How many single events are sent before the next batch."""
        self._most_together = _MOST_TOGETHER
        self._most_bytes = _MOST_TOGETHER_BYTES

    @property
    def target(self) -> str:
        """The endpoint without its query, which may hold a key."""
        return self._config.target

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Post the events in one body if the service supports batches, else only the first.

        A timeout halves the batch size and each answer doubles it again: otherwise a service that is slow under many
        senders would get the same large body again from each, and never answer in time. A batch that is too large is
        sent in smaller ones.
        """
        lines = [*takewhile(lambda event: b"\n" not in event, events[: self._most_together])]
        lines = lines[: bisect_right([*accumulate(map(len, lines))], self._most_bytes)]
        is_alone, self._next_alone = self._next_alone > 0, max(self._next_alone - 1, 0)
        self._doubt = None
        if len(lines) > 1 and not is_alone:
            outcomes = self._sent_together(lines)
            if outcomes:
                return outcomes
        outcome = self.send(events[0])
        if self._doubt is not None and not isinstance(outcome, Unavailable):
            self._next_alone = _ALONE_WITHOUT_A_ROUTE
            log.info(
                "the service accepts no batches; sending events one by one",
                extra={"target": self.target, "status": self._doubt},
            )
        return [outcome]

    def send(self, event: bytes) -> Outcome:
        """Post one event once.

        Source: RFC 9110, section 15, for what a status says about trying again
        """
        answer = self._posted("", "application/json", event, 1)
        if isinstance(answer, Unavailable):
            return answer
        outcome = self._outcome(answer)
        if answer.is_receipt_wanted and isinstance(outcome, Acknowledged):
            self._take_receipt(_receipt(_json(answer.body)))
        return outcome

    def _sent_together(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Post the events in one body; empty if they must be sent one by one."""
        body = b"\n".join(events)
        answer = self._posted("/batch", "application/x-ndjson", body, len(events))
        if isinstance(answer, Unavailable):
            return [answer]
        if answer.status == 200 and (outcomes := _outcomes(parsed := _json(answer.body), len(events))):
            if answer.is_receipt_wanted:
                self._take_receipt(_last_receipt(parsed))
            self._most_bytes = min(self._most_bytes + self._most_bytes // _MORE_EACH_TIME, _MOST_TOGETHER_BYTES)
            return outcomes
        if answer.status == _TOO_LARGE:
            self._most_bytes = len(body) // 2
        elif answer.status != _FORBIDDEN:
            outcome = self._outcome(answer)
            is_of_route = 400 <= answer.status < 500 and answer.status not in _NOT_ABOUT_THE_ROUTE
            if isinstance(outcome, Unavailable) and not is_of_route:
                self._next_alone = 1  # in case only the batch route fails
                return [outcome]
            self._doubt = answer.status
        return []

    def _posted(self, route: str, content_type: str, body: bytes, events: int) -> "_Answer | Unavailable":
        headers = {"Content-Type": content_type, "User-Agent": f"headwater/{VERSION}"}
        is_receipt_wanted = self._receipts is not None and self._receipts.is_due
        if is_receipt_wanted:
            headers["Prefer"] = "receipt"
        if self._config.token_env is not None:
            token = self._environ.get(self._config.token_env, "").strip()
            if not fits_a_header(token):
                return Unavailable(f"environment variable {self._config.token_env} holds no bearer token")
            headers["Authorization"] = f"Bearer {token}"
        status = None
        try:
            url = _below(self._config.endpoint, route)
            with _without_httpx_log(), self._opened().stream("POST", url, content=body, headers=headers) as response:
                status = response.status_code
                retry_after = response.headers.get("Retry-After")
                body = _limited_body(response, _ANSWER_MAX_BYTES * events, time.monotonic() + self._config.timeout_s)
                self._most_together = min(2 * self._most_together, _MOST_TOGETHER)
                return _Answer(status, body, retry_after, is_receipt_wanted, _text(body)[:1] == b"<")
        except httpx.HTTPError as failure:
            if isinstance(failure, httpx.TimeoutException):
                self._most_together = max(events // 2, 1)
            why = f"{type(failure).__name__}: {_short(str(failure))}"
            if status is not None:  # the missing part would say who answered, and so whether the status counts
                self._next_alone = max(self._next_alone, int(events > 1))  # perhaps only answers to batches do
                return Unavailable(f"{status}, but {why}")
            return Unavailable(why, advice=TRUST_IT if is_not_trusted(failure) else _WHERE_NOBODY_ANSWERS)
        except SetupError as lack:
            return Unavailable(str(lack))
        except UnicodeError:  # from looking up a host name with an empty or too long label
            return Unavailable(_NO_URL)

    def _take_receipt(self, receipt: object) -> None:
        if self._receipts is not None:
            self._receipts.take(receipt)

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _opened(self) -> httpx.Client:
        if self._client is None:
            self._client = opened_client(
                verify=_trusted(self._config.endpoint),
                timeout=self._config.timeout_s,
                limits=httpx.Limits(max_connections=1),
                transport=self._network,
            )
        return self._client

    def _outcome(self, answer: "_Answer") -> Outcome:
        if answer.is_page and answer.status not in _ABOUT_THE_EVENT:
            return Unavailable(f"{answer.status} {_A_PAGE}")
        if answer.status in _ACKNOWLEDGED:
            return Acknowledged()
        if 300 <= answer.status < 400:
            return Unavailable(f"{answer.status} {_ELSEWHERE}")
        parsed = _json(answer.body)
        why = f"{answer.status} {_message(answer.body, parsed)}".rstrip()
        is_final = answer.status in _ABOUT_THE_EVENT
        advice = _ADVICE.get(answer.status, "")
        if answer.status == _FORBIDDEN:
            is_final = isinstance(parsed, dict) and parsed.get("retriable") is False
            why, advice = (why, "") if isinstance(parsed, dict) else (f"{_FORBIDDEN}", advice)  # it words it better
        if is_final:
            return Refused(why, advice)
        return Unavailable(why, retry_after_s(answer.retry_after, self._now()), advice)


class _Answer(NamedTuple):
    status: int
    body: bytes
    retry_after: str | None
    is_receipt_wanted: bool
    is_page: bool
    """Whether it is an HTML page, whatever its type says: from something in between, as a network's login page."""


def _below(endpoint: str, route: str) -> httpx.URL:
    """The endpoint's URL, or that of a route below it.

    Raises:
        SetupError: the endpoint is not a valid URL.
    """
    try:
        url = httpx.URL(endpoint)
        if url.host and route:  # httpx validates the host only when it is read
            return url.copy_with(path=f"{url.path.rstrip('/')}{route}")
    except (httpx.InvalidURL, UnicodeError) as fault:
        raise SetupError(_NO_URL) from fault
    return url


@contextmanager
def _without_httpx_log() -> Iterator[None]:
    """Suppresses httpx's own request log in its block."""
    before = _is_posting.set(True)
    try:
        yield
    finally:
        _is_posting.reset(before)


def _json(answer: bytes) -> object:
    """The answer as JSON, without lone surrogates, which no report or signed event can hold; None if it is not JSON."""
    try:
        return strict_json.parse(answer.removeprefix(codecs.BOM_UTF8))
    except InvalidEventError:
        return None


def _receipt(parsed: object) -> object:
    """The receipt in the answer for one event; None if there is none."""
    return parsed.get("receipt") if isinstance(parsed, dict) else None


def _last_receipt(parsed: object) -> object:
    """The newest receipt in the answer to a batch; None if there is none."""
    match parsed:
        case {"results": [*results]}:
            return next((receipt for each in reversed(results) if (receipt := _receipt(each))), None)
    return None


def _outcomes(parsed: object, sent: int) -> Sequence[Outcome]:
    """The outcome of each of the `sent` events; empty if the answer does not have exactly that many."""
    match parsed:
        case {"summary": {"received": int(received)}, "failed_events": [*failed]} if received == sent:
            outcomes: list[Outcome] = [Acknowledged()] * sent
        case _:
            return []
    for each in failed:
        match each:
            case {"index": int(index), "retriable": bool(is_retriable), **more} if 0 <= index < sent:
                why = _short(str(more.get("reason", "")))
                outcomes[index] = Unavailable(why) if is_retriable else Refused(why)
            case _:
                return []
    return outcomes


def _trusted(endpoint: str) -> ssl.SSLContext:
    """The TLS context: the machine's certificate authorities, or none for an endpoint without TLS.

    Reading the authorities takes 35 ms of CPU, in a new process 150 ms, which a run would pay before its first event.

    Raises:
        SetupError: they cannot be read.
    """
    if urlsplit(endpoint).scheme != "https":
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with authorities_to_trust():
        return httpx.create_ssl_context()


def _limited_body(response: httpx.Response, max_bytes: int, until_s: float) -> bytes:
    """At most `max_bytes` of the answer; an answer read whole leaves the connection open for the next event.

    Reading ends at `until_s` of the monotonic clock: an answer that trickles in would never hit the timeout of a read.

    Raises:
        HTTPError: it breaks off, cannot be decompressed, or starts with too much white space.
    """
    read = b""
    for chunk in response.iter_bytes():
        read += chunk
        if len(read) > max_bytes or time.monotonic() > until_s:
            if not _text(read):
                raise httpx.ReadTimeout("the response body has not started yet", request=response.request)
            break
    if read and (packing := _unknown_packing(response)):
        raise httpx.DecodingError(f"content encoding {packing[:40]}, which was not asked for", request=response.request)
    if response.num_bytes_downloaded and not read:
        raise httpx.DecodingError("the compressed response is incomplete", request=response.request)
    return read[:max_bytes]


def _unknown_packing(response: httpx.Response) -> str | None:
    """The answer's content encoding, if we did not ask for it: httpx then leaves it compressed."""
    known = {"identity", *response.request.headers.get("Accept-Encoding", "").replace(" ", "").split(",")}
    packings = response.headers.get_list("Content-Encoding", split_commas=True)
    return next((packing for packing in packings if packing.strip().lower() not in known), None)


def _text(answer: bytes) -> bytes:
    """The answer without leading white space."""
    return answer.removeprefix(codecs.BOM_UTF8).lstrip()


def _message(answer: bytes, parsed: object) -> str:
    """The answer's message on one line: `message` of a JSON error, else the text itself."""
    text = answer.decode("utf-8", errors="replace")
    if isinstance(parsed, dict) and isinstance(parsed.get("message"), str):
        text = parsed["message"]
    return _short(text)


def _short(text: str) -> str:
    """The beginning, on one line."""
    return " ".join(text.split())[:_MESSAGE_MAX_CHARS]
