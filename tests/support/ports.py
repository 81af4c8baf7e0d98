"""Free ports, which stay free while a test's server is down."""

import os
import random
import socket
from contextlib import ExitStack

# Below the system's ephemeral ports (from 32768 on Linux): otherwise an outgoing connection, above all one to the
# server that is down, could get the server's port, and the server could not restart.
_FIRST, _AFTER_LAST = 20_000, 32_000


def free_ports(count: int) -> list[int]:
    """Ports that are free now, each with the next one, which a Kafka broker uses for its controller.

    Parallel test processes use separate ranges.
    """
    first, after_last = _of_this_process()
    with ExitStack() as sockets:
        ports: list[int] = []
        while len(ports) < count:
            port = random.randrange(first, after_last - 1)  # noqa: S311  any free port will do
            try:
                for number in (port, port + 1):
                    sockets.enter_context(socket.socket()).bind(("127.0.0.1", number))
            except OSError:
                continue
            ports.append(port)
        return ports


def free_port() -> int:
    return free_ports(1)[0]


def _of_this_process() -> tuple[int, int]:
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    size = (_AFTER_LAST - _FIRST) // workers
    return _FIRST + worker * size, _FIRST + (worker + 1) * size
