"""Commands that ask a service, where something else answers."""

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
        (200, b"<html>log in</html>", "", "is not JSON: it is not a lineage service"),
        (200, b"", "", "is not JSON"),
        (302, b"", "https://id.example.org/", "answered 302 and redirects to 'https://id.example.org/'"),
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
            f"no lineage service at {url}: the server there answered {status}; use the part of the "
            "service's addresses before /api/v1, like http://127.0.0.1:5000 or https://example.org/lineage"
        )


def test_a_service_s_address_with_a_path_is_told_as_none_of_a_service(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        wrong = [fault("coverage", "--url", f"{service.url}{path}") for path in ("/foo", "/api/v1")]
        witness = fault("witness", f"{service.url}/foo", "--log-key", LOG, "--once")
        unknown = fault("node", "describe", "nobody", "--url", service.url)

    assert [told.split(":")[0] for told in wrong] == ["no lineage service at http"] * 2
    assert witness.startswith(f"no lineage service at {service.url}/foo: the server there answered 404;")
    assert "`headwater node list` lists the known nodes" in unknown


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


@pytest.mark.parametrize(
    ("token", "words"), [("", "requires authentication: set"), ("old", "rejects the API key: set")]
)
def test_a_caller_who_is_not_known_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, token: str, words: str) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", token)

    with answering(401, b'{"code": 401, "message": "authorization: missing"}') as url:
        assert fault("coverage", "--url", url).startswith(f"{url} {words} HEADWATER_TOKEN to a")


def test_what_is_no_url_is_told_in_a_sentence() -> None:
    assert fault("coverage", "--url", "http://[::1").startswith("'http://[::1' is not a URL")


@pytest.mark.parametrize(
    "url",
    ["localhost:5000", "127.0.0.1:5000", "lineage.example.org", "ftp://localhost", "http://", "http://x:99999999"],
)
def test_an_address_without_its_scheme_or_host_or_with_no_port_that_is_one_is_told_how_one_looks(url: str) -> None:
    assert fault("coverage", "--url", url) == (f"{url!r} is not an HTTP URL; expected one like http://127.0.0.1:5000")


@pytest.mark.parametrize("body", [b"{}", b"[]"])
def test_a_key_is_replaced_only_once_a_lineage_service_took_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    monkeypatch.setenv("HEADWATER_HOME", str(tmp_path))
    before = load_or_create(tmp_path).key_id

    with answering(200, body) as url:
        assert "nothing was changed" in fault("key", "rotate", "--url", url)

    assert load_or_create(tmp_path).key_id == before


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of localhost, signed by itself; its key is beside it."""
    folder = tmp_path_factory.mktemp("tls")
    made = "openssl req -x509 -newkey rsa:2048 -days 2 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    command = [*made.split(), "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.fixture(scope="module")
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    return context


def test_a_certificate_that_is_not_trusted_is_told_with_what_to_do(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(200, b"<html>", tls=tls) as url:
        before = fault("coverage", "--url", url)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        after = fault("coverage", "--url", url)

    assert re.match(f"the certificate of {re.escape(url)} is not trusted .*self-signed.* set SSL_CERT_FILE", before)
    assert "is not JSON" in after


def test_tls_where_none_is_spoken_and_the_reverse_are_told_as_that(tls: ssl.SSLContext) -> None:
    with answering(200, b"{}") as plain, answering(200, b"{}", tls=tls) as encrypted:
        without = fault("coverage", "--url", plain.replace("http:", "https:"))
        with_tls = fault("coverage", "--url", encrypted.replace("https:", "http:"))

    assert re.match(r"TLS failed with the server at https://localhost:\d+ .* write http://$", without)
    assert re.match(
        r"the server at http://localhost:\d+ closed the connection .* uses TLS, write https://; otherwise", with_tls
    )


def test_a_service_that_takes_too_long_is_told_as_slow() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        service_at(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.1) as client,
        pytest.raises(UnavailableError, match=r"did not answer in time \(timed out\): it is running, but slow or busy"),
    ):
        client.get("/coverage")


def test_a_host_that_is_not_known_is_told_as_that() -> None:
    told = fault("coverage", "--url", "http://no.such.host.invalid:5000")

    assert told.startswith("the host name in http://no.such.host.invalid:5000 cannot be resolved (")
    assert "headwater serve" not in told


def test_a_host_that_there_cannot_be_is_told_in_a_sentence() -> None:
    assert fault("coverage", "--url", f"http://{'a' * 70}.example.org").startswith("the arguments do not form")


@pytest.mark.parametrize("proxy", ["http://ann:hush@127.0.0.1:9", "http://no.such.host.invalid:9"])
def test_a_proxy_that_does_not_answer_is_told_as_that(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)

    told = fault("coverage", "--url", "http://lineage.example.org")

    assert told.startswith("the proxy in HTTP_PROXY does not connect to http://lineage.example.org (")
    assert "hush" not in told


def test_a_host_without_need_of_a_proxy_is_told_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://no.such.host.invalid:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    told = fault("coverage", "--url", "http://127.0.0.1:9")

    assert told.startswith("no lineage service answers at http://127.0.0.1:9 (Connection refused);")


ASKING = pytest.mark.parametrize(
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


@ASKING
@pytest.mark.parametrize("file", ["nowhere.pem", "dashboards.yaml", "."])
def test_certificates_that_cannot_be_read_are_told_with_what_to_do(
    command: tuple[str, ...], file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / file))
    monkeypatch.setenv("HEADWATER_URL", "https://127.0.0.1:9")
    (tmp_path / "dashboards.yaml").write_text(DASHBOARDS)
    monkeypatch.chdir(tmp_path)

    told = fault(*command)

    assert told.startswith("the certificates that SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: ")
    assert told.endswith("; set it to a PEM file of certificates, or unset it")


@ASKING
@pytest.mark.parametrize("variable", ["ALL_PROXY", "http_proxy"])
@pytest.mark.parametrize("proxy", ["socks5://ann:hush@127.0.0.1:9", "socks4://127.0.0.1:9", "http://[::1"])
def test_a_proxy_that_cannot_be_used_is_told_with_what_to_do(
    command: tuple[str, ...], variable: str, proxy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    (tmp_path / "dashboards.yaml").write_text(DASHBOARDS)
    monkeypatch.chdir(tmp_path)

    told = fault(*command)

    assert variable in told
    assert "holds no valid proxy address; set it to one like http://proxy.example.org:3128, or unset it" in told
    assert "hush" not in told


def test_commands_that_ask_the_agent_look_at_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere.pem")

    with agent_here() as client:
        assert client


@pytest.mark.parametrize("token", ["hw_…", "hw_a\nb", "hw a", "hw_\x7f"])
@pytest.mark.parametrize("command", [("coverage",), ("access", "key", "list"), ("key", "rotate")])
def test_what_can_be_no_key_is_told_as_that_without_it(
    command: tuple[str, ...], token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", token)

    told = fault(*command, "--url", "http://127.0.0.1:9")

    assert told.startswith("HEADWATER_TOKEN is not a valid API key: ")
    assert "hw" not in told


def test_a_name_of_any_length_is_told_in_a_sentence() -> None:
    with answering(200, b"{}") as url:
        told = [fault(*command, "a" * 100_000, "--url", url) for command in (("trace",), ("node", "describe"))]

    assert told == [
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
def test_an_empty_name_is_no_name_of_all(command: tuple[str, ...]) -> None:
    with answering(200, b"{}") as url:
        assert fault(*command, "--url", url).startswith("the name is empty")


@pytest.mark.parametrize(
    "command", [("trace", "\udcff"), ("node", "describe", "\udcff"), ("drift", "--from", "\udcff")]
)
def test_what_is_no_text_is_told_in_a_sentence(command: tuple[str, ...]) -> None:
    with answering(200, b"{}") as url:
        assert fault(*command, "--url", url) == "an argument is not valid UTF-8 (surrogates not allowed)"


def test_an_address_s_password_is_not_shown() -> None:
    assert "hush" not in fault("coverage", "--url", "http://ann:hush@127.0.0.1:9")
