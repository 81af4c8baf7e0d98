"""Whether an Ed25519 signature is good: asked of libsodium, which takes half of OpenSSL's time for it.

It accepts nothing that OpenSSL would refuse, and refuses what no honest signer makes: a key or an R of small order, and
a key that is not encoded as RFC 8032 has it. Keys and signing stay with `cryptography`. Why: docs/decisions/0015.
"""

from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

_KEPT_KEYS: Final = 1_024
_verify_key: Final = lru_cache(maxsize=_KEPT_KEYS)(VerifyKey)


def is_good(signature: bytes, payload: bytes, key: Ed25519PublicKey) -> bool:
    """Whether the holder of the key signed these very bytes; False also for what is not 64 bytes long."""
    try:
        _verify_key(key.public_bytes_raw()).verify(payload, signature)
    except (BadSignatureError, ValueError):
        return False
    return True
