"""An operator with the scopes of its children, as passed to its rule, and the state that all rules share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from headwater.graph.sparkplan.expressions import Bindings, inputs_of
from headwater.graph.sparkplan.inputs import FILTER, NOTHING, TRANSFORMATION, Inputs, Source, merged
from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.plan import RULE_ERRORS, Expression, Node, UnsupportedPlanError
from headwater.graph.sparkplan.scope import Environment, Scope
from headwater.graph.sparkplan.transformation import Transformation


@dataclass(slots=True)
class WalkState:
    """Plan-wide state: common table expressions by id, gaps and recursive queries with their placeholder origins."""

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
        """The origin that stands for the previous iteration of a recursive query."""
        return self.loops.setdefault(loop_id, -1 - len(self.gaps) - len(self.loops))


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator with the scopes of its children and of the subqueries in its expressions."""

    node: Node
    below: tuple[Scope, ...]
    subqueries: Mapping[Node, Scope]
    outer: Environment | None
    state: WalkState

    @property
    def only_child(self) -> Scope:
        """The scope of the only child."""
        if len(self.below) != 1:
            raise UnsupportedPlanError
        return self.below[0]

    @property
    def environment(self) -> Environment:
        """The columns that this operator's expressions can reference."""
        return Environment(self.below, self.outer)

    def all_leaves(self) -> frozenset[int]:
        """Every leaf under this operator and its subqueries; a common table expression counts where it is used."""
        below = self.below[-1:] if self.node.kind == "WithCTE" else self.below
        return frozenset().union(*(scope.leaves for scope in (*below, *self.subqueries.values())))

    def reader(self) -> Callable[[Expression], Inputs]:
        """A function from an expression of this operator to its inputs, or to a gap if it is not supported."""
        bindings = Bindings(
            self.environment, self.subqueries, lambda: self.gap("AttributeReference"), lambda kind: self.gap(kind, [])
        )

        def read(expression: Expression) -> Inputs:
            try:
                return inputs_of(expression, bindings)
            except RULE_ERRORS:
                return self.gap(self.node.kind)

        return read

    def inputs(self, expressions: Iterable[Expression | None], use: Transformation) -> Inputs:
        """The inputs of all these expressions, with one transformation; None entries are skipped."""
        read = self.reader()
        return merged(read(expression) for expression in expressions if expression is not None).through(use)

    def rows(self, *more: Inputs) -> Inputs:
        """The inputs of the children's rows, and further ones."""
        return merged([*(scope.rows for scope in self.below), *more])

    def projected(self, expressions: list[Expression]) -> Scope:
        """A projection: a scope of these named expressions, with the rows of the children."""
        output = attributes(expressions)
        if len(output) != len(expressions):
            raise UnsupportedPlanError
        read = self.reader()
        inputs = [read(expression) for expression in expressions]
        return scope_of(output, inputs, self.rows())

    def gap(self, kind: str, leaves: Iterable[int] | None = None) -> Inputs:
        """A placeholder for unknown inputs, from `leaves` if given, else from any possible leaf."""
        behind = self.possible_leaves() if leaves is None else frozenset(leaves)
        return Inputs.of(Source(self.state.gap(kind, behind), ""), TRANSFORMATION)

    def opaque(self) -> Scope:
        """The scope of an unsupported operator: any column may depend on anything below, any row may be dropped."""
        gap = self.gap(self.node.kind)
        output = attributes(self.node.output()) or tuple(a for scope in self.below for a in scope.output)
        scope = scope_of(output, [gap] * len(output), self.rows(gap.through(FILTER)))
        return replace(scope, opaque=gap, leaves=self.possible_leaves())

    def possible_leaves(self) -> frozenset[int]:
        """The leaves that a gap may depend on: without children, all of the plan's, as for an unknown reference."""
        return self.all_leaves() if self.below else frozenset(self.state.leaf_of.values())


def scope_of(output: Sequence[Attribute], inputs: Sequence[Inputs], rows: Inputs = NOTHING) -> Scope:
    """A scope of these columns, with the inputs of each."""
    if len(output) != len(inputs):
        raise UnsupportedPlanError
    columns = {attribute.expression_id: found for attribute, found in zip(output, inputs, strict=True)}
    return Scope(tuple(output), columns, rows)
