import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from emit_processes import HERE, Pipeline, Service
from emit_receiver import Receiver, server


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A service in this process; it is open."""
    taker = Receiver()
    taker.is_open.set()
    with server(0, taker) as service:
        taker.url = f"http://127.0.0.1:{service.server_port}/api/v1/lineage"
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield taker
        taker.is_open.set()
        service.shutdown()
        thread.join()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that is down; its port is kept free of others by being one that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    service = Service(port, tmp_path / "received.jsonl")
    yield service
    service.kill()


@pytest.fixture
def pipeline() -> Iterator[Callable[..., Pipeline]]:
    """Starts processes that hold an emitter: `pipeline(spool, url, name=value…)`."""
    with contextlib.ExitStack() as processes:

        def start(spool: Path, url: str, *arguments: str) -> Pipeline:
            command = [sys.executable, str(HERE / "emit_pipeline.py"), str(spool), url, *arguments]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.enter_context(process)
            processes.callback(process.kill)
            return Pipeline(process)

        yield start
