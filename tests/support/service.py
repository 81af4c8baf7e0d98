"""A real `headwater serve` in its own process, on its own port."""

import json
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.ports import free_port
from tests.support.program import Program


def eventually(condition: Callable[[], bool], within_s: float = 120.0) -> bool:
    """Wait until the condition holds; False after the time limit, which is for hangs, not a measurement."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Service(Program):
    """Can be started, stopped and killed; always on the same port, over the same home."""

    def __init__(self, home: Path, *arguments: str, **variables: str) -> None:
        super().__init__(home, **variables)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._arguments = arguments

    def start(self) -> None:
        """Start it, and return once it listens."""
        line = self.begin("serve", "--port", str(self.port), *self._arguments)
        assert line == f"listening on {self.url}\n", f"the service printed {line!r}"

    def post_events(self, events: Iterable[object]) -> None:
        """Post events in one batch."""
        body = b"\n".join(json.dumps(event).encode() for event in events)
        headers = {"content-type": "application/x-ndjson"}
        httpx.post(f"{self.url}/api/v1/lineage/batch", content=body, headers=headers).raise_for_status()

    def kill(self) -> None:
        """Kill it with SIGKILL, like a power cut."""
        self.end(signal.SIGKILL)

    def stop(self) -> int:
        """End it by SIGTERM; returns its exit status."""
        return self.end(signal.SIGTERM)


@contextmanager
def running(home: Path, *arguments: str, **variables: str) -> Iterator[Service]:
    service = Service(home, *arguments, **variables)
    try:
        service.start()
        yield service
    finally:
        if service.is_running:
            service.stop()
