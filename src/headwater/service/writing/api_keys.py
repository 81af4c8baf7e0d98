"""API keys: each is an entry of the log, with the hash of its secret; so is its revocation."""

from collections.abc import Iterator, Mapping

import orjson

from headwater.access.api_keys import ApiKey, NewKey, new_key, read_key, stored_form
from headwater.access.callers import EVERYTHING, Grant, checked_roles
from headwater.errors import InvalidInputError, NotFoundError
from headwater.graph.edits import Edits
from headwater.model.edits import ACCESS_KEY, GRANTED, REVOKED, EditItem, edit_entry
from headwater.model.facts import Edit, Fact
from headwater.model.times import microseconds
from headwater.service.http.answers import iso
from headwater.service.request.access import Service
from headwater.service.shapes import access as shapes


def is_about_api_keys(fact: Fact) -> bool:
    """Whether the fact changes which API keys are valid."""
    return isinstance(fact, Edit) and fact.target[0] == ACCESS_KEY


def holding(edits: Edits) -> dict[str, ApiKey]:
    """The API keys that are not revoked, by id; some may have expired."""
    return {key.key_id: key for key, is_revoked in _every(edits) if not is_revoked}


def listed(edits: Edits) -> shapes.ApiKeys:
    """All API keys, by name, without their secrets."""
    every = sorted(_every(edits), key=lambda each: (each[0].name, each[0].key_id))
    return shapes.ApiKeys(keys=[_shape(key, is_revoked=is_revoked) for key, is_revoked in every])


async def create(service: Service, body: shapes.ApiKeyBody, by: str | None) -> shapes.NewApiKey:
    """Create an API key; when this returns, it is in the log and valid. Only the answer contains its secret.

    Raises:
        InvalidInputError: the name is taken, a role or scope is invalid, or the end is in the past.
    """
    new, key = _new_key(service, body)
    await _log(service, by, EditItem((ACCESS_KEY, key.key_id), GRANTED, stored_form(key)))
    return shapes.NewApiKey(**_shape(key, is_revoked=False), secret=new.secret)


async def revoke(service: Service, name: str, by: str | None) -> shapes.ApiKey:
    """Revoke an API key by id, or by name all that have it; when this returns, it is no longer valid.

    Several have one name if they were created at the same time.

    Raises:
        NotFoundError: there is no valid one.
    """
    keys = holding(service.knowledge.graph.edits)
    revoked = [keys[name]] if name in keys else [each for each in keys.values() if each.name == name]
    if not revoked:
        raise NotFoundError(f"API key '{name}' not found.")
    await _log(service, by, *(EditItem((ACCESS_KEY, each.key_id), REVOKED, True) for each in revoked))
    return _shape(revoked[0], is_revoked=True)


def _new_key(service: Service, body: shapes.ApiKeyBody) -> tuple[NewKey, ApiKey]:
    roles = checked_roles(body.roles, "roles")
    if not body.name or body.name != body.name.strip() or not body.name.isprintable():
        raise InvalidInputError("name: expected printable text without surrounding spaces")
    if any(key.name == body.name for key in holding(service.knowledge.graph.edits).values()):
        raise InvalidInputError("name: a valid key has this name; revoke it first, or choose another name")
    if not body.scopes and roles != {"admin"}:
        raise InvalidInputError("scopes: expected patterns of namespaces; * matches all")
    if body.nodes is not None and not body.nodes:
        raise InvalidInputError("nodes: expected patterns of nodes; without the field, any node is meant")
    if body.nodes is not None and ("ingest" not in roles or "admin" in roles):
        raise InvalidInputError("nodes: expected only with the role ingest, and not with admin, who is not limited")
    until_us = None if body.until is None else microseconds(body.until)
    if until_us is not None and until_us <= service.now_us():
        raise InvalidInputError("until: is in the past; expected a future time")
    new = new_key()
    grant = Grant(roles, tuple(body.scopes), tuple(body.nodes or (EVERYTHING,)), body.knowsRestricted)
    return new, ApiKey(new.key_id, body.name, new.sha256, grant, until_us)


async def _log(service: Service, by: str | None, *items: EditItem) -> None:
    entry = edit_entry(service.new_id(), service.now_us(), by, items)
    await service.intake.edit(entry, is_proved=True)  # the caller was authorised before


def _every(edits: Edits) -> Iterator[tuple[ApiKey, bool]]:
    for target in edits.targets(ACCESS_KEY):
        if (granted := edits.get(target, GRANTED)) is not None:
            stored: Mapping[str, object] = orjson.loads(granted.value)
            yield read_key(target[1], stored), edits.get(target, REVOKED) is not None


def _shape(key: ApiKey, *, is_revoked: bool) -> shapes.ApiKey:
    return shapes.ApiKey(
        id=key.key_id,
        name=key.name,
        roles=sorted(key.grant.roles),
        scopes=list(key.grant.scopes),
        nodes=list(key.grant.nodes),
        knowsRestricted=key.grant.knows_restricted,
        until=None if key.until_us is None else iso(key.until_us),
        isRevoked=is_revoked,
    )
