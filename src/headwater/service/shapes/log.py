"""The JSON of receipts and proofs, as types. Hashes are `sha256:` and hexadecimal, those of a proof are in base64."""

from collections.abc import Sequence
from typing import Any

from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11

from headwater.service.shapes.marquez import RunEvent


class Receipt(TypedDict):
    """Proves that an event is in the log at `index`; `checkpoint` is a signed note."""

    index: int
    leafHash: str
    checkpoint: str
    inclusionProof: Sequence[str]


class Received(TypedDict):
    """The answer to an event whose sender asked for a receipt."""

    receipt: Receipt


class InclusionProof(TypedDict):
    """Proves that a leaf is in a tree of that size."""

    index: int
    size: int
    leafHash: str
    rootHash: str
    inclusionProof: Sequence[str]


class ConsistencyProof(TypedDict):
    """Proves that the larger tree begins with the smaller."""

    fromSize: int
    toSize: int
    fromRootHash: str
    rootHash: str
    consistencyProof: Sequence[str]


class LogEntry(RunEvent):
    """An event in the log; `event`, the last member, holds its bytes as they came, of which `digest` is the digest."""

    event: Any
