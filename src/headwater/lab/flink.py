"""The lab `flink`: a session cluster of one JobManager and one TaskManager, with Kafka and Iceberg on its class path.

Both are started as Java programs and not by Flink's shell scripts, which require settings that only a data centre
needs. Heaps are small, and everything listens on 127.0.0.1 only.
"""

import os
from pathlib import Path
from typing import Final

import yaml

from headwater.errors import SetupError
from headwater.lab.environments import folder_of, packages_of
from headwater.lab.kafka import ANY_CREDENTIALS
from headwater.lab.once import PROJECT
from headwater.lab.part import HOST, SMALL_JVM, Part, Site, answers, log_says

FLINK: Final = "lab-flink"
"""The folder under `jvm/` that defines Flink's jars and Python packages."""

PYTHON: Final = folder_of(FLINK) / "bin" / "python"
"""A Python with Flink's packages, kept apart: Flink and Spark want different versions of one of them."""

FLINK_HOME: Final = packages_of(FLINK) / "pyflink"

MORE_SETTINGS: Final = "HEADWATER_FLINK_CONFIG"
"""The environment variable that names a YAML file with settings of Flink to add to the lab's, or to replace them."""

TRANSPORT: Final = PROJECT / "build" / "signing-transport"
"""The transport that signs what OpenLineage's listener tells, where `make` has built it."""

_NEWEST_MINOR: Final = 12
"""Of Python 3: PyFlink 2.1 has no wheel for 3.13."""

_SLOTS: Final = 8
_LOGGING: Final = f"-Dlog4j.configurationFile={Path(__file__).with_name('log4j2.properties')}"
# The Java 17 modules that Flink's own configuration opens, which its libraries need.
_OPENED_PACKAGES: Final = (
    "java.io",
    "java.lang",
    "java.lang.reflect",
    "java.net",
    "java.nio",
    "java.text",
    "java.time",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "java.util.concurrent.locks",
    "sun.nio.ch",
)
_OPENED: Final = tuple(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED_PACKAGES)


def _java(heap: str, site: Site, main: str) -> list[str]:
    libraries = f"{FLINK_HOME}/lib/*:{site.jars}/*:{TRANSPORT}/*"
    return [
        "java",
        f"-Xmx{heap}",
        *SMALL_JVM,
        *_OPENED,
        _LOGGING,
        "-cp",
        libraries,
        main,
        "--configDir",
        str(site.folder),
    ]


def _configure(site: Site) -> None:
    port = site.ports["jobmanager"]
    storage = site.folder.parent / "jobmanager"
    settings: dict[str, object] = {
        "jobmanager.rpc.address": HOST,
        "jobmanager.rpc.port": port + 1,
        "jobmanager.bind-host": HOST,
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": port,
        "taskmanager.host": HOST,
        "taskmanager.bind-host": HOST,
        "taskmanager.numberOfTaskSlots": _SLOTS,
        # Flink's scripts would compute these from the size of the process.
        "taskmanager.cpu.cores": 2.0,
        "taskmanager.memory.framework.heap.size": "128m",
        "taskmanager.memory.framework.off-heap.size": "128m",
        "taskmanager.memory.task.heap.size": "384m",
        "taskmanager.memory.task.off-heap.size": "64m",
        "taskmanager.memory.network.min": "64m",
        "taskmanager.memory.network.max": "64m",
        "taskmanager.memory.managed.size": "128m",
        "taskmanager.memory.jvm-metaspace.size": "256m",
        "taskmanager.memory.jvm-overhead.min": "128m",
        "taskmanager.memory.jvm-overhead.max": "128m",
        "taskmanager.resource-id": "taskmanager",
        "metrics.fetcher.update-interval": 1000,
        "web.refresh-interval": 1000,
        "execution.checkpointing.dir": f"file://{storage}/checkpoints",
        "execution.checkpointing.savepoint-dir": f"file://{storage}/savepoints",
        "io.tmp.dirs": str(site.folder / "tmp"),
        "blob.storage.directory": str(site.folder / "tmp"),
    }
    (site.folder / "tmp").mkdir(exist_ok=True)
    (site.folder / "config.yaml").write_text(yaml.safe_dump(settings | _more_settings()))


def _more_settings() -> dict[str, object]:
    """The user's additional settings, with dotted keys."""
    file = os.environ.get(MORE_SETTINGS)
    if not file:
        return {}
    try:
        found = yaml.safe_load(Path(file).read_text())
    except (OSError, yaml.YAMLError) as unreadable:
        raise SetupError(f"{MORE_SETTINGS}: {file} cannot be read, or is not YAML") from unreadable
    if not isinstance(found, dict):
        raise SetupError(f"{MORE_SETTINGS}: {file}: expected settings such as `taskmanager.numberOfTaskSlots: 4`")
    return found


JOBMANAGER: Final = Part(
    name="jobmanager",
    title="Flink JobManager, a session cluster",
    port=8091,
    further_ports=1,
    address=f"http://{HOST}:{{port}}",
    pom=FLINK,
    python=FLINK,
    newest_minor=_NEWEST_MINOR,
    environment=lambda _: ANY_CREDENTIALS,
    prepare=_configure,
    command=lambda site: _java("384m", site, "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"),
    ready=answers("/overview"),
)

TASKMANAGER: Final = Part(
    name="taskmanager",
    title=f"Flink TaskManager, {_SLOTS} slots",
    port=8093,
    address=f"{HOST}:{{port}}",
    needs=("jobmanager",),
    pom=FLINK,
    python=FLINK,
    newest_minor=_NEWEST_MINOR,
    environment=lambda _: ANY_CREDENTIALS,
    prepare=_configure,
    command=lambda site: [
        *_java("512m", site, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"),
        *("-D", f"taskmanager.rpc.port={site.ports['taskmanager']}"),
    ],
    ready=log_says("Successful registration at resource manager"),
)

PARTS: Final = (JOBMANAGER, TASKMANAGER)
