"""The audit's own verifier, which shares no code with the service's, takes and refuses the same events."""

import json

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.signing import VerifyKey

from headwater.audit import core
from headwater.audit.core import ReadJson, is_signed
from headwater.cli.audit_trust import read_json, read_signature
from headwater.model.producer import SIGNATURE_MEMBERS
from headwater.signing.facet import KNOWN_SCHEMAS
from headwater.signing.keys import NodeKey, key_id
from headwater.signing.sign import sign_event
from tests.support.signature_vectors import NODE_ID, Vectors, event_of

KEY = NodeKey.from_seed(NODE_ID, bytes(range(32)))
PUBLIC = VerifyKey(KEY.public_key.public_bytes_raw())
SIGNED = sign_event(b'{"producer":"https://example.org","run":{"facets":{"a":{"n":1.50}}},"outputs":[]}', KEY)


@pytest.fixture(params=[json.loads, read_json, read_signature])
def read(request: pytest.FixtureRequest) -> ReadJson:
    """One of the readers that may be used."""
    reader: ReadJson = request.param
    return reader


def is_good(raw: bytes, public_key_hex: str, read: ReadJson) -> bool:
    """Whether that key signed the event as the vectors' node."""
    public = bytes.fromhex(public_key_hex)
    named = key_id(NODE_ID, Ed25519PublicKey.from_public_bytes(public))
    return is_signed(raw, named, VerifyKey(public), read)


def test_the_signed_vectors_are_signed(signature_vectors: Vectors, read: ReadJson) -> None:
    refused = [
        vector["id"]
        for vector in signature_vectors["vectors"]
        if not is_good(vector["signedEvent"].encode(), vector["publicKeyHex"], read)
    ]

    assert refused == []


def test_the_negative_vectors_are_not(signature_vectors: Vectors, read: ReadJson) -> None:
    taken = [
        negative["id"]
        for negative in signature_vectors["negative"]
        if is_good(event_of(negative), negative["publicKeyHex"], read)
    ]

    assert taken == []


@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16, 32, 64, 128])
def test_no_bit_may_be_changed(mask: int, read: ReadJson) -> None:
    changed = (SIGNED[:at] + bytes([SIGNED[at] ^ mask]) + SIGNED[at + 1 :] for at in range(len(SIGNED)))

    assert is_signed(SIGNED, KEY.key_id, PUBLIC, read)
    assert [raw for raw in changed if is_signed(raw, KEY.key_id, PUBLIC, read)] == []


def test_an_event_that_a_program_wrote_anew_is_signed_and_one_with_a_key_twice_is_not(read: ReadJson) -> None:
    anew = json.dumps(msgspec.json.decode(SIGNED), indent=1).replace("1.5", "1.50").encode()
    twice = anew.replace(b'"outputs"', b'"outputs": [], "outputs"')

    assert [is_signed(raw, KEY.key_id, PUBLIC, read) for raw in (anew, twice)] == [True, False]


def test_what_a_signature_must_say_is_written_down_alike_on_both_sides() -> None:
    assert core.SIGNATURE_MEMBERS == SIGNATURE_MEMBERS
    assert core.SIGNATURE_SCHEMAS == KNOWN_SCHEMAS
