"""Fixtures for all tests: the OpenLineage specification's files, servers; and how tests are distributed."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from headwater.lab.lab import Lab
from tests.support.flink_lab import running_flink
from tests.support.postgres import Cluster, running_cluster

# Deterministic examples on a continuous integration server, so that a failure is due to the change.
settings.register_profile("headwater", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("headwater")


# Many of Spark's JVMs start for a single query: without the second compiler, and with the classes from an archive, they
# take a third of the processor time. Without the archive, or with another class path, a JVM loads the classes itself.
_CLASSES = Path(__file__).resolve().parents[1] / "build" / "spark-classes.jsa"
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:SharedArchiveFile={_CLASSES} -Xlog:disable"
)

_ENGINES = {
    "spark": tuple(f"tests/component/{room}/" for room in ("capture_spark", "pipeline", "sparkplan")),
    "streams": ("tests/component/capture/", "tests/component/lab/", "tests/e2e/"),
}
"""Tests that share Spark, or Kafka, Connect and Flink; those that start a browser are among the latter."""
_APART = tuple(f"tests/e2e/test_{name}.py" for name in ("agent", "kill_service", "two_services", "wheel"))
"""Those of them that start their own engines, shared with no other test."""


def _engines(nodeid: str) -> str | None:
    """The engines that a test shares."""
    if nodeid.startswith(_APART):
        return None
    return next((engines for engines, tests in _ENGINES.items() if nodeid.startswith(tests)), None)


class _EnginesTogether(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Gives all tests that share engines to one process, which starts each once; distributes the others by file."""

    def _split_scope(self, nodeid: str) -> str:
        return _engines(nodeid) or nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Called if tests run in several processes (`-n 4`)."""
    config.option.loadscopereorder = False
    return _EnginesTogether(config, log)


@pytest.fixture(scope="session", autouse=True)
def _heeded_signals() -> None:
    """Programs that tests start heed signals, even where the tests ignore them: under `nohup`, in a shell's background.

    Unlike an ignored signal, one with a handler is not inherited.
    """
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no process waits for it at the end."""
    items.sort(key=lambda item: (_engines(item.nodeid) is None, not item.nodeid.startswith(_APART)))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the specification's schemas and recorded events of engines; skips with a message if missing."""
    folder = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "openlineage").is_dir():
        pytest.skip(f"no specification files at {folder}: set HEADWATER_SHARED to the folder with openlineage/")
    return folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's."""
    with TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One PostgreSQL for all tests that use it."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One Flink session cluster for all tests that use it; 9 s, 530 MB. Tests that kill parts start their own."""
    with running_flink(tmp_path_factory.mktemp("flink")) as lab:
        yield lab
