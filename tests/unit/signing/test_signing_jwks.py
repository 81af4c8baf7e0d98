"""Key sets: what is written can be read, and invalid key sets are refused by their path."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.errors import InvalidInputError
from headwater.signing.jwks import read_jwks, read_revocations, write_jwks
from headwater.signing.keys import NodeKey

ONE = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))
TWO = NodeKey.from_seed("22222222-2222-2222-2222-222222222222", bytes(range(32)))
RFC_8037_A2 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
RFC_8037_A2_HEX = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_a_written_key_set_can_be_read() -> None:
    keys = {ONE.key_id: ONE.public_key, TWO.key_id: TWO.public_key}

    assert read_jwks(write_jwks(keys)) == keys


def test_only_the_revoked_one_of_two_keys_has_a_revocation_time() -> None:
    text = write_jwks(
        {ONE.key_id: ONE.public_key, TWO.key_id: TWO.public_key}, {TWO.key_id: "2026-05-22T16:23:11.5+02:00"}
    )

    assert read_revocations(text) == {TWO.key_id: datetime(2026, 5, 22, 14, 23, 11, 500_000, UTC)}
    assert read_jwks(text).keys() == {ONE.key_id, TWO.key_id}


@pytest.mark.parametrize("time", ["2026-05-22T14:23:11", "yesterday", 1_779_459_791, True])
def test_an_invalid_revocation_time_is_refused_with_its_path(time: object) -> None:
    document = {"keys": ["what", {**RFC_8037_A2, "kid": "k", "revokedFrom": time}]}

    with pytest.raises(InvalidInputError, match=r"^keys\.1\.revokedFrom: expected a time with its zone"):
        read_revocations(json.dumps(document))


def test_a_key_set_states_the_use_of_its_keys() -> None:
    (member,) = json.loads(write_jwks({ONE.key_id: ONE.public_key}))["keys"]

    assert member["kid"] == ONE.key_id
    assert (member["kty"], member["crv"], member["alg"], member["use"]) == ("OKP", "Ed25519", "EdDSA", "sig")
    assert "d" not in member


def test_the_key_of_rfc_8037_is_read() -> None:
    keys = read_jwks(json.dumps({"keys": [{**RFC_8037_A2, "kid": "k"}]}))

    assert keys["k"].public_bytes_raw().hex() == RFC_8037_A2_HEX


def test_keys_of_other_kinds_are_ignored() -> None:
    others = [{"kty": "RSA", "kid": "r"}, {"kty": "OKP", "crv": "X25519", "kid": "x"}, "what", None]

    assert list(read_jwks(json.dumps({"keys": [*others, {**RFC_8037_A2, "kid": "k"}]}))) == ["k"]


def test_a_key_set_can_be_empty() -> None:
    assert read_jwks('{"keys": []}') == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({}, "keys: expected a list"),
        ([], "keys: expected a list"),
        ({"keys": {}}, "keys: expected a list"),
        ({"keys": [RFC_8037_A2]}, "keys.0.kid: expected the key id"),
        ({"keys": [{**RFC_8037_A2, "kid": 1}]}, "keys.0.kid: expected the key id"),
        ({"keys": [{**RFC_8037_A2, "kid": "k"}] * 2}, "keys.1.kid: is in the set twice"),
        ({"keys": [{**RFC_8037_A2, "kid": ONE.key_id}]}, "keys.0.kid: has the hash of another key"),
        ({"keys": [{**RFC_8037_A2, "kid": "k", "x": None}]}, "keys.0.x: expected 32 bytes"),
        ({"keys": [{**RFC_8037_A2, "kid": "k", "x": "AAAA"}]}, "keys.0.x: expected 32 bytes"),
        ({"keys": [{**RFC_8037_A2, "kid": "k", "x": RFC_8037_A2["x"] + "="}]}, "keys.0.x: expected 32 bytes"),
        ({"keys": [{**RFC_8037_A2, "kid": "k", "x": RFC_8037_A2["x"][:-1] + "p"}]}, "keys.0.x: expected 32 bytes"),
        ({"keys": [{**RFC_8037_A2, "kid": "k", "x": "é" * 43}]}, "keys.0.x: expected 32 bytes"),
    ],
)
def test_an_invalid_key_set_is_refused_by_its_path(document: Any, message: str) -> None:  # noqa: ANN401 - any JSON
    with pytest.raises(InvalidInputError, match=f"^{message}"):
        read_jwks(json.dumps(document))


@pytest.mark.parametrize("text", ["", "{", '{"keys": [], "keys": []}', "\ud800"])
def test_text_that_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"^key set: "):
        read_jwks(text)
