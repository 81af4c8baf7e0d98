"""Erase a facet from the log: its bytes, its salt, and everything derived from it."""

import secrets
from typing import NamedTuple

from headwater.errors import NotFoundError
from headwater.model.edits import EditItem, edit_entry, erased
from headwater.model.words import in_words
from headwater.signing.erasure import ERASED
from headwater.signing.erasure import erase as erase_from
from headwater.signing.leaf import SALT_BYTES
from headwater.signing.segments import facet_spans
from headwater.store.entries import EDIT, entry_of
from headwater.store.store import Store

_SIGNATURE = "run.facets.signature"


class Erasure(NamedTuple):
    """Which facet to erase, and what the log records about it."""

    log_index: int
    path: str
    reason: str
    by: str
    edit_id: str
    time_us: int


def erase(store: Store, erasure: Erasure) -> tuple[list[str], int]:
    """Erase a facet; returns the paths erased, and the index of the log entry that records it.

    The event's signature goes too, if it is left: its `payloadHash` is over all that was signed and has no salt.

    Raises:
        InvalidInputError: the reason or the person who erases it is missing.
        NotFoundError: there is no such event, or no such facet in it.
        InvalidEventError: the log already has an entry with the same bytes.
        UnavailableError: the database does not answer; nothing is erased then.
    """
    reason, by = in_words(erasure.reason, "reason"), in_words(erasure.by, "by")
    is_known = erasure.log_index < store.size()  # a database refuses numbers of more than 64 bits
    logged = store.at([erasure.log_index]).get(erasure.log_index) if is_known else None
    if logged is None or logged.event_type == EDIT:
        raise NotFoundError(f"index: the log has no event {erasure.log_index}")
    [sealed] = store.tree.seals(range(erasure.log_index, erasure.log_index + 1))
    is_signed = any(place.path == tuple(_SIGNATURE.split(".")) for place in facet_spans(logged.raw))
    paths = [erasure.path, *([_SIGNATURE] if is_signed and erasure.path != _SIGNATURE else [])]
    raw, salt = erase_from(logged.raw, sealed.salt, _not_erased(logged.raw, paths, erasure.path))
    item = EditItem(("entry", str(erasure.log_index)), erased(erasure.path), {"reason": reason})
    edit = edit_entry(erasure.edit_id, erasure.time_us, by, [item])
    entry = entry_of(edit, "unsigned", None, erasure.time_us, secrets.token_bytes(SALT_BYTES))
    return paths, store.replace(erasure.log_index, raw, salt, entry)


def _not_erased(raw: bytes, paths: list[str], requested: str) -> list[str]:
    """The paths not erased yet; always with the requested one, so that a repeated request is refused."""
    erased_paths = {".".join(place.path) for place in facet_spans(raw) if raw[place.begin : place.end] == ERASED}
    return [path for path in paths if path == requested or path not in erased_paths]
