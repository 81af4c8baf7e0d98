"""Signatures of records: rows of data, as JSON objects, each with its signature in a member of its own.

The signature covers the canonical form of the record without that member and without null members, since writers differ
in whether they write those; or of a single other member. A prefix that no event begins with is signed too, so that
nobody can have a node sign an event by handing it a record that looks like one.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidEventError
from headwater.signing import canonical, ed25519
from headwater.signing.facet import ALGORITHM, decoded_signature
from headwater.signing.keys import NodeKey
from headwater.signing.verify import Verification

BODY: Final = "body"
_CONTEXT: Final = b"headwater record v1\n"
_MEMBERS: Final = frozenset({"algorithm", "key_id", "signed", "signature"})


class RecordSignature(NamedTuple):
    """The value of a record's signature member; `signed` is `body`, or the name of the signed member."""

    algorithm: str
    key_id: str
    signed: str
    signature: str


def sign_record(record: bytes, signed: str, key: NodeKey) -> RecordSignature:
    """Sign a record without a signature: its body, or the member that `signed` names.

    Raises:
        MalformedJsonError: not JSON.
        InvalidEventError: a duplicate key, or the record is not an object.
    """
    payload = _payload(_object(record), signed)
    return RecordSignature(ALGORITHM, key.key_id, signed, b64encode(key.sign(payload)).decode())


def verify_record(record: bytes, member: str, trusted: Mapping[str, Ed25519PublicKey]) -> Verification:
    """Verify a record whose signature is in this member; `unsigned` where there is none."""
    try:
        body = _object(record)
    except InvalidEventError as fault:
        return Verification("malformed", None, str(fault))
    claimed = body.pop(member, None)
    if claimed is None:
        return Verification("unsigned", None, f"{member}: missing")
    found = _read(claimed)
    if found is None:
        return Verification("tampered", None, f"{member}: expected {', '.join(sorted(_MEMBERS))}")
    if found.key_id not in trusted:
        return Verification("unknown-key", found.key_id, f"{member}.key_id: not a trusted key")
    if not ed25519.is_good(decoded_signature(found.signature), _payload(body, found.signed), trusted[found.key_id]):
        return Verification("tampered", found.key_id, f"{member}.signature: not by this key over this record")
    return Verification("ok", found.key_id, None)


def _object(record: bytes) -> dict[str, Any]:
    value = canonical.read(record)
    if not isinstance(value, dict):
        raise InvalidEventError("record: expected an object")
    return value


def _payload(body: dict[str, Any], signed: str) -> bytes:
    part = body if signed == BODY else {signed: body.get(signed)}
    return _CONTEXT + signed.encode() + b"\n" + canonical.write(_without_nulls(part))


def _without_nulls(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    return value


def _read(member: object) -> RecordSignature | None:
    if not isinstance(member, dict) or member.keys() != _MEMBERS or member["algorithm"] != ALGORITHM:
        return None
    return RecordSignature(**member) if all(isinstance(each, str) for each in member.values()) else None
