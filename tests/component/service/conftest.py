"""Fixtures shared by tests of the service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.support.app import served


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A service with an empty store."""
    with served(tmp_path) as client:
        yield client
