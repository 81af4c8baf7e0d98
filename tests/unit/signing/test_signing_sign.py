"""Signing: the form of a signed event, and events that cannot be signed."""

import json
from base64 import b64decode
from hashlib import sha256

import pytest

from headwater.errors import InvalidEventError, MalformedJsonError
from headwater.model.producer import HEADWATER_FACETS
from headwater.signing.canonical import canonical
from headwater.signing.facet import SIGNATURE_SCHEMA
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event
from tests.support.signature_vectors import NODE_ID, SCHEMA, Vectors

KEY = NodeKey.from_seed(NODE_ID, bytes(range(32)))
EVENT = b'{"run": {"runId": "r"}, "producer": "https://example.org/p", "eventType": "START"}'


def _with_their_schema(signed: bytes) -> bytes:
    """With the schema URL of the vectors, which is not part of what is signed."""
    return signed.replace(SIGNATURE_SCHEMA.encode(), SCHEMA.encode())


def test_the_vectors_have_their_signed_events(signature_vectors: Vectors) -> None:
    vectors = signature_vectors["vectors"]

    signed = {
        vector["id"]: _with_their_schema(
            sign_event(vector["event"].encode(), NodeKey.from_seed(NODE_ID, bytes.fromhex(vector["privateSeedHex"])))
        )
        for vector in vectors
    }

    # Some of the shared signed events have < > & as they are; what is sent from here is canonical throughout.
    assert signed == {vector["id"]: canonical(vector["signedEvent"].encode()) for vector in vectors}
    literal = [vector for vector in vectors if not any(sign in vector["signedEvent"] for sign in "<>&")]
    assert {vector["id"]: vector["signedEvent"].encode() for vector in literal}.items() <= signed.items()
    assert len(literal) >= 10


def test_the_vectors_have_their_keys_signatures_and_hashes(signature_vectors: Vectors) -> None:
    for vector in signature_vectors["vectors"]:
        key = NodeKey.from_seed(NODE_ID, bytes.fromhex(vector["privateSeedHex"]))

        signed = _with_their_schema(sign_event(vector["event"].encode(), key))

        assert key.public_key.public_bytes_raw().hex() == vector["publicKeyHex"], vector["id"]
        assert key.sign(bytes.fromhex(vector["canonicalHex"])) == b64decode(vector["signatureBase64"]), vector["id"]
        assert verify_event(signed, {key.key_id: key.public_key}).verdict == "ok", vector["id"]
        digest = sha256(bytes.fromhex(vector["signedEventCanonicalHex"])).hexdigest()
        facet = json.loads(signed)["run"]["facets"]["signature"]
        assert facet["payloadHash"] == f"sha256:{digest}", vector["id"]


def test_the_signature_is_at_its_sorted_place() -> None:
    event = EVENT.replace(b'"runId"', b'"facets": {"a": {}, "z": {}}, "runId"')

    signed = sign_event(event, KEY)

    assert list(json.loads(signed)["run"]["facets"]) == ["a", "signature", "z"]
    assert signed == canonical(signed)


def test_the_facet_has_the_producer_the_algorithm_and_the_key() -> None:
    facet = json.loads(sign_event(EVENT, KEY))["run"]["facets"]["signature"]

    assert facet["_producer"] == "https://example.org/p"
    assert facet["_schemaURL"] == f"{HEADWATER_FACETS}/SignatureRunFacet.json"
    assert facet["algorithm"] == "Ed25519"
    assert facet["keyId"] == KEY.key_id


def test_signing_again_replaces_the_signature() -> None:
    other = NodeKey.from_seed("00000000-0000-0000-0000-000000000000", bytes(32))

    resigned = sign_event(sign_event(EVENT, other), KEY)

    assert resigned == sign_event(EVENT, KEY)
    assert verify_event(resigned, {KEY.key_id: KEY.public_key}).verdict == "ok"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"job": {"name": "j"}, "producer": "p"}', "run: missing"),
        (b'{"dataset": {"name": "d"}, "producer": "p"}', "run: missing"),
        (b'{"run": {}}', "producer: expected a string"),
        (b'{"run": {}, "producer": 1}', "producer: expected a string"),
        (b'{"run": [], "producer": "p"}', "run: expected an object"),
        (b'{"run": {"facets": null}, "producer": "p"}', "run.facets: expected an object"),
        (b"[]", "event: expected an object"),
        (b'{"run": {"a": 1, "a": 1}, "producer": "p"}', "run.a: duplicate key"),
    ],
)
def test_an_event_without_a_place_for_a_signature_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(InvalidEventError, match=f"^{message}"):
        sign_event(raw, KEY)


def test_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(MalformedJsonError):
        sign_event(b"{", KEY)


def test_the_text_form_of_a_key_has_no_private_part() -> None:
    shown = repr(KEY) + str(KEY)

    assert KEY.key_id in shown
    assert bytes(range(32)).hex() not in shown
    assert "Ed25519PrivateKey" not in shown
