"""The key directory: whose signatures are accepted, and until when.

A key is known because this machine's configuration has it, or because a signed statement in the log enrolled it. Every
change is an entry of the log, with the statement and its signatures as they came, so anybody can check the directory.
`headwater.signing.standing` has the rules by which they count.
"""

from collections.abc import Mapping
from pathlib import Path

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidInputError, NotFoundError, UntrustedEventError
from headwater.graph.edits import Edits
from headwater.model.edits import ENROLLED, KEY, REVOKED, EditItem, edit_entry
from headwater.model.facts import Edit, Fact
from headwater.model.times import microseconds
from headwater.model.words import in_words
from headwater.service.http.answers import iso
from headwater.service.ingest.reading import Trust
from headwater.service.request.access import Service
from headwater.service.shapes import keys as shapes
from headwater.signing import tokens
from headwater.signing.directory import Signed, Statement, check_signature, node_of, read_statement, stated_key
from headwater.signing.jwks import encoded_public_key, write_jwks
from headwater.signing.standing import BACK_US, Standing, standing

Configured = Mapping[str, Ed25519PublicKey]


def is_about_keys(fact: Fact) -> bool:
    """Whether the fact may change which keys are trusted."""
    return isinstance(fact, Edit) and fact.target[0] == KEY


def trust(edits: Edits, configured: Configured, *, is_required: bool) -> Trust:
    """The trusted keys, by configuration and by the statements so far."""
    now = standing(edits.all_of(KEY), configured)
    return Trust(now.keys, is_required, {key_id: each.from_us for key_id, each in now.revoked.items()})


def apply_key_directory(service: Service) -> None:
    """Verify events by the current directory."""
    recorder = service.intake.recorder
    is_required = recorder.trust.is_required
    recorder.set_trust(trust(service.knowledge.graph.edits, service.key_store.configured, is_required=is_required))


async def change(
    service: Service, configured: Configured, token_directory: Path | None, body: shapes.StatementBody
) -> None:
    """Process a statement about a key; when this returns, it is in the log and in effect for later events.

    Raises:
        InvalidInputError: it is not a statement, or is contradictory.
        UntrustedEventError: a required signature or token is missing, its node has a key already, or it is signed by a
            key that is no longer trusted.
        NotFoundError: a key that it names is not known.
        UnavailableError: it could not be stored now.
    """
    statement = read_statement(body.statement)
    signed = Signed(body.statement, body.signatures)
    now_us = service.now_us()
    known = standing(service.knowledge.graph.edits.all_of(KEY), configured)
    used = None
    if _checked(statement, signed, known, body.token, now_us):
        used = _used_token(service, token_directory, body.token, statement, known)
    elif _is_in_log(service, "statement", body.statement):
        return  # anybody can read it there and send it again
    value = {"statement": body.statement, "signatures": dict(body.signatures), "token": used}
    what = REVOKED if statement.what == "revoke" else ENROLLED
    item = EditItem((KEY, statement.key_id), what, value)
    entry = edit_entry(service.new_id(), now_us, next(iter(body.signatures), None), [item])
    try:
        await service.intake.edit(entry, is_proved=True)
    except Exception:
        if used is not None and token_directory is not None:
            tokens.give_back(token_directory, used, entry.stamp.digest)
        raise
    finally:
        if used is not None and token_directory is not None:
            tokens.forget(token_directory, used)


def keys(edits: Edits, configured: Configured) -> shapes.Keys:
    """Every key that is or was trusted, or would be but for a revoked key that named it, by its id."""
    now = standing(edits.all_of(KEY), configured)
    replaced = {
        statement.replaces: key_id
        for key_id, statement in now.stated.items()
        if statement.replaces and key_id in now.keys
    }
    known = [_known_key(now, key_id, replaced.get(key_id)) for key_id in sorted({**now.keys, **now.fallen})]
    return shapes.Keys(keys=known)


def _known_key(now: Standing, key_id: str, replaced_by: str | None) -> shapes.KnownKey:
    stated, revoked = now.stated.get(key_id), now.revoked.get(key_id)
    x = encoded_public_key(now.keys[key_id]) if stated is None else stated.x or ""
    return shapes.KnownKey(
        keyId=key_id,
        nodeId=node_of(key_id),
        x=x,
        origin="configured" if stated is None else "enrolled",
        enrolledAt=None if stated is None else iso(microseconds(stated.time)),
        replaces=None if stated is None else stated.replaces,
        replacedBy=replaced_by,
        revokedFrom=None if revoked is None else iso(revoked.from_us),
        revokedBecause=None if revoked is None else revoked.reason,
        fellWith=now.fallen.get(key_id),
    )


def jwks(edits: Edits, configured: Configured) -> str:
    """All keys, enrolled or configured, as a JSON Web Key Set; a revoked one has `revokedFrom`."""
    now = standing(edits.all_of(KEY), configured)
    revoked_from = {key_id: iso(each.from_us, "microseconds") for key_id, each in now.revoked.items()}
    return write_jwks(dict(sorted(now.keys.items())), revoked_from)


def _checked(statement: Statement, signed: Signed, known: Standing, token: str | None, now_us: int) -> bool:
    """Check a statement and its signatures; returns whether it needs a token too."""
    _check_signers(statement, signed)
    if statement.what == "revoke":
        return _checked_revocation(statement, signed, known, token, now_us)
    node_id, key = stated_key(statement)
    check_signature(signed, statement.key_id, key)
    if statement.what == "enrol":
        if statement.replaces is not None:
            raise InvalidInputError("statement.replaces: expected only in a rotation, which that key signs too")
        if statement.key_id in known.revoked and known.revoked[statement.key_id].from_us <= now_us:
            raise UntrustedEventError(
                "statement.keyId: the key is revoked, and enrolling it changes nothing; the node needs another key "
                "(docs/trust.md)"
            )
        return True
    old = statement.replaces or ""
    if old not in known.keys or old in known.revoked:
        raise UntrustedEventError(f"statement.replaces: {old!r} is not a trusted key, so it cannot introduce another")
    if node_of(old) != node_id:
        raise InvalidInputError("statement.keyId: only a key of the same node can replace a key")
    check_signature(signed, old, known.keys[old])
    return False


def _check_signers(statement: Statement, signed: Signed) -> None:
    """Refuse signatures by anybody else: nobody checks them, but the log would name their makers."""
    signers = {statement.key_id, statement.replaces if statement.what == "rotate" else None}
    for named in signed.signatures:
        if named not in signers:
            raise UntrustedEventError(f"signatures: {named!r} is no key that has to sign this statement")


def _checked_revocation(statement: Statement, signed: Signed, known: Standing, token: str | None, now_us: int) -> bool:
    if statement.key_id not in known.keys:
        root = known.fallen.get(statement.key_id)
        fell = f" It is no longer trusted since '{root}' was revoked." if root else ""
        raise NotFoundError(f"Key '{statement.key_id}' not found.{fell}")
    from_us = _from_us(statement)
    in_words(statement.reason, "statement.reason")
    if token is None or signed.signatures:
        check_signature(signed, statement.key_id, known.keys[statement.key_id])
    if token is not None:
        return True
    before = known.revoked.get(statement.key_id)
    if before is not None and (before.is_by_token or before.from_us <= now_us):
        raise UntrustedEventError("statement.keyId: the key is revoked; changing that requires a token")
    if before is not None and before.from_us <= from_us:
        raise UntrustedEventError(
            "statement.from: the key is revoked from an earlier time; postponing that requires a token"
        )
    if from_us < now_us - BACK_US:
        raise UntrustedEventError(
            "statement.from: more than an hour ago, which requires a token: a thief has the key too"
        )
    return False


def _is_in_log(service: Service, member: str, value: str) -> bool:
    """Whether an edit of a key has this statement, or the hash of this token."""
    edits = service.knowledge.graph.edits.all_of(KEY)
    return any(orjson.loads(edit.value)[member] == value for edit in edits)


def _used_token(service: Service, folder: Path | None, token: str | None, statement: Statement, known: Standing) -> str:
    if token is None or folder is None:
        raise UntrustedEventError("token: missing; make one with `headwater key token` where the service runs")
    valid = tokens.valid_token(folder, token, service.now_us())
    if valid.node_id is not None and valid.node_id != node_of(statement.key_id):
        raise UntrustedEventError("token: made for another node")
    if valid.node_id is None:
        _refuse_more_trust(statement, known)
    used = tokens.use(folder, token)
    is_stored = valid.unsure_of is not None and service.knowledge.store.known_digests([valid.unsure_of])
    if is_stored or _is_in_log(service, "token", used):  # its file may be restored from a backup
        tokens.forget(folder, used)
        raise UntrustedEventError("token: already used")
    return used


def _refuse_more_trust(statement: Statement, known: Standing) -> None:
    """A token for any node without a key gives no further trust to a node that has one."""
    node_id, of_node = node_of(statement.key_id), "make a token with `headwater key token --node`"
    if statement.what == "enrol":
        if any(node_of(each) == node_id and each != statement.key_id for each in known.keys):
            raise UntrustedEventError(f"token: the node has a key already; rotate it, or {of_node}")
    elif statement.key_id in known.revoked and known.revoked[statement.key_id].from_us < _from_us(statement):
        raise UntrustedEventError(f"token: the key is revoked from an earlier time; to postpone that, {of_node}")


def _from_us(statement: Statement) -> int:
    if statement.from_time is None:
        raise InvalidInputError("statement.from: is required")
    return microseconds(statement.from_time)
