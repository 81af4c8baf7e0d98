"""Applies the rules to a tree, from its leaves up."""

from collections.abc import Mapping
from typing import Final

from headwater.graph.flinkplan.operator import Operator, Rule
from headwater.graph.flinkplan.relational import QUERY_RULES
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.state import RULE_ERRORS, Correlations, Node, WalkState
from headwater.graph.flinkplan.windows import WINDOW_RULES

_RULES: Final[Mapping[str, Rule]] = {**QUERY_RULES, **WINDOW_RULES}


def scope_of_tree(node: Node, correlations: Correlations, state: WalkState) -> Scope:
    """The scope of an operator; if no rule covers it, one whose columns all go through a gap."""
    rule = _RULES.get(node["kind"])
    if rule is None:
        return state.opaque(str(node["kind"]), node)
    below = _child_scopes(node, correlations, state)
    try:
        scope = rule(Operator(node, below, correlations, state, lambda query, rows: scope_of_tree(query, rows, state)))
    except RULE_ERRORS:
        return state.opaque(str(node["kind"]), node)
    return scope if len(scope.columns) == len(node["columns"]) else state.opaque(str(node["kind"]), node)


def _child_scopes(node: Node, correlations: Correlations, state: WalkState) -> tuple[Scope, ...]:
    """The scopes of the children; in a correlated join, the right side can reference rows of the left."""
    if node["kind"] != "LogicalCorrelate":
        return tuple(scope_of_tree(child, correlations, state) for child in node.get("inputs", ()))
    left, right = node["inputs"]
    left_scope = scope_of_tree(left, correlations, state)
    return left_scope, scope_of_tree(right, correlations.bind(node["variables"], left_scope), state)
