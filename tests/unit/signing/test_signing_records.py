"""Signed records: what is the same record, what is another, and what a signature says nothing about."""

import json
from base64 import b64encode
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


def signed(record: Mapping[str, Any], what: str = "body") -> dict[str, Any]:
    return {**record, "signature": sign_record(json.dumps(record).encode(), what, KEY)._asdict()}


def verdict(record: object, member: str = "signature") -> str:
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    return verify_record(text, member, TRUSTED).verdict


def test_what_is_signed_is_the_canonical_record_behind_its_context() -> None:
    # By hand, from the words of the manual: keys sorted, `<` escaped, nulls of objects left out, number literals kept.
    payload = b'headwater record v1\nbody\n{"id":1,"note":"a \\u003c b","tags":["x",null]}'
    record = b'{"tags": ["x", null], "gone": null, "note": "a < b", "id": 1}'

    found = sign_record(record, "body", KEY)

    assert found.signature == b64encode(KEY.sign(payload)).decode()
    assert (found.algorithm, found.key_id, found.signed) == (ALGORITHM, KEY.key_id, "body")


def test_order_spacing_and_fields_that_are_null_make_no_other_record() -> None:
    whole = signed(RECORD)
    again = json.dumps(dict(reversed([*whole.items(), ("missing", None)])), indent=2).encode()

    assert (verdict(whole), verdict(again)) == ("ok", "ok")


@pytest.mark.parametrize(
    "change", [{"id": 2}, {"note": None}, {"more": 1}, {"tags": ["x"]}, {"lineage": {"run_id": "s"}}]
)
def test_another_value_is_another_record(change: dict[str, Any]) -> None:
    assert verdict({**signed(RECORD), **change}) == "tampered"


def test_a_number_that_is_written_otherwise_is_another_record() -> None:
    text = json.dumps(signed(RECORD)).replace('"price": 1.5', '"price": 1.50').encode()

    assert verdict(text) == "tampered"


def test_a_signature_over_the_metadata_says_nothing_of_the_rest() -> None:
    record = signed(RECORD, "lineage")

    assert verdict({**record, "id": 2}) == "ok"
    assert verdict({**record, "lineage": {"run_id": "s"}}) == "tampered"


def test_a_signature_over_a_part_is_none_over_the_whole() -> None:
    only = {"lineage": {"run_id": "r"}}
    record = signed(only, "lineage")

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
def test_what_is_no_signed_record_is_told_by_its_verdict(record: object, expected: str) -> None:
    assert verdict(record) == expected


def test_the_signature_of_a_stranger_is_by_an_unknown_key() -> None:
    stranger = NodeKey.from_seed("edge-7", bytes(32))
    signature = sign_record(b'{"id":1}', "body", stranger)._asdict()

    assert verdict({"id": 1, "signature": signature}) == "unknown-key"


def test_nobody_can_have_an_event_signed_by_handing_over_a_record_that_reads_like_one() -> None:
    event = {"producer": "p", "run": {"runId": "r", "facets": {}}}
    honest = json.loads(sign_event(json.dumps(event).encode(), KEY))
    forged = sign_record(json.dumps(event).encode(), "body", KEY).signature

    honest["run"]["facets"]["signature"]["signature"] = forged

    assert verify_event(json.dumps(honest).encode(), TRUSTED).verdict == "tampered"


@given(st.dictionaries(st.text().filter(lambda name: name != "signature"), st.integers() | st.text() | st.none()))
def test_any_record_that_was_signed_verifies_and_no_other_does(record: dict[str, Any]) -> None:
    whole = signed(record)

    assert verdict(whole) == "ok"
    assert verdict({**whole, "one more": 1}) == "tampered"
