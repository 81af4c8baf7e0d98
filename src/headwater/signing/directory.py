"""Statements about keys: one belongs to a node, replaces another, or is revoked from some time on.

A statement is a JSON text with one or two signatures over its UTF-8 bytes. It is stored as signed, so that every change
of the key directory can be verified from the log without trusting the service.

    enrol     {"headwater": "key/1", "id", "what": "enrol", "keyId", "x", "time"}                 signed by the key
    rotate    the same with "what": "rotate" and "replaces", the key id of the old key            signed by both
    revoke    {"headwater": "key/1", "id", "what": "revoke", "keyId", "from", "reason", "time"}   signed by the key, or
              not at all, where a one-time token stands for the operator
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final, Literal

import orjson
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from headwater.errors import InvalidEventError, InvalidInputError, UntrustedEventError
from headwater.model import strict_json
from headwater.signing import ed25519
from headwater.signing.jwks import encoded_public_key, public_key
from headwater.signing.keys import NodeKey, key_id

FORMAT: Final = "key/1"


class Statement(BaseModel):
    """The members of a statement."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")
    headwater: Literal["key/1"]
    id: str
    what: Literal["enrol", "rotate", "revoke"]
    key_id: str = Field(alias="keyId")
    time: Annotated[AwareDatetime, Field(strict=False)]
    x: str | None = None
    replaces: str | None = None
    from_time: Annotated[AwareDatetime | None, Field(strict=False, alias="from")] = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement as text, and its signatures by key id, in base64."""

    text: str
    signatures: Mapping[str, str]


def enrolment(key: NodeKey, statement_id: str, time: datetime) -> Signed:
    """A statement that the key belongs to its node, signed by it."""
    return _signed({**_about(key, statement_id, time), "what": "enrol"}, key)


def rotation(old: NodeKey, new: NodeKey, statement_id: str, time: datetime) -> Signed:
    """A statement that the new key replaces the old one, signed by both."""
    return _signed({**_about(new, statement_id, time), "what": "rotate", "replaces": old.key_id}, new, old)


def revocation(
    revoked: str, from_time: datetime, reason: str, statement_id: str, time: datetime, *by: NodeKey
) -> Signed:
    """A statement that a key is revoked from that time on."""
    members = {"headwater": FORMAT, "id": statement_id, "keyId": revoked, "time": time.isoformat()}
    return _signed({**members, "what": "revoke", "from": from_time.isoformat(), "reason": reason}, *by)


def read_statement(text: str) -> Statement:
    """Read a statement.

    Raises:
        InvalidInputError: the message names the first bad field.
    """
    try:
        return Statement.model_validate(strict_json.parse(text.encode(errors="surrogatepass")))
    except InvalidEventError as fault:
        raise InvalidInputError(f"statement: {str(fault).removeprefix('event: ')}") from None
    except ValidationError as invalid:
        first = invalid.errors(include_url=False, include_input=False)[0]
        path = ".".join(("statement", *map(str, first["loc"])))
        raise InvalidInputError(f"{path}: {first['msg']}") from None


def stated_key(statement: Statement) -> tuple[str, Ed25519PublicKey]:
    """The node id and the key that a statement is about.

    Raises:
        InvalidInputError: `x` is not a key, or `keyId` is not its id.
    """
    key = public_key(statement.x, "statement.x")
    node_id = node_of(statement.key_id)
    if key_id(node_id, key) != statement.key_id:
        raise InvalidInputError("statement.keyId: does not match the key in x")
    return node_id, key


def node_of(named: str) -> str:
    """The node id in a key id; empty if it has none."""
    node, is_key_id, _ = named.removeprefix("node:").partition("#")
    return node if is_key_id and named.startswith("node:") else ""


def check_signature(signed: Signed, named: str, key: Ed25519PublicKey) -> None:
    """Check that the key signed the statement.

    Raises:
        UntrustedEventError: it did not.
    """
    try:
        is_signed = ed25519.is_good(b64decode(signed.signatures[named], validate=True), signed.text.encode(), key)
    except (KeyError, ValueError):
        is_signed = False
    if not is_signed:
        raise UntrustedEventError(f"signatures: no valid signature by key {named!r}")


def _about(key: NodeKey, statement_id: str, time: datetime) -> dict[str, object]:
    members = {"headwater": FORMAT, "id": statement_id, "keyId": key.key_id, "time": time.isoformat()}
    return {**members, "x": encoded_public_key(key.public_key)}


def _signed(members: Mapping[str, object], *by: NodeKey) -> Signed:
    text = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
    return Signed(text.decode(), {key.key_id: b64encode(key.sign(text)).decode() for key in by})
