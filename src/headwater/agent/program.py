"""The agent as a program: its lock, its sockets and its signals."""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import uvicorn
from fastapi import FastAPI

from headwater.agent.api import create_api
from headwater.agent.config import LOOPBACK, HttpApi
from headwater.agent.loop import Agent, AgentContext
from headwater.agent.store import AgentStore
from headwater.errors import SetupError
from headwater.http1 import Http1OnlyProtocol
from headwater.observe.signals import stop_signals

_LONGEST_SOCKET_PATH: Final = 107
_ANSWERS_WITHIN_S: Final = 2


def socket_path(home: Path) -> Path:
    """The path of the agent's Unix socket."""
    return home / "agent" / "agent.sock"


def run_agent(context: AgentContext, say: Callable[[str], None]) -> None:
    """Run an agent until SIGTERM, SIGINT or SIGHUP; calls `say` with its addresses once it listens.

    Raises:
        SetupError: another agent runs on this HEADWATER_HOME, or a socket or the database cannot be opened.
    """
    folder = context.home / "agent"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as fault:
        raise SetupError(f"HEADWATER_HOME: {context.home} cannot be used: {fault.strerror}") from fault
    with _only_agent(folder / "lock"), AgentStore(folder / "agent.db") as store, contextlib.ExitStack() as open_ones:
        asyncio.run(_running(store, context, _listeners(context, open_ones), say))


async def _running(
    store: AgentStore,
    context: AgentContext,
    listeners: list[tuple[socket.socket, str | None]],
    say: Callable[[str], None],
) -> None:
    agent = Agent(store, context)
    loop = asyncio.get_running_loop()
    told_to_end = asyncio.Event()
    for number in stop_signals():
        loop.add_signal_handler(number, told_to_end.set)
    servers = [_Server(create_api(agent, token)) for _, token in listeners]
    answering = [
        asyncio.create_task(server.serve([listener])) for server, (listener, _) in zip(servers, listeners, strict=True)
    ]
    working = asyncio.create_task(agent.serve())
    ended = asyncio.create_task(told_to_end.wait())
    say(f"agent ready: {', '.join(_where(listener) for listener, _ in listeners)}")
    try:
        await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        agent.shut_down()
        await working
    finally:
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*answering)
        ended.cancel()


def _listeners(context: AgentContext, open_ones: contextlib.ExitStack) -> list[tuple[socket.socket, str | None]]:
    """The bound sockets, each with the token that it requires."""
    found: list[tuple[socket.socket, str | None]] = [(_bound_locally(socket_path(context.home)), None)]
    if context.config.http is not None:
        found.append((_bound_http(context.config.http), _token(context.config.http)))
    for listener, _ in found:
        open_ones.callback(listener.close)
    return found


def _bound_locally(path: Path) -> socket.socket:
    if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
        raise SetupError(f"{path} is too long for a socket's name: set HEADWATER_HOME to a shorter one")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        path.unlink(missing_ok=True)  # we hold the lock, so the process that created it is gone
        listener.bind(str(path))
        listener.listen()
    except OSError as fault:
        listener.close()
        raise SetupError(f"cannot listen on {path}: {fault.strerror}") from fault
    finally:
        os.umask(before)
    return listener


def _bound_http(http: HttpApi) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, http.port))
        listener.listen()  # now: before that another process may bind the port too
    except OSError as fault:
        listener.close()
        raise SetupError(f"http.port: cannot listen on {LOOPBACK}, port {http.port}: {fault.strerror}") from fault
    return listener


def _token(http: HttpApi) -> str:
    token = os.environ.get(http.token_env, "")
    if not token:
        raise SetupError(f"http.token_env: the environment variable {http.token_env} is not set")
    return token


def _where(listener: socket.socket) -> str:
    if listener.family == socket.AF_UNIX:
        return str(listener.getsockname())
    host, port = listener.getsockname()
    return f"http://{host}:{port}"


@contextmanager
def _only_agent(path: Path) -> Iterator[None]:
    """Holds the lock that allows only one agent on a HEADWATER_HOME."""
    with _opened(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SetupError(f"another agent runs on this HEADWATER_HOME (process {_content(lock)})") from None
        except OSError as fault:
            raise SetupError(f"HEADWATER_HOME: {path} cannot be locked: {fault.strerror}") from fault
        with contextlib.suppress(OSError):  # a full disk: the lock still holds, only its holder's name is missing
            lock.write(b"%-10d" % os.getpid())
        yield


def _opened(path: Path) -> IO[bytes]:
    try:
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
    except OSError as fault:
        raise SetupError(f"HEADWATER_HOME: {path} cannot be opened: {fault.strerror}") from fault


def _content(lock: IO[bytes]) -> str:
    return lock.read().decode().strip()


class _Server(uvicorn.Server):
    """A server that leaves signals to the agent."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=Http1OnlyProtocol,
                ws="none",
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=_ANSWERS_WITHIN_S,
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield
