"""HTTP as clients in other languages send it, to a real `headwater serve`."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.app import event
from tests.support.service import Service, running

HTTP2_OFFER = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"
"""Headers that Java's HTTP client sends with each plain request until a server speaks HTTP/2."""
CLOSING_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    home: Path = tmp_path_factory.mktemp("home")
    with running(home) as service:
        yield service


def post_request(*, chunked: bool = False) -> bytes:
    """A POST of a new event, with the offer of HTTP/2."""
    body = json.dumps(event(run={"runId": str(uuid4())})).encode()
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body)
    payload = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    return b"POST /api/v1/lineage HTTP/1.1\r\nHost: x\r\n" + length + b"\r\n" + HTTP2_OFFER + b"\r\n" + payload


def statuses(service: Service, *segments: bytes) -> list[int]:
    """The statuses of the answers on a connection, until it is closed."""
    answers = b""
    with socket.create_connection(("127.0.0.1", service.port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for segment in segments:
            connection.sendall(segment)
        while part := connection.recv(65_536):
            answers += part
    return [int(part.split()[0]) for part in answers.split(b"HTTP/1.1 ")[1:]]


def is_refused(service: Service, segments: list[bytes]) -> bool:
    """Whether the connection is ended before the request: a client still sending may not see the answer."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        try:
            for segment in segments:
                connection.sendall(segment)
            return connection.recv(12) in (b"HTTP/1.1 431", b"")
        except (BrokenPipeError, ConnectionResetError):
            return True


@pytest.mark.parametrize("chunked", [False, True])
def test_a_post_that_offers_http_2_is_accepted_with_its_body(service: Service, chunked: bool) -> None:
    assert statuses(service, post_request(chunked=chunked), CLOSING_REQUEST) == [201, 200]


def test_offers_of_http_2_are_ignored_however_requests_are_split_or_joined(service: Service) -> None:
    requests = post_request() + post_request(chunked=True) + post_request() + CLOSING_REQUEST

    assert statuses(service, requests) == [201, 201, 201, 200]
    cut = requests.replace(b"\r\n", b"\r\n\0").split(b"\0")
    assert statuses(service, *cut) == [200, 200, 200, 200]


@pytest.mark.parametrize("target", [b"example.org:80", b"/api/v1/namespaces"])
def test_connect_requests_are_refused(service: Service, target: bytes) -> None:
    assert statuses(service, b"CONNECT " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n") == [400]


@pytest.mark.parametrize(
    "endless",
    [
        [b"GET /healthz HTTP/1.1\r\n", *[b"x-more: " + b"m" * 20_000 + b"\r\n"] * 5],  # many headers
        [b"GET /healthz HTTP/1.1\r\nx-more: ", *[b"m" * 60_000] * 5],  # one endless header
        [b"GET /healthz?", *[b"m" * 60_000] * 5],
        [
            b"POST /api/v1/lineage HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n",
            *[b"x: " + b"m" * 60_000] * 5,
        ],
    ],
    ids=["headers", "header", "address", "trailer"],
)
def test_endless_headers_are_refused(service: Service, endless: list[bytes]) -> None:
    assert is_refused(service, endless)
    assert statuses(service, CLOSING_REQUEST) == [200]


def test_headers_may_be_long(service: Service) -> None:
    token = b"Authorization: Bearer " + b"t" * 50_000 + b"\r\n\r\n"

    assert statuses(service, b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + token, post_request(), CLOSING_REQUEST) == [
        200,
        201,
        200,
    ]


def test_a_head_request_of_the_stream_ends_at_once(service: Service) -> None:
    assert statuses(service, b"HEAD /api/v1/stream HTTP/1.1\r\nHost: x\r\n\r\n", CLOSING_REQUEST) == [200, 200]


def test_a_last_event_id_with_thousands_of_digits_is_beyond_the_log(service: Service) -> None:
    request = b"HEAD /api/v1/stream HTTP/1.1\r\nHost: x\r\nLast-Event-ID: %b\r\n\r\n" % (b"9" * 5_000)

    assert statuses(service, request, CLOSING_REQUEST) == [200, 200]
