"""Verifying: a verdict for every event, and `ok` for none that was changed."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given
from hypothesis import strategies as st

from headwater.model.strict_json import MAX_DEPTH
from headwater.signing.canonical import canonical
from headwater.signing.keys import NodeKey, key_id
from headwater.signing.sign import sign_event
from headwater.signing.verify import Claim, Verification, verify_event
from tests.support.signature_vectors import NODE_ID, Vectors, event_of

KEY = NodeKey.from_seed(NODE_ID, bytes(range(32)))
TRUSTED = {KEY.key_id: KEY.public_key}
EVENT = json.dumps(
    {
        "eventType": "COMPLETE",
        "eventTime": "2026-05-22T14:23:11Z",
        "producer": "https://example.org/p?a=1&b=2",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0198f7d0-1111-7222-8333-444455556666", "facets": {"a": {"n": [-0.0, 1e5, 12, {}]}, "z": {}}},
        "job": {"namespace": "production", "name": "orders < \x0b \u2028 é 😀 \x7f", "facets": {}},
        "inputs": [],
        "outputs": [{"namespace": "lake", "name": 'a\\b"c/', "facets": {"x": None, "y": True, "": False}}],
    }
).encode()
SIGNED = sign_event(EVENT, KEY)
SIGNED_TO_BE_READ_SLOWLY = sign_event(EVENT.replace(b"100000.0", b"1e5"), KEY)
"""orjson writes this number in another way."""

VERDICT_OF = {
    "bad signature": "tampered",
    "payloadHash mismatch": "tampered",
    "signature length": "tampered",
    "unknown key": "unknown-key",
}
"""The shared vectors have the fault, our own the verdict."""


def _trusting(public_key_hex: str) -> dict[str, Ed25519PublicKey]:
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key_hex))
    return {key_id(NODE_ID, key): key}


def test_the_signed_vectors_are_ok(signature_vectors: Vectors) -> None:
    verdicts = {
        vector["id"]: verify_event(vector["signedEvent"].encode(), _trusting(vector["publicKeyHex"])).verdict
        for vector in signature_vectors["vectors"]
    }

    assert set(verdicts.values()) == {"ok"}, verdicts


def test_the_negative_vectors_have_their_verdicts(signature_vectors: Vectors) -> None:
    negatives = signature_vectors["negative"]

    verdicts = {
        negative["id"]: verify_event(event_of(negative), _trusting(negative["publicKeyHex"])).verdict
        for negative in negatives
    }

    assert verdicts == {
        negative["id"]: VERDICT_OF.get(negative["expect"], negative["expect"]) for negative in negatives
    }


@pytest.mark.parametrize("signed", [SIGNED, SIGNED_TO_BE_READ_SLOWLY], ids=["fast way", "slow way"])
@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16, 32, 64, 128])
def test_one_changed_bit_anywhere_is_detected(signed: bytes, mask: int) -> None:
    assert verify_event(signed, TRUSTED).verdict == "ok"

    for index, byte in enumerate(signed):
        changed = signed[:index] + bytes([byte ^ mask]) + signed[index + 1 :]
        assert verify_event(changed, TRUSTED).verdict != "ok", (index, changed[max(0, index - 20) : index + 20])


@given(st.data())
def test_any_changed_byte_is_detected(data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(SIGNED) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != SIGNED[index]))

    assert verify_event(SIGNED[:index] + bytes([byte]) + SIGNED[index + 1 :], TRUSTED).verdict != "ok"


def _reversed(value: Any) -> Any:  # noqa: ANN401 - parsed JSON
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(child) for child in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(json.loads(SIGNED)),
        json.dumps(json.loads(SIGNED), indent=4),
        json.dumps(json.loads(SIGNED), ensure_ascii=False),
        json.dumps(json.loads(SIGNED), ensure_ascii=False, separators=(",", ":")),
        json.dumps(_reversed(json.loads(SIGNED))),
        json.dumps(_reversed(json.loads(SIGNED))).replace("/", r"\/"),
        f"\r\n {SIGNED.decode()}\t",
    ],
)
def test_a_reformatted_event_is_ok(text: str) -> None:
    assert verify_event(text.encode(), TRUSTED) == Verification("ok", KEY.key_id, None)


def test_another_literal_for_the_same_number_is_tampered() -> None:
    assert b"100000.0" in SIGNED

    assert verify_event(SIGNED.replace(b"100000.0", b"1e5"), TRUSTED).verdict == "tampered"


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_FACETS = st.dictionaries(
    st.text(), st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)
)


@given(_FACETS)
def test_fast_and_slow_verification_agree(facets: dict[str, Any]) -> None:
    event = {"producer": "https://example.org/p", "run": {"runId": "r", "facets": facets}}
    signed = sign_event(json.dumps(event).encode(), KEY)

    assert verify_event(signed, TRUSTED).verdict == "ok"
    assert verify_event(signed + b" ", TRUSTED).verdict == "ok"
    assert verify_event(b" " + signed, TRUSTED).verdict == "ok"


def test_another_facet_that_looks_like_the_signature_is_not_used() -> None:
    other = {"signature": {"_producer": "https://example.org/p", "keyId": "another"}}
    event = {"producer": "https://example.org/p", "run": {"runId": "r", "facets": {"a": other, "zz": other}}}
    signed = sign_event(json.dumps(event).encode(), KEY)
    facet = json.loads(signed)["run"]["facets"]["signature"]
    ends = [index.end() for index in re.finditer(rb'"signature":', signed)]

    verdicts = [verify_event(signed, TRUSTED, Claim(facet, event["producer"], begin)).verdict for begin in ends]

    assert set(verdicts) == {"ok"}
    assert verify_event(signed, TRUSTED).verdict == "ok"


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_have_a_verdict(raw: bytes) -> None:
    assert verify_event(raw, TRUSTED).verdict in {"malformed", "unsigned"}


@given(st.dictionaries(st.sampled_from(["keyId", "signature", "algorithm", "payloadHash", "x"]), _LEAVES) | _LEAVES)
def test_any_facet_has_a_verdict(facet: Any) -> None:  # noqa: ANN401 - anything JSON can say
    event = {"producer": "p", "run": {"facets": {"signature": facet}}}

    assert verify_event(json.dumps(event).encode(), TRUSTED).verdict == "tampered"


@pytest.mark.parametrize("member", ["keyId", "signature", "payloadHash", "algorithm", "_schemaURL", "_producer"])
@pytest.mark.parametrize("value", [None, 5, []])
def test_a_signature_facet_with_a_member_that_is_not_a_string_is_tampered(member: str, value: object) -> None:
    event = json.loads(SIGNED)
    event["run"]["facets"]["signature"][member] = value

    assert verify_event(json.dumps(event).encode(), TRUSTED).verdict == "tampered"


@pytest.mark.parametrize("signed", [SIGNED, SIGNED_TO_BE_READ_SLOWLY], ids=["fast way", "slow way"])
def test_a_key_that_is_not_trusted_is_unknown(signed: bytes) -> None:
    verification = verify_event(signed, {})

    assert verification.verdict == "unknown-key"
    assert verification.key_id == KEY.key_id


def test_a_changed_event_by_an_unknown_key_is_tampered() -> None:
    assert verify_event(SIGNED.replace(b"COMPLETE", b"FAIL"), {}).verdict == "tampered"


@pytest.mark.parametrize("signature", ["", "AAAA", b64encode(bytes(65)).decode()])
def test_an_event_by_an_unknown_key_whose_signature_is_not_64_bytes_is_tampered(signature: str) -> None:
    event = json.loads(SIGNED)
    event["run"]["facets"]["signature"]["signature"] = signature

    assert verify_event(json.dumps(event).encode(), {}).verdict == "tampered"


def test_the_signed_bytes_are_those_without_the_signature() -> None:
    signed = json.loads(SIGNED)

    facet = signed["run"]["facets"].pop("signature")

    assert facet["payloadHash"] == f"sha256:{sha256(canonical(json.dumps(signed).encode())).hexdigest()}"
    assert verify_event(SIGNED, TRUSTED).verdict == "ok"


@pytest.mark.parametrize(
    ("raw", "verdict", "reason"),
    [
        (SIGNED.replace(b"COMPLETE", b"FAIL"), "tampered", "run.facets.signature.payloadHash: "),
        (EVENT, "unsigned", "run.facets.signature: "),
        (b"{", "malformed", "event: not JSON at line 1"),
        (b'{"run":1,"run":2}', "malformed", "run: duplicate key"),
        (sign_event(EVENT, NodeKey.from_seed(NODE_ID, bytes(32))), "unknown-key", "run.facets.signature.keyId: "),
    ],
)
def test_a_verdict_has_its_reason(raw: bytes, verdict: str, reason: str) -> None:
    verification = verify_event(raw, TRUSTED)

    assert verification.verdict == verdict
    assert (verification.reason or "").startswith(reason)


@pytest.mark.parametrize("index", [0, 1, 700, 1399])
def test_a_byte_changed_in_place_is_detected_even_if_the_value_is_the_same(index: int) -> None:
    escapes = r"\u000b" * 1_400
    signed = sign_event(EVENT.replace(b"production", escapes.encode()), KEY)
    start = signed.index(escapes.encode()) + index * len(r"\u000b")
    edited = signed[: start + 5] + b"B" + signed[start + 6 :]
    rewritten = signed.replace(b"\\u000b", b"\\u000B")

    assert json.loads(edited) == json.loads(signed)
    assert verify_event(edited, TRUSTED) == Verification("tampered", KEY.key_id, "event: one byte was changed in place")
    assert verify_event(rewritten, TRUSTED).verdict == "ok"


@pytest.mark.parametrize(("levels", "verdict"), [(MAX_DEPTH, "ok"), (MAX_DEPTH + 1, "malformed")])
@pytest.mark.parametrize("space", [b"", b" "], ids=["fast way", "slow way"])
def test_the_depth_limit_is_the_same_in_fast_and_slow_verification(levels: int, verdict: str, space: bytes) -> None:
    outer_levels = 4  # the event, the run, the facets, the facet
    deepest = b"[" * (MAX_DEPTH - outer_levels) + b"]" * (MAX_DEPTH - outer_levels)
    signed = sign_event(b'{"producer":"p","run":{"facets":{"x":{"y":%b}}}}' % deepest, KEY)
    nested = signed.replace(b"[]", b"[" * (levels - MAX_DEPTH + 1) + b"]" * (levels - MAX_DEPTH + 1))

    assert verify_event(nested + space, TRUSTED).verdict == verdict
