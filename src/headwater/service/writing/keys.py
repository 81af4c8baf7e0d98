"""The key directory: whose signatures count, and from when on no more.

A key is known because this machine's configuration has it, or because a signed statement in the log enrolled it. Every
change is an entry of the log, with the statement and its signatures as they came, so anybody can check the directory.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidInputError, NotFoundError, UntrustedEventError
from headwater.graph.edits import Edits
from headwater.model.edits import ENROLLED, KEY, REVOKED, Saying, edit_entry
from headwater.model.facts import Edit, Fact
from headwater.model.times import microseconds
from headwater.model.words import in_words
from headwater.service.http.answers import iso
from headwater.service.ingest.reading import Trust
from headwater.service.request.access import Service
from headwater.service.shapes import keys as shapes
from headwater.signing import directory, tokens
from headwater.signing.directory import Signed, Statement, check_signature, node_of, read_statement, stated_key
from headwater.signing.jwks import encoded_public_key, public_key, write_jwks

Configured = Mapping[str, Ed25519PublicKey]


def is_about_keys(fact: Fact) -> bool:
    """Whether what is trusted may be something else because of the fact."""
    return isinstance(fact, Edit) and fact.target[0] == KEY


def trust(edits: Edits, configured: Configured, *, is_required: bool) -> Trust:
    """Whose signatures count by what is configured and by what was said until now."""
    keys = {**configured, **dict(_enrolled(edits))}
    revoked = {key_id: microseconds(_time(told, "from")) for key_id, told in _revoked(edits)}
    return Trust(keys, is_required, revoked)


def rely_on_directory(service: Service) -> None:
    """Have events verified by the directory as it is now."""
    recorder = service.intake.recorder
    is_required = recorder.trust.is_required
    recorder.rely_on(trust(service.knowledge.graph.edits, service.key_store.configured, is_required=is_required))


async def change(
    service: Service, configured: Configured, token_directory: Path | None, body: shapes.StatementBody
) -> None:
    """Take a statement about a key; when this returns, it is in the log and holds for every event that comes.

    Raises:
        InvalidInputError: the statement is none, or says what cannot be.
        UntrustedEventError: it lacks a signature or the token that it needs, or a key is known for its node already.
        NotFoundError: a key that it names is not known.
        UnavailableError: it could not be stored now.
    """
    statement = read_statement(body.statement)
    signed = Signed(body.statement, body.signatures)
    known = trust(service.knowledge.graph.edits, configured, is_required=False)
    used = None
    if _checked(statement, signed, known, body.token):
        used = _used_token(token_directory, body.token, statement, service.now_us(), known)
    told = {"statement": body.statement, "signatures": dict(body.signatures), "token": used}
    what = REVOKED if statement.what == "revoke" else ENROLLED
    saying = Saying((KEY, statement.key_id), what, told)
    entry = edit_entry(service.new_id(), service.now_us(), next(iter(body.signatures), None), [saying])
    await service.intake.edit(entry, is_proved=True)


def keys(edits: Edits, configured: Configured) -> shapes.Keys:
    """Every key that is or was trusted, by its id."""
    enrolled = {key_id: read_statement(edit["statement"]) for key_id, edit in _said(edits, ENROLLED)}
    revoked = dict(_revoked(edits))
    replaced = {told.replaces: key_id for key_id, told in enrolled.items() if told.replaces}
    every = {**configured, **dict(_enrolled(edits))}
    return shapes.Keys(
        keys=[
            shapes.KnownKey(
                keyId=key_id,
                nodeId=node_of(key_id),
                x=encoded_public_key(key),
                origin="enrolled" if key_id in enrolled else "configured",
                enrolledAt=iso(microseconds(enrolled[key_id].time)) if key_id in enrolled else None,
                replaces=enrolled[key_id].replaces if key_id in enrolled else None,
                replacedBy=replaced.get(key_id),
                revokedFrom=iso(microseconds(_time(revoked[key_id], "from"))) if key_id in revoked else None,
                revokedBecause=revoked[key_id].reason if key_id in revoked else None,
            )
            for key_id, key in sorted(every.items())
        ]
    )


def jwks(edits: Edits, configured: Configured) -> str:
    """All keys, enrolled or configured, as the text of a JSON Web Key Set; a revoked one has `revokedFrom`."""
    revoked = {key_id: iso(microseconds(_time(told, "from"))) for key_id, told in _revoked(edits)}
    return write_jwks(dict(sorted({**configured, **dict(_enrolled(edits))}.items())), revoked)


def _checked(statement: Statement, signed: Signed, known: Trust, token: str | None) -> bool:
    """Check what a statement says and who signed it; gives whether it needs a token too."""
    if statement.what == "revoke":
        return _checked_revocation(statement, signed, known, token)
    node_id, key = stated_key(statement)
    check_signature(signed, statement.key_id, key)
    if statement.what == "enrol":
        return True
    old = statement.replaces or ""
    if old not in known.keys or old in known.revoked_us:
        raise UntrustedEventError(f"statement.replaces: {old!r} is not a trusted key, so it can name no other")
    if node_of(old) != node_id:
        raise InvalidInputError("statement.keyId: a key is replaced by one of the same node")
    check_signature(signed, old, known.keys[old])
    return False


def _checked_revocation(statement: Statement, signed: Signed, known: Trust, token: str | None) -> bool:
    if statement.key_id not in known.keys:
        raise NotFoundError(f"Key '{statement.key_id}' not found.")
    _time(statement, "from")
    in_words(statement.reason, "statement.reason")
    if token is not None:
        return True
    check_signature(signed, statement.key_id, known.keys[statement.key_id])
    return False


def _used_token(folder: Path | None, token: str | None, statement: Statement, now_us: int, known: Trust) -> str:
    if token is None or folder is None:
        raise UntrustedEventError("token: missing; make one with `headwater key token` where the service runs")
    bound = tokens.bound_node(folder, token, now_us)
    if bound is not None and bound != node_of(statement.key_id):
        raise UntrustedEventError("token: made for another node")
    _refuse_second_key(statement, bound, known)
    return tokens.use(folder, token)


def _refuse_second_key(statement: Statement, bound: str | None, known: Trust) -> None:
    node_id = node_of(statement.key_id)
    others = [each for each in known.keys if node_of(each) == node_id and each != statement.key_id]
    if statement.what == "enrol" and bound is None and others:
        raise UntrustedEventError(
            "token: the node has a key already; rotate it, or make a token with `headwater key token --node`"
        )


def _said(edits: Edits, what: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for target in edits.targets(KEY):
        if (edit := edits.said(target, what)) is not None:
            yield target[1], orjson.loads(edit.value)


def _enrolled(edits: Edits) -> Iterator[tuple[str, Ed25519PublicKey]]:
    for key_id, told in _said(edits, ENROLLED):
        yield key_id, public_key(directory.read_statement(told["statement"]).x, "statement.x")


def _revoked(edits: Edits) -> Iterator[tuple[str, Statement]]:
    for key_id, told in _said(edits, REVOKED):
        yield key_id, directory.read_statement(told["statement"])


def _time(statement: Statement, member: str) -> datetime:
    if statement.from_time is None:
        raise InvalidInputError(f"statement.{member}: is required")
    return statement.from_time
