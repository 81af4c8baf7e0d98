"""What watchers report about addresses that they cannot use, before they start and while they watch."""

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from headwater.capture.flink.rest import FlinkCluster
from headwater.capture.schemas import Registry
from headwater.errors import SetupError, UnavailableError

WATCHES = {
    "flink": ("watch", "flink", "--url"),
    "registry": ("watch", "registry", "--bootstrap", "broker:9092", "--url"),
    "connect's registry": ("watch", "connect", "--bootstrap", "broker:9092", "--registry"),
    "connect's worker": ("watch", "connect", "--bootstrap", "broker:9092", "--rest"),
}


def status_and_errors(home: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and standard error of a command."""
    result = subprocess.run(
        [sys.executable, "-m", "headwater.cli.main", *arguments],
        env={**os.environ, "HEADWATER_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=30,
    )
    return result.returncode, result.stderr


@pytest.mark.parametrize("watch", WATCHES)
def test_an_address_without_a_scheme_is_refused_and_the_error_names_its_option(watch: str, tmp_path: Path) -> None:
    *_, option = WATCHES[watch]

    status, stderr = status_and_errors(tmp_path, *WATCHES[watch], "localhost:8081")

    expected = "expected the address of a web server, such as http://localhost:8081"
    assert (status, stderr) == (2, f"headwater: {option}: {expected}, not 'localhost:8081'\n")


def test_a_password_in_a_refused_address_is_not_shown(tmp_path: Path) -> None:
    status, stderr = status_and_errors(tmp_path, "watch", "flink", "--url", "user:secret@localhost:8081")

    assert status == 2
    assert "--url: expected" in stderr
    assert "secret" not in stderr


class _NotFoundHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write no log."""


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate with its key."""
    command = (
        "openssl req -x509 -newkey rsa:2048 -days 2 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    )
    file = tmp_path / "cert.pem"
    subprocess.run([*command.split(), "-keyout", str(file), "-out", str(tmp_path / "one.pem")], check=True)
    file.write_text(file.read_text() + (tmp_path / "one.pem").read_text())
    return file


@pytest.fixture
def url(certificate: Path) -> Iterator[str]:
    """A TLS server with that certificate, which answers 404 to everything."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), _NotFoundHandler) as server:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"https://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def flink_error(url: str) -> str:
    cluster = FlinkCluster([url])
    with pytest.raises(UnavailableError) as error:
        cluster.jobs()
    cluster.close()
    return str(error.value)


def test_a_private_authority_is_trusted_once_ssl_cert_file_names_it(
    url: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = flink_error(url)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    after = flink_error(url)

    assert before.startswith(f"the certificate of {url} is not trusted (")
    assert "does not answer like Flink's REST API" in after


def test_authorities_that_cannot_be_read_are_a_setup_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))

    for connect in (lambda: FlinkCluster(["https://flink"]), lambda: Registry("https://registry")):
        with pytest.raises(SetupError, match="SSL_CERT_FILE or SSL_CERT_DIR names cannot be read: No such file"):
            connect()
