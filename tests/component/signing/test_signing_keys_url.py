"""`headwater verify --keys URL` against a real HTTP server."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from headwater.cli.verify import verify
from headwater.signing.jwks import write_jwks
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event

KEY = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
app = typer.Typer()
app.command()(verify)


class KeyServer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/keys" else 404)
        self.end_headers()
        self.wfile.write(write_jwks({KEY.key_id: KEY.public_key}).encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), KeyServer) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


@pytest.fixture
def events(tmp_path: Path) -> str:
    path = tmp_path / "events.jsonl"
    path.write_bytes(sign_event(b'{"producer":"p","run":{}}', KEY))
    return str(path)


def test_keys_are_fetched_from_a_url(server: str, events: str) -> None:
    assert CliRunner().invoke(app, [events, "--keys", f"{server}/keys"]).exit_code == 0


def test_a_url_without_keys_is_a_usage_error(server: str, events: str) -> None:
    result = CliRunner().invoke(app, [events, "--keys", f"{server}/nothing-here"])

    assert result.exit_code == 2
    assert "cannot read the keys" in result.stderr
    assert "developer.mozilla.org" not in result.stderr


def test_a_server_that_does_not_answer_is_a_usage_error(events: str) -> None:
    result = CliRunner().invoke(app, [events, "--keys", "http://127.0.0.1:1/keys"])

    assert result.exit_code == 2
    assert "cannot read the keys" in result.stderr
    assert "developer.mozilla.org" not in result.stderr
