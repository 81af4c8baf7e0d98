"""What every test may use: where the OpenLineage specification's own files are, and how many tests ran."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.postgres import Cluster, running_cluster

# On a continuous integration server the examples are the same each time: what is red there is about the change.
settings.register_profile("headwater", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("headwater")


_WITH_ENGINES = ("e2e", "component/capture", "component/lab", "component/pipeline", "component/sparkplan")
"""Tests that start Spark, Kafka or Connect."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in two processes (`-n 2 --dist loadgroup`), all engines are in one: each is started once."""
    folder = Path(__file__).parent
    for item in items:
        if item.path.relative_to(folder).as_posix().startswith(_WITH_ENGINES):
            item.add_marker(pytest.mark.xdist_group("engines"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the specification's schemas and the peers' recorded answers; its absence is said aloud."""
    folder = Path(os.environ.get("HEADWATER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "openlineage").is_dir():
        pytest.skip(f"no specification files at {folder}: set HEADWATER_SHARED to the folder that has openlineage/")
    return folder


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One PostgreSQL for all tests that ask for it."""
    with running_cluster() as cluster:
        yield cluster
