"""API keys that the service issues: shown once, stored as hashes.

A key is `hw_ID_SECRET`. The secret has 256 random bits, so its SHA-256 needs no salt; people refer to the key by its
id.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from headwater.access.callers import Caller, Grant, checked_roles
from headwater.errors import UnauthenticatedError

PREFIX: Final = "hw_"
_KEY: Final = re.compile(r"hw_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")


class NewKey(NamedTuple):
    """A new key; `secret` goes to its owner and is not stored."""

    key_id: str
    secret: str
    sha256: str
    """64 lower-case hex digits."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as stored."""

    key_id: str
    name: str
    sha256: str
    grant: Grant
    until_us: int | None = None

    @property
    def caller(self) -> Caller:
        """The caller that this key authenticates."""
        return Caller(f"key:{self.name}", self.grant, self.until_us)


def new_key() -> NewKey:
    """Make a key."""
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    secret_key = f"{PREFIX}{key_id}_{secret}"
    return NewKey(key_id, secret_key, _hash(secret_key))


def caller_of(presented: str, keys: Mapping[str, ApiKey]) -> Caller:
    """The caller who presents this key.

    Raises:
        UnauthenticatedError: the key is unknown, expired or revoked; the message does not say which.
    """
    found = _KEY.fullmatch(presented)
    key = None if found is None else keys.get(found[1])
    if key is None or not hmac.compare_digest(key.sha256, _hash(presented)):
        raise UnauthenticatedError("authorization: the key is unknown or was revoked")
    return key.caller


def stored_form(key: ApiKey) -> dict[str, Any]:
    """A key's stored form, as JSON; see `read_key`."""
    return {
        "name": key.name,
        "sha256": key.sha256,
        "roles": sorted(key.grant.roles),
        "scopes": list(key.grant.scopes),
        "nodes": list(key.grant.nodes),
        "knowsRestricted": key.grant.knows_restricted,
        "untilUs": key.until_us,
    }


def read_key(key_id: str, stored: Mapping[str, Any]) -> ApiKey:
    """A key from its stored form."""
    roles = checked_roles(stored["roles"], "roles")
    grant = Grant(roles, tuple(stored["scopes"]), tuple(stored["nodes"]), stored["knowsRestricted"])
    return ApiKey(key_id, stored["name"], stored["sha256"], grant, stored["untilUs"])


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode(errors="surrogatepass")).hexdigest()
