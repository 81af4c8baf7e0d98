"""A real `headwater serve` in a process of its own, on a port of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.ports import free_port


def eventually(is_so: Callable[[], bool], within_s: float = 120.0) -> bool:
    """Whether it becomes so; the time is a bound for hanging, not a measurement."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Service:
    """Started, stopped and killed at will; always on the same port, over the same home."""

    def __init__(self, home: Path, *arguments: str, **variables: str) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = arguments
        self._variables = variables
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, and return when it listens."""
        command = [sys.executable, "-m", "headwater.cli.main", "serve", "--port", str(self.port), *self._arguments]
        environment = {**os.environ, "HEADWATER_HOME": str(self.home), **self._variables}
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line == f"listening on {self.url}\n", f"the service said {line!r}"

    def kill(self) -> None:
        """End it by SIGKILL, as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """End it by SIGTERM; its exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.send_signal(number)
        status = self._process.wait(120)
        self._process.stdout.close()
        self._process = None
        return status

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None


@contextmanager
def running(home: Path, *arguments: str, **variables: str) -> Iterator[Service]:
    service = Service(home, *arguments, **variables)
    try:
        service.start()
        yield service
    finally:
        if service.is_running:
            service.stop()
