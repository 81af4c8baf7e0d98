"""One operator at the moment its rule is applied, and what all rules share during a walk."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headwater.graph.sparkplan.expressions import Meaning, inputs_of
from headwater.graph.sparkplan.inputs import FILTER, NOTHING, TRANSFORMATION, Inputs, Source, merged
from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.plan import UNFORESEEN, Expression, Node, UnforeseenError
from headwater.graph.sparkplan.scope import Environment, Scope
from headwater.graph.sparkplan.transformation import Transformation


@dataclass(slots=True)
class Ledger:
    """What is known across a whole plan: common table expressions by id, gaps and loops by the origin they stand at."""

    leaf_of: Mapping[Node, int]
    common_tables: dict[int, Scope] = field(default_factory=dict)
    gaps: dict[int, tuple[str, frozenset[int]]] = field(default_factory=dict)
    loops: dict[int, int] = field(default_factory=dict)

    def gap(self, kind: str, leaves: frozenset[int]) -> int:
        """The origin of a new gap over these leaves."""
        origin = -1 - len(self.gaps) - len(self.loops)
        self.gaps[origin] = (kind, leaves)
        return origin

    def loop(self, loop_id: int) -> int:
        """The origin that stands for the earlier rounds of a loop."""
        return self.loops.setdefault(loop_id, -1 - len(self.gaps) - len(self.loops))


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator with the scopes of its children and of the subqueries in its expressions."""

    node: Node
    below: tuple[Scope, ...]
    subqueries: Mapping[Node, Scope]
    outer: Environment | None
    ledger: Ledger

    @property
    def only(self) -> Scope:
        """The scope of the one child."""
        if len(self.below) != 1:
            raise UnforeseenError
        return self.below[0]

    @property
    def environment(self) -> Environment:
        """What this operator's expressions can refer to."""
        return Environment(self.below, self.outer)

    def all_leaves(self) -> frozenset[int]:
        """Every leaf under this operator, those of its subqueries too; a common table counts where it is used."""
        below = self.below[-1:] if self.node.kind == "WithCTE" else self.below
        return frozenset().union(*(scope.leaves for scope in (*below, *self.subqueries.values())))

    def reader(self) -> Callable[[Expression], Inputs]:
        """A function from an expression of this operator to its inputs, or to a gap where it is not understood."""
        meaning = Meaning(
            self.environment, self.subqueries, lambda: self.gap("AttributeReference"), lambda kind: self.gap(kind, [])
        )

        def read(expression: Expression) -> Inputs:
            try:
                return inputs_of(expression, meaning)
            except UNFORESEEN:
                return self.gap(self.node.kind)

        return read

    def inputs(self, expressions: Iterable[Expression | None], use: Transformation) -> Inputs:
        """The inputs of all these expressions, used in one way; None is no expression."""
        read = self.reader()
        return merged(read(expression) for expression in expressions if expression is not None).through(use)

    def rows(self, *more: Inputs) -> Inputs:
        """What decides the rows of the children, and what is added here."""
        return merged([*(scope.rows for scope in self.below), *more])

    def named(self, expressions: list[Expression]) -> Scope:
        """A scope of just these named expressions, with the rows of the children."""
        output = attributes(expressions)
        if len(output) != len(expressions):
            raise UnforeseenError
        read = self.reader()
        inputs = [read(expression) for expression in expressions]
        return scope_of(output, inputs, self.rows())

    def gap(self, kind: str, leaves: Iterable[int] | None = None) -> Inputs:
        """Inputs that stand for what no rule covers; of `leaves`, where it is known that no others are in it."""
        behind = self.possible_leaves() if leaves is None else frozenset(leaves)
        return Inputs.of(Source(self.ledger.gap(kind, behind), ""), TRANSFORMATION)

    def opaque(self) -> Scope:
        """The scope of an operator that no rule covers: any column may be made from anything below, any row dropped."""
        gap = self.gap(self.node.kind)
        output = attributes(self.node.output()) or tuple(a for scope in self.below for a in scope.output)
        scope = scope_of(output, [gap] * len(output), self.rows(gap.through(FILTER)))
        return replace(scope, opaque=gap, leaves=self.possible_leaves())

    def possible_leaves(self) -> frozenset[int]:
        """Every leaf that may be behind a gap: all of the plan's, where this refers to an unknown part of it."""
        return self.all_leaves() if self.below else frozenset(self.ledger.leaf_of.values())


def scope_of(output: Sequence[Attribute], inputs: Sequence[Inputs], rows: Inputs = NOTHING) -> Scope:
    """A scope of these columns and the inputs of each."""
    if len(output) != len(inputs):
        raise UnforeseenError
    columns = {attribute.expression_id: found for attribute, found in zip(output, inputs, strict=True)}
    return Scope(tuple(output), columns, rows)
