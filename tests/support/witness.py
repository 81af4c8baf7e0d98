"""An independent witness by https://c2sp.org/tlog-witness, for one log, with its state in memory."""

import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from headwater.errors import UntrustedNoteError
from headwater.signing.checkpoint import parse_checkpoint
from headwater.signing.merkle import is_consistent
from headwater.signing.note import COSIGNATURE, NoteSigner, NoteVerifier, parse_verifier, verified_text

OTHER = NoteSigner.from_seed("other.example.org/witness", bytes([7] * 32), COSIGNATURE)
NOON_S = 1_779_451_200


class IndependentWitness:
    """The witness's answers and its last seen checkpoint."""

    def __init__(self, log: NoteVerifier) -> None:
        self._log = log
        self._size, self._root = 0, b""

    def answer(self, path: str, body: str) -> tuple[int, str]:
        """The status and body of the answer to a post."""
        if path != "/add-checkpoint":
            return 404, ""
        before, _, note = body.partition("\n\n")
        first, *lines = before.split("\n")
        word, _, old = first.partition(" ")
        assert word == "old"
        try:
            text = verified_text(note, [self._log])
        except UntrustedNoteError:
            return 403, ""
        head = parse_checkpoint(text)
        if int(old) > head.size:
            return 400, ""
        if int(old) != self._size:
            return 409, f"{self._size}\n"
        if head.size == self._size and head.root != self._root:
            return 409, ""
        proof = [b64decode(line, validate=True) for line in lines]
        if self._size and not is_consistent(self._size, self._root, head.size, head.root, proof):
            return 422, ""
        self._size, self._root = head.size, head.root
        return 200, OTHER.line(text, NOON_S)


@contextmanager
def independent_witness(log_key: str) -> Iterator[str]:
    """A running witness; its URL."""
    witness = IndependentWitness(parse_verifier(log_key))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, text = witness.answer(self.path, self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
