"""The stores that every behaviour is tested on: SQLite and PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from headwater.store.opening import open_store
from headwater.store.store import Store
from tests.support.postgres import Cluster


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    """An empty database, as `open_store` takes it."""
    if request.param == "sqlite":
        return tmp_path / "headwater.db"
    cluster: Cluster = request.getfixturevalue("cluster")
    return cluster.new_database()


@pytest.fixture
def store(database: str | Path) -> Iterator[Store]:
    with closing(open_store(database)) as store:
        yield store
