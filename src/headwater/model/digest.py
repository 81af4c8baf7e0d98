"""SHA-256 digests as events and receipts write them: `sha256:` and 64 hex digits."""

from typing import Final

_HASH: Final = "sha256:"
_HASH_BYTES: Final = 32


def hash_of(text: str) -> bytes | None:
    """The 32 bytes of `sha256:` and hex; None for any other text."""
    try:
        digest = bytes.fromhex(text.removeprefix(_HASH))
    except ValueError:
        return None
    return digest if len(digest) == _HASH_BYTES and text == as_text(digest) else None


def as_text(digest: bytes) -> str:
    """A digest as `sha256:` and hex."""
    return f"{_HASH}{digest.hex()}"
