"""A node's signing key and its public name, the key id."""

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HASHED: Final = "#sha256:"
"""Stands before the hash in a key id."""


@dataclass(frozen=True, slots=True)
class NodeKey:
    """The Ed25519 key with which one node signs its events. Its text form never holds the private part."""

    node_id: str
    key_id: str
    public_key: Ed25519PublicKey = field(repr=False)
    _private_key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, node_id: str, seed: bytes) -> "NodeKey":
        """Make the key from its 32-byte seed.

        Source: RFC 8032, section 5.1.5, where the seed is called the private key.
        """
        private_key = Ed25519PrivateKey.from_private_bytes(seed)
        public_key = private_key.public_key()
        return cls(node_id, key_id(node_id, public_key), public_key, private_key)

    def sign(self, payload: bytes) -> bytes:
        """Return the signature over `payload`, 64 bytes."""
        return self._private_key.sign(payload)


def key_id(node_id: str, public_key: Ed25519PublicKey) -> str:
    """Name a node's key: `node:<node id>#sha256:<unpadded base64url of the SHA-256 of the raw public key>`."""
    return f"node:{node_id}{HASHED}{key_hash(public_key)}"


def key_hash(public_key: Ed25519PublicKey) -> str:
    """The hash of a public key in its key id."""
    return unpadded_base64url(hashlib.sha256(public_key.public_bytes_raw()).digest())


def unpadded_base64url(data: bytes) -> str:
    """Encode as JOSE does.

    Source: RFC 7515, section 2.
    """
    return urlsafe_b64encode(data).rstrip(b"=").decode()
