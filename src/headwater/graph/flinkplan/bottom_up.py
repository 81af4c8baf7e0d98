"""Applies the rules to a tree, from its leaves up."""

from collections.abc import Mapping
from typing import Final

from headwater.graph.flinkplan.operation import Operation, Rule
from headwater.graph.flinkplan.relational import QUERY_RULES
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.walk import UNFORESEEN, Ledger, Node, Surroundings
from headwater.graph.flinkplan.windows import WINDOW_RULES

_RULES: Final[Mapping[str, Rule]] = {**QUERY_RULES, **WINDOW_RULES}


def scope_of_tree(node: Node, around: Surroundings, ledger: Ledger) -> Scope:
    """The scope of an operator; where no rule covers it, one whose columns all pass through a gap."""
    rule = _RULES.get(node["kind"])
    if rule is None:
        return ledger.opaque(str(node["kind"]), node)
    below = _inputs(node, around, ledger)
    try:
        scope = rule(Operation(node, below, around, ledger, lambda query, rows: scope_of_tree(query, rows, ledger)))
    except UNFORESEEN:
        return ledger.opaque(str(node["kind"]), node)
    return scope if len(scope.columns) == len(node["columns"]) else ledger.opaque(str(node["kind"]), node)


def _inputs(node: Node, around: Surroundings, ledger: Ledger) -> tuple[Scope, ...]:
    """The scopes below; the right side of a correlation sees the rows of the left."""
    if node["kind"] != "LogicalCorrelate":
        return tuple(scope_of_tree(one, around, ledger) for one in node.get("inputs", ()))
    left, right = node["inputs"]
    rows = scope_of_tree(left, around, ledger)
    return rows, scope_of_tree(right, around.within(node["variables"], rows), ledger)
