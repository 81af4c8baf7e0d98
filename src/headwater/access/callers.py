"""Callers: a name, roles, and what these apply to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from headwater.errors import InvalidInputError
from headwater.model.spelling import normal_namespace

Role = Literal["ingest", "read", "steward", "admin"]
ROLES: Final[tuple[str, ...]] = get_args(Role)
EVERYTHING: Final = "*"
_PATTERN: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of a caller. Patterns are shell patterns; `*` also matches slashes."""

    roles: frozenset[str]
    scopes: tuple[str, ...] = ()
    """Patterns of namespaces."""
    nodes: tuple[str, ...] = (EVERYTHING,)
    """Patterns of the nodes it may send events for; if this is limited, events must be signed by such a node."""
    knows_restricted: bool = False

    def covers(self, namespace: str) -> bool:
        """Whether a scope covers the namespace, in any spelling.

        Otherwise a mere mention of `S3://hr` would remove what is shown under that name from the scope `s3://hr`.
        """
        normal = normal_namespace(namespace)
        return any(fnmatchcase(namespace, scope) or fnmatchcase(normal, _spelt(scope)) for scope in self.scopes)

    @property
    def covers_all(self) -> bool:
        """Whether every namespace is covered."""
        return EVERYTHING in self.scopes

    def covers_node(self, node_id: str | None) -> bool:
        """Whether it may send events of this node; None: the node is unknown."""
        if EVERYTHING in self.nodes:
            return True
        return node_id is not None and any(fnmatchcase(node_id, node) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated caller; the name is logged with its actions, for example `key:ci`, `oidc:alice`."""

    name: str
    grant: Grant
    until_us: int | None = None
    """When its credentials expire, in microseconds since 1970."""


def _spelt(scope: str) -> str:
    """A scope in normalized spelling; a pattern is left as it is: without its port it would cover other hosts."""
    return scope if _PATTERN.search(scope) else normal_namespace(scope)


def checked_roles(roles: Sequence[str], field: str) -> frozenset[str]:
    """Return the roles after validation.

    Raises:
        InvalidInputError: there is no role, or an unknown one.
    """
    if not roles or any(role not in ROLES for role in roles):
        raise InvalidInputError(f"{field}: expected one or more of {', '.join(ROLES)}")
    return frozenset(roles)
