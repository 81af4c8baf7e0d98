"""The files of signature vectors: the shared ones, and our own in `conformance/`."""

import json
from pathlib import Path
from typing import NotRequired, TypedDict

OWN_VECTORS = Path(__file__).resolve().parents[2] / "conformance" / "signature.json"
NODE_ID = "7f769f72-a4d4-4a05-8082-d63262957a6f"
"""The node of every vector, shared or own."""

SCHEMA = "https://example.org/spec/lineage/signature.json"
"""The `_schemaURL` of every vector's signature."""


class Vector(TypedDict):
    """An event, its canonical form, and the same event signed."""

    id: str
    event: str
    canonicalHex: str
    canonicalUtf8: str
    sha256: str
    privateSeedHex: str
    publicKeyHex: str
    signatureBase64: str
    signedEvent: str
    signedEventCanonicalHex: str


class Negative(TypedDict):
    """An event that must not verify: as text or, if it is not text, in hex."""

    id: str
    event: NotRequired[str]
    eventHex: NotRequired[str]
    publicKeyHex: str
    expect: str


class Vectors(TypedDict):
    """A file of vectors."""

    description: str
    vectors: list[Vector]
    negative: list[Negative]


def read_vectors(path: Path) -> Vectors:
    vectors: Vectors = json.loads(path.read_text())
    return vectors


def event_of(negative: Negative) -> bytes:
    """Return the event's bytes, from either form."""
    return bytes.fromhex(negative["eventHex"]) if "eventHex" in negative else negative["event"].encode()
