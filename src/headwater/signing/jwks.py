"""Public keys as a JSON Web Key Set, each under its key id.

Source: RFC 7517 (JWK Set), RFC 8037 (OKP keys).
"""

from base64 import urlsafe_b64decode
from collections.abc import Mapping
from datetime import datetime

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidEventError, InvalidInputError
from headwater.model import strict_json
from headwater.signing.keys import HASHED, key_hash, unpadded_base64url


def write_jwks(keys: Mapping[str, Ed25519PublicKey], revoked_from: Mapping[str, str] | None = None) -> str:
    """Write keys, mapped from their key ids, as indented JSON without a trailing newline.

    `revoked_from` gives revocation times; they are written as `revokedFrom`, a member of ours that other readers
    ignore.
    """
    members = [
        {"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": key_id, "x": encoded_public_key(key)}
        for key_id, key in keys.items()
    ]
    for member in members:
        if revoked_from and member["kid"] in revoked_from:
            member["revokedFrom"] = revoked_from[member["kid"]]
    return orjson.dumps({"keys": members}, option=orjson.OPT_INDENT_2).decode()


def read_jwks(text: str) -> dict[str, Ed25519PublicKey]:
    """Read the Ed25519 keys of a set, mapped from their `kid`; keys of other kinds are skipped.

    A `kid` may be any text, as other tools choose it; but if it has a hash as our key ids do, it must be this key's: an
    audit takes no other for the key of that id.

    Raises:
        InvalidInputError: no key set, an Ed25519 key without a `kid` or with a bad `x`, two keys of one `kid`, or one
            whose `kid` has the hash of another.
    """
    keys: dict[str, Ed25519PublicKey] = {}
    for index, member in enumerate(_members(text)):
        if not isinstance(member, dict) or (member.get("kty"), member.get("crv")) != ("OKP", "Ed25519"):
            continue
        key_id = member.get("kid")
        if not isinstance(key_id, str):
            raise InvalidInputError(f"keys.{index}.kid: expected the key id, a string")
        if key_id in keys:
            raise InvalidInputError(f"keys.{index}.kid: is in the set twice")
        key = keys[key_id] = public_key(member.get("x"), f"keys.{index}.x")
        if key_id.partition(HASHED)[2] not in ("", key_hash(key)):
            raise InvalidInputError(f"keys.{index}.kid: has the hash of another key than x")
    return keys


def read_revocations(text: str) -> dict[str, datetime]:
    """Read the revocation times of keys in a set, mapped from their `kid`: `revokedFrom`, a member of ours.

    Raises:
        InvalidInputError: no key set, or a time that is invalid or has no zone.
    """
    revoked: dict[str, datetime] = {}
    for index, member in enumerate(_members(text)):
        if not isinstance(member, dict) or member.get("revokedFrom") is None:
            continue
        try:
            time = datetime.fromisoformat(str(member["revokedFrom"]))
        except ValueError:
            time = datetime.min
        if time.tzinfo is None:
            raise InvalidInputError(f"keys.{index}.revokedFrom: expected a time with its zone")
        revoked[str(member.get("kid"))] = time
    return revoked


def encoded_public_key(key: Ed25519PublicKey) -> str:
    """Encode a public key as the `x` of its JWK."""
    return unpadded_base64url(key.public_bytes_raw())


def public_key(encoded: object, path: str) -> Ed25519PublicKey:
    """Decode the `x` of a JWK.

    Raises:
        InvalidInputError: it is no key; the message names `path`.
    """
    try:
        key = Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(f"{encoded}="))
    except ValueError as invalid:
        raise InvalidInputError(f"{path}: expected 32 bytes in base64url") from invalid
    if encoded_public_key(key) != encoded:
        raise InvalidInputError(f"{path}: expected 32 bytes in base64url, without padding")
    return key


def _members(text: str) -> list[strict_json.Json]:
    try:
        document = strict_json.parse(text.encode(errors="surrogatepass"))
    except InvalidEventError as fault:
        raise InvalidInputError(f"key set: {str(fault).removeprefix('event: ')}") from fault
    members = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(members, list):
        raise InvalidInputError("keys: expected a list of JSON Web Keys")
    return members
