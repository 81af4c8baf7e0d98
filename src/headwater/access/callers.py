"""Who asks: a name, roles, and how far these reach."""

import re
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
    """What somebody was given. Patterns are those of shells: `*` stands for any characters, slashes too."""

    roles: frozenset[str]
    scopes: tuple[str, ...] = ()
    """Patterns of namespaces."""
    nodes: tuple[str, ...] = (EVERYTHING,)
    """Patterns of the nodes for which it may bring events; where one is needed, events must be signed by it."""
    knows_restricted: bool = False

    def covers(self, namespace: str) -> bool:
        """Whether a scope covers the namespace, however it is spelt.

        Else a mere mention of `S3://hr` would take what is shown under that name away from a scope of `s3://hr`.
        """
        normal = normal_namespace(namespace)
        return any(fnmatchcase(namespace, scope) or fnmatchcase(normal, _spelt(scope)) for scope in self.scopes)

    @property
    def covers_all(self) -> bool:
        """Whether no namespace is left out."""
        return EVERYTHING in self.scopes

    def covers_node(self, node_id: str | None) -> bool:
        """Whether it may bring events of this node; None: it is not known which node's they are."""
        if EVERYTHING in self.nodes:
            return True
        return node_id is not None and any(fnmatchcase(node_id, node) for node in self.nodes)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks; the name stands in the log with what they do, for example `key:ci`, `oidc:alice`."""

    name: str
    grant: Grant
    until_us: int | None = None
    """When what proved it ends, in microseconds since 1970."""


def _spelt(scope: str) -> str:
    """A scope as namespaces are compared; a pattern stays as it is: without its port it would cover other hosts."""
    return scope if _PATTERN.search(scope) else normal_namespace(scope)


def checked_roles(roles: object, field: str) -> frozenset[str]:
    """Return the roles, now known to be such.

    Raises:
        InvalidInputError: one is none, or there is none at all.
    """
    given = roles if isinstance(roles, list | tuple) else [roles]
    if not given or any(role not in ROLES for role in given):
        raise InvalidInputError(f"{field}: expected one or more of {', '.join(ROLES)}")
    return frozenset(given)
