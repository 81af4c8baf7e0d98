"""Applies the rules to a plan, from its leaves up."""

from dataclasses import dataclass, field, replace

from headwater.graph.sparkplan.leaves import is_leaf
from headwater.graph.sparkplan.operator import Operator, WalkState
from headwater.graph.sparkplan.plan import RULE_ERRORS, Node
from headwater.graph.sparkplan.relational import QUERY_RULES, Rule, leaf
from headwater.graph.sparkplan.scope import Environment, Scope
from headwater.graph.sparkplan.writes import WRITE_RULES


def scope_of_plan(root: Node, state: WalkState) -> Scope:
    """The scope of the topmost operator.

    An explicit stack, since plans may be deeper than Python's recursion limit. Children go left to right, so that a
    common table expression is defined before it is referenced.
    """
    frames = [_Frame(root, None)]
    while True:
        deeper = frames[-1].next()
        if deeper is not None:
            frames.append(deeper)
            continue
        done = frames.pop()
        scope = _apply_rule(done, state)
        if not frames:
            return scope
        frames[-1].take(done.node, scope)


@dataclass(slots=True)
class _Frame:
    """An operator on the stack, with the scopes so far of its children and then of its subqueries."""

    node: Node
    outer: Environment | None
    below: list[Scope] = field(default_factory=list)
    subqueries: dict[Node, Scope] = field(default_factory=dict)

    def next(self) -> "_Frame | None":
        """The next child or subquery to walk; None once the operator's rule can be applied."""
        if len(self.below) < len(self.node.children):
            return _Frame(self.node.children[len(self.below)], self.outer)
        if len(self.subqueries) < len(self.node.subqueries):
            outer = Environment(tuple(self.below), self.outer)
            return _Frame(self.node.subqueries[len(self.subqueries)], outer)
        return None

    def take(self, node: Node, scope: Scope) -> None:
        if len(self.below) < len(self.node.children):
            self.below.append(scope)
        else:
            self.subqueries[node] = scope


def _apply_rule(frame: _Frame, state: WalkState) -> Scope:
    operator = Operator(frame.node, tuple(frame.below), frame.subqueries, frame.outer, state)
    rule = _rule(frame.node)
    try:
        scope = rule(operator)
    except RULE_ERRORS:
        scope = operator.opaque()
    return replace(scope, leaves=scope.leaves | operator.all_leaves())


def _rule(node: Node) -> Rule:
    if node.kind == "Union" and any(child.kind in WRITE_RULES for child in node.children):
        return Operator.opaque  # several INSERTs from one query: more than one target
    if node.kind in WRITE_RULES:
        return WRITE_RULES[node.kind]
    if node.kind in QUERY_RULES:
        return QUERY_RULES[node.kind]
    return leaf if is_leaf(node) else Operator.opaque
