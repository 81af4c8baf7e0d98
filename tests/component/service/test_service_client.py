"""Commands that ask a service, where something else answers."""

import re
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.errors import HeadwaterError
from headwater.signing.keyfile import load_or_create
from headwater.signing.note import ED25519, NoteSigner
from tests.support.service import running

LOG = str(NoteSigner.from_seed("log.example.org", bytes(32), ED25519).verifier)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))


@contextmanager
def answering(status: int, body: bytes, location: str = "", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """A web server that gives one answer to everything; its URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            if location:
                self.send_header("location", location)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"{'http' if tls is None else 'https'}://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def fault(*arguments: str) -> str:
    """What the command says when it fails, in a sentence."""
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 1
    assert isinstance(told.exception, HeadwaterError)
    return str(told.exception)


@pytest.mark.parametrize(
    ("status", "body", "location", "words"),
    [
        (200, b"<html>log in</html>", "", "answered with no JSON: something else than a lineage service"),
        (200, b"", "", "answered with no JSON"),
        (302, b"", "https://id.example.org/", "answered 302 and sends on to 'https://id.example.org/'"),
        (502, b"<html>", "", "answered 502: Bad Gateway"),
    ],
)
@pytest.mark.parametrize("command", [("coverage",), ("trace", "orders:id"), ("node", "list"), ("log", "actions")])
def test_what_is_no_lineage_service_is_told_in_a_sentence(
    command: tuple[str, ...], status: int, body: bytes, location: str, words: str
) -> None:
    with answering(status, body, location) as url:
        assert f"{url} {words}" in fault(*command, "--url", url)


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"<html>"), (404, b'{"message": "no route matched"}'), (405, b""), (501, b"<html>")],
)
@pytest.mark.parametrize(
    "command", [("coverage",), ("trace", "orders:id"), ("drift", "--namespace", "sales"), ("access", "key", "list")]
)
def test_another_web_server_is_told_as_such(command: tuple[str, ...], status: int, body: bytes) -> None:
    with answering(status, body) as url:
        assert fault(*command, "--url", url) == (
            f"there is no lineage service at {url}: what is there answered {status}; name the service's own address, "
            "without a path, like http://127.0.0.1:5000"
        )


def test_a_service_s_address_with_a_path_is_told_as_none_of_a_service(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        wrong = [fault("coverage", "--url", f"{service.url}{path}") for path in ("/foo", "/api/v1")]
        witness = fault("witness", f"{service.url}/foo", "--log-key", LOG, "--once")
        unknown = fault("node", "describe", "nobody", "--url", service.url)

    assert [told.split(":")[0] for told in wrong] == ["there is no lineage service at http"] * 2
    assert witness.startswith(f"there is no lineage service at {service.url}/foo: what is there answered 404;")
    assert "`headwater node list` lists those that have a record" in unknown


@pytest.mark.parametrize(
    "command", [("coverage",), ("trace", "orders"), ("impact", "orders"), ("root-cause", "orders")]
)
def test_a_time_that_cannot_be_read_is_told_once_by_its_option(command: tuple[str, ...], tmp_path: Path) -> None:
    with running(tmp_path) as service:
        told = fault(*command, "--as-of", "yesterday-ish", "--url", service.url)

    assert told == (
        "--as-of: 'yesterday-ish' cannot be read: expected a time with its zone such as 2026-05-22T14:23:11Z, or "
        "milliseconds since 1970"
    )


def test_a_log_that_answers_with_a_fault_is_told_in_a_sentence() -> None:
    with answering(502, b"<html>") as url:
        told = fault("witness", url, "--log-key", LOG, "--once")

    assert told == f"the log at {url} answered 502: Bad Gateway"


@pytest.mark.parametrize(("token", "words"), [("", "asks who calls: set"), ("old", "does not know who calls: set")])
def test_a_caller_who_is_not_known_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, token: str, words: str) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", token)

    with answering(401, b'{"code": 401, "message": "authorization: missing"}') as url:
        assert fault("coverage", "--url", url).startswith(f"{url} {words} HEADWATER_TOKEN to a")


def test_what_is_no_url_is_told_in_a_sentence() -> None:
    assert fault("coverage", "--url", "http://[::1").startswith("'http://[::1' is no URL")


@pytest.mark.parametrize(
    "url", ["localhost:5000", "127.0.0.1:5000", "lineage.example.org", "ftp://localhost", "http://"]
)
def test_an_address_without_its_scheme_or_host_is_told_how_one_looks(url: str) -> None:
    assert fault("coverage", "--url", url) == (
        f"{url!r} is no URL of a web server; expected one like http://127.0.0.1:5000"
    )


@pytest.mark.parametrize("body", [b"{}", b"[]"])
def test_a_key_is_replaced_only_once_a_lineage_service_took_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    before = load_or_create(tmp_path).key_id

    with answering(200, body) as url:
        assert "nothing was changed" in fault("key", "rotate", "--url", url)

    assert load_or_create(tmp_path).key_id == before


def test_a_certificate_that_is_not_trusted_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = "openssl req -x509 -newkey rsa:2048 -days 2 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    command = [*made.split(), "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)

    with answering(200, b"<html>", tls=tls) as url:
        before = fault("coverage", "--url", url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        after = fault("coverage", "--url", url)

    assert re.match(f"the certificate of {re.escape(url)} is not trusted .*self-signed.* set SSL_CERT_FILE", before)
    assert "answered with no JSON" in after
