"""The leaf that the tree holds for an entry of the log: not its bytes, but a commitment to them, facet by facet.

    leaf       = {"commitment": "sha256:…", "keyId": …, "kind": "event", "receivedUs": …, "verdict": "ok", "version": 1}
    commitment = SHA-256 over the rest's part, then for each facet, in order: begin, end (8 bytes each), its part
    part       = SHA-256(its salt || its bytes)
    salts      = SHAKE-256(the entry's salt), 16 bytes for the rest and for each facet

The rest is the entry's bytes without the values of its facets. Erasing a facet drops its bytes, its salt and the
entry's salt, and keeps its part and the other salts: the leaf does not change, and without its salt the part reveals
nothing about the bytes, so not even a guess can be checked. The remaining salts reveal nothing about a dropped one.

Source: docs/decisions/0010; SHAKE-256 is that of FIPS 202.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import orjson

from headwater.model.digest import as_text
from headwater.model.outline import FacetSpan
from headwater.signing.merkle import leaf_hash
from headwater.signing.segments import facet_spans

SALT_BYTES: Final = 16
VERSION: Final = 1
_OFFSET_BYTES: Final = 8

Kind = Literal["event", "edit"]
CommittedFacet = tuple[int, int, bytes]
"""Begin and end of a facet in the received bytes, and its part."""


class Found(NamedTuple):
    """The facts established about an entry when it arrived; they never change."""

    kind: Kind
    received_us: int
    """Microseconds since 1970, UTC."""
    verdict: str
    key_id: str | None


class Seal(NamedTuple):
    """An entry's leaf, as the log stores it."""

    salt: bytes
    commitment: bytes
    leaf: bytes
    """Its hash."""


def seal(raw: bytes, found: Found, salt: bytes, spans: Sequence[FacetSpan] | None = None) -> Seal:
    """Make an entry's leaf; `salt` are 16 random bytes, `spans` the positions of its facets, if known.

    Raises:
        MalformedJsonError: `raw` is not JSON.
    """
    if spans is None:
        spans = facet_spans(raw) if found.kind == "event" else ()
    committed = commitment(raw, spans, salts(salt, len(spans)))
    return Seal(salt, committed, leaf_hash(leaf_data(committed, found)))


def leaf_data(committed: bytes, found: Found) -> bytes:
    """The bytes that are hashed into the tree."""
    members = {
        "commitment": as_text(committed),
        "keyId": found.key_id,
        "kind": found.kind,
        "receivedUs": found.received_us,
        "verdict": found.verdict,
        "version": VERSION,
    }
    return orjson.dumps(members)


def salts(entry_salt: bytes, facets: int) -> list[bytes]:
    """The salts of the rest and of each facet."""
    stream = hashlib.shake_256(entry_salt).digest(SALT_BYTES * (facets + 1))
    return [stream[at : at + SALT_BYTES] for at in range(0, len(stream), SALT_BYTES)]


def commitment(raw: bytes, spans: Sequence[FacetSpan], each_salt: Sequence[bytes]) -> bytes:
    """Commit to the rest of an entry, and to each facet separately."""
    rest_salt, *facet_salts = each_salt
    rest, facets, at = [rest_salt], list[CommittedFacet](), 0
    for span, salt in zip(spans, facet_salts, strict=True):
        begin, end = span[0], span[1]
        rest.append(raw[at:begin])
        facets.append((begin, end, part(salt, raw[begin:end])))
        at = end
    rest.append(raw[at:])
    return commitment_of(part(b"", b"".join(rest)), facets)


def commitment_of(rest: bytes, facets: Iterable[CommittedFacet]) -> bytes:
    """The commitment that these parts give: the rest's, and each facet's."""
    offsets_and_parts = (
        begin.to_bytes(_OFFSET_BYTES) + end.to_bytes(_OFFSET_BYTES) + committed for begin, end, committed in facets
    )
    return hashlib.sha256(b"".join((rest, *offsets_and_parts))).digest()


def part(salt: bytes, data: bytes) -> bytes:
    """Commit to some bytes."""
    return hashlib.sha256(salt + data).digest()
