"""Access control, applied to each request before anything else: who calls, what they may do, what they may see."""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Final
from urllib.parse import urlencode

from fastapi import Request

from headwater.access import api_keys, operator
from headwater.access.callers import Caller
from headwater.access.entrance import Entrance
from headwater.access.policy import Action, Question
from headwater.access.redaction import Redactor
from headwater.errors import ForbiddenError, NotFoundError, UnauthenticatedError
from headwater.model.facts import ControlFlow, Edit, EngineCatalog, Fact
from headwater.model.heartbeat import NODES
from headwater.model.names import ColumnId, GraphNode
from headwater.service.background import collect_in_slices
from headwater.service.gate.about import NODE_IDS, OF_DATASET, OF_RUN, About, called_namespace
from headwater.service.gate.joins import joins
from headwater.service.gate.restricted import Restricted
from headwater.service.gate.rules import Matched, Rule
from headwater.service.gate.sight import Sight
from headwater.service.gate.words import FORMAT
from headwater.service.ingest.remedies import found
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.mentions import mentions
from headwater.service.knowledge.touched import Touched
from headwater.service.request.access import Service
from headwater.service.writing.api_keys import holding, is_about_api_keys
from headwater.signing.directory import node_of
from headwater.signing.note import NoteSigner
from headwater.store.entries import Entry

log = logging.getLogger(__name__)

_COLUMN: Final = "column"
_CHANGE: Final = "change"
"""A parameter that may end with a column, after its first colon."""
_AT_ONCE: Final = 8
"""Facets that are read in one step, of about a millisecond."""
_STREAM: Final = "GET /api/v1/stream"
_ROLES: Final[dict[Action, tuple[str, ...]]] = {
    "read": ("read", "steward", "admin"),
    "edit": ("steward", "admin"),
    "ingest": ("ingest", "admin"),
    "join": ("ingest", "admin"),
    "administer": ("admin",),
}


class Gate:
    """Admits requests. For the event loop's thread."""

    def __init__(self, service: Service, entrance: Entrance, log_key: NoteSigner) -> None:
        self._service = service
        self._about = About(service.knowledge)
        self._entrance = entrance
        self._log_key = log_key.verifier
        self._restricted = Restricted(service.knowledge)
        self._keys: dict[str, api_keys.ApiKey] = {}
        self._namespaces: set[str] = set()
        """The known namespaces; maintained only if this service's own policies may forbid one."""
        self._counted_sources = 0
        """How many of the graph's column sources are in `_namespaces`."""
        # From the log's key, so that services that share a log have the same stand-ins.
        self._secret = hashlib.sha256(log_key.line("headwater names that are not shown\n").encode()).digest()

    def load(self) -> None:
        """Initialise from the graph, once it is loaded."""
        graph = self._service.knowledge.graph
        self._keys = holding(graph.edits)
        if self._entrance.policy.has_more:
            nodes: Iterable[GraphNode] = chain(graph.jobs, graph.named_in_control, graph.identities.names)
            described = (target[1] for target in graph.edits.targets("namespace"))
            self._namespaces = {each.namespace for each in nodes}.union(described, graph.identities.meant_namespaces)
            self._counted_sources = 0
        self._restricted.load()

    def learned(self, facts: Sequence[Fact], touched: Touched) -> None:
        """Update from what the graph learned."""
        if any(map(is_about_api_keys, facts)):
            self._keys = holding(self._service.knowledge.graph.edits)
        if self._entrance.policy.has_more:
            found = mentions(facts)
            aliases = (name for pair in found.aliases for name in pair)
            named: tuple[GraphNode, ...] = (
                *touched.jobs,
                *touched.datasets,
                *found.jobs,
                *found.datasets,
                *aliases,
                *(fact.job for fact in facts if isinstance(fact, ControlFlow)),
            )
            self._namespaces.update(node.namespace for node in named)
            meant = (fact.names.namespace for fact in facts if isinstance(fact, EngineCatalog))
            self._namespaces.update(filter(None, meant))
            edits = (fact.target for fact in facts if isinstance(fact, Edit))
            self._namespaces.update(target[1] for target in edits if target[0] == "namespace")
        self._restricted.learned(facts, touched)

    async def admitted(self, request: Request, route_match: Matched | None) -> Sight:
        """Admit a request; returns the caller and what they may see.

        Raises:
            UnauthenticatedError: the caller is unknown.
            ForbiddenError: the caller may not do this; the message says what it takes.
            NotFoundError: there is no such route.
            UnavailableError: the identity provider's keys could never be fetched.
        """
        caller = await self._caller(request)
        if route_match is None or route_match.rule is None:
            raise NotFoundError("HTTP 404 Not Found")
        if self._entrance.policy.has_more and caller.grant.covers_all:
            await self._read_sources()
        if route_match.rule.action is not None:
            self._check(caller, route_match, route_match.rule, route_match.rule.action, request)
        sight = self._sight(caller, route_match)
        return replace(sight, wrote=self._hide_columns(request, route_match, sight))

    async def _caller(self, request: Request) -> Caller:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise UnauthenticatedError("authorization: missing; send `Authorization: Bearer TOKEN`, such as an API key")
        caller = await self._authenticated(token.strip())
        if caller.until_us is not None and caller.until_us <= self._service.now_us():
            raise UnauthenticatedError("authorization: the token or key has expired; request a new one")
        return caller

    async def _authenticated(self, token: str) -> Caller:
        if token.startswith(operator.PREFIX):
            return operator.operator_of(token, self._log_key, self._service.now_us())
        if token.startswith(api_keys.PREFIX):
            return api_keys.caller_of(token, self._keys)
        if self._entrance.provider is None:
            raise UnauthenticatedError("authorization: not an API key, and no identity provider is configured")
        return await self._entrance.provider.caller_of(token)

    def _may(self, caller: Caller, action: Action, route: str, namespace: str, *, covered: bool) -> tuple[bool, str]:
        decision = self._entrance.policy.decide(caller, Question(action, route, namespace, covered))
        return decision.is_allowed, ", ".join(decision.rules) or f"no policy permits {action}"

    def _check(self, caller: Caller, route_match: Matched, rule: Rule, action: Action, request: Request) -> None:
        about = self._about.namespaces(request, route_match, rule)
        for namespace, called in (about or {"": ""}).items():
            covered = _is_covered(caller, rule, namespace, names_some=bool(about))
            is_allowed, why = self._may(caller, action, route_match.route, namespace, covered=covered)
            if is_allowed and not about and rule.about in ("named", "everything"):
                is_allowed, why = self._covers_each(caller, route_match)
            if not is_allowed:
                self._refuse(caller, route_match.route, why, namespace)
                need = f"this requires the role {_or(_ROLES[action])}{_scope(rule, called)}"
                message = f"{caller.name} is not permitted: {need}; {_lacks(caller, action, covered=covered)}"
                raise ForbiddenError(message, is_retriable=True)  # by whatever they bring, until they are granted it

    def count_stranger(self, path: str, why: str) -> None:
        """Log and count a request by an unknown caller."""
        self._service.metrics.refuse_access("unauthenticated")
        log.warning("a request was refused", extra={"caller": None, "route": path, "rule": why})

    def _refuse(self, caller: Caller, route: str, rule: str, namespace: str) -> None:
        self._service.metrics.refuse_access("forbidden")
        details = {"caller": caller.name, "route": route, "rule": rule, "namespace": namespace}
        log.warning("a request was refused", extra=details)

    def _sight(self, caller: Caller, route_match: Matched) -> Sight:
        sees_all, _ = self._may(caller, "see-everything", route_match.route, "", covered=caller.grant.covers_all)
        if sees_all and self._entrance.policy.has_more:
            # What is not known yet counts on the stream alone, which goes on.
            sees_all = route_match.route != _STREAM and self._covers_each(caller, route_match)[0]
        may_know_restricted, _ = self._may(caller, "know-restricted", route_match.route, "", covered=False)
        covers = None if sees_all else self._covers(caller, route_match)
        restricted = frozenset() if may_know_restricted else self._restricted.names
        about = self._about
        job_with = cache(about.job_with)  # an answer may name one parent for each of its jobs
        redactor = (
            Redactor(
                *(covers, restricted, about.nodes, self._secret, FORMAT, job_with),
                owner_of_run=about.owner_of_run,
                other_names=about.other_names,
                nodes_of_run=about.nodes_of_run,
            )
            if covers or restricted
            else None
        )

        def may_bring(entry: Entry) -> ForbiddenError | None:
            return self._why_not(caller, route_match.route, entry)

        def may_see(then: Knowledge) -> ForbiddenError | None:
            return None if covers is None else self._why_not_then(caller, route_match.route, covers, then)

        return Sight(caller, covers, redactor, may_know_restricted, may_bring, may_see)

    def _why_not_then(
        self, caller: Caller, route: str, covers: Callable[[str], bool], then: Knowledge
    ) -> ForbiddenError | None:
        """Refuse pasts in which names were one dataset that are separate now: it would show what is hidden now."""
        now = self._service.knowledge.graph
        for name in now.identities.parted():
            if covers(then.graph.shown(name).namespace):
                separate = {*then.graph.identities.members(name)}.difference(now.identities.members(name))
                namespaces = {now.shown(each).namespace for each in separate if each.is_complete}
                if hidden := sorted(namespace for namespace in namespaces if not covers(namespace)):
                    self._refuse(caller, route, "names that were separated later", hidden[0])
                    need = "names that are separate now were one dataset then: reading that time requires the scope *"
                    return ForbiddenError(f"{caller.name} is not permitted: asOf, logSize: {need}")
        return None

    def _covers(self, caller: Caller, route_match: Matched) -> Callable[[str], bool]:
        """Returns a function that says whether a namespace may be named to them, by all policies, not only scopes."""

        @cache
        def covers(namespace: str) -> bool:
            return self._decided_of(caller, route_match, namespace)[0]

        return covers

    def _covers_each(self, caller: Caller, route_match: Matched) -> tuple[bool, str]:
        """Whether all namespaces may be named to a caller with full scope, by this service's own policies."""
        if self._entrance.policy.has_more:
            self._count_sources()
            decided = (self._decided_of(caller, route_match, namespace) for namespace in self._namespaces)
            return next((each for each in decided if not each[0]), (True, ""))
        return True, ""

    async def _read_sources(self) -> None:
        """Read the facets that name sources of columns, in time slices: after a start there are many."""
        edges = self._service.knowledge.graph.column_edges
        await collect_in_slices(iter(lambda: edges.read_some(_AT_ONCE), False))

    def _count_sources(self) -> None:
        """Add the namespaces of the sources of columns, which only facets name."""
        edges = self._service.knowledge.graph.column_edges
        edges.read_all()  # the few that came since `_read_sources`
        sources = islice(edges.datasets.by_number, self._counted_sources, None)
        self._namespaces.update(source.namespace for source in sources)
        self._counted_sources = len(edges.datasets.by_number)

    def _decided_of(self, caller: Caller, route_match: Matched, namespace: str) -> tuple[bool, str]:
        action = (route_match.rule and route_match.rule.action) or "read"
        return self._may(caller, action, route_match.route, namespace, covered=caller.grant.covers(namespace))

    def _why_not(self, caller: Caller, route: str, entry: Entry) -> ForbiddenError | None:
        """An event belongs to its job, or without a job to its dataset; a run belongs to its job."""
        node_id = node_of(entry.key_id) if entry.verdict == "ok" and entry.key_id else None
        own = entry.named[0].namespace
        owner = self._about.owner_of_run(entry.run_id, has_own_events=True)
        namespaces = {own: called_namespace(own), **dict.fromkeys(owner, OF_RUN)}
        for namespace, called in namespaces.items():
            is_its_own = namespace == NODES or caller.grant.covers(namespace)  # there a node speaks of itself, signed
            covered = is_its_own and caller.grant.covers_node(node_id)
            is_allowed, why = self._may(caller, "ingest", route, namespace, covered=covered)
            if not is_allowed:
                self._refuse(caller, route, why, namespace)
                need = f"this requires a scope that covers {called}; {_lacks(caller, 'ingest', covered=is_its_own)}"
                if not caller.grant.covers_node(node_id):
                    nodes = ", ".join(caller.grant.nodes)
                    need = f"{found(entry.verdict, entry.key_id)}; it must be signed by {nodes}"
                is_retriable = is_its_own and self._waits_for_its_key(caller, entry)
                return ForbiddenError(f"{caller.name} may not post this event: {need}", is_retriable=is_retriable)
        return self._why_not_one(caller, route, entry)

    def _waits_for_its_key(self, caller: Caller, entry: Entry) -> bool:
        """Whether the caller may post the event once its key is enrolled; never for a revoked key."""
        if entry.verdict != "unknown-key" or entry.key_id in self._service.intake.recorder.trust.keys:
            return False
        return caller.grant.covers_node(node_of(entry.key_id or ""))

    def _why_not_one(self, caller: Caller, route: str, entry: Entry) -> ForbiddenError | None:
        """Only callers who cover the namespaces of all its names may report about a dataset."""
        for join in joins(entry, self._service.knowledge.graph.identities):
            for namespace in (*sorted(join.named), *sorted(join.others)):
                covered = caller.grant.covers(namespace)
                is_allowed, why = self._may(caller, "join", route, namespace, covered=covered)
                if not is_allowed:
                    self._refuse(caller, route, why, namespace)
                    called = called_namespace(namespace) if namespace in join.named else OF_DATASET
                    need = f"requires a scope that covers {called}; {_lacks(caller, 'ingest', covered=covered)}"
                    message = f"{caller.name} may not post this event: {join.facet} {need}"
                    return ForbiddenError(message, is_retriable=True)  # once people have widened its scopes
        return None

    def _hide_columns(self, request: Request, route_match: Matched, sight: Sight) -> Mapping[str, str]:
        """Replace columns in the request that are hidden from the caller by one that does not exist.

        So the answer is the same as for any unknown column. Returns what the caller wrote, by its replacement.
        """
        if sight.redactor is None or sight.redactor.columns is None:
            return {}
        wrote: dict[str, str] = {}
        items = request.query_params.multi_items()
        instead = [(key, self._without_column(sight.redactor.columns, key, value, wrote)) for key, value in items]
        if wrote:
            request.scope["query_string"] = urlencode(instead).encode()
            namespaces = self._about.namespaces(request, route_match, route_match.rule) if route_match.rule else ()
            self._refuse(sight.caller, route_match.route, "no policy permits know-restricted", ", ".join(namespaces))
        return wrote

    def _without_column(self, hidden: re.Pattern[str], key: str, value: str, wrote: dict[str, str]) -> str:
        def replacement(column: re.Match[str]) -> str:
            # Colons stay: they also separate the parts of a node id, which would be read otherwise.
            others = {self._service.new_id(): part for part in column[0].split(":")}
            wrote.update(others)
            return ":".join(others)

        if key in NODE_IDS:
            columns = (node.column for node in self._about.requested_nodes(value) if isinstance(node, ColumnId))
            begin = min((value.rfind(column) for column in columns), default=-1)
        elif key == _CHANGE:
            begin = value.find(":") + 1
        else:
            begin = 0 if key == _COLUMN else -1
        return value if begin < 0 else value[:begin] + hidden.sub(replacement, value[begin:])


def _is_covered(caller: Caller, rule: Rule, namespace: str, *, names_some: bool) -> bool:
    if rule.about in ("nothing", "own"):
        return True
    return caller.grant.covers(namespace) if names_some else caller.grant.covers_all


def _lacks(caller: Caller, action: Action, *, covered: bool) -> str:
    """What is missing, and who can grant it."""
    if caller.grant.roles.isdisjoint(_ROLES[action]):
        return f"its role is {_or(sorted(caller.grant.roles) or ['none'])}: ask an admin for one (docs/access.md)"
    if not covered:
        scopes = ", ".join(caller.grant.scopes) or "none"
        return f"its scopes are {scopes}: ask an admin for one (docs/access.md)"
    return "it has these, but a policy of this service forbids it: ask an admin"


def _or(roles: Sequence[str]) -> str:
    *others, last = roles
    return f"{', '.join(others)} or {last}" if others else last


def _scope(rule: Rule, called: str) -> str:
    if rule.about in ("nothing", "own"):
        return ""
    if called:
        return f" with a scope that covers {called}"
    return " with the scope *" + (", or a namespace in the request" if rule.about == "named" else "")
