import gzip
import logging
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import httpx
import pytest

from headwater.emit.config import HttpConfig
from headwater.emit.http import HttpTransport
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable

ENDPOINT = "http://lineage.test:5000/api/v1/lineage?key=hunter2"
EVENT = b'{"eventTime":"2013-01-01T00:00:00Z"}'


def sent(respond: Callable[[httpx.Request], httpx.Response], **config: str) -> Outcome:
    transport = HttpTransport(
        HttpConfig(endpoint=ENDPOINT, **config),  # type: ignore[arg-type]
        environ={"TOKEN": "open-sesame", "BAD": "open\nsesame", "UMLAUT": "öffne", "EMPTY": " "},
        network=httpx.MockTransport(respond),
        now=lambda: datetime(2013, 1, 1, tzinfo=UTC),
    )
    try:
        return transport.send(EVENT)
    finally:
        transport.close()


def test_an_event_is_posted_as_it_is() -> None:
    requests: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        return httpx.Response(201)

    assert sent(respond, token_env="TOKEN") == Acknowledged()  # noqa: S106

    (request,) = requests
    assert (request.method, str(request.url), request.content) == ("POST", ENDPOINT, EVENT)
    assert request.headers["Content-Type"] == "application/json"
    assert request.headers["Authorization"] == "Bearer open-sesame"


@pytest.mark.parametrize("variable", ["MISSING", "EMPTY", "BAD", "UMLAUT"])
def test_nothing_is_sent_while_the_variable_has_no_valid_token(variable: str) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request.url)

    outcome = sent(respond, token_env=variable)

    assert outcome == Unavailable(f"environment variable {variable} holds no bearer token")


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "token_env"), (403, "granted"), (404, "/api/v1/lineage"), (413, "size limit"), (422, "")],
)
def test_an_outcome_has_advice_for_its_status(status: int, advice: str) -> None:
    outcome = sent(lambda _: httpx.Response(status))

    assert isinstance(outcome, Refused | Unavailable)
    assert advice in outcome.advice
    assert bool(advice) == bool(outcome.advice)


@pytest.mark.parametrize("proxy", ["socks5://ann:hush@127.0.0.1:9", "http://[::1"])
def test_with_an_unusable_proxy_events_wait_and_the_reason_names_its_variable(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT))

    (outcome,) = transport.send_batch([EVENT])

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith("ALL_PROXY holds no valid proxy address")


def test_the_services_message_is_shortened_to_one_line() -> None:
    outcome = sent(lambda _: httpx.Response(422, json={"code": 422, "message": "run.runId: \n" + "x" * 1000}))

    assert outcome == Refused("422 run.runId: " + "x" * 189)


@pytest.mark.parametrize(
    "body", [b'{"message": "caf\\ud83d"}', b'\xef\xbb\xbf{"message": "caf\\ud83d"}', b'{"message": "caf\xef\xbf\xbd"}']
)
def test_half_of_an_emoji_in_the_services_message_is_replaced(body: bytes) -> None:
    outcome = sent(lambda _: httpx.Response(422, content=body))

    assert outcome == Refused("422 caf\ufffd")


@pytest.mark.parametrize("body", [b"", b"[" * 100_000, b"\xff\xfe", b'{"message": 5}', b"x" * 10_000_000])
def test_a_refusal_can_have_any_body(body: bytes) -> None:
    outcome = sent(lambda _: httpx.Response(400, content=body))

    assert isinstance(outcome, Refused)
    assert outcome.why.startswith("400")
    assert len(outcome.why) <= 204


def test_the_outcome_has_the_seconds_of_retry_after() -> None:
    outcome = sent(lambda _: httpx.Response(429, headers={"Retry-After": "Tue, 01 Jan 2013 00:00:09 GMT"}))

    assert outcome == Unavailable("429", after_s=9.0)


def test_a_redirect_is_not_followed_since_it_would_carry_the_token_elsewhere() -> None:
    hosts = []

    def respond(request: httpx.Request) -> httpx.Response:
        hosts.append(request.url.host)
        return httpx.Response(307, headers={"Location": "http://elsewhere.test/"})

    outcome = sent(respond, token_env="TOKEN")  # noqa: S106

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith("307 redirects elsewhere")
    assert hosts == ["lineage.test"]


PAGE = "<!doctype html><title>Welcome to our hotel, Mrs Miller</title>"


@pytest.mark.parametrize("status", [200, 201, 302, 403, 404])
def test_an_html_page_is_not_a_response_of_the_service(status: int) -> None:
    outcome = sent(lambda _: httpx.Response(status, html=PAGE))

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith(f"{status} with an HTML page")
    assert "Miller" not in outcome.why


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_proxys_refusal_of_an_event_does_not_block_others(status: int) -> None:
    assert isinstance(sent(lambda _: httpx.Response(status, html=PAGE)), Refused)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("Text/HTML; charset=utf-8", PAGE.encode()),
        ("text/html", b"\xef\xbb\xbf" + PAGE.encode()),
        ("text/html", b"\r\n \t<script>location='/login'</script>"),
        ("application/xhtml+xml", b"<?xml version='1.0'?><html/>"),
        ("application/json", PAGE.encode()),
        (None, PAGE.encode()),
    ],
)
def test_a_page_is_recognized_by_its_beginning_whatever_its_content_type(content_type: str | None, body: bytes) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}

    outcome = sent(lambda _: httpx.Response(200, headers=headers, content=body))

    assert isinstance(outcome, Unavailable)


def test_a_retriable_403_is_retried_and_another_is_a_refusal() -> None:
    body = {"code": 403, "message": "key:edge is not permitted: this requires the role ingest", "retriable": True}

    assert sent(lambda _: httpx.Response(403, json=body)) == Unavailable(
        "403 key:edge is not permitted: this requires the role ingest"
    )
    assert sent(lambda _: httpx.Response(403, json={**body, "retriable": False})) == Refused(
        "403 key:edge is not permitted: this requires the role ingest"
    )


@pytest.mark.parametrize("body", [b"", b"Forbidden", b"[]", b'"retriable"'])
def test_a_403_without_a_reason_is_retried_with_advice(body: bytes) -> None:
    outcome = sent(lambda _: httpx.Response(403, content=body))

    assert isinstance(outcome, Unavailable)
    assert outcome.why == "403"
    assert outcome.advice.startswith("the sender is not allowed to: enrol this node's key")


def test_a_short_text_with_the_content_type_of_a_page_is_an_acknowledgement() -> None:
    assert sent(lambda _: httpx.Response(200, html="ok")) == Acknowledged()


def test_a_proxy_that_requires_authentication_refuses_no_event() -> None:
    assert sent(lambda _: httpx.Response(407)) == Unavailable("407")


@pytest.mark.parametrize(
    "failure", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.WriteError, httpx.PoolTimeout]
)
def test_a_network_failure_is_retried(failure: type[httpx.TransportError]) -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise failure("broken", request=request)

    assert sent(respond) == Unavailable(f"{failure.__name__}: broken")


def test_of_a_response_that_is_not_http_only_the_beginning_is_reported() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        raise httpx.RemoteProtocolError(f"illegal status line: {'x' * 100_000}", request=request)

    outcome = sent(respond)

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith("RemoteProtocolError: illegal status line: xxx")
    assert len(outcome.why) < 250


@pytest.mark.parametrize("beginning", [b"", b"stor", b"<htm"])
def test_a_truncated_response_is_retried_whatever_its_status(beginning: bytes) -> None:
    class BreaksOff(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield beginning
            raise httpx.ReadError("reset")

    outcome = sent(lambda _: httpx.Response(201, stream=BreaksOff()))

    assert outcome == Unavailable("201, but ReadError: reset")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        *((encoding, b"\xff\xff sign in") for encoding in ("gzip", "deflate", "br", "gzip, br", "x-unheard-of")),
        ("gzip", gzip.compress(PAGE.encode(), mtime=0)[:10]),
    ],
)
def test_a_response_that_cannot_be_decoded_is_retried(encoding: str, body: bytes) -> None:
    class Page(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield body

    outcome = sent(lambda _: httpx.Response(200, headers={"Content-Encoding": encoding}, stream=Page()))

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith("200, but DecodingError: ")


def test_after_a_truncated_batch_response_events_are_sent_one_by_one() -> None:
    class BreaksOff(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b'{"summary":'
            raise httpx.ReadError("reset")

    service = BatchService(httpx.Response(200, stream=BreaksOff()), batch_response(4))

    assert service.send() == [Unavailable("200, but ReadError: reset")]
    assert service.send() == [Acknowledged()]
    assert service.send() == [Acknowledged()] * 4


def test_a_response_without_a_body_is_an_acknowledgement_whatever_its_encoding() -> None:
    assert sent(lambda _: httpx.Response(201, headers={"Content-Encoding": "br"})) == Acknowledged()


def test_a_response_with_only_white_space_until_the_timeout_is_retried() -> None:
    class Drips(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                time.sleep(0.01)
                yield b"\n"

    transport = HttpTransport(
        HttpConfig(endpoint=ENDPOINT, timeout_s=0.02),
        network=httpx.MockTransport(lambda _: httpx.Response(201, stream=Drips())),
    )

    assert transport.send(EVENT) == Unavailable("201, but ReadTimeout: the response body has not started yet")
    transport.close()


@pytest.mark.parametrize("status", [404, 405, 406, 409, 410, 411, 415, 421, 423, 426, 431, 451])
@pytest.mark.parametrize("body", [b"", b"404 page not found\n", b'{"code": 404, "message": "HTTP 404 Not Found"}'])
def test_a_status_about_the_address_or_the_sender_refuses_no_event(status: int, body: bytes) -> None:
    outcome = sent(lambda _: httpx.Response(status, content=body))

    assert isinstance(outcome, Unavailable)
    assert outcome.why.startswith(f"{status}")


def test_the_rest_of_a_slow_response_is_not_waited_for() -> None:
    class Drips(httpx.SyncByteStream):
        bytes_read = 0

        def __iter__(self) -> Iterator[bytes]:
            while True:
                time.sleep(0.01)
                self.bytes_read += 1
                yield b"x"

    drips = Drips()
    transport = HttpTransport(
        HttpConfig(endpoint=ENDPOINT, timeout_s=0.02),
        network=httpx.MockTransport(lambda _: httpx.Response(201, stream=drips)),
    )

    assert transport.send(EVENT) == Acknowledged()
    assert drips.bytes_read < 100
    transport.close()


def test_neither_the_endpoints_key_nor_the_token_is_shown() -> None:
    config = HttpConfig(endpoint=ENDPOINT, token_env="TOKEN")  # noqa: S106

    assert HttpTransport(config).target == "http://lineage.test:5000/api/v1/lineage"
    assert "hunter2" not in repr(HttpTransport(config)) + repr(config)


MANY = [b'{"n":%d}' % number for number in range(4)]


def test_a_programs_log_at_info_does_not_have_our_requests_with_the_endpoints_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    assert sent(lambda _: httpx.Response(201)) == Acknowledged()
    assert caplog.text == ""

    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200))) as other_client:
        other_client.get("http://their.test/")
    assert "http://their.test/" in caplog.text


@pytest.mark.parametrize("events", [1, 2])
@pytest.mark.parametrize("host", ["xn--a", "lineage..example", "a" * 64])
def test_with_an_invalid_host_in_the_endpoint_events_wait(host: str, events: int) -> None:
    transport = HttpTransport(HttpConfig(endpoint=f"http://{host}/api/v1/lineage"))

    outcomes = transport.send_batch([EVENT] * events)

    assert outcomes == [Unavailable("the endpoint for events is not an HTTP URL")]


class BatchService:
    """A service with given responses of its batch route; it records requests."""

    def __init__(self, *batch_responses: httpx.Response) -> None:
        self.requests: list[tuple[str, bytes]] = []
        self.single_response = httpx.Response(201)
        self._batch_responses = list(batch_responses)
        self.transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(self._respond))

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append((request.url.path, request.content))
        return self._batch_responses.pop(0) if request.url.path.endswith("/batch") else self.single_response

    def send(self, times: int = 1) -> list[Outcome]:
        """The outcomes of the last of this many sends."""
        for _ in range(times):
            outcomes = self.transport.send_batch(MANY)
        self.transport.close()
        return [*outcomes]


def batch_response(received: int, *failed: object) -> httpx.Response:
    return httpx.Response(200, json={"status": "…", "summary": {"received": received}, "failed_events": failed})


def test_many_events_are_sent_in_one_body_and_each_has_its_outcome() -> None:
    failed = {"index": 1, "reason": "job.name: missing", "retriable": False}
    later = {"index": 3, "reason": "the disk is full", "retriable": True}
    service = BatchService(batch_response(4, failed, later))

    outcomes = service.send()

    assert outcomes == [Acknowledged(), Refused("job.name: missing"), Acknowledged(), Unavailable("the disk is full")]
    assert service.requests == [("/api/v1/lineage/batch", b"\n".join(MANY))]


@pytest.mark.parametrize("status", [404, 405, 400, 415, 422])
def test_a_service_without_the_batch_route_gets_events_one_by_one(status: int) -> None:
    service = BatchService(httpx.Response(status))

    assert service.send(2) == [Acknowledged()]
    assert [path for path, _ in service.requests] == ["/api/v1/lineage/batch", *["/api/v1/lineage"] * 2]


@pytest.mark.parametrize("status", [401, 407, 408, 425, 429, 500, 503])
def test_a_service_that_cannot_take_a_batch_now_gets_no_single_event_in_its_place(status: int) -> None:
    service = BatchService(httpx.Response(status, headers={"Retry-After": "7"}))

    (outcome,) = service.send()

    assert isinstance(outcome, Unavailable)
    assert outcome.after_s == 7
    assert len(service.requests) == 1


@pytest.mark.parametrize("response", [httpx.Response(404), httpx.Response(200, text="ok")])
def test_a_missing_batch_route_is_tried_again_after_a_thousand_events(response: httpx.Response) -> None:
    service = BatchService(response, batch_response(4))

    outcomes = [[*service.transport.send_batch(MANY)] for _ in range(1_026)]

    assert outcomes == [*[[Acknowledged()]] * 1_025, [Acknowledged()] * 4]
    assert [path for path, _ in service.requests].count("/api/v1/lineage/batch") == 2


@pytest.mark.parametrize(
    "response", [batch_response(3), batch_response(4, {"index": 4, "retriable": True}), httpx.Response(200, text="ok")]
)
def test_a_batch_response_that_does_not_cover_each_event_counts_for_none(response: httpx.Response) -> None:
    service = BatchService(response)

    assert service.send() == [Acknowledged()]
    assert service.requests[-1] == ("/api/v1/lineage", MANY[0])


def test_many_events_behind_a_networks_sign_in_page_wait() -> None:
    service = BatchService(httpx.Response(200, html=PAGE))

    (outcome,) = service.send()

    assert isinstance(outcome, Unavailable)


def test_a_service_whose_missing_batch_route_is_a_page_gets_events_one_by_one() -> None:
    service = BatchService(httpx.Response(404, html=PAGE))

    assert service.send(2) == [Acknowledged()]
    assert [path for path, _ in service.requests] == ["/api/v1/lineage/batch", *["/api/v1/lineage"] * 2]


def test_many_events_wait_for_permission_and_are_then_sent_together() -> None:
    service = BatchService(
        httpx.Response(403, json={"code": 403, "message": "no role", "retriable": True}), batch_response(4)
    )
    service.single_response = httpx.Response(403, json={"code": 403, "message": "no role", "retriable": True})

    assert service.send() == [Unavailable("403 no role")]
    assert service.send() == [Acknowledged()] * 4


def test_after_a_body_that_is_too_large_batches_are_tried_again() -> None:
    service = BatchService(httpx.Response(413), batch_response(2))

    assert service.send(2) == [Acknowledged()] * 2
    assert [path for path, _ in service.requests] == [
        "/api/v1/lineage/batch", "/api/v1/lineage", "/api/v1/lineage/batch",
    ]  # fmt: skip


def test_after_a_body_that_was_too_large_the_next_are_smaller_and_few_are_refused() -> None:
    sent_bytes: list[int] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent_bytes.append(len(request.content))
        if len(request.content) > 100_000:
            return httpx.Response(413)
        batch = batch_response(request.content.count(b"\n") + 1)
        return batch if request.url.path.endswith("/batch") else httpx.Response(201)

    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(respond))
    waiting = [b"x" * 5_000] * 1_000
    while waiting:
        outcomes = transport.send_batch(waiting[:64])
        assert set(outcomes) == {Acknowledged()}
        waiting = waiting[len(outcomes) :]
    transport.close()

    assert sum(sent_bytes) < 1.3 * 5_000_000
    assert len(sent_bytes) < 100


def test_batches_become_as_large_again_as_before_a_single_refusal_for_their_size() -> None:
    first = iter([httpx.Response(413), httpx.Response(201)])

    def respond(request: httpx.Request) -> httpx.Response:
        return next(first, None) or batch_response(request.content.count(b"\n") + 1)

    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(respond))
    batches = [len(transport.send_batch([b"x" * 5_000] * 64)) for _ in range(60)]
    transport.close()

    assert batches[:2] == [1, 32]
    assert batches[-1] == 64


def test_a_single_event_that_is_too_large_is_refused_and_the_others_are_sent() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        if len(request.content) > 100:
            return httpx.Response(413)
        batch = batch_response(request.content.count(b"\n") + 1)
        return batch if request.url.path.endswith("/batch") else httpx.Response(201)

    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(respond))
    waiting, refused = [b"small", b"x" * 101, *[b"small"] * 20], []
    while waiting:
        outcomes = transport.send_batch(waiting)
        refused += [event for event, outcome in zip(waiting, outcomes, strict=False) if isinstance(outcome, Refused)]
        waiting = waiting[len(outcomes) :]
    transport.close()

    assert refused == [b"x" * 101]


def test_a_route_that_a_proxy_temporarily_lacks_is_tried_again() -> None:
    service = BatchService(httpx.Response(404, text="404 page not found"), batch_response(4))
    service.single_response = httpx.Response(404, text="404 page not found")

    assert service.send() == [Unavailable("404 404 page not found")]
    assert service.send() == [Acknowledged()] * 4


def test_a_failing_batch_route_does_not_block_events() -> None:
    service = BatchService(httpx.Response(503, headers={"Retry-After": "7"}))

    assert service.send() == [Unavailable("503", 7.0)]
    assert service.send() == [Acknowledged()]


def test_an_event_with_a_line_break_is_sent_alone() -> None:
    service = BatchService()

    assert [*service.transport.send_batch([b"{\n}", *MANY])] == [Acknowledged()]
    assert service.requests == [("/api/v1/lineage", b"{\n}")]


def test_a_service_that_was_not_reachable_then_gets_all_events_together() -> None:
    is_up = iter([False] * 12)

    def respond(request: httpx.Request) -> httpx.Response:
        if not next(is_up, True):
            raise httpx.ConnectError("connection refused")
        return batch_response(request.content.count(b"\n") + 1)

    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(respond))
    outcomes = [transport.send_batch(MANY) for _ in range(13)]
    transport.close()

    assert all(isinstance(outcome, Unavailable) for some in outcomes[:12] for outcome in some)
    assert outcomes[12] == [Acknowledged()] * 4


def test_a_service_that_responds_too_late_gets_fewer_events_until_it_responds() -> None:
    sizes: list[int] = []

    def respond(request: httpx.Request) -> httpx.Response:
        events = request.content.count(b"\n") + 1
        sizes.append(events)
        if events > 2:
            raise httpx.ReadTimeout("too late", request=request)
        return batch_response(events) if request.url.path.endswith("/batch") else httpx.Response(201)

    transport = HttpTransport(HttpConfig(endpoint=ENDPOINT), network=httpx.MockTransport(respond))
    for _ in range(6):
        transport.send_batch([EVENT] * 10)
    transport.close()

    assert sizes == [10, 5, 2, 4, 2, 4]
