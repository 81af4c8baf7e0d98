"""Ports nobody listens on."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Ports that are free now, each with the one after it, which a Kafka broker takes for its controller."""
    with ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            first, second = held.enter_context(socket.socket()), held.enter_context(socket.socket())
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            found.append(port)
        return found
