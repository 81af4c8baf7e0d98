"""The lab `kafka`: a broker, a schema registry, a Connect worker, and the S3 and Glue that its sinks write to.

One node of each with small heaps: replication factors are 1, rebalances do not wait, there is no authentication. All of
them listen on 127.0.0.1 only.
"""

import base64
import subprocess
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx

from headwater.errors import SetupError
from headwater.lab.jars import folder_of
from headwater.lab.once import PROJECT
from headwater.lab.part import HOST, SMALL_JVM, Part, Site, answers, log_says

TRANSFORM: Final = PROJECT / "build" / "connect-smt"
"""The lineage transform for Connect, where `make lab` has built it."""

CONNECTORS: Final = PROJECT / "build" / "lab-connectors"
"""A source of orders, an archive in S3 and the Avro converter, where `make lab` has built them."""

CONFLUENT_API: Final = "/apis/ccompat/v7"
ANY_CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "lab",
    "AWS_SECRET_ACCESS_KEY": "lab",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""The credentials of AWS clients in the lab, whose S3 and Glue accept any; so no real keys are used."""

_FETCHED_PLUGINS: Final = {"iceberg": "lab-iceberg", "debezium": "lab-debezium"}
"""By folder in the worker's plugin path."""
_LOGGING: Final = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties')}"


def _java(heap: str, site: Site, main: str, *arguments: str) -> list[str]:
    return ["java", f"-Xmx{heap}", *SMALL_JVM, _LOGGING, "-cp", f"{site.jars}/*", main, *arguments]


def _broker_properties(site: Site) -> list[str]:
    port = site.ports["broker"]
    controller = port + 1
    return [
        "process.roles=broker,controller",
        "node.id=1",
        f"controller.quorum.voters=1@{HOST}:{controller}",
        "controller.listener.names=CONTROLLER",
        "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        f"listeners=PLAINTEXT://{HOST}:{port},CONTROLLER://{HOST}:{controller}",
        f"advertised.listeners=PLAINTEXT://{HOST}:{port}",
        f"log.dirs={site.folder / 'data'}",
        "num.partitions=1",
        "offsets.topic.replication.factor=1",
        "offsets.topic.num.partitions=4",
        "transaction.state.log.replication.factor=1",
        "transaction.state.log.min.isr=1",
        "transaction.state.log.num.partitions=4",
        "share.coordinator.state.topic.replication.factor=1",
        "share.coordinator.state.topic.min.isr=1",
        "group.initial.rebalance.delay.ms=0",
        "log.retention.ms=-1",  # keep old records: the check half a minute after the start would delete them
    ]


def _format_storage(site: Site) -> None:
    """Write the configuration; format the storage if that is not done yet."""
    properties = site.file("server.properties", _broker_properties(site))
    if (site.folder / "data" / "meta.properties").exists():
        return
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    tool = _java("128m", site, "kafka.tools.StorageTool")
    # --cluster-id=: an id may begin with a hyphen, which alone would be taken for an option.
    arguments = ["format", f"--cluster-id={cluster}", "--config", str(properties), "--ignore-formatted"]
    done = subprocess.run([*tool, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise SetupError(f"broker: its storage could not be formatted: {(done.stderr or done.stdout).strip()[-500:]}")


BROKER: Final = Part(
    name="broker",
    title="Kafka broker",
    port=9092,
    further_ports=1,
    address=f"{HOST}:{{port}}",
    pom="lab-broker",
    prepare=_format_storage,
    command=lambda site: _java("256m", site, "kafka.Kafka", str(site.folder / "server.properties")),
    ready=log_says("Kafka Server started"),
)


def _registry_environment(site: Site) -> Mapping[str, str]:
    return {
        "QUARKUS_HTTP_HOST": HOST,
        "QUARKUS_HTTP_PORT": str(site.ports["registry"]),
        "APICURIO_STORAGE_KIND": "sql",
        "APICURIO_STORAGE_SQL_KIND": "h2",
        "APICURIO_DATASOURCE_URL": f"jdbc:h2:file:{site.folder / 'data'}",
    }


def _compatible_by_default(site: Site) -> None:
    """Set the rule BACKWARD, the default of Confluent's registry; this one has none by default."""
    rule = {"compatibility": "BACKWARD"}
    url = f"http://{HOST}:{site.ports['registry']}{CONFLUENT_API}/config"
    httpx.put(url, json=rule, timeout=30).raise_for_status()


REGISTRY: Final = Part(
    name="registry",
    title="schema registry, Confluent's API",
    port=8081,
    address=f"http://{HOST}:{{port}}{CONFLUENT_API}",
    pom="lab-registry",
    environment=_registry_environment,
    command=lambda site: [
        "java",
        "-Xmx192m",
        *SMALL_JVM,
        "-jar",
        str(next(site.jars.glob("apicurio-registry-app-*-runner.jar"))),
    ],
    ready=answers(f"{CONFLUENT_API}/subjects"),
    settle=_compatible_by_default,
)


def _worker_properties(site: Site) -> list[str]:
    return [
        f"bootstrap.servers={HOST}:{site.ports['broker']}",
        "group.id=connect",
        "config.storage.topic=connect-configs",
        "config.storage.replication.factor=1",
        "offset.storage.topic=connect-offsets",
        "offset.storage.replication.factor=1",
        "offset.storage.partitions=4",
        "status.storage.topic=connect-status",
        "status.storage.replication.factor=1",
        "key.converter=org.apache.kafka.connect.json.JsonConverter",
        "value.converter=org.apache.kafka.connect.json.JsonConverter",
        f"listeners=http://{HOST}:{site.ports['connect']}",
        f"rest.advertised.host.name={HOST}",
        f"plugin.path={site.folder / 'plugins'}",
        # 5 s of CPU instead of 18: plugins name themselves in META-INF/services.
        "plugin.discovery=service_load",
        "scheduled.rebalance.max.delay.ms=0",
        "offset.flush.interval.ms=1000",
        # The consumers of a killed worker are noticed after ten seconds, not after 45.
        "consumer.session.timeout.ms=10000",
    ]


def _configure_worker(site: Site) -> None:
    plugins = site.folder / "plugins"
    plugins.mkdir(exist_ok=True)
    file = plugins / "file"
    file.mkdir(exist_ok=True)
    for jar in site.jars.glob("connect-file-*.jar"):
        _link(file / jar.name, jar)
    for name, pom in _FETCHED_PLUGINS.items():
        _link(plugins / name, folder_of(pom))
    for name, built in (("headwater", TRANSFORM), ("lab", CONNECTORS)):
        if built.is_dir():
            _link(plugins / name, built)
    site.file("worker.properties", _worker_properties(site))


def _link(link: Path, target: Path) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


CONNECT: Final = Part(
    name="connect",
    title="Kafka Connect, distributed",
    port=8083,
    address=f"http://{HOST}:{{port}}",
    needs=("broker",),
    pom="lab-connect",
    plugins=tuple(_FETCHED_PLUGINS.values()),
    environment=lambda _: ANY_CREDENTIALS,
    prepare=_configure_worker,
    command=lambda site: _java(
        "768m", site, "org.apache.kafka.connect.cli.ConnectDistributed", str(site.folder / "worker.properties")
    ),
    ready=answers("/connectors"),
)

S3: Final = Part(
    name="s3",
    title="S3 and Glue (moto)",
    port=9000,
    address=f"http://{HOST}:{{port}}",
    command=lambda site: [sys.executable, "-m", "moto.server", "-H", HOST, "-p", str(site.ports["s3"])],
    ready=answers("/moto-api/"),
)

PARTS: Final = (BROKER, REGISTRY, S3, CONNECT)
