import contextlib
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.component.emit.emit_processes import HERE, Pipeline, Service
from tests.component.emit.emit_receiver import Receiver, server
from tests.support.certificates import certificate
from tests.support.ports import free_port


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A service in this process, which accepts events."""
    with served(None) as taker:
        yield taker


@pytest.fixture
def unknown_receiver(tmp_path: Path) -> Iterator[Receiver]:
    """The same over TLS, with a self-signed certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate(tmp_path))
    with served(context) as taker:
        yield taker


@contextlib.contextmanager
def served(tls: ssl.SSLContext | None) -> Iterator[Receiver]:
    taker = Receiver()
    taker.is_open.set()
    with server(0, taker) as service:
        if tls is not None:
            service.socket = tls.wrap_socket(service.socket, server_side=True)
        taker.url = f"http{'s' if tls else ''}://127.0.0.1:{service.server_port}/api/v1/lineage"
        thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield taker
        taker.is_open.set()
        service.shutdown()
        thread.join()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """A service that is down."""
    service = Service(free_port(), tmp_path / "received.jsonl")
    yield service
    service.kill()


@pytest.fixture
def pipeline() -> Iterator[Callable[..., Pipeline]]:
    """Starts processes with an emitter: `pipeline(spool, url, name=value…)`."""
    with contextlib.ExitStack() as processes:

        def start(spool: Path, url: str, *arguments: str) -> Pipeline:
            command = [sys.executable, str(HERE / "emit_pipeline.py"), str(spool), url, *arguments]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            processes.enter_context(process)
            processes.callback(process.kill)
            return Pipeline(process)

        yield start
