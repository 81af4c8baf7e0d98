"""Evaluates all statements about keys in a log, in order: which keys count.

A thief can sign statements with a stolen key. So a later statement does not simply replace an earlier one; its
authority decides:

- A revocation with a token is the operator's. The last one counts, whether its time is earlier or later than that of
  the one before.
- One that only the key itself signed counts if there is no operator's. It takes effect at most an hour before it
  arrived: what the owner signed earlier stays proven. From then on the key can make no further statements about itself;
  until then it can only move the time forward.
- A replacement that the old key named after it was revoked does not count, nor do those that the replacement named in
  turn, unless a token enrolled them.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidInputError
from headwater.model.facts import Edit
from headwater.model.times import AFTER_ALL_US, microseconds
from headwater.signing.directory import Statement, read_statement
from headwater.signing.jwks import public_key

BACK_US: Final = 3_600_000_000
"""Limit on backdating a revocation that the key itself signed."""
_CALENDAR_US: Final = microseconds(datetime.min), microseconds(datetime.max)


class Revocation(NamedTuple):
    """The time from which a key is not trusted, in microseconds since 1970, and whether the operator revoked it."""

    from_us: int
    reason: str | None
    is_by_token: bool


class Standing(NamedTuple):
    """The keys that count, by id."""

    keys: Mapping[str, Ed25519PublicKey]
    """All that were ever trusted, including revoked ones."""
    stated: Mapping[str, Statement]
    """The statement that introduced each key, including fallen ones; absent for keys that are only configured."""
    revoked: Mapping[str, Revocation]
    fallen: Mapping[str, str]
    """Replacements that do not count, mapped to the revoked key that invalidated them."""


def standing(edits: Iterable[Edit], configured: Mapping[str, Ed25519PublicKey]) -> Standing:
    """Evaluate all edits of keys; configured keys need no statement.

    Raises:
        InvalidInputError: an edit does not hold a valid statement.
    """
    statements = [_read(edit) for edit in sorted(edits, key=lambda edit: edit.log_index)]
    revoked, keys = _revocations(statements), {**configured}
    stated, fallen = dict[str, Statement](), dict[str, str]()
    for statement, _, at_us in statements:
        if statement.what == "revoke":
            continue
        old = statement.replaces or "" if statement.what == "rotate" else ""
        until_us = revoked[old].from_us if old in revoked else AFTER_ALL_US
        if old not in fallen and max(at_us, microseconds(statement.time)) < until_us:
            keys[statement.key_id], stated[statement.key_id] = public_key(statement.x, "statement.x"), statement
            fallen.pop(statement.key_id, None)
        elif statement.key_id not in keys:
            fallen[statement.key_id], stated[statement.key_id] = fallen.get(old, old), statement
    return Standing(keys, stated, revoked, fallen)


class _Received(NamedTuple):
    statement: Statement
    is_by_token: bool
    at_us: int


class _Value(msgspec.Struct):
    """What an edit of a key holds, as far as it decides which keys count."""

    statement: str
    token: str | None


def _read(edit: Edit) -> _Received:
    try:
        value = msgspec.json.decode(edit.value, type=_Value)
    except msgspec.MsgspecError as fault:
        raise InvalidInputError(f"statement: {fault}") from fault
    return _Received(read_statement(value.statement), value.token is not None, edit.seen.first_us)


def _revocations(statements: Iterable[_Received]) -> Mapping[str, Revocation]:
    revoked = dict[str, Revocation]()
    for statement, is_by_token, at_us in statements:
        if statement.what != "revoke" or statement.from_time is None:
            continue
        first_us, last_us = _CALENDAR_US  # an offset from UTC may move a time beyond them
        from_us, known = min(max(microseconds(statement.from_time), first_us), last_us), revoked.get(statement.key_id)
        if not is_by_token:
            from_us = max(from_us, at_us - BACK_US)
            until_us = AFTER_ALL_US if known is None else known.from_us
            if (known is not None and known.is_by_token) or at_us >= until_us or from_us >= until_us:
                continue
        revoked[statement.key_id] = Revocation(from_us, statement.reason, is_by_token)
    return revoked
