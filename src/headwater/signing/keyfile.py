"""The node's key on disk: `keys/node.key` under `HEADWATER_HOME`, created once and readable only by its owner.

The file is a private JSON Web Key (RFC 8037) whose `kid` is the key id. Any `*.jwks` in the same folder holds public
keys of other nodes that this one trusts; `replaced.jwks` those that this node had before.
"""

import secrets
import uuid
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Final

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidInputError, SetupError
from headwater.model.words import ELSEWHERE
from headwater.signing.jwks import encoded_public_key, read_jwks, write_jwks
from headwater.signing.keys import NodeKey, unpadded_base64url
from headwater.signing.secretfile import create_once, read_own, replace, write_whole

_SEED_BYTES: Final = 32


def load_or_create(home: Path) -> NodeKey:
    """Return this node's key, creating it on the first call; concurrent calls all return the same key.

    Raises:
        SetupError: the key cannot be created or read, is damaged, or is accessible to others.
    """
    path = key_path(home)
    try:
        if not path.exists():
            create_once(path, _written(str(uuid.uuid4()), secrets.token_bytes(_SEED_BYTES)))
        return _load(path)
    except OSError as failure:
        raise SetupError(f"cannot create or read the node key {path}: {failure.strerror}; {ELSEWHERE}") from failure


def trusted_keys(home: Path) -> dict[str, Ed25519PublicKey]:
    """Return the public keys this node trusts, mapped from their key ids: its own, and those in `keys/*.jwks`.

    Raises:
        SetupError: as `load_or_create`, or a key set cannot be read.
    """
    own = load_or_create(home)
    keys: dict[str, Ed25519PublicKey] = {}
    for path in sorted(key_path(home).parent.glob("*.jwks")):
        keys |= _public_keys(path)
    return keys | {own.key_id: own.public_key}


def key_path(home: Path) -> Path:
    """The path of the node's key, which may not exist yet."""
    return home / "keys" / "node.key"


def tokens_path(home: Path) -> Path:
    """The folder in which a service stores the hashes of its one-time tokens."""
    return home / "keys" / "tokens"


def next_key(home: Path) -> NodeKey:
    """Return the key that will replace the node's, creating it on the first call.

    One that is left of another node is deleted: the node's key was moved away before its rotation was done.

    Raises:
        SetupError: as `load_or_create`.
    """
    path, node_id = _next_path(home), load_or_create(home).node_id
    try:
        if path.exists() and _load(path).node_id != node_id:
            path.unlink()
        if not path.exists():
            create_once(path, _written(node_id, secrets.token_bytes(_SEED_BYTES)))
        return _load(path)
    except OSError as failure:
        raise SetupError(
            f"cannot create or read the next node key {path}: {failure.strerror}; {ELSEWHERE}"
        ) from failure


def replace_key(home: Path) -> None:
    """Make the next key the node's key; of the old one, only the public half stays, to verify what it signed.

    Raises:
        SetupError: the file system refuses it, or the keys replaced before cannot be read.
    """
    old, path = load_or_create(home), key_path(home).with_name("replaced.jwks")
    replaced = _public_keys(path) if path.exists() else {}
    try:
        write_whole(path, [write_jwks({**replaced, old.key_id: old.public_key}).encode()])
        replace(key_path(home), _next_path(home))
    except OSError as failure:
        raise SetupError(f"cannot replace the node key {key_path(home)}: {failure.strerror}") from failure


def _public_keys(path: Path) -> dict[str, Ed25519PublicKey]:
    try:
        return read_jwks(path.read_text())
    except (OSError, ValueError, InvalidInputError) as fault:
        raise SetupError(f"cannot read the trusted keys in {path}: {fault}") from fault


def _next_path(home: Path) -> Path:
    return key_path(home).with_name("next.key")


def _written(node_id: str, seed: bytes) -> bytes:
    key = NodeKey.from_seed(node_id, seed)
    jwk = {
        "kty": "OKP",
        "crv": "Ed25519",
        "kid": key.key_id,
        "x": encoded_public_key(key.public_key),
        "d": unpadded_base64url(seed),
    }
    return orjson.dumps(jwk, option=orjson.OPT_APPEND_NEWLINE)


def _load(path: Path) -> NodeKey:
    key = _parsed(read_own(path))
    if key is None:
        raise SetupError(
            f"the node key {path} is damaged: restore it, or move it away so that a new one is created"
            " (what it signed can still be verified with its public key)"
        )
    return key


def _parsed(text: bytes) -> NodeKey | None:
    try:
        jwk = orjson.loads(text)
        node_id = jwk["kid"].removeprefix("node:").partition("#")[0]
        key = NodeKey.from_seed(node_id, urlsafe_b64decode(f"{jwk['d']}="))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return key if key.key_id == jwk["kid"] else None
