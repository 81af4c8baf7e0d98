"""A broker that refuses every login, and counts them: the three requests with which a client of Kafka begins.

Source: https://kafka.apache.org/protocol, ApiVersions, SaslHandshake and SaslAuthenticate
"""

import socketserver
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from threading import Thread
from typing import Final

_UNSUPPORTED_VERSION: Final = 35
_SASL_AUTHENTICATION_FAILED: Final = 58
_VERSIONS: Final = (
    (0, 0, 7),
    (1, 0, 11),
    (3, 0, 2),
    (9, 0, 5),
    (10, 0, 2),
    (16, 0, 2),
    (17, 1, 1),
    (18, 0, 0),
    (36, 0, 0),
)
"""The requests that it claims to know: key, first and last version."""


class _ApiKey(IntEnum):
    SASL_HANDSHAKE = 17
    API_VERSIONS = 18
    SASL_AUTHENTICATE = 36


@dataclass
class RefusingBroker:
    """Its address, and how many logins it has refused."""

    address: str
    logins: int = 0


@contextmanager
def refusing_broker() -> Iterator[RefusingBroker]:
    """A broker on a port of its own."""

    class Connection(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while (size := self.rfile.read(4)) and (request := self.rfile.read(*struct.unpack(">i", size))):
                api, version, correlation = struct.unpack(">hhi", request[:8])
                answer = _answer(api, version)
                self.wfile.write(struct.pack(">ii", 4 + len(answer), correlation) + answer)
                if api == _ApiKey.SASL_AUTHENTICATE:
                    broker.logins += 1
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Connection) as server:
        broker = RefusingBroker("{}:{}".format(*server.server_address))
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield broker
        server.shutdown()
        thread.join()


def _answer(api: int, version: int) -> bytes:
    match api:
        case _ApiKey.API_VERSIONS:
            fault = 0 if version == 0 else _UNSUPPORTED_VERSION
            versions = b"".join(struct.pack(">hhh", *each) for each in _VERSIONS)
            return struct.pack(">hi", fault, len(_VERSIONS)) + versions
        case _ApiKey.SASL_HANDSHAKE:
            return struct.pack(">hi", 0, 1) + _text("PLAIN")
        case _ApiKey.SASL_AUTHENTICATE:
            return struct.pack(">h", _SASL_AUTHENTICATION_FAILED) + _text("no such user") + struct.pack(">i", 0)
    raise AssertionError(f"the client asks for {api} without a login")


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()
