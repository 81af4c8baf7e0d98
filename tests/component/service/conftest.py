"""What tests of the service share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.support.app import served


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A service that knows nothing yet."""
    with served(tmp_path) as client:
        yield client
