"""The signature vectors: the shared ones, and our own."""

from pathlib import Path

import pytest

from tests.support.signature_vectors import OWN_VECTORS, Vectors, read_vectors


@pytest.fixture(params=["shared", "own"])
def signature_vectors(request: pytest.FixtureRequest) -> Vectors:
    if request.param == "own":
        return read_vectors(OWN_VECTORS)
    folder: Path = request.getfixturevalue("shared")
    return read_vectors(folder / "conformance" / "signature.json")
