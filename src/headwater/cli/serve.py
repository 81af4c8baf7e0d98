"""`headwater serve`: the lineage service, until it is told to stop."""

import errno
import gc
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
import uvicorn
from fastapi import FastAPI

from headwater.access.config import read_config
from headwater.cli.certificate import Certificate
from headwater.cli.log_key import check_log_name, log_key_of
from headwater.cli.option_values import host_names, name_of_key, postgres_url
from headwater.cli.printed import say
from headwater.cli.signals import stop_signals_call
from headwater.emit.home import headwater_home
from headwater.errors import SetupError
from headwater.http1 import Http1OnlyProtocol
from headwater.service.app import create_app
from headwater.service.config import ServiceConfig
from headwater.service.log.cosignatures import enrolled_witnesses
from headwater.service.past.pasts import DEFAULT_KEPT_MB
from headwater.signing.keyfile import tokens_path, trusted_keys
from headwater.store.opening import open_store

if TYPE_CHECKING:
    from headwater.access.entrance import Entrance

_GRACE_S: Final = 10
"""How long requests in progress may still take once the service is told to stop."""
_KEEP_ALIVE_S: Final = 75
_RENEW_EVERY_S: Final = 1

_HostOption = Annotated[str, typer.Option(help="The address to listen on.")]
_PortOption = Annotated[int, typer.Option(min=0, max=65_535, help="The port to listen on; 0 takes a free one.")]
_SignedOption = Annotated[
    bool, typer.Option("--require-signed", help="Refuse events without a valid signature by a trusted key.")
]
_KeptMbOption = Annotated[int, typer.Option(min=0, help="Memory in MB for cached past states (`asOf`, `logSize`).")]
_RecordingOption = Annotated[
    bool | None,
    typer.Option(
        "--beside/--alone",
        help="Read and store events in a second process, or in the one that answers, which needs less memory but "
        "takes fewer events a second; by default a second process if there are two cores.",
    ),
]
_DatabaseOption = Annotated[
    str | None,
    typer.Option(
        envvar="HEADWATER_DATABASE_URL",
        metavar="URL",
        callback=postgres_url,
        help="postgresql://USER:PASSWORD@HOST/DATABASE, several services may share it; "
        "without it, a SQLite file in HEADWATER_HOME. Rather set the variable: others see a command.",
    ),
]
_LogNameOption = Annotated[
    str | None,
    typer.Option(
        envvar="HEADWATER_LOG_NAME",
        callback=name_of_key,
        help="The permanent name under which the log signs its heads, like lineage.example.org; "
        "by default this machine's.",
    ),
]
_RetainRawDaysOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        envvar="HEADWATER_RETAIN_RAW_DAYS",
        help="Move raw events into compressed segment files after so many days; without it, never.",
    ),
]
_AccessOption = Annotated[
    bool,
    typer.Option(
        "--access",
        envvar="HEADWATER_ACCESS",
        help="Require API keys (`headwater access`) or bearer tokens. Also on if HEADWATER_HOME has an `access.yaml`; "
        "required for any address but loopback.",
    ),
]
_AllowHostOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        callback=host_names,
        envvar="HEADWATER_ALLOWED_HOSTS",
        help="Without --access: a host name, such as a proxy's, that requests may use and whose pages may call; "
        "may be given several times. Other hosts are refused, so that pages of other sites cannot use the API.",
    ),
]
_CertificateOption = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="Serve HTTPS: the certificate and its chain, PEM.")
]
_CertificateKeyOption = Annotated[
    Path | None, typer.Option(exists=True, dir_okay=False, help="The certificate's private key, PEM.")
]


def serve(
    host: _HostOption = "127.0.0.1",
    port: _PortOption = 5000,
    require_signed: _SignedOption = False,
    kept_mb: _KeptMbOption = DEFAULT_KEPT_MB,
    records_in_process: _RecordingOption = None,
    database: _DatabaseOption = None,
    log_name: _LogNameOption = None,
    retain_raw_days: _RetainRawDaysOption = None,
    access: _AccessOption = False,
    allow_host: _AllowHostOption = None,
    tls_cert: _CertificateOption = None,
    tls_key: _CertificateKeyOption = None,
) -> None:
    """Run the lineage service; it says "listening on http://…" when it is ready, and stops on SIGTERM or Ctrl-C.

    Example: headwater serve --port 5001 --require-signed
    """
    _allow_connections()
    home = headwater_home()
    where = database or home / "headwater.db"
    tls = _certificate(tls_cert, tls_key)
    check_log_name(home, log_name)
    with closing(_bound(host, port)) as listener:
        way_in = _entrance(home, is_wanted=access)
        _refuse_strangers(listener, way_in, tls)
        with closing(open_store(where, home / "segments")) as store:
            key = log_key_of(store, home, log_name)
            config = ServiceConfig(
                require_signed=require_signed,
                kept_mb=kept_mb,
                records_in_process=_has_spare_core() if records_in_process is None else records_in_process,
                retain_raw_days=retain_raw_days,
                tokens=tokens_path(home),
                entrance=way_in,
                hosts=frozenset(name.lower() for name in (host, *(allow_host or ()))),
                witnesses=enrolled_witnesses(home),
            )
            app = create_app(store, trusted_keys(home), config, log_key=key, now_us=_now_us)

            def ready() -> None:
                _calm_garbage_collection()
                say(f"listening on {_url(listener, tls)}")

            gc.disable()  # while loading, which would take twice as long with it
            _Server(app, ready, tls).run(sockets=[listener])


def _allow_connections() -> None:
    """Raise the limit of open files to the maximum: each connection takes one, and 1,024 are soon taken."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _now_us() -> int:
    return time.time_ns() // 1_000


def _certificate(path: Path | None, key: Path | None) -> Certificate | None:
    if path is None and key is None:
        return None
    if path is None or key is None:
        raise SetupError("--tls-cert, --tls-key: give both, or neither")
    return Certificate(path, key)


def _entrance(home: Path, *, is_wanted: bool) -> "Entrance | None":
    path = home / "access.yaml"
    if not is_wanted and not path.exists():
        return None
    from headwater.access.entrance import entrance  # imported here: it needs joserfc, which few services use

    return entrance(read_config(path), home / "access" / "jwks.json", _now_us)


def _has_spare_core() -> bool:
    return len(os.sched_getaffinity(0)) > 1


def _bound(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as fault:
        raise SetupError(f"--host {host}: cannot be resolved ({fault.strerror})") from fault
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(socket.SOMAXCONN)  # at once, so that another process that binds this port gets an error
    except OSError as fault:
        listener.close()
        raise SetupError(_cannot_listen(host, port, fault)) from fault
    return listener


def _cannot_listen(host: str, port: int, fault: OSError) -> str:
    match fault.errno:
        case errno.EADDRINUSE:
            return f"port {port} is in use; stop what listens there, or choose another with --port (0: any free port)"
        case errno.EACCES:
            return f"port {port} needs more rights than this user has; choose one from 1024 on with --port"
        case errno.EADDRNOTAVAIL:
            return f"--host {host} is not an address of this machine; 127.0.0.1 always works"
    return f"cannot listen on {host}, port {port}: {fault.strerror}"


def _url(listener: socket.socket, tls: Certificate | None) -> str:
    host, port = listener.getsockname()[:2]
    scheme = "http" if tls is None else "https"
    return f"{scheme}://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"{scheme}://{host}:{port}"


def _refuse_strangers(listener: socket.socket, entrance: "Entrance | None", tls: Certificate | None) -> None:
    """Refuse to listen to other machines without access control.

    Raises:
        SetupError: the address is reachable from other machines, and there is no authentication.
    """
    if ip_address(listener.getsockname()[0].partition("%")[0]).is_loopback:
        return
    if entrance is None:
        raise SetupError(
            f"{_url(listener, tls)} can be reached from other machines, and anyone there could read and write: "
            "add --access to require keys or tokens (docs/access.md), or listen on 127.0.0.1"
        )
    if tls is None:
        say(
            f"warning: {_url(listener, tls)} can be reached from other machines without TLS, so keys and tokens can be "
            "read on the network; set --tls-cert and --tls-key, or put it behind a proxy with TLS",
            err=True,
        )


def _calm_garbage_collection() -> None:
    """Exclude all loaded objects from garbage collection, and collect the rest less often.

    The graph only grows and has no cycles. With Python's defaults, at 48,000 events of 10 kB, collections stopped every
    request for up to 0.7 s and took a fifth of the throughput (`benchmarks/ingest.py --events 48000`). A collection
    takes as long as there are young objects, 40 ms for 50,000 that all stay: a large answer is to go without one.
    """
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
    gc.enable()


class _Server(uvicorn.Server):
    """A server that reports when it is ready, ends streams when it is told to stop, and then exits with 0."""

    def __init__(self, app: FastAPI, on_ready: Callable[[], None], tls: Certificate | None) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="uvloop",
                http=Http1OnlyProtocol,
                ws="none",
                lifespan="on",
                access_log=False,
                log_config=None,
                server_header=False,
                proxy_headers=False,  # the client address is unused; parsing these takes a tenth of the time
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
                ssl_certfile=None if tls is None else tls.path,
                ssl_keyfile=None if tls is None else tls.key,
                callback_notify=self._renew,
                timeout_notify=_RENEW_EVERY_S,
            )
        )
        self._app = app
        self._tls = tls
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def _renew(self) -> None:
        if self._tls is not None and self.config.ssl is not None:
            self._tls.renew(self.config.ssl)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.service.feed.close()  # its streams would never end by themselves
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As in uvicorn, but a requested stop is a success: the signal is not raised again."""
        with stop_signals_call(self.handle_exit):
            yield
