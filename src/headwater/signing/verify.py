"""Verify a signed event: did the holder of a trusted key write every byte that matters?"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidEventError, UntrustedEventError
from headwater.signing import canonical, ed25519
from headwater.signing.facet import (
    SIGNATURE,
    as_event,
    begin_of_signature,
    checked_signature,
    claimed_key_id,
    run_facets,
)
from headwater.signing.segments import facet_spans

Verdict = Literal["ok", "tampered", "unknown-key", "unsigned", "malformed"]


class Verification(NamedTuple):
    """The result of verifying an event.

    `key_id` is only the event's claim unless the verdict is `ok`. `reason` is None for `ok`.
    """

    verdict: Verdict
    key_id: str | None
    reason: str | None


UNSIGNED: Final = Verification("unsigned", None, "run.facets.signature: missing")


class Claim(NamedTuple):
    """The parts of an event that a caller has already parsed."""

    facet: object
    """Its `run.facets.signature`."""
    producer: object
    begin: int | None = None
    """The offset of the facet's value in the event's bytes, if known."""


def verify_event(raw: bytes, trusted: Mapping[str, Ed25519PublicKey], claim: Claim | None = None) -> Verification:
    """Verify an event against trusted keys, mapped from their key ids.

    An event with another order, spacing or escaping verifies too, because the signature covers the canonical form. If
    the signature is bad, only a text that differs from its own canonical form in a single byte counts as tampered:
    programs do not write that, people do. A text with duplicate keys, or nested too deeply, is malformed, whoever
    signed it; a caller with a claim must have parsed the event just as strictly.
    """
    if claim is not None and (good := _good_as_sent(raw, claim, trusted)) is not None:
        return good
    try:
        signed = _read(raw)
    except InvalidEventError as fault:
        return Verification("malformed", None, str(fault))
    if signed is None:
        return UNSIGNED
    good = None if claim is not None else _good_as_sent(raw, Claim(signed.facet, signed.producer), trusted)
    return good or _judged(signed, trusted)


def as_revoked(verified: Verification) -> Verification:
    """The verdict on a good signature whose key had been revoked."""
    return Verification("unknown-key", verified.key_id, "run.facets.signature.keyId: the key is revoked")


class _Signed(NamedTuple):
    payload: bytes
    facet: object
    producer: object
    is_edited: bool


_KEY: Final = b'"signature":'
_CUT_HERE: Final = _KEY + b'{"_producer":"'
"""The beginning of the facet as a signer writes it. Inside a string the quotation marks would be escaped."""


def _good_as_sent(raw: bytes, claim: Claim, trusted: Mapping[str, Ed25519PublicKey]) -> Verification | None:
    """A good verification over exactly the bytes that remain without the facet; None otherwise."""
    cut = _cut(raw, claim)
    verification = None if cut is None else _judged(cut, trusted)
    return verification if verification is not None and verification.verdict == "ok" else None


def _cut(raw: bytes, claim: Claim) -> _Signed | None:
    """Cut the facet out of a text exactly as a signer wrote it; None for any other text.

    A good signature over the remaining bytes then proves all of them. This is the fast path: for 10 kB it takes 3 µs,
    where parsing takes 200; the signature takes 110 in either case.
    """
    begin = _place(raw) if claim.begin is None else claim.begin - len(_KEY)
    if begin < 0:
        return None
    try:
        text = _KEY + canonical.write(claim.facet)
    except (orjson.JSONEncodeError, TypeError):
        return None
    end = begin + len(text)
    if raw[begin:end] != text:
        return None
    if raw[begin - 1 : begin] == b",":
        begin -= 1
    elif raw[end : end + 1] == b",":
        end += 1
    return _Signed(raw[:begin] + raw[end:], claim.facet, claim.producer, is_edited=False)


def _place(raw: bytes) -> int:
    """The offset of the facet's member, or -1 if a signer did not write it so."""
    place = raw.find(_CUT_HERE)
    if raw.find(_CUT_HERE, place + 1) < 0:
        return place
    begin = begin_of_signature(facet_spans(raw))
    return -1 if begin is None else begin - len(_KEY)


def _read(raw: bytes) -> _Signed | None:
    value, is_edited = _read_canonical(raw), False
    if value is None:
        value = canonical.read(raw)
        is_edited = _differ_in_one_byte(raw, canonical.write(value))
    event = as_event(value)
    facets = run_facets(event)
    if facets is None or SIGNATURE not in facets:
        return None
    facet = facets.pop(SIGNATURE)
    return _Signed(canonical.write(event), facet, event.get("producer"), is_edited)


def _read_canonical(raw: bytes) -> object:
    """Parse a text that is already in canonical form, as signers send it; None for any other.

    The fast path: it takes a fifth of the strict parser's time for 10 kB. What orjson accepts or changes (duplicate
    keys, numbers out of range) shows when it serializes the value again.
    """
    try:
        event = orjson.loads(raw)
        return event if canonical.write(event) == raw else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None


def _differ_in_one_byte(one: bytes, other: bytes) -> bool:
    if len(one) != len(other) or one == other:
        return False
    same, different = 0, len(one)  # the first difference lies between; halving compares whole slices at a time
    while different - same > 1:
        middle = (same + different) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            different = middle
    return one[different:] == other[different:]


def _judged(signed: _Signed, trusted: Mapping[str, Ed25519PublicKey]) -> Verification:
    key_id = claimed_key_id(signed.facet)
    if signed.is_edited:
        return Verification("tampered", key_id, "event: one byte was changed in place")
    try:
        signature = checked_signature(signed.facet, signed.payload, signed.producer)
        if signature.key_id not in trusted:
            return Verification("unknown-key", key_id, "run.facets.signature.keyId: not a trusted key")
    except UntrustedEventError as fault:
        return Verification("tampered", key_id, str(fault))
    if not ed25519.is_good(signature.value, signed.payload, trusted[signature.key_id]):
        return Verification("tampered", key_id, "run.facets.signature.signature: not by this key over this event")
    return Verification("ok", key_id, None)
