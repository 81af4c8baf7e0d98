"""The key of a log, or of a witness, on disk: `keys/log.key` and `keys/witness.key` under `HEADWATER_HOME`.

The file is a private JSON Web Key (RFC 8037) whose `kid` is the name under which the key signs notes. Others know the
key by this name too, so it never changes.
"""

import secrets
from base64 import urlsafe_b64decode
from pathlib import Path
from typing import Any, Final

import orjson

from headwater.errors import InvalidInputError, SetupError
from headwater.model.words import ELSEWHERE
from headwater.signing.jwks import encoded_public_key
from headwater.signing.keys import unpadded_base64url
from headwater.signing.note import COSIGNATURE, ED25519, NoteSigner, checked_name
from headwater.signing.secretfile import create_once, read_own

_SEED_BYTES: Final = 32


def log_key(home: Path, name: str | None, default_name: str) -> NoteSigner:
    """Return this log's key; the first call creates it, under `name` or else `default_name`.

    Raises:
        SetupError: the key cannot be created or read, is damaged, has another name, or is accessible to others.
        InvalidInputError: the name is not valid for a log.
    """
    return _key(log_key_path(home), name, default_name, ED25519)


def log_key_path(home: Path) -> Path:
    """The path of this log's key."""
    return home / "keys" / "log.key"


def witness_key(home: Path, name: str | None, default_name: str) -> NoteSigner:
    """Return this witness's key; as `log_key`."""
    return _key(home / "keys" / "witness.key", name, default_name, COSIGNATURE)


def _key(path: Path, name: str | None, default_name: str, kind: int) -> NoteSigner:
    if name is not None:
        checked_name(name)
    try:
        if not path.exists():
            create_once(path, _written(default_name if name is None else name, secrets.token_bytes(_SEED_BYTES), kind))
        key = _parsed(read_own(path), kind)
    except OSError as failure:
        raise SetupError(f"cannot create or read the key {path}: {failure.strerror}; {ELSEWHERE}") from failure
    if key is None:
        raise SetupError(f"the key {path} is damaged: restore it; another key cannot continue what it signed")
    if name not in (None, key.verifier.name):
        raise SetupError(f"the key {path} signs as {key.verifier.name}, which cannot be changed to {name}")
    return key


def _written(name: str, seed: bytes, kind: int) -> bytes:
    public_key = NoteSigner.from_seed(name, seed, kind).verifier.public_key
    members = {"kty": "OKP", "crv": "Ed25519", "kid": name, "x": encoded_public_key(public_key)}
    return orjson.dumps({**members, "d": unpadded_base64url(seed)}, option=orjson.OPT_APPEND_NEWLINE)


def _parsed(text: bytes, kind: int) -> NoteSigner | None:
    try:
        jwk: Any = orjson.loads(text)
        key = NoteSigner.from_seed(jwk["kid"], urlsafe_b64decode(f"{jwk['d']}="), kind)
    except (ValueError, LookupError, TypeError, InvalidInputError):
        return None
    return key if encoded_public_key(key.verifier.public_key) == jwk.get("x") else None
