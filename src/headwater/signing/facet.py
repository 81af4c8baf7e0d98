"""The signature facet: its position in an event, its members, and its creation."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeGuard

from headwater.errors import InvalidEventError, UntrustedEventError
from headwater.model.outline import FacetSpan
from headwater.model.producer import HEADWATER_FACETS, SIGNATURE_MEMBERS
from headwater.signing.keys import NodeKey

SIGNATURE: Final = "signature"
_PATH: Final = ("run", "facets", SIGNATURE)
SIGNATURE_SCHEMA: Final = f"{HEADWATER_FACETS}/SignatureRunFacet.json"
KNOWN_SCHEMAS: Final = frozenset(
    {
        SIGNATURE_SCHEMA,
        "https://example.org/spec/lineage/signature.json",  # of the vectors that other implementations share
    }
)
"""All schema URLs that a signature may name, as listed in `docs/trust.md`. The signature does not cover the facet, so
no other value could be proven to be what the node wrote."""
ALGORITHM: Final = "Ed25519"
_SIGNATURE_BYTES: Final = 64


def as_event(value: object) -> dict[str, Any]:
    """Return the parsed value after checking that it is an object.

    Raises:
        InvalidEventError: it is not.
    """
    if not isinstance(value, dict):
        raise InvalidEventError("event: expected an object")
    return value


def run_facets(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the facets of an event's run, to be read and changed.

    A run without facets gets an empty object, as a signer writes it.

    Returns:
        None for an event without a run: a job or dataset event.

    Raises:
        InvalidEventError: the run or its facets are not an object.
    """
    if "run" not in event:
        return None
    if not isinstance(event["run"], dict):
        raise InvalidEventError("run: expected an object")
    facets = event["run"].setdefault("facets", {})
    if not isinstance(facets, dict):
        raise InvalidEventError("run.facets: expected an object")
    return facets


def begin_of_signature(spans: Sequence[FacetSpan]) -> int | None:
    """Where the signature of a run event begins in its bytes, given where its facets are; None if it has none."""
    return next((span.begin for span in reversed(spans) if span.path == _PATH), None)  # it is usually the last


def signature_facet(payload: bytes, producer: str, key: NodeKey) -> dict[str, str]:
    """Sign `payload`, the canonical form of an event without its signature."""
    return {
        "_producer": producer,
        "_schemaURL": SIGNATURE_SCHEMA,
        "algorithm": ALGORITHM,
        "keyId": key.key_id,
        "payloadHash": payload_hash(payload),
        "signature": b64encode(key.sign(payload)).decode(),
    }


class Signature(NamedTuple):
    """The claimed key id, and the 64 signature bytes, not verified yet."""

    key_id: str
    value: bytes


def checked_signature(facet: object, payload: bytes, producer: object) -> Signature:
    """Parse a signature facet that must match `payload`; the signature itself is not verified yet.

    The signature does not cover the facet, so each member is compared with something that it covers, or with a
    constant.

    Raises:
        UntrustedEventError: a member is missing, unknown, or not what it must be.
    """
    if not _has_members_of_signature(facet):
        raise UntrustedEventError("run.facets.signature: missing, unknown or invalid members")
    required = {"algorithm": ALGORITHM, "_producer": producer, "payloadHash": payload_hash(payload)}
    for member, value in required.items():
        if facet[member] != value:
            raise UntrustedEventError(f"run.facets.signature.{member}: does not match the event")
    if facet["_schemaURL"] not in KNOWN_SCHEMAS:
        raise UntrustedEventError(f"run.facets.signature._schemaURL: expected {SIGNATURE_SCHEMA}")
    if not (value := decoded_signature(facet["signature"])):
        raise UntrustedEventError("run.facets.signature.signature: not 64 bytes in padded base64")
    return Signature(facet["keyId"], value)


def claimed_key_id(facet: object) -> str | None:
    """Return the key id that a facet names, even if the facet is otherwise invalid."""
    key_id = facet.get("keyId") if isinstance(facet, dict) else None
    return key_id if isinstance(key_id, str) else None


def payload_hash(payload: bytes) -> str:
    """Return `sha256:` and 64 lower-case hex digits."""
    return f"sha256:{hashlib.sha256(payload).hexdigest()}"


def _has_members_of_signature(facet: object) -> TypeGuard[dict[str, str]]:
    return (
        isinstance(facet, dict)
        and facet.keys() == SIGNATURE_MEMBERS
        and all(isinstance(member, str) for member in facet.values())
    )


def decoded_signature(text: str) -> bytes:
    """Decode a signature's base64; empty for any other text than a signer writes."""
    # Base64 has several texts for some bytes (stray bits before the padding); only one of them is what was written.
    # Source: RFC 4648, section 3.5
    try:
        signature = b64decode(text, validate=True)
    except ValueError:
        signature = b""
    return signature if len(signature) == _SIGNATURE_BYTES and b64encode(signature).decode() == text else b""
