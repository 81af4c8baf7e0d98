"""Signed records: which changes make another record, and what a signature does not cover."""

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.signing.facet import ALGORITHM
from headwater.signing.keys import NodeKey
from headwater.signing.records import sign_record, verify_record
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event

KEY = NodeKey.from_seed("edge-7", bytes(range(32)))
TRUSTED = {KEY.key_id: KEY.public_key}
RECORD = {"id": 1, "price": 1.5, "note": "a < b", "lineage": {"run_id": "r"}, "tags": ["x", None]}


def signed(record: Mapping[str, Any], part: str = "body") -> dict[str, Any]:
    return {**record, "signature": sign_record(json.dumps(record).encode(), part, KEY)._asdict()}


def verdict(record: object, member: str = "signature") -> str:
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    return verify_record(text, member, TRUSTED).verdict


def test_the_signed_bytes_are_the_context_and_the_canonical_record() -> None:
    # By hand, from the manual: keys sorted, `<` escaped, nulls of objects left out, number literals kept.
    payload = b'headwater record v1\nbody\n{"id":1,"note":"a \\u003c b","tags":["x",null]}'
    record = b'{"tags": ["x", null], "gone": null, "note": "a < b", "id": 1}'

    signature = sign_record(record, "body", KEY)

    assert signature.signature == b64encode(KEY.sign(payload)).decode()
    assert (signature.algorithm, signature.key_id, signature.signed) == (ALGORITHM, KEY.key_id, "body")


def test_order_spacing_and_null_fields_do_not_change_a_record() -> None:
    record = signed(RECORD)
    reformatted = json.dumps(dict(reversed([*record.items(), ("missing", None)])), indent=2).encode()

    assert (verdict(record), verdict(reformatted)) == ("ok", "ok")


@pytest.mark.parametrize(
    "change", [{"id": 2}, {"note": None}, {"more": 1}, {"tags": ["x"]}, {"lineage": {"run_id": "s"}}]
)
def test_another_value_is_another_record(change: dict[str, Any]) -> None:
    assert verdict({**signed(RECORD), **change}) == "tampered"


def test_a_number_in_another_notation_is_another_record() -> None:
    text = json.dumps(signed(RECORD)).replace('"price": 1.5', '"price": 1.50').encode()

    assert verdict(text) == "tampered"


def test_a_changed_letter_of_the_signature_is_detected_also_if_it_decodes_to_the_same_bytes() -> None:
    record = signed(RECORD)
    text = record["signature"]["signature"]
    texts = {text[:-3] + letter + "==" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"}

    verdicts = [verdict({**record, "signature": {**record["signature"], "signature": each}}) for each in sorted(texts)]

    assert sum(b64decode(each) == b64decode(text) for each in texts) == 16
    assert (verdicts.count("ok"), verdicts.count("tampered")) == (1, 63)


def test_a_signature_over_the_metadata_does_not_cover_the_rest() -> None:
    record = signed(RECORD, "lineage")

    assert verdict({**record, "id": 2}) == "ok"
    assert verdict({**record, "lineage": {"run_id": "s"}}) == "tampered"


def test_a_signature_over_a_part_is_not_valid_for_the_whole() -> None:
    metadata = {"lineage": {"run_id": "r"}}
    record = signed(metadata, "lineage")

    assert verdict({**record, "signature": {**record["signature"], "signed": "body"}}) == "tampered"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": 1}, "unsigned"),
        ({"id": 1, "signature": None}, "unsigned"),
        ({"id": 1, "signature": "x"}, "tampered"),
        ({"id": 1, "signature": {"algorithm": "none"}}, "tampered"),
        ([1], "malformed"),
        (b"{", "malformed"),
        (b'{"id":1,"id":2}', "malformed"),
    ],
)
def test_a_record_without_a_valid_signature_has_its_verdict(record: object, expected: str) -> None:
    assert verdict(record) == expected


def test_a_signature_of_another_key_is_by_an_unknown_key() -> None:
    other_key = NodeKey.from_seed("edge-7", bytes(32))
    signature = sign_record(b'{"id":1}', "body", other_key)._asdict()

    assert verdict({"id": 1, "signature": signature}) == "unknown-key"


def test_the_signature_of_a_record_that_looks_like_an_event_is_not_valid_for_the_event() -> None:
    event = {"producer": "p", "run": {"runId": "r", "facets": {}}}
    signed_event = json.loads(sign_event(json.dumps(event).encode(), KEY))
    forged = sign_record(json.dumps(event).encode(), "body", KEY).signature

    signed_event["run"]["facets"]["signature"]["signature"] = forged

    assert verify_event(json.dumps(signed_event).encode(), TRUSTED).verdict == "tampered"


@given(st.dictionaries(st.text().filter(lambda name: name != "signature"), st.integers() | st.text() | st.none()))
def test_any_signed_record_verifies_and_a_changed_one_does_not(record: dict[str, Any]) -> None:
    signed_record = signed(record)

    assert verdict(signed_record) == "ok"
    assert verdict({**signed_record, "one more": 1}) == "tampered"
