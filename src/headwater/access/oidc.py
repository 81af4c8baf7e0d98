"""Bearer tokens of an identity provider: JSON Web Tokens, checked here, without asking the provider each time.

Source: RFC 7519, RFC 8725 (algorithms are ours to choose, not the token's), OpenID Connect Core 1.0, section 3.1.3.7
"""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeGuard

from joserfc import jwt
from joserfc.errors import JoseError

from headwater.access.callers import EVERYTHING, ROLES, Caller, Grant
from headwater.access.config import OidcConfig
from headwater.access.key_set import ProviderKeys
from headwater.errors import UnauthenticatedError

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519")
"""Algorithms with a public key; a token with any other, such as `none` or an HMAC, is refused."""
_MAX_CHARS: Final = 16_384
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Provider:
    """One identity provider."""

    def __init__(self, config: OidcConfig, keys: ProviderKeys, now_us: Callable[[], int]) -> None:
        self._config = config
        self._keys = keys
        self._now_us = now_us

    async def caller_of(self, token: str) -> Caller:
        """The caller to whom this token was issued.

        Raises:
            UnauthenticatedError: the token is malformed or invalid; the message names the claim, never its value.
            UnavailableError: the provider's keys could never be fetched.
        """
        if len(token) > _MAX_CHARS:
            raise UnauthenticatedError("authorization: the token is too long")
        keys = await self._keys.holding(_key_id(token))
        registry = jwt.JWTClaimsRegistry(
            now=self._now_us() // 1_000_000,
            leeway=self._config.leeway_s,
            iss={"essential": True, "value": self._config.issuer},
            aud={"essential": True, "value": self._config.audience},
            exp={"essential": True},
        )
        try:
            claims = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
            registry.validate(claims)
        except (JoseError, ValueError, TypeError, RecursionError) as fault:
            raise UnauthenticatedError(f"authorization: the token is invalid ({_reason(fault)})") from None
        return self._caller(claims)

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        name = claims.get(self._config.name_claim)
        if not _is_text(name) or not name:
            raise UnauthenticatedError(f"authorization: the token has no claim {self._config.name_claim}")
        roles = frozenset(_texts(claims.get(self._config.roles_claim))) & frozenset(ROLES)
        nodes = claims.get(self._config.nodes_claim)
        grant = Grant(
            roles,
            _texts(claims.get(self._config.scopes_claim)),
            (EVERYTHING,) if nodes is None else _texts(nodes),
            claims.get(self._config.restricted_claim) is True,
        )
        return Caller(f"oidc:{name}", grant, (int(claims["exp"]) + self._config.leeway_s) * 1_000_000)


def _key_id(token: str) -> str | None:
    """The key id in the header, still unverified."""
    head = token.partition(".")[0]
    try:
        header = json.loads(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (ValueError, RecursionError):  # RecursionError: thousands of brackets fit into a token
        return None
    key_id = header.get("kid") if isinstance(header, dict) else None
    return key_id if isinstance(key_id, str) else None


def _texts(claim: object) -> tuple[str, ...]:
    texts = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else ()
    return tuple(filter(_is_text, texts))


def _is_text(claim: object) -> TypeGuard[str]:
    """Whether it can be written as UTF-8: JSON may escape half of a surrogate pair."""
    return isinstance(claim, str) and _LONE_SURROGATE.search(claim) is None


def _reason(fault: Exception) -> str:
    claim = getattr(fault, "claim", None)
    kind = getattr(fault, "error", None) or type(fault).__name__
    return f"{kind}: {claim}" if isinstance(claim, str) else str(kind)
