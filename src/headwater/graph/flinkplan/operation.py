"""One operator at the moment its rule is applied."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from headwater.graph.flinkplan.expressions import Reader
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.walk import UNFORESEEN, Ledger, Node, Surroundings, UnforeseenError
from headwater.graph.sparkplan.inputs import Inputs, merged


@dataclass(frozen=True, slots=True)
class Operation:
    """One operator, as its rule sees it; `query` gives the scope of a query inside an expression."""

    node: Node
    below: tuple[Scope, ...]
    around: Surroundings
    ledger: Ledger
    query: Callable[[Node, Surroundings], Scope]

    @property
    def only(self) -> Scope:
        """The scope of the one input."""
        if len(self.below) != 1:
            raise UnforeseenError
        return self.below[0]

    def rows(self, *more: Inputs) -> Inputs:
        """What decides the rows of the inputs, and what is added here."""
        return merged([*(scope.rows for scope in self.below), *more])

    def inputs(self, expression: Node) -> Inputs:
        """The inputs of an expression, or a gap where it is not understood."""
        below = beside(self.below)
        around = self.around.within(self.node.get("variables", ()), below)
        try:
            return Reader(below, around, self.query).read(expression)
        except UNFORESEEN:
            return self.ledger.gap(str(self.node["kind"]), self.node)


Rule = Callable[[Operation], Scope]


def beside(scopes: Iterable[Scope]) -> Scope:
    """All columns in a row."""
    together = tuple(scopes)
    columns = tuple(column for scope in together for column in scope.columns)
    return Scope(columns, merged(scope.rows for scope in together))
