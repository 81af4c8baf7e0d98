"""A minimal lineage service: it records what is posted, and answers as configured.

As a program, `python emit_receiver.py PORT FILE`, it can be killed: each event is one line of FILE, written before the
answer, and a batch may hold many. In a test's own process, a `Receiver` has scripted answers, and can be made to wait;
it has no route for batches.
"""

import json
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple


class Answer(NamedTuple):
    status: int = 201
    headers: Mapping[str, str] = {}
    body: bytes = b""


class Post(NamedTuple):
    body: bytes
    headers: Mapping[str, str]
    at: float
    """Seconds on the monotonic clock."""
    path: str


@dataclass
class Receiver:
    """Sends the answers in `script`, one a request, and then 201; waits while `is_open` is not set."""

    script: deque[Answer] = field(default_factory=deque)
    posts: list[Post] = field(default_factory=list)
    is_open: threading.Event = field(default_factory=threading.Event)
    has_arrived: threading.Event = field(default_factory=threading.Event)
    connections: int = 0
    url: str = ""

    def connected(self) -> None:
        self.connections += 1

    def take(self, post: Post) -> Answer:
        self.has_arrived.set()
        self.is_open.wait()
        self.posts.append(post)
        return self.script.popleft() if self.script else Answer()

    @property
    def numbers(self) -> list[int]:
        return [json.loads(post.body)["n"] for post in self.posts]


@dataclass
class Diary:
    file: Path

    def connected(self) -> None:
        pass

    def take(self, post: Post) -> Answer:
        with self.file.open("ab") as lines:
            lines.write(post.body + b"\n")
        return Answer()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Log nothing: the tests kill clients on purpose."""


def server(port: int, taker: Receiver | Diary) -> Server:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            taker.connected()
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if len(body) < int(self.headers["Content-Length"]):
                self.close_connection = True  # the client was killed while it sent
                return
            answer = self.answer(body)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)
            except OSError:
                self.close_connection = True  # the client did not wait for the answer

        def answer(self, body: bytes) -> Answer:
            if not self.path.endswith("/batch"):
                return taker.take(Post(body, dict(self.headers), time.monotonic(), self.path))
            if isinstance(taker, Receiver):
                return Answer(404)
            lines = body.split(b"\n")
            for line in lines:
                taker.take(Post(line, dict(self.headers), time.monotonic(), self.path))
            return Answer(200, body=json.dumps({"summary": {"received": len(lines)}, "failed_events": []}).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Server(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    with server(int(sys.argv[1]), Diary(Path(sys.argv[2]))) as service:
        print("listening", flush=True)  # noqa: T201
        service.serve_forever()
