"""The audit's own verifier, which shares no code with the service's, accepts and refuses the same events.

So do the command and the service, each of which parses events in its own way.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from nacl.signing import VerifyKey

from headwater.audit import core
from headwater.audit.core import Head, ReadJson, Refused, check_consistent, is_signed
from headwater.cli.audit_trust import read_event
from headwater.errors import InvalidEventError
from headwater.model.producer import SIGNATURE_MEMBERS
from headwater.model.strict_json import MAX_DEPTH
from headwater.service.ingest import reading
from headwater.service.ingest.reading import Trust
from headwater.signing.canonical import canonical, write
from headwater.signing.facet import KNOWN_SCHEMAS, signature_facet
from headwater.signing.keys import NodeKey, key_id
from headwater.signing.merkle import EMPTY, EMPTY_ROOT, Growth, consistency_proof
from headwater.signing.sign import sign_event
from headwater.signing.verify import verify_event
from headwater.store.entries import Entry
from tests.support.signature_vectors import NODE_ID, Vectors, event_of
from tests.unit.signing.test_signing_merkle import CONSISTENCY, LEAVES, ROOTS

KEY = NodeKey.from_seed(NODE_ID, bytes(range(32)))
TRUSTED = {KEY.key_id: KEY.public_key}
PUBLIC = VerifyKey(KEY.public_key.public_bytes_raw())
SIGNED = sign_event(b'{"producer":"https://example.org","run":{"facets":{"a":{"n":1.50}}},"outputs":[]}', KEY)


@pytest.fixture(params=[core.read_strictly, read_event])
def read(request: pytest.FixtureRequest) -> ReadJson:
    """One of the possible readers."""
    reader: ReadJson = request.param
    return reader


def is_good(raw: bytes, public_key_hex: str, read: ReadJson) -> bool:
    """Whether that key signed the event as the vectors' node."""
    public = bytes.fromhex(public_key_hex)
    key_name = key_id(NODE_ID, Ed25519PublicKey.from_public_bytes(public))
    return is_signed(raw, key_name, VerifyKey(public), read)


def test_the_signed_vectors_are_signed(signature_vectors: Vectors, read: ReadJson) -> None:
    not_signed = [
        vector["id"]
        for vector in signature_vectors["vectors"]
        if not is_good(vector["signedEvent"].encode(), vector["publicKeyHex"], read)
    ]

    assert not_signed == []


def test_the_negative_vectors_are_not_signed(signature_vectors: Vectors, read: ReadJson) -> None:
    accepted = [
        negative["id"]
        for negative in signature_vectors["negative"]
        if is_good(event_of(negative), negative["publicKeyHex"], read)
    ]

    assert accepted == []


@pytest.mark.parametrize("mask", [1, 2, 4, 8, 16, 32, 64, 128])
def test_changing_any_bit_is_detected(mask: int, read: ReadJson) -> None:
    changed = (SIGNED[:index] + bytes([SIGNED[index] ^ mask]) + SIGNED[index + 1 :] for index in range(len(SIGNED)))

    assert is_signed(SIGNED, KEY.key_id, PUBLIC, read)
    assert [raw for raw in changed if is_signed(raw, KEY.key_id, PUBLIC, read)] == []


def test_a_rewritten_event_is_still_signed_and_one_with_a_duplicate_key_is_not(read: ReadJson) -> None:
    rewritten = json.dumps(msgspec.json.decode(SIGNED), indent=1).replace("1.5", "1.50").encode()
    with_duplicate = rewritten.replace(b'"outputs"', b'"outputs": [], "outputs"')

    assert [is_signed(raw, KEY.key_id, PUBLIC, read) for raw in (rewritten, with_duplicate)] == [True, False]


EVENT = (
    '{"eventTime":"2026-05-22T14:23:11Z","eventType":"START","job":{"name":"j","namespace":"n"},'
    '"producer":"https://example.org","run":{"facets":{%s"x":{"v":%s}},"runId":"0198f7d0-1111-7222-8333-444455556666"}}'
)


def signed_as_it_stands(value: str) -> bytes:
    """An event with this value in a facet, and a valid signature over its exact bytes, canonical or not."""
    signature = signature_facet((EVENT % ("", value)).encode(), "https://example.org", KEY)
    return (EVENT % (f'"signature":{json.dumps(signature, separators=(",", ":"))},', value)).encode()


def nested(levels: int) -> str:
    """A value with which an event has this many levels: it is inside the event, the run, the facets and one facet."""
    return "[" * (levels - 4) + "]" * (levels - 4)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("{}", "ok"),
        ("{ }", "ok"),
        ('{ "signature":{"_producer":"of something else"}}', "ok"),
        ('{"b":1,"a":1e5}', "ok"),
        (r'"\ud800"', "ok"),
        (r'{"\ud800":1,"\uD83D\uDE00":2}', "ok"),
        (nested(MAX_DEPTH), "ok"),
        (nested(MAX_DEPTH + 1), "malformed"),
        (nested(600), "malformed"),
        ('{"a":1,"a":1}', "malformed"),
        (r'{"a":1,"\u0061":1}', "malformed"),
        (r'{"\ud800":1,"\udfff":1}', "malformed"),
        ("NaN", "malformed"),
        ("-Infinity", "malformed"),
    ],
)
def test_command_service_and_audit_agree_on_events_signed_as_sent(value: str, verdict: str, read: ReadJson) -> None:
    raw = signed_as_it_stands(value)

    verification, outcome = (
        verify_event(raw, TRUSTED),
        reading.read((raw, 1, bytes(16)), Trust(TRUSTED, is_required=False)),
    )

    assert verification.verdict == verdict
    assert is_signed(raw, KEY.key_id, PUBLIC, read) == (verdict == "ok")
    assert isinstance(outcome, Entry if verdict == "ok" else InvalidEventError)
    assert not isinstance(outcome, Entry) or outcome.verdict == "ok"


@pytest.mark.parametrize("producer", ["https://example.org/?a=1\\u0026b=2", "\\u003cours\\u003e", "two\\u2028lines"])
def test_command_service_and_audit_agree_on_a_signature_with_escaped_characters(producer: str, read: ReadJson) -> None:
    unsigned = EVENT.replace("https://example.org", producer)
    signature = signature_facet((unsigned % ("", r'"\ud800"')).encode(), json.loads(f'"{producer}"'), KEY)
    raw = (unsigned % (f'"signature":{write(signature).decode()},', r'"\ud800"')).encode()
    outcome = reading.read((raw, 1, bytes(16)), Trust(TRUSTED, is_required=False))

    assert verify_event(raw, TRUSTED).verdict == "ok"
    assert isinstance(outcome, Entry)
    assert outcome.verdict == "ok"
    assert is_signed(raw, KEY.key_id, PUBLIC, read)


@pytest.mark.parametrize("spelt", ["h:\\ufffd", "h:\\ud800", "h:\\udfff"])
def test_command_service_and_audit_agree_on_a_producer_with_half_a_surrogate_pair(spelt: str, read: ReadJson) -> None:
    unsigned = EVENT.replace("https://example.org", "h:\\ud800")
    signature = signature_facet(canonical((unsigned % ("", "1")).encode()), "h:\ufffd", KEY)
    facet = write(signature).decode().replace("h:\ufffd", spelt)
    raw = (unsigned % (f'"signature":{facet},', "1")).encode()
    outcome = reading.read((raw, 1, bytes(16)), Trust(TRUSTED, is_required=False))

    assert verify_event(raw, TRUSTED).verdict == "ok"
    assert isinstance(outcome, Entry)
    assert outcome.verdict == "ok"
    assert is_signed(raw, KEY.key_id, PUBLIC, read)


@pytest.mark.parametrize("value", ['{"\\ud800":1,"\uff21":2}', '{"\\udc00\\ud800":1,"\ufffd":2,"\ue000":3}'])
def test_a_lone_surrogate_in_a_key_has_one_place_in_the_canonical_form(value: str, read: ReadJson) -> None:
    payload = canonical((EVENT % ("", value)).encode())
    signature = json.dumps(signature_facet(payload, "https://example.org", KEY))
    raw = (EVENT % (f'"signature": {signature}, ', value)).encode()

    assert verify_event(raw, TRUSTED).verdict == "ok"
    assert is_signed(raw, KEY.key_id, PUBLIC, read)


def test_both_sides_require_the_same_members_and_schemas_of_a_signature() -> None:
    assert core.SIGNATURE_MEMBERS == SIGNATURE_MEMBERS
    assert core.SIGNATURE_SCHEMAS == KNOWN_SCHEMAS


def test_the_docs_list_each_schema_that_a_signature_can_name() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "trust.md").read_text()

    assert [schema for schema in sorted(KNOWN_SCHEMAS) if f"`{schema}`" not in text] == []


def is_consistent(old: tuple[int, bytes], new: tuple[int, bytes], proof: Sequence[bytes]) -> bool:
    try:
        check_consistent(Head("log", *old), Head("log", *new), proof)
    except Refused:
        return False
    return True


TREE = Growth(EMPTY, LEAVES)
OTHERS = [
    (old, new, [each.hex() for each in consistency_proof(old, new, TREE.node)])
    for new in ROOTS
    for old in range(1, new)
]
"""The proofs between all these trees, by the service's code."""


@pytest.mark.parametrize(("old", "new", "proof"), [*CONSISTENCY, *OTHERS])
def test_the_consistency_proofs_of_certificate_transparency_verify_and_altered_ones_do_not(
    old: int, new: int, proof: list[str]
) -> None:
    first, second, good = bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]), [bytes.fromhex(each) for each in proof]
    other = EMPTY_ROOT

    assert is_consistent((old, first), (new, second), good)
    assert not is_consistent((old, other), (new, second), good)
    assert not is_consistent((old, first), (new, other), good)
    assert not is_consistent((old, first), (new * 2, second), good)
    for wrong in ([*good, other], [other, *good], *([good[:-1], good[1:]] if good else [])):
        assert not is_consistent((old, first), (new, second), wrong)
    for at in range(len(good)):
        assert not is_consistent((old, first), (new, second), [*good[:at], other, *good[at + 1 :]])


def test_every_tree_is_consistent_with_the_empty_one_and_with_itself_alone() -> None:
    root, other = bytes.fromhex(ROOTS[3]), bytes.fromhex(ROOTS[1])

    assert is_consistent((0, EMPTY_ROOT), (3, root), [])
    assert is_consistent((3, root), (3, root), [])
    assert not is_consistent((3, other), (3, root), [])


def test_a_smaller_tree_is_never_a_consistent_successor_of_a_larger_one() -> None:
    old, sibling = bytes.fromhex(ROOTS[3]), bytes.fromhex(ROOTS[1])

    assert not is_consistent((3, old), (2, core.node_hash(old, sibling)), [old, sibling])
