"""An operator's output, as its parent sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Optional

from headwater.graph.sparkplan.inputs import NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Attribute


@dataclass(frozen=True, slots=True)
class Scope:
    """An operator's output.

    `columns` has the inputs of each column by expression id; `rows` the inputs that decide which rows there are, and
    their order. `opaque` is the gap of a column that is not among them, if an operator below is unsupported. `target`
    is the leaf that a row-level operation rewrites.
    """

    output: tuple[Attribute, ...] = ()
    columns: Mapping[int, Inputs] = field(default_factory=dict)
    rows: Inputs = NOTHING
    leaves: frozenset[int] = frozenset()
    opaque: Inputs | None = None
    target: int | None = None

    def in_order(self) -> list[Inputs]:
        """The inputs of each output column, in order."""
        return [self.columns[attribute.expression_id] for attribute in self.output]


@dataclass(frozen=True, slots=True)
class Environment:
    """The columns that an expression can reference: the children's and, in a subquery, those of enclosing queries."""

    below: tuple[Scope, ...]
    outer: Optional["Environment"] = None

    def column(self, expression_id: int) -> Inputs | None:
        """The inputs of a column of this operator's children."""
        for scope in self.below:
            found = scope.columns.get(expression_id)
            if found is not None:
                return found
        opaque = [scope.opaque for scope in self.below if scope.opaque is not None]
        return merged(opaque) if opaque else None

    def outer_column(self, expression_id: int) -> Inputs | None:
        """The inputs of a column of the enclosing queries, innermost first."""
        enclosing = self.outer
        while enclosing is not None:
            found = enclosing.column(expression_id)
            if found is not None:
                return found
            enclosing = enclosing.outer
        return None
