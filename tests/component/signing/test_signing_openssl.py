"""Another implementation of Ed25519, the `openssl` command, agrees with ours."""

import json
from base64 import b64decode
from pathlib import Path

import pytest

from headwater.signing.canonical import canonical
from headwater.signing.keys import NodeKey
from headwater.signing.sign import sign_event
from tests.support.openssl_key import OpensslKey, openssl_accepts
from tests.support.signature_vectors import NODE_ID, OWN_VECTORS, read_vectors
from tests.support.write_signature_vectors import own_vectors

VECTORS = read_vectors(OWN_VECTORS)["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_openssl_accepts_the_signature_of_a_vector(vector: dict[str, str], tmp_path: Path) -> None:
    payload, signature = bytes.fromhex(vector["canonicalHex"]), b64decode(vector["signatureBase64"])
    public = bytes.fromhex(vector["publicKeyHex"])

    assert openssl_accepts(public, signature, payload, tmp_path)
    assert not openssl_accepts(public, signature, payload + b" ", tmp_path)


def test_openssl_signs_as_we_do(tmp_path: Path) -> None:
    seed = bytes(range(32))
    key = NodeKey.from_seed(NODE_ID, seed)
    event = VECTORS[0]["event"].encode()
    signature = json.loads(sign_event(event, key))["run"]["facets"]["signature"]["signature"]

    other = OpensslKey.from_seed(seed, tmp_path)

    assert other.public == key.public_key.public_bytes_raw()
    assert other.sign(canonical(event)) == b64decode(signature)


def test_our_vectors_can_be_generated_again(tmp_path: Path) -> None:
    assert own_vectors(tmp_path) == read_vectors(OWN_VECTORS)
