"""What the tree holds of an entry of the log: not its bytes, but what commits to them, facet by facet.

    leaf       = {"commitment": "sha256:…", "keyId": …, "kind": "event", "receivedUs": …, "verdict": "ok", "version": 1}
    commitment = SHA-256 over the rest's part, then for each facet, in order: begin, end (8 bytes each), its part
    part       = SHA-256(its salt || its bytes)
    salts      = SHAKE-256(the entry's salt), 16 bytes for the rest and for each facet

The rest is the entry's bytes without the values of its facets. Who erases a facet forgets its bytes, its salt and the
entry's salt, and keeps its part and the other salts: the leaf stays what it was, and without its salt the part tells
nothing about the bytes, not even to one who guesses them. Salts that are left tell nothing about one that is gone.

Source: docs/decisions/0010; SHAKE-256 is that of FIPS 202.
"""

import hashlib
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import orjson

from headwater.model.outline import FacetPlace
from headwater.signing.merkle import leaf_hash
from headwater.signing.segments import facet_places

SALT_BYTES: Final = 16
VERSION: Final = 1
_PLACE_BYTES: Final = 8

Kind = Literal["event", "edit"]


class Found(NamedTuple):
    """What was established about an entry when it arrived; never changes."""

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


def seal(raw: bytes, found: Found, salt: bytes, places: Sequence[FacetPlace] | None = None) -> Seal:
    """Make an entry's leaf; `salt` are 16 random bytes, `places` the positions of its facets, if known.

    Raises:
        MalformedJsonError: `raw` is no JSON.
    """
    if places is None:
        places = facet_places(raw) if found.kind == "event" else ()
    committed = commitment(raw, places, salts(salt, len(places)))
    return Seal(salt, committed, leaf_hash(leaf_data(committed, found)))


def leaf_data(committed: bytes, found: Found) -> bytes:
    """The bytes that are hashed into the tree."""
    members = {
        "commitment": f"sha256:{committed.hex()}",
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


def commitment(raw: bytes, places: Sequence[FacetPlace], each_salt: Sequence[bytes]) -> bytes:
    """Commit to the rest of an entry, and to each facet apart."""
    rest_salt, *facet_salts = each_salt
    rest, committed, at = [rest_salt], [b""], 0
    for place, salt in zip(places, facet_salts, strict=True):
        begin, end = place[0], place[1]
        rest.append(raw[at:begin])
        committed += (begin.to_bytes(_PLACE_BYTES), end.to_bytes(_PLACE_BYTES), part(salt, raw[begin:end]))
        at = end
    rest.append(raw[at:])
    committed[0] = part(b"", b"".join(rest))
    return hashlib.sha256(b"".join(committed)).digest()


def part(salt: bytes, data: bytes) -> bytes:
    """Commit to some bytes."""
    return hashlib.sha256(salt + data).digest()
