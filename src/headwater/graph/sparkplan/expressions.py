"""The inputs of one expression.

An expression is a flat list in pre-order. Read from its end, every function finds the inputs of its operands ready, so
nothing recurses however deep it is. A function without a rule of its own transforms all its operands.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from headwater.graph.sparkplan.functions import Call, function_rule
from headwater.graph.sparkplan.inputs import NOTHING, TRANSFORMATION, Inputs, merged
from headwater.graph.sparkplan.plan import Entry, Expression, Node, UnforeseenError, short_class
from headwater.graph.sparkplan.scope import Environment, Scope


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the names in an expression stand for.

    `missing` gives the inputs of a column that no scope has, `elsewhere` those of a value that no plan shows.
    """

    environment: Environment
    subqueries: Mapping[Node, Scope]
    missing: Callable[[], Inputs]
    elsewhere: Callable[[str], Inputs]


def inputs_of(expression: Expression, meaning: Meaning) -> Inputs:
    """The inputs of an expression's value."""
    return _Reader(expression, meaning).read()


def operands(expression: Expression) -> list[Expression]:
    """The operands of an expression's outermost function, as written."""
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
    """Reads an expression from its end; `common` are the definitions of the WITH that it is inside of."""

    expression: Expression
    meaning: Meaning
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
        environment = self.meaning.environment
        match short_class(entry["class"]):
            case "AttributeReference":
                return self._found(environment.column(entry["exprId"]["id"]))
            case "OuterReference":
                return self._found(environment.outer_column(entry["e"][0]["exprId"]["id"]))
            case "CommonExpressionRef":
                # Spark does not write which definition is meant; there is mostly one.
                return merged(self.common)
            case "VariableReference" if not _is_as_declared(entry["varDef"]):
                return self.meaning.elsewhere("VariableReference")
            case kind:
                rule = _rule(kind, entry)
                return rule(Call(entry, [], [], self.meaning.subqueries)) if rule else NOTHING

    def _found(self, inputs: Inputs | None) -> Inputs:
        return self.meaning.missing() if inputs is None else inputs

    def _function(self, at: int, entry: Entry, parts: list[tuple[Inputs, int]]) -> Inputs:
        kind = short_class(entry["class"])
        inputs = [part for part, _ in parts]
        if (
            kind == "CommonExpressionDef"
        ):  # they stand after the expression that refers to them, so they are read before
            self.common.append(inputs[0])
        if kind == "With":
            del self.common[len(self.common) - len(inputs) + 1 :]
        rule = _rule(kind, entry)
        if rule is None:
            return merged(inputs).through(TRANSFORMATION)
        ends = [end for _, end in parts]
        texts = [self.expression[start:end] for start, end in zip([at + 1, *ends], ends, strict=False)]
        return rule(Call(entry, inputs, texts, self.meaning.subqueries))


def _is_as_declared(variable: Entry) -> bool:
    """Whether a session variable still has its default, a literal: any other value may come from a query (SET VAR)."""
    value = str(variable["currentValue"][0]["value"] or "null")
    default = str(variable["defaultValueSQL"]).strip("'").rpartition("'")[2]  # of DATE'2024-01-01' the day
    with suppress(ValueError):  # 5 for a DOUBLE is 5.0
        return float(default) == float(value)
    return default.lower() == value.lower()


def _rule(kind: str, entry: Entry) -> Callable[[Call], Inputs] | None:
    """A subquery without a rule must not pass for a function, whose value is made from its operands alone."""
    rule = function_rule(kind)
    if rule is None and isinstance(entry.get("plan"), Node):
        raise UnforeseenError
    return rule
