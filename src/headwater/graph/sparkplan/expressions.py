"""The inputs of one expression.

An expression is a flat list in pre-order. It is read from the end, so that the inputs of a function's operands are
known before the function, without recursion. A function without a rule transforms all its operands.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from headwater.graph.sparkplan.functions import Call, function_rule
from headwater.graph.sparkplan.inputs import NOTHING, TRANSFORMATION, Inputs, merged
from headwater.graph.sparkplan.plan import Entry, Expression, Node, UnsupportedPlanError, short_class
from headwater.graph.sparkplan.scope import Environment, Scope


@dataclass(frozen=True, slots=True)
class Bindings:
    """The bindings of the references in an expression.

    `unbound` returns the inputs of a column that no scope has, `outside_plan` those of a value that the plan does not
    contain, by the expression's class.
    """

    environment: Environment
    subqueries: Mapping[Node, Scope]
    unbound: Callable[[], Inputs]
    outside_plan: Callable[[str], Inputs]


def inputs_of(expression: Expression, bindings: Bindings) -> Inputs:
    """The inputs of an expression's value."""
    return _Reader(expression, bindings).read()


def operands(expression: Expression) -> list[Expression]:
    """The operands of an expression's outermost function, as expressions."""
    found = []
    start = 1
    for _ in range(expression[0]["num-children"]):
        end = start
        awaited = 1
        while awaited:
            awaited += expression[end]["num-children"] - 1
            end += 1
        found.append(expression[start:end])
        start = end
    return found


@dataclass(slots=True)
class _Reader:
    """Reads an expression from its end; `common` has the definitions of the enclosing WITH expressions."""

    expression: Expression
    bindings: Bindings
    common: list[Inputs] = field(default_factory=list)

    def read(self) -> Inputs:
        done: list[tuple[Inputs, int]] = []
        for at in range(len(self.expression) - 1, -1, -1):
            entry = self.expression[at]
            parts = [done.pop() for _ in range(entry["num-children"])]
            end = parts[-1][1] if parts else at + 1
            done.append((self._function(at, entry, parts) if parts else self._leaf(entry), end))
        ((inputs, _),) = done
        return inputs

    def _leaf(self, entry: Entry) -> Inputs:
        environment = self.bindings.environment
        match short_class(entry["class"]):
            case "AttributeReference":
                return self._found(environment.column(entry["exprId"]["id"]))
            case "OuterReference":
                return self._found(environment.outer_column(entry["e"][0]["exprId"]["id"]))
            case "CommonExpressionRef":
                # Spark does not write the definition's id; mostly there is only one.
                return merged(self.common)
            case "VariableReference" if not _is_as_declared(entry["varDef"]):
                return self.bindings.outside_plan("VariableReference")
            case kind:
                rule = _rule(kind, entry)
                return rule(Call(entry, [], [], self.bindings.subqueries)) if rule else NOTHING

    def _found(self, inputs: Inputs | None) -> Inputs:
        return self.bindings.unbound() if inputs is None else inputs

    def _function(self, at: int, entry: Entry, parts: list[tuple[Inputs, int]]) -> Inputs:
        kind = short_class(entry["class"])
        inputs = [part for part, _ in parts]
        if kind == "CommonExpressionDef":  # written after the expression that references it, so it is read first
            self.common.append(inputs[0])
        if kind == "With":
            del self.common[len(self.common) - len(inputs) + 1 :]
        rule = _rule(kind, entry)
        if rule is None:
            return merged(inputs).through(TRANSFORMATION)
        ends = [end for _, end in parts]
        expressions = [self.expression[start:end] for start, end in zip([at + 1, *ends], ends, strict=False)]
        return rule(Call(entry, inputs, expressions, self.bindings.subqueries))


def _is_as_declared(variable: Entry) -> bool:
    """Whether a session variable has its default, a literal: SET VAR may assign it the result of a query."""
    value = str(variable["currentValue"][0]["value"] or "null")
    default = str(variable["defaultValueSQL"]).strip("'").rpartition("'")[2]  # the day of DATE'2024-01-01'
    with suppress(ValueError):  # 5 for a DOUBLE is 5.0
        return float(default) == float(value)
    return default.lower() == value.lower()


def _rule(kind: str, entry: Entry) -> Callable[[Call], Inputs] | None:
    """The function's rule; a subquery without one is refused, since its value does not depend on operands alone."""
    rule = function_rule(kind)
    if rule is None and isinstance(entry.get("plan"), Node):
        raise UnsupportedPlanError
    return rule
