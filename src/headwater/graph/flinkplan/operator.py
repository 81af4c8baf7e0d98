"""An operator with the scopes of its children, as passed to its rule."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headwater.graph.flinkplan.expressions import ExpressionReader
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.state import RULE_ERRORS, Correlations, Node, UnsupportedPlanError, WalkState
from headwater.graph.sparkplan.inputs import Inputs, merged


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator and the scopes of its children; `query` returns the scope of a subquery in an expression."""

    node: Node
    below: tuple[Scope, ...]
    correlations: Correlations
    state: WalkState
    query: Callable[[Node, Correlations], Scope]

    @property
    def only_child(self) -> Scope:
        """The scope of the only child."""
        if len(self.below) != 1:
            raise UnsupportedPlanError
        return self.below[0]

    def rows(self, *more: Inputs) -> Inputs:
        """The inputs of the children's rows, and further ones."""
        return merged([*(scope.rows for scope in self.below), *more])

    def inputs(self, expression: Node) -> Inputs:
        """The inputs of an expression, or a gap if it is not supported."""
        below = concatenated(self.below)
        correlations = self.correlations.bind(self.node.get("variables", ()), below)
        try:
            return ExpressionReader(below, correlations, self.query).read(expression)
        except RULE_ERRORS:
            return self.state.gap(str(self.node["kind"]), self.node)


Rule = Callable[[Operator], Scope]


def concatenated(scopes: Iterable[Scope]) -> Scope:
    """A scope of the columns of all scopes, one after the other."""
    parts = tuple(scopes)
    columns = tuple(column for scope in parts for column in scope.columns)
    return Scope(columns, merged(scope.rows for scope in parts))
