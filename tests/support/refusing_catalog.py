"""A server that answers every request of a client of a REST catalog of Iceberg with 401.

Source: https://github.com/apache/iceberg/blob/main/open-api/rest-catalog-open-api.yaml, ErrorModel and OAuthError
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b'{"error": {"message": "no", "type": "NotAuthorizedException", "code": 401}}'
        if self.path.endswith("/oauth/tokens"):
            body = b'{"error": "invalid_client", "error_description": "no"}'
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_HEAD = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def refusing_catalog() -> Iterator[str]:
    """Its URL."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
