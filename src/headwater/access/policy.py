"""Authorization: Cedar decides, by `policy.cedar` and an operator's additional rules."""

from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

import cedarpy

from headwater.access.callers import Caller
from headwater.errors import InvalidInputError

Action = Literal["read", "ingest", "join", "edit", "administer", "see-everything", "know-restricted"]
_OURS: Final = Path(__file__).with_name("policy.cedar")
_MOST_CACHED: Final = 10_000


class Question(NamedTuple):
    """An action to authorize; `namespace` is empty if it concerns none, or many."""

    action: Action
    route: str
    namespace: str
    covered: bool


class Decision(NamedTuple):
    """The decision, and the rules that determined it; none if no rule permits it."""

    is_allowed: bool
    rules: tuple[str, ...]


class Policy:
    """Decides, and caches decisions, which are deterministic: evaluating Cedar takes 0.1 ms."""

    def __init__(self, more: str = "") -> None:
        """Load the rules; `more` are an operator's own, in Cedar.

        Raises:
            InvalidInputError: `more` cannot be parsed.
        """
        try:
            self._rules = cedarpy.PolicySet.from_str(f"{_OURS.read_text()}\n{more}")
        except ValueError as fault:
            raise InvalidInputError(f"policies: {fault}") from fault
        self.has_more = bool(more.strip())
        """Whether an operator's rules may decide otherwise than scopes do."""
        self._decided = lru_cache(maxsize=_MOST_CACHED)(self._decide)

    def decide(self, caller: Caller, asked: Question) -> Decision:
        """Whether the caller may do it; a rule that fails to evaluate forbids."""
        return self._decided(caller.name, caller.grant.roles, caller.grant.knows_restricted, asked)

    def _decide(self, name: str, roles: frozenset[str], knows_restricted: bool, asked: Question) -> Decision:
        caller = {"type": "Caller", "id": name}
        entity = {
            "uid": caller,
            "attrs": {"knowsRestricted": knows_restricted},
            "parents": [{"type": "Role", "id": role} for role in sorted(roles)],
        }
        request = {
            "principal": caller,
            "action": {"type": "Action", "id": asked.action},
            "resource": {"type": "Route", "id": asked.route},
            "context": {"covered": asked.covered, "namespace": asked.namespace},
        }
        decided = cedarpy.is_authorized(request, self._rules, [entity])
        ids = decided.diagnostics.id_annotations_by_reason
        rules = tuple(sorted(ids.get(each) or each for each in decided.diagnostics.reasons))
        if decided.diagnostics.errors:
            return Decision(False, ("a rule that cannot be evaluated",))
        return Decision(bool(decided.allowed), rules)
