"""Whose signatures count, by all statements about keys that a log holds, in their order.

Whoever steals a key can sign statements with it, too. So none takes the place of another, and of each it counts who
vouches for it:

- A revocation with a token is the operator's word. The last one holds, earlier or later than those before it.
- One that the key alone signed holds where no operator said anything. It counts from an hour before it came, at the
  earliest: what the owner signed before that stays proven. Once it holds, the key says nothing more of itself; until
  then it can only bring the time forward.
- A replacement that the old key named when it was not to be trusted any more does not count, and those that the
  replacement named fall with it, unless a token enrolled them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.model.facts import Edit
from headwater.model.times import AFTER_ALL_US, microseconds
from headwater.signing.directory import Statement, read_statement
from headwater.signing.jwks import public_key

BACK_US: Final = 3_600_000_000
"""How far back the time may lie, when a revocation comes, that the key itself signed."""
_CALENDAR_US: Final = microseconds(datetime.min), microseconds(datetime.max)


class Revocation(NamedTuple):
    """From when on a key is not trusted, in microseconds since 1970, and who says so."""

    from_us: int
    reason: str | None
    is_by_token: bool


class Standing(NamedTuple):
    """What keys count, by their ids."""

    keys: Mapping[str, Ed25519PublicKey]
    """All that were trusted at some time, also those that were revoked since."""
    stated: Mapping[str, Statement]
    """By which statement one is known, or would be if it had not fallen; those that are configured alone have none."""
    revoked: Mapping[str, Revocation]
    fallen: Mapping[str, str]
    """Replacements that do not count, mapped to the revoked key with which they fell."""


def standing(said: Iterable[Edit], configured: Mapping[str, Ed25519PublicKey]) -> Standing:
    """Judge all edits of keys; those that are configured need no statement.

    Raises:
        InvalidInputError: one of them holds no statement.
    """
    all_said = [_read(edit) for edit in sorted(said, key=lambda edit: edit.log_index)]
    revoked, keys = _revocations(all_said), {**configured}
    stated, fallen = dict[str, Statement](), dict[str, str]()
    for told, _, at_us in all_said:
        if told.what == "revoke":
            continue
        old = told.replaces or "" if told.what == "rotate" else ""
        until_us = revoked[old].from_us if old in revoked else AFTER_ALL_US
        if old not in fallen and max(at_us, microseconds(told.time)) < until_us:
            keys[told.key_id], stated[told.key_id] = public_key(told.x, "statement.x"), told
            fallen.pop(told.key_id, None)
        elif told.key_id not in keys:
            fallen[told.key_id], stated[told.key_id] = fallen.get(old, old), told
    return Standing(keys, stated, revoked, fallen)


class _Said(NamedTuple):
    statement: Statement
    is_by_token: bool
    at_us: int


def _read(edit: Edit) -> _Said:
    told: Mapping[str, Any] = orjson.loads(edit.value)
    return _Said(read_statement(told["statement"]), told["token"] is not None, edit.seen.first_us)


def _revocations(all_said: Iterable[_Said]) -> Mapping[str, Revocation]:
    revoked = dict[str, Revocation]()
    for told, is_by_token, at_us in all_said:
        if told.what != "revoke" or told.from_time is None:
            continue
        first_us, last_us = _CALENDAR_US  # an offset from UTC may move a time beyond them
        from_us, known = min(max(microseconds(told.from_time), first_us), last_us), revoked.get(told.key_id)
        if not is_by_token:
            from_us = max(from_us, at_us - BACK_US)
            until_us = AFTER_ALL_US if known is None else known.from_us
            if (known is not None and known.is_by_token) or at_us >= until_us or from_us >= until_us:
                continue
        revoked[told.key_id] = Revocation(from_us, told.reason, is_by_token)
    return revoked
