"""A lineage service in a process of its own, for as long as the demo lasts."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from headwater.errors import SetupError

HOST: Final = "127.0.0.1"
_PORTS_TRIED: Final = 50
_GRACE_S: Final = 15.0


@contextmanager
def running_service(first_port: int, log: Path) -> Iterator[str]:
    """Start the service on the first free port from `first_port` on; yields its URL, and stops it in the end.

    Raises:
        SetupError: no port is free, or the service did not start; with its own words.
    """
    port = _free_port(first_port)
    command = [sys.executable, "-m", "headwater.cli.main", "serve", "--host", HOST, "--port", str(port)]
    with log.open("w") as errors:
        # In a session of its own, so that Ctrl-C reaches only the demo, which then stops the service in order.
        service = subprocess.Popen(  # noqa: S603  our own command
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        )
    try:
        yield _announced_url(service, log)
    finally:
        service.send_signal(signal.SIGTERM)
        try:
            service.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            service.kill()
            service.wait()
        if service.stdout is not None:
            service.stdout.close()


def _free_port(first: int) -> int:
    for port in range(first, min(first + _PORTS_TRIED, 65_536)):
        with closing(socket.socket()) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise SetupError(f"no free port from {first} on; set another start with --port")


def _announced_url(service: "subprocess.Popen[str]", log: Path) -> str:
    for line in service.stdout or ():
        if line.startswith("listening on "):
            return line.removeprefix("listening on ").strip()
    lines = log.read_text().strip().splitlines()
    raise SetupError(lines[-1].removeprefix("headwater: ") if lines else f"the service did not start; see {log}")
