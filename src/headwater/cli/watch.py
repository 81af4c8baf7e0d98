"""`headwater watch …`: tell what engines do that do not tell it themselves."""

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from headwater.capture.outlet import Outlet
from headwater.capture.registry import RegistryWatcher, ReportedVersion
from headwater.capture.schemas import Registry
from headwater.cli.events_to import EndpointOption, TokenEnvOption
from headwater.cli.option_values import as_long_as_can_be
from headwater.cli.printed import say
from headwater.cli.signals import stop_signals_call
from headwater.cli.web_address import web_address
from headwater.emit.config import DEFAULT_ENDPOINT, EmitConfig, FileConfig, HttpConfig
from headwater.emit.emitter import Emitter
from headwater.emit.home import headwater_home
from headwater.emit.log_keys import pinned_key
from headwater.errors import InvalidInputError, SetupError
from headwater.model.credentials import without_credentials
from headwater.model.words import so_many
from headwater.signing.keyfile import load_or_create

if TYPE_CHECKING:
    from headwater.capture.trino import CatalogMeaning

watch = typer.Typer(
    name="watch",
    help="Report the lineage of engines that do not report it themselves.",
    no_args_is_help=True,
)

_HEARTBEAT_S: Final = 300.0
_SETTLE_S: Final = 30.0

_FileOption = Annotated[Path | None, typer.Option(help="Append events to this file too.")]
_IntervalOption = Annotated[float, typer.Option(min=0.1, callback=as_long_as_can_be, help="Seconds between two polls.")]
_OnceOption = Annotated[bool, typer.Option("--once", help="Poll once, then exit.")]
_HeartbeatOption = Annotated[
    int, typer.Option(min=1, callback=as_long_as_can_be, help="Seconds between two events of a run that continues.")
]


@watch.callback()
def _watch() -> None:
    """Report the lineage of engines that do not report it themselves."""


@watch.command()
def connect(
    bootstrap: Annotated[str, typer.Option(help="The Kafka that Connect keeps its topics in, host:port.")],
    endpoint: EndpointOption = DEFAULT_ENDPOINT,
    token_env: TokenEnvOption = None,
    file: _FileOption = None,
    namespace: Annotated[str, typer.Option(help="The namespace of the connectors' jobs.")] = "kafka-connect",
    registry: Annotated[str | None, typer.Option(help="A schema registry's URL, for the fields of topics.")] = None,
    rest: Annotated[str | None, typer.Option(help="A worker's REST API, for the version of Kafka Connect.")] = None,
    status_topic: Annotated[str, typer.Option(help="Connect's status.storage.topic.")] = "connect-status",
    config_topic: Annotated[str, typer.Option(help="Connect's config.storage.topic.")] = "connect-configs",
    evidence_topic: Annotated[
        str, typer.Option(help="Where the transform OpenLineageLifecycleSmt sends its events, if it is used.")
    ] = "headwater-lineage",
    group: Annotated[str | None, typer.Option(help="Connect's group.id; found if there is one Connect only.")] = None,
    client: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE for the Kafka client, or NAME=env:VARIABLE.")
    ] = None,
    heartbeat: _HeartbeatOption = 60,
    lost_after: Annotated[
        float,
        typer.Option(
            min=1, callback=as_long_as_can_be, help="Seconds without any worker after which runs count as ended."
        ),
    ] = 30,
) -> None:
    """Watch a Kafka Connect cluster: one job per connector, one run from its start to its stop.

    Example: headwater watch connect --bootstrap localhost:9092 --registry http://localhost:8081
    """
    try:
        # Imported here: Kafka's client is an extra, and --help must not need it.
        from headwater.capture.connect.events import ClusterContext
        from headwater.capture.connect.rest import version_at
        from headwater.capture.connect.watcher import WatchConfig, Watcher
    except ModuleNotFoundError as missing:
        raise SetupError(f"{missing.name} is not installed: pip install 'headwater[connect]'") from missing
    home = headwater_home()
    schemas = Registry(web_address("--registry", registry)) if registry else None
    config = WatchConfig(
        bootstrap=bootstrap,
        client=_settings(client or []),
        status_topic=status_topic,
        config_topic=config_topic,
        evidence_topic=evidence_topic,
        group=group,
        state=home / "watch" / f"connect-{_named(bootstrap, config_topic, status_topic)}.json",
        heartbeat_s=heartbeat,
        lost_after_s=lost_after,
    )
    version = version_at(web_address("--rest", rest)) if rest else None
    context = ClusterContext(namespace, bootstrap, schemas.schema_of if schemas else lambda _: None, heartbeat, version)
    with _until_stopped() as stop, _emission(home, endpoint, token_env, file) as outlet:
        Watcher(config, context, outlet).run(stop, _print_start("connector", bootstrap))


@watch.command()
def flink(
    url: Annotated[
        list[str], typer.Option(help="Flink's REST API; several JobManagers of one cluster: once for each.")
    ],
    endpoint: EndpointOption = DEFAULT_ENDPOINT,
    token_env: TokenEnvOption = None,
    file: _FileOption = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="The namespace of the jobs; else the cluster's openlineage.job.namespace, or flink-jobs."),
    ] = None,
    interval: _IntervalOption = 1,
    heartbeat: _HeartbeatOption = 60,
    lost_after: Annotated[
        float,
        typer.Option(
            min=1,
            callback=as_long_as_can_be,
            help="Seconds without an answer after which runs count as ended, until one comes.",
        ),
    ] = 5,
) -> None:
    """Watch a Flink cluster: every job from start to end, with checkpoints, restarts, records and back-pressure.

    Example: headwater watch flink --url http://localhost:8081
    """
    # Imported here: the official client takes half a second, which --help should not wait for.
    from headwater.capture.flink.rest import FlinkCluster
    from headwater.capture.flink.watcher import WatchConfig, Watcher

    home = headwater_home()
    config = WatchConfig(
        namespace=namespace,
        state=home / "watch" / f"flink-{_named(*sorted(url))}.json",
        interval_s=interval,
        heartbeat_s=heartbeat,
        lost_after_s=lost_after,
    )
    with (
        closing(FlinkCluster([web_address("--url", each) for each in url])) as cluster,
        _until_stopped() as stop,
        _emission(home, endpoint, token_env, file) as outlet,
    ):
        Watcher(config, cluster, outlet).run(stop, _print_start("job", cluster.url))


@watch.command()
def registry(
    url: Annotated[
        str, typer.Option(help="The registry's URL; Confluent's API, so Apicurio's ends in /apis/ccompat/v7.")
    ],
    bootstrap: Annotated[str, typer.Option(help="The Kafka of the topics, host:port: they are named by it.")],
    endpoint: EndpointOption = DEFAULT_ENDPOINT,
    token_env: TokenEnvOption = None,
    file: _FileOption = None,
    interval: _IntervalOption = 5,
    once: _OnceOption = False,
) -> None:
    """Watch a schema registry: every version of every subject, and what it changed.

    Example: headwater watch registry --url http://localhost:8081 --bootstrap localhost:9092
    """
    home = headwater_home()
    state = home / "watch" / f"registry-{_named(url, bootstrap)}.json"
    with (
        closing(Registry(web_address("--url", url))) as subjects,
        _until_stopped() as stop,
        _emission(home, endpoint, token_env, file) as outlet,
    ):
        say(f"watching the subjects of {without_credentials(url)}")
        watcher = RegistryWatcher(subjects, bootstrap, state, outlet)
        if once:
            watcher.poll(_print_version)
        else:
            watcher.run(stop, interval, _print_version)


@watch.command()
def trino(
    etc: Annotated[Path, typer.Option(help="Trino's configuration folder, with its folder `catalog`.")],
    uri: Annotated[
        str | None, typer.Option(help="The coordinator's address; as its OpenLineage listener has it, if it has one.")
    ] = None,
    endpoint: EndpointOption = DEFAULT_ENDPOINT,
    token_env: TokenEnvOption = None,
    file: _FileOption = None,
    interval: _IntervalOption = 30,
    once: _OnceOption = False,
) -> None:
    """Watch a Trino's configuration, so that a table of another system is one dataset under both names.

    Example: headwater watch trino --etc /etc/trino --once
    """
    # Imported here, as in `flink`.
    from headwater.capture.trino import TrinoWatcher, engine_namespace, namespace_of

    namespace = namespace_of(etc) if uri is None else engine_namespace(uri)
    if namespace is None:
        raise InvalidInputError(
            f"{etc} has no OpenLineage listener that gives Trino's address: set --uri http://host:port"
        )
    with _until_stopped() as stop, _emission(headwater_home(), endpoint, token_env, file) as outlet:
        if once:
            stop.set()
        TrinoWatcher(etc, namespace, outlet).run(stop, interval, _print_catalog)


def _print_catalog(catalog: "CatalogMeaning") -> None:
    if catalog.facet is None:
        say(f"{catalog.name}: its tables cannot be matched with those of other engines: {catalog.why}", err=True)
    else:
        where = catalog.facet.namespace or catalog.facet.metadataUri or catalog.facet.warehouseUri
        say(f"{catalog.name}: {catalog.facet.type or 'tables'} at {where}")


def _print_version(version: ReportedVersion) -> None:
    breaking = ", breaking for readers of the changed columns" if version.is_breaking else ""
    say(f"{version.subject} version {version.version}{breaking}")


@contextmanager
def _emission(home: Path, endpoint: str, token_env: str | None, file: Path | None) -> Iterator[Outlet]:
    emission = EmitConfig(
        http=HttpConfig(endpoint=endpoint, token_env=token_env, log_key=pinned_key(home, endpoint)),
        file=None if file is None else FileConfig(path=file),
        spool=home / "spool",
        heartbeat_s=_HEARTBEAT_S,
    )
    key = load_or_create(home)
    with Emitter.of_node(emission, key) as emitter:
        yield Outlet(emitter.put, lambda: emitter.settle(_SETTLE_S))


def _print_start(what: str, where: str) -> Callable[[int], None]:
    return lambda number: say(f"watching {so_many(number, what)} on {where}")


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """A flag that is set by SIGTERM and Ctrl-C."""
    stop = threading.Event()
    with stop_signals_call(lambda *_: stop.set()):
        yield stop


def _settings(pairs: list[str]) -> dict[str, str]:
    """Settings of the Kafka client; secrets are given by environment variable, so that `ps` does not show them."""
    settings = {}
    for pair in pairs:
        name, is_pair, value = pair.partition("=")
        if not is_pair:
            raise InvalidInputError(f"--client {name}: expected NAME=VALUE")
        if value.startswith("env:") and value[4:] not in os.environ:
            raise InvalidInputError(f"--client {name}: the environment variable {value[4:]} is not set")
        settings[name] = os.environ[value[4:]] if value.startswith("env:") else value
    return settings


def _named(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]
