"""Commands that ask a service, when something else answers or nothing does."""

import re
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headwater.cli.agent_client import agent_here
from headwater.cli.main import app
from headwater.cli.service_client import service_at
from headwater.errors import HeadwaterError, UnavailableError
from headwater.signing.keyfile import load_or_create
from headwater.signing.note import ED25519, NoteSigner
from tests.support.service import running

DASHBOARDS = """\
engine: trino://127.0.0.1:8080
catalog: lake
dashboards:
  - {name: revenue, queries: [{name: all, sql: SELECT * FROM sales.orders}]}
"""
LOG = str(NoteSigner.from_seed("log.example.org", bytes(32), ED25519).verifier)


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))


@contextmanager
def answering(status: int, body: bytes, location: str = "", tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Run a web server that gives the same answer to every request; yields its URL."""

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
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"{'http' if tls is None else 'https'}://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def error_of(*arguments: str) -> str:
    """The message with which the command fails."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, HeadwaterError)
    return str(result.exception)


@pytest.mark.parametrize(
    ("status", "body", "location", "words"),
    [
        (200, b"<html>log in</html>", "", "is not JSON: it is not a lineage service"),
        (200, b"", "", "is not JSON"),
        (302, b"", "https://id.example.org/", "answered 302 and redirects to 'https://id.example.org/'"),
        (502, b"<html>", "", "answered 502: Bad Gateway"),
    ],
)
@pytest.mark.parametrize("command", [("coverage",), ("trace", "orders:id"), ("node", "list"), ("log", "actions")])
def test_an_answer_that_is_not_of_a_lineage_service_is_reported_in_a_sentence(
    command: tuple[str, ...], status: int, body: bytes, location: str, words: str
) -> None:
    with answering(status, body, location) as url:
        assert f"{url} {words}" in error_of(*command, "--url", url)


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"<html>"), (404, b'{"message": "no route matched"}'), (405, b""), (501, b"<html>")],
)
@pytest.mark.parametrize(
    "command", [("coverage",), ("trace", "orders:id"), ("drift", "--namespace", "sales"), ("access", "key", "list")]
)
def test_an_error_of_another_web_server_is_reported_as_no_lineage_service(
    command: tuple[str, ...], status: int, body: bytes
) -> None:
    with answering(status, body) as url:
        assert error_of(*command, "--url", url) == (
            f"no lineage service at {url}: the server there answered {status}; use the part of the "
            "service's addresses before /api/v1, like http://127.0.0.1:5000 or https://example.org/lineage"
        )


def test_a_service_url_with_a_wrong_path_is_reported_as_no_lineage_service(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        errors = [error_of("coverage", "--url", f"{service.url}{path}") for path in ("/foo", "/api/v1")]
        witness = error_of("witness", f"{service.url}/foo", "--log-key", LOG, "--once")
        unknown = error_of("node", "describe", "nobody", "--url", service.url)

    assert [error.split(":")[0] for error in errors] == ["no lineage service at http"] * 2
    assert witness.startswith(f"no lineage service at {service.url}/foo: the server there answered 404;")
    assert "`headwater node list` lists the known nodes" in unknown


@pytest.mark.parametrize(
    "command", [("coverage",), ("trace", "orders"), ("impact", "orders"), ("root-cause", "orders")]
)
def test_an_unreadable_time_is_reported_once_by_its_option(command: tuple[str, ...], tmp_path: Path) -> None:
    with running(tmp_path) as service:
        error = error_of(*command, "--as-of", "yesterday-ish", "--url", service.url)

    assert error == (
        "--as-of: 'yesterday-ish' cannot be read: expected a time with its zone such as 2026-05-22T14:23:11Z, or "
        "milliseconds since 1970"
    )


def test_an_error_answer_of_a_log_is_reported_in_a_sentence() -> None:
    with answering(502, b"<html>") as url:
        error = error_of("witness", url, "--log-key", LOG, "--once")

    assert error == f"the log at {url} answered 502: Bad Gateway"


@pytest.mark.parametrize(
    ("token", "words"), [("", "requires authentication: set"), ("old", "rejects the API key: set")]
)
def test_an_unauthenticated_caller_is_told_which_variable_to_set(
    monkeypatch: pytest.MonkeyPatch, token: str, words: str
) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", token)

    with answering(401, b'{"code": 401, "message": "authorization: missing"}') as url:
        assert error_of("coverage", "--url", url).startswith(f"{url} {words} HEADWATER_TOKEN to a")


def test_an_invalid_url_is_reported_in_a_sentence() -> None:
    assert error_of("coverage", "--url", "http://[::1").startswith("'http://[::1' is not a URL")


@pytest.mark.parametrize(
    "url",
    ["localhost:5000", "127.0.0.1:5000", "lineage.example.org", "ftp://localhost", "http://", "http://x:99999999"],
)
def test_a_url_without_scheme_or_host_or_with_an_invalid_port_is_refused_with_an_example(url: str) -> None:
    assert error_of("coverage", "--url", url) == (
        f"{url!r} is not an HTTP URL; expected one like http://127.0.0.1:5000"
    )


@pytest.mark.parametrize("body", [b"{}", b"[]"])
def test_a_key_is_replaced_only_once_a_lineage_service_accepted_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    before = load_or_create(tmp_path).key_id

    with answering(200, body) as url:
        assert "nothing was changed" in error_of("key", "rotate", "--url", url)

    assert load_or_create(tmp_path).key_id == before


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of localhost; its key is in the same folder."""
    folder = tmp_path_factory.mktemp("tls")
    request = (
        "openssl req -x509 -newkey rsa:2048 -days 2 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    command = [*request.split(), "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.fixture(scope="module")
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def test_an_untrusted_certificate_is_reported_with_what_to_do(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(200, b"<html>", tls=tls) as url:
        before = error_of("coverage", "--url", url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        after = error_of("coverage", "--url", url)

    assert re.match(f"the certificate of {re.escape(url)} is not trusted .*self-signed.* set SSL_CERT_FILE", before)
    assert "is not JSON" in after


def test_https_to_a_plain_server_and_http_to_a_tls_server_are_reported_as_such(tls: ssl.SSLContext) -> None:
    with answering(200, b"{}") as plain, answering(200, b"{}", tls=tls) as encrypted:
        without = error_of("coverage", "--url", plain.replace("http:", "https:"))
        with_tls = error_of("coverage", "--url", encrypted.replace("https:", "http:"))

    assert re.match(r"TLS failed with the server at https://localhost:\d+ .* write http://$", without)
    assert re.match(
        r"the server at http://localhost:\d+ closed the connection .* uses TLS, write https://; otherwise", with_tls
    )


def test_a_service_that_takes_too_long_is_reported_as_slow() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        service_at(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.1) as client,
        pytest.raises(UnavailableError, match=r"did not answer in time \(timed out\): it is running, but slow or busy"),
    ):
        client.get("/coverage")


def test_an_unknown_host_is_reported_as_such() -> None:
    error = error_of("coverage", "--url", "http://no.such.host.invalid:5000")

    assert error.startswith("the host name in http://no.such.host.invalid:5000 cannot be resolved (")
    assert "headwater serve" not in error


def test_an_impossible_host_name_is_reported_in_a_sentence() -> None:
    assert error_of("coverage", "--url", f"http://{'a' * 70}.example.org").startswith("the arguments do not form")


@pytest.mark.parametrize("proxy", ["http://ann:hush@127.0.0.1:9", "http://no.such.host.invalid:9"])
def test_a_proxy_that_does_not_answer_is_reported_as_such(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)

    error = error_of("coverage", "--url", "http://lineage.example.org")

    assert error.startswith("the proxy in HTTP_PROXY does not connect to http://lineage.example.org (")
    assert "hush" not in error


def test_an_error_of_a_host_outside_the_proxy_does_not_name_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://no.such.host.invalid:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    error = error_of("coverage", "--url", "http://127.0.0.1:9")

    assert error.startswith("no lineage service answers at http://127.0.0.1:9 (Connection refused);")


COMMANDS = pytest.mark.parametrize(
    "command",
    [
        ("impact", "orders", "--change", "drop"),
        ("dashboards", "push", "dashboards.yaml"),
        ("witness", "http://127.0.0.1:9", "--log-key", LOG, "--once"),
        ("log", "cosign", "http://127.0.0.1:9"),
        ("ship", "."),
    ],
    ids=" ".join,
)


@COMMANDS
@pytest.mark.parametrize("file", ["nowhere.pem", "dashboards.yaml", "."])
def test_unreadable_certificates_are_reported_with_what_to_do(
    command: tuple[str, ...], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / file))
    monkeypatch.setenv("HEADWATER_URL", "https://127.0.0.1:9")
    (tmp_path / "dashboards.yaml").write_text(DASHBOARDS)
    monkeypatch.chdir(tmp_path)

    error = error_of(*command)

    assert error.startswith("the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: ")
    assert error.endswith("; set it to a PEM file of certificates, or unset it")


@COMMANDS
@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
@pytest.mark.parametrize("proxy", ["socks5://ann:hush@127.0.0.1:9", "socks4://127.0.0.1:9", "http://[::1"])
def test_an_unusable_proxy_is_reported_with_what_to_do(
    command: tuple[str, ...], variable: str, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    (tmp_path / "dashboards.yaml").write_text(DASHBOARDS)
    monkeypatch.chdir(tmp_path)

    error = error_of(*command)

    assert variable in error
    assert "holds no valid proxy address; set it to one like http://proxy.example.org:3128, or unset it" in error
    assert "hush" not in error


def test_commands_that_ask_the_agent_read_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")

    with agent_here() as client:
        assert client


@pytest.mark.parametrize("token", ["hw_…", "hw_a\nb", "hw a", "hw_\x7f"])
@pytest.mark.parametrize("command", [("coverage",), ("access", "key", "list"), ("key", "rotate")])
def test_an_invalid_api_key_is_reported_without_the_key(
    command: tuple[str, ...], token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", token)

    error = error_of(*command, "--url", "http://127.0.0.1:9")

    assert error.startswith("HEADWATER_TOKEN is not a valid API key: ")
    assert "hw" not in error


def test_a_name_that_is_too_long_is_reported_in_a_sentence() -> None:
    with answering(200, b"{}") as url:
        errors = [error_of(*command, "a" * 100_000, "--url", url) for command in (("trace",), ("node", "describe"))]

    assert errors == [
        "the arguments do not form a valid request: URL component 'query' too long",
        "the arguments do not form a valid request: URL too long",
    ]


@pytest.mark.parametrize(
    "command",
    [
        ("node", "describe", ""),
        ("access", "key", "revoke", ""),
        ("coverage", "--namespace", ""),
        ("trace", ""),
    ],
    ids=" ".join,
)
def test_an_empty_name_is_refused(command: tuple[str, ...]) -> None:
    with answering(200, b"{}") as url:
        assert error_of(*command, "--url", url).startswith("the name is empty")


@pytest.mark.parametrize(
    "command", [("trace", "\udcff"), ("node", "describe", "\udcff"), ("drift", "--from", "\udcff")]
)
def test_an_argument_that_is_not_utf_8_is_reported_in_a_sentence(command: tuple[str, ...]) -> None:
    with answering(200, b"{}") as url:
        assert error_of(*command, "--url", url) == "an argument is not valid UTF-8 (surrogates not allowed)"


def test_a_password_in_a_url_is_not_shown() -> None:
    assert "hush" not in error_of("coverage", "--url", "http://ann:hush@127.0.0.1:9")
