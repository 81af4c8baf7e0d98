"""Verifying Ed25519: the corner cases in which libraries differ."""

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from headwater.signing.ed25519 import is_good

ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point. Source: RFC 8032, section 5.1"""
IDENTITY = (1).to_bytes(32, "little")
"""The neutral point, encoded: of order 1, so that it makes the equation of RFC 8032 hold for any message."""
NOT_CANONICAL = (2**255 - 19 + 1).to_bytes(32, "little")
"""The same point, with a y that is not reduced, which must be refused by RFC 8032, section 5.1.3."""
NO_SCALAR = bytes(32)


def test_the_rfcs_vector_is_valid() -> None:
    # Source: RFC 8032, section 7.1, test 2
    key = Ed25519PublicKey.from_public_bytes(
        bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
    )
    signature = bytes.fromhex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )

    assert is_good(signature, b"\x72", key)
    assert not is_good(signature, b"\x73", key)


@pytest.mark.parametrize("key", [IDENTITY, NOT_CANONICAL], ids=["order 1", "order 1, not canonical"])
def test_a_key_for_which_anybody_can_sign_is_refused(key: bytes) -> None:
    public_key = Ed25519PublicKey.from_public_bytes(key)

    assert not is_good(IDENTITY + NO_SCALAR, b"anything", public_key)


def test_a_signature_with_the_order_added_is_not_valid() -> None:
    private_key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    signature = private_key.sign(b"event")
    other = signature[:32] + (int.from_bytes(signature[32:], "little") + ORDER).to_bytes(32, "little")

    assert is_good(signature, b"event", private_key.public_key())
    assert not is_good(other, b"event", private_key.public_key())


@pytest.mark.parametrize("length", [0, 63, 65, 128])
def test_bytes_of_another_length_than_64_are_not_a_signature(length: int) -> None:
    private_key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))

    assert not is_good(private_key.sign(b"event").ljust(128, b"\0")[:length], b"event", private_key.public_key())
