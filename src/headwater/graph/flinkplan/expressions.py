"""The inputs of one expression."""

from collections.abc import Callable
from dataclasses import dataclass

from headwater.graph.flinkplan.functions import call_inputs, unexpanded, window_inputs
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.state import Correlations, Node, UnsupportedPlanError
from headwater.graph.sparkplan.inputs import NOTHING, TRANSFORMATION, Inputs, merged


@dataclass(frozen=True, slots=True)
class ExpressionReader:
    """Resolves the expressions of one operator to their inputs.

    Attributes:
        below: the columns that input references index.
        correlations: the rows of enclosing queries.
        query: returns the scope of a subquery.
    """

    below: Scope
    correlations: Correlations
    query: Callable[[Node, Correlations], Scope]

    def read(self, expression: Node) -> Inputs:
        """The inputs of an expression's value.

        Raises:
            UnsupportedPlanError: a part of it is not supported.
        """
        match expression["kind"]:
            case "input":
                return self.below.columns[expression["index"]]
            case "literal":
                return NOTHING
            case "field":
                return self._field(expression)
            case "call":
                return self._call(unexpanded(expression))
            case _:
                raise UnsupportedPlanError

    def _field(self, expression: Node) -> Inputs:
        """A column of an enclosing query's row, or a nested field of a column."""
        owner = expression["of"]
        if owner["kind"] == "outer":
            return self.correlations.rows[owner["id"]].columns[expression["index"]]
        return self.read(owner).through(TRANSFORMATION)

    def _call(self, call: Node) -> Inputs:
        function = call["op"]
        operands = [self.read(operand) for operand in call.get("args", ())]
        if "query" in call:
            return self._subquery(function, operands, call["query"])
        if "partition" in call:
            specification = merged(self.read(key) for key in (*call["partition"], *call["order"]))
            return window_inputs(function, operands, specification)
        if call.get("unchanged"):
            return operands[0]
        return call_inputs(function, operands)

    def _subquery(self, function: str, operands: list[Inputs], query: Node) -> Inputs:
        found = self.query(query, self.correlations)
        if function == "EXISTS":
            return found.rows
        if function == "$SCALAR_QUERY":
            return merged([found.columns[0], found.rows])
        compared = merged([*operands, *found.columns]).through(TRANSFORMATION)
        return merged([compared, found.rows])
