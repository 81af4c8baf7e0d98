"""What every test may use: where the OpenLineage specification's own files are, and how many tests ran."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from headwater.lab.lab import Lab
from tests.support.flink_lab import running_flink
from tests.support.postgres import Cluster, running_cluster

# On a continuous integration server the examples are the same each time: what is red there is about the change.
settings.register_profile("headwater", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("headwater")


_ROOMS = ("capture", "lab", "pipeline", "sparkplan")
_WITH_ENGINES = tuple(f"tests/{part}" for part in ("e2e", *(f"component/{room}" for room in _ROOMS)))
"""Tests that start Spark, Kafka, Connect or a browser."""
_APART = tuple(f"tests/e2e/test_{name}.py" for name in ("agent", "kill_service", "two_services", "wheel"))
"""Those among them that start all they need for themselves, and share it with nobody."""


class _EnginesTogether(LoadScopeScheduling):
    """Gives tests that share engines to one process, so that each is started once; of all others one file at a time."""

    def _split_scope(self, nodeid: str) -> str:
        shares_engines = nodeid.startswith(_WITH_ENGINES) and not nodeid.startswith(_APART)
        return "engines" if shares_engines else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Called where tests run in several processes (`-n 2`)."""
    return _EnginesTogether(config, log)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the specification's schemas and recorded events of engines; its absence is said aloud."""
    folder = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "openlineage").is_dir():
        pytest.skip(f"no specification files at {folder}: set HEADWATER_SHARED to the folder that has openlineage/")
    return folder


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One PostgreSQL for all tests that ask for it."""
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def flink(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One Flink session cluster for all tests that ask for it; 9 s, 530 MB. Who kills a part starts one of its own."""
    with running_flink(tmp_path_factory.mktemp("flink")) as lab:
        yield lab
