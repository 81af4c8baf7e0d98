"""Erases facets of an entry without changing its leaf: their commitments stay, their bytes and salts are dropped.

A JSON object then replaces the stored salt from which all others are derived: the facets' positions in the received
bytes, the remaining salts, and the commitments of what was erased.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection
from typing import Final, NamedTuple

import orjson

from headwater.errors import MalformedJsonError, NotFoundError
from headwater.signing.leaf import SALT_BYTES, CommittedFacet, Kind, commitment, commitment_of, part, salts
from headwater.signing.segments import facet_spans

ERASED: Final = b'{"_deleted":true}'
"""Replaces an erased facet; OpenLineage's tombstone."""


class Openings(NamedTuple):
    """The data to open an entry's commitment, as far as it may still be opened."""

    facets: list[int]
    """Begin and end of each facet, in the received bytes."""
    salts: list[str | None]
    """In base64: the rest's salt, then each facet's; None for an erased one."""
    parts: dict[str, str]
    """In base64: the commitment of each erased facet, by its number."""


def are_salts(salt: bytes) -> bool:
    """Whether these can be an entry's stored salts: one from which all follow, or those that an erasure left."""
    if len(salt) == SALT_BYTES:
        return True
    try:
        Openings(**orjson.loads(salt))
    except (ValueError, TypeError):
        return False
    return True


def openings(raw: bytes, salt: bytes) -> Openings:
    """The opening of an entry's commitment, from its stored salts."""
    if len(salt) != SALT_BYTES:
        return Openings(**orjson.loads(salt))
    spans = facet_spans(raw)
    each = [b64encode(one).decode() for one in salts(salt, len(spans))]
    return Openings([at for span in spans for at in (span.begin, span.end)], [*each], {})


def erase(raw: bytes, salt: bytes, paths: Collection[str]) -> tuple[bytes, bytes]:
    """Erase the facets with these paths, like `run.facets.owner` or `inputs.0.facets.schema`.

    Returns:
        The remaining bytes, and the salts to store.

    Raises:
        NotFoundError: the entry has no facet with one of these paths, or it was erased before.
    """
    known, spans = openings(raw, salt), facet_spans(raw)
    numbers = {".".join(span.path): number for number, span in enumerate(spans)}
    for path in paths:
        number = numbers.get(path)
        if number is None:
            left = [other for other, at in numbers.items() if known.salts[at + 1] is not None]
            raise NotFoundError(f"path: the entry has no facet {path!r}; it has {', '.join(left) or 'none'}")
        if (of_it := known.salts[number + 1]) is None:
            raise NotFoundError(f"path: the facet {path!r} of the entry was erased before")
        begin, end, _ = spans[number]
        known.parts[str(number)] = b64encode(part(b64decode(of_it), raw[begin:end])).decode()
        known.salts[number + 1] = None
    for number in sorted((numbers[path] for path in paths), reverse=True):
        begin, end, _ = spans[number]
        raw = raw[:begin] + ERASED + raw[end:]
    return raw, orjson.dumps(known._asdict())


def is_committed(raw: bytes, kind: Kind, salt: bytes, committed: bytes) -> bool:
    """Whether an entry's commitment is to these bytes, as far as its stored salts still open it."""
    try:
        if len(salt) != SALT_BYTES:
            return _commitment_left(raw, Openings(**orjson.loads(salt))) == committed
        spans = facet_spans(raw) if kind == "event" else ()
        return commitment(raw, spans, salts(salt, len(spans))) == committed
    except (MalformedJsonError, ValueError, TypeError, LookupError):  # no JSON, other facets, or no such salts
        return False


def _commitment_left(raw: bytes, known: Openings) -> bytes:
    """The commitment to what an erasure left of an entry."""
    rest_salt, *facet_salts = known.salts
    rest, facets, at = [b64decode(rest_salt or "")], list[CommittedFacet](), 0
    received = zip(known.facets[::2], known.facets[1::2], strict=True)
    for number, (span, salt, place) in enumerate(zip(facet_spans(raw), facet_salts, received, strict=True)):
        value = raw[span.begin : span.end]
        rest.append(raw[at : span.begin])
        if salt is None and value != ERASED:
            raise ValueError("a facet without its salt is not marked as erased")
        own = b64decode(known.parts[str(number)]) if salt is None else part(b64decode(salt), value)
        facets.append((*place, own))
        at = span.end
    return commitment_of(part(b"", b"".join([*rest, raw[at:]])), facets)


def is_left_of(left: bytes, raw: bytes) -> bool:
    """Whether the bytes are an entry's own with some of its facets erased."""
    erased = {span.path for span in facet_spans(left) if left[span.begin : span.end] == ERASED}
    for begin, end, path in reversed(facet_spans(raw)):
        if path in erased:
            raw = raw[:begin] + ERASED + raw[end:]
    return raw == left
