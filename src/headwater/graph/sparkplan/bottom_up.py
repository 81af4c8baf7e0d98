"""Applies the rules to a plan, from its leaves up."""

from dataclasses import dataclass, field, replace

from headwater.graph.sparkplan.leaves import is_leaf
from headwater.graph.sparkplan.operation import Ledger, Operation
from headwater.graph.sparkplan.plan import UNFORESEEN, Node
from headwater.graph.sparkplan.relational import QUERY_RULES, Rule, leaf
from headwater.graph.sparkplan.scope import Environment, Scope
from headwater.graph.sparkplan.writes import WRITE_RULES


def scope_of_plan(root: Node, ledger: Ledger) -> Scope:
    """The scope of the topmost operator.

    The stack is our own, since plans are deeper than Python recurses. Left comes first, so that a common table is
    defined before it is referred to.
    """
    frames = [_Frame(root, None)]
    while True:
        deeper = frames[-1].next()
        if deeper is not None:
            frames.append(deeper)
            continue
        done = frames.pop()
        scope = _applied(done, ledger)
        if not frames:
            return scope
        frames[-1].take(done.node, scope)


@dataclass(slots=True)
class _Frame:
    """An operator whose children, and then subqueries, are being walked."""

    node: Node
    outer: Environment | None
    below: list[Scope] = field(default_factory=list)
    subqueries: dict[Node, Scope] = field(default_factory=dict)

    def next(self) -> "_Frame | None":
        """What has to be walked before this operator's rule can be applied."""
        if len(self.below) < len(self.node.children):
            return _Frame(self.node.children[len(self.below)], self.outer)
        if len(self.subqueries) < len(self.node.subqueries):
            around = Environment(tuple(self.below), self.outer)
            return _Frame(self.node.subqueries[len(self.subqueries)], around)
        return None

    def take(self, node: Node, scope: Scope) -> None:
        if len(self.below) < len(self.node.children):
            self.below.append(scope)
        else:
            self.subqueries[node] = scope


def _applied(frame: _Frame, ledger: Ledger) -> Scope:
    operation = Operation(frame.node, tuple(frame.below), frame.subqueries, frame.outer, ledger)
    rule = _rule(frame.node)
    try:
        scope = rule(operation)
    except UNFORESEEN:
        scope = operation.opaque()
    return replace(scope, leaves=scope.leaves | operation.all_leaves())


def _rule(node: Node) -> Rule:
    if node.kind == "Union" and any(child.kind in WRITE_RULES for child in node.children):
        return Operation.opaque  # several INSERTs from one query: more than one target
    if node.kind in WRITE_RULES:
        return WRITE_RULES[node.kind]
    if node.kind in QUERY_RULES:
        return QUERY_RULES[node.kind]
    return leaf if is_leaf(node) else Operation.opaque
