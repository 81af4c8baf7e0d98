from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from headwater.emit.config import HttpConfig
from headwater.emit.http import HttpTransport
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable

ENDPOINT = "http://lineage.test:5000/api/v1/lineage?key=hunter2"
EVENT = b'{"eventTime":"2013-01-01T00:00:00Z"}'


def sent(answer: Callable[[httpx.Request], httpx.Response], **config: str) -> Outcome:
    transport = HttpTransport(
        HttpConfig(endpoint=ENDPOINT, **config),  # type: ignore[arg-type]
        environ={"TOKEN": "open-sesame", "BAD": "open\nsesame", "UMLAUT": "öffne", "EMPTY": " "},
        network=httpx.MockTransport(answer),
        now=lambda: datetime(2013, 1, 1, tzinfo=UTC),
    )
    try:
        return transport.send(EVENT)
    finally:
        transport.close()


def test_an_event_is_posted_as_it_is() -> None:
    requests: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(201)

    assert sent(answer, token_env="TOKEN") == Acknowledged()  # noqa: S106

    (request,) = requests
    assert (request.method, str(request.url), request.content) == ("POST", ENDPOINT, EVENT)
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == "Bearer open-sesame"


@pytest.mark.parametrize("variable", ["MISSING", "EMPTY", "BAD", "UMLAUT"])
def test_nothing_is_sent_while_the_variable_holds_no_token(variable: str) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    outcome = sent(answer, token_env=variable)

    assert outcome == Unavailable(f"environment variable {variable} holds no bearer token")


def test_the_services_message_is_passed_on_cut_to_one_short_line() -> None:
    outcome = sent(lambda _: httpx.Response(422, json={"code": 422, "message": "run.runId: \n" + "x" * 1000}))

    assert outcome == Refused("422 run.runId: " + "x" * 189)


@pytest.mark.parametrize("body", [b"", b"[" * 100_000, b"\xff\xfe", b'{"message": 5}', b"x" * 10_000_000])
def test_a_refusal_may_say_anything(body: bytes) -> None:
    outcome = sent(lambda _: httpx.Response(400, content=body))

    assert isinstance(outcome, Refused)
    assert outcome.why.startswith("400")
    assert len(outcome.why) <= 204


def test_retry_after_comes_with_the_outcome() -> None:
    outcome = sent(lambda _: httpx.Response(429, headers={"Retry-After": "Tue, 01 Jan 2013 00:00:09 GMT"}))

    assert outcome == Unavailable("429", after_s=9.0)


def test_a_redirect_is_not_followed_since_it_would_carry_the_token_elsewhere() -> None:
    hosts = []

    def answer(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return httpx.Response(307, headers={"Location": "http://elsewhere.test/"})

    outcome = sent(answer, token_env="TOKEN")  # noqa: S106

    assert outcome == Unavailable("307")
    assert hosts == ["lineage.test"]


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.WriteError, httpx.PoolTimeout]
)
def test_a_failure_of_the_network_is_worth_a_retry(failure: type[httpx.TransportError]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise failure("broken", request=request)

    assert sent(answer) == Unavailable(f"{failure.__name__}: broken")


def test_an_answer_that_breaks_off_counts_by_its_status() -> None:
    class BreaksOff(httpx.SyncByteStream):
        def __iter__(self):  # noqa: ANN204
            yield b"stor"
            raise httpx.ReadError("reset")

    assert sent(lambda _: httpx.Response(201, stream=BreaksOff())) == Acknowledged()


def test_neither_the_endpoints_key_nor_the_token_is_shown() -> None:
    config = HttpConfig(endpoint=ENDPOINT, token_env="TOKEN")  # noqa: S106

    assert HttpTransport(config).target == "http://lineage.test:5000/api/v1/lineage"
    assert "hunter2" not in repr(HttpTransport(config)) + repr(config)
