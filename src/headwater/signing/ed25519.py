"""Verifies Ed25519 signatures with libsodium, which takes half of OpenSSL's time.

It accepts nothing that OpenSSL would refuse, and additionally refuses what no honest signer produces: a key or an R of
small order, and a key not encoded as in RFC 8032. Keys and signing use `cryptography`. Why: docs/decisions/0015.
"""

from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

_KEPT_KEYS: Final = 1_024
_verify_key: Final = lru_cache(maxsize=_KEPT_KEYS)(VerifyKey)


def is_good(signature: bytes, payload: bytes, key: Ed25519PublicKey) -> bool:
    """Whether the key's holder signed exactly these bytes; False also for a signature that is not 64 bytes long."""
    try:
        _verify_key(key.public_bytes_raw()).verify(payload, signature)
    except (BadSignatureError, ValueError):
        return False
    return True
