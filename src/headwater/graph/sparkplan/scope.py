"""What an operator hands to the one above it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Optional

from headwater.graph.sparkplan.inputs import NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Attribute


@dataclass(frozen=True, slots=True)
class Scope:
    """An operator's output.

    `columns` has the inputs of each column by expression id; `rows` what decides which rows there are, and their order.
    `opaque` stands for a column that is not among them, where an operator below is not understood. `target` is the leaf
    that a row-level command rewrites.
    """

    output: tuple[Attribute, ...] = ()
    columns: Mapping[int, Inputs] = field(default_factory=dict)
    rows: Inputs = NOTHING
    leaves: frozenset[int] = frozenset()
    opaque: Inputs | None = None
    target: int | None = None

    def in_order(self) -> list[Inputs]:
        """The inputs of each output column."""
        return [self.columns[attribute.expression_id] for attribute in self.output]


@dataclass(frozen=True, slots=True)
class Environment:
    """What an expression can refer to: the columns under its operator, and in a subquery those around it."""

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
        """The inputs of a column of the queries around this one, nearest first."""
        around = self.outer
        while around is not None:
            found = around.column(expression_id)
            if found is not None:
                return found
            around = around.outer
        return None
