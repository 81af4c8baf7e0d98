"""The inputs of one expression."""

from collections.abc import Callable
from dataclasses import dataclass

from headwater.graph.flinkplan.functions import as_written, called, windowed
from headwater.graph.flinkplan.scope import Scope
from headwater.graph.flinkplan.walk import Node, Surroundings, UnforeseenError
from headwater.graph.sparkplan.inputs import NOTHING, TRANSFORMATION, Inputs, merged


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the expressions of one operator.

    Attributes:
        below: the columns that positions refer to.
        around: the rows of the queries around this one.
        query: gives the scope of a subquery.
    """

    below: Scope
    around: Surroundings
    query: Callable[[Node, Surroundings], Scope]

    def read(self, expression: Node) -> Inputs:
        """The inputs of an expression's value.

        Raises:
            UnforeseenError: it has a part that is not understood.
        """
        match expression["kind"]:
            case "input":
                return self.below.columns[expression["index"]]
            case "literal":
                return NOTHING
            case "field":
                return self._field(expression)
            case "call":
                return self._call(as_written(expression))
            case _:
                raise UnforeseenError

    def _field(self, expression: Node) -> Inputs:
        """A column of a row around this query, or a field inside a column."""
        owner = expression["of"]
        if owner["kind"] == "outer":
            return self.around.rows[owner["id"]].columns[expression["index"]]
        return self.read(owner).through(TRANSFORMATION)

    def _call(self, call: Node) -> Inputs:
        function = call["op"]
        operands = [self.read(one) for one in call.get("args", ())]
        if "query" in call:
            return self._subquery(function, operands, call["query"])
        if "partition" in call:
            specification = merged(self.read(one) for one in (*call["partition"], *call["order"]))
            return windowed(function, operands, specification)
        if call.get("unchanged"):
            return operands[0]
        return called(function, operands)

    def _subquery(self, function: str, operands: list[Inputs], query: Node) -> Inputs:
        found = self.query(query, self.around)
        if function == "EXISTS":
            return found.rows
        if function == "$SCALAR_QUERY":
            return merged([found.columns[0], found.rows])
        compared = merged([*operands, *found.columns]).through(TRANSFORMATION)
        return merged([compared, found.rows])
