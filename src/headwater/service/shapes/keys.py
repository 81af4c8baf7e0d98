"""The JSON of `/keys`, as types."""

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel
from typing_extensions import TypedDict  # pydantic reads no other on Python 3.11


class StatementBody(BaseModel):
    """A statement about a key: its text as it was signed, and the signatures over it by key id, in base64."""

    statement: str
    signatures: Mapping[str, str] = {}
    token: str | None = None


class KnownKey(TypedDict):
    """A key that this service trusts, or did; `origin` says whether it was configured on its machine or enrolled.

    Events with a revoked key that happened or came from `revokedFrom` on have the verdict `unknown-key`, as have all
    with one that has `fellWith`: that revoked key named it, or who named it, when it was not to be trusted any more.
    """

    keyId: str
    nodeId: str
    x: str
    origin: Literal["configured", "enrolled"]
    enrolledAt: str | None
    replaces: str | None
    replacedBy: str | None
    revokedFrom: str | None
    revokedBecause: str | None
    fellWith: str | None


class Keys(TypedDict):
    """All signing keys, by id."""

    keys: Sequence[KnownKey]
