"""Spark's plan JSON as a tree of operators.

`TreeNode.toJSON` writes a tree as a flat list in pre-order: every entry has its `class` and `num-children`. A field of
expressions has such a list for each; a subquery's plan is such a list in the field `plan` of its expression.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import orjson

from headwater.errors import InvalidInputError

Entry = dict[str, Any]
"""An entry of the flat list: an operator's or an expression's class, child count and fields."""

Expression = list[Entry]
"""An expression in pre-order."""

_INNER_PLANS = ("query", "plan", "commandLogicalPlan")
"""Fields with the query of a command that has no children."""


class UnsupportedPlanError(Exception):
    """A part of the plan is not in the form that a rule expects; it becomes a gap."""


RULE_ERRORS: Final = (UnsupportedPlanError, LookupError, TypeError, ValueError, AttributeError)
"""The exceptions that rules raise for the fields of another version of Spark."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """An operator. `children` are its inputs; `subqueries` are the plans inside its expressions, in order.

    The field `plan` of an expression's `Entry` is the subquery's `Node`, in place of Spark's list.
    """

    kind: str
    entry: Entry
    children: tuple["Node", ...]
    subqueries: tuple["Node", ...] = field(default=())

    def expression(self, name: str) -> Expression:
        """The expression in a field that this class of operator always has.

        Raises:
            UnsupportedPlanError: the field is missing, null, or not an expression.
        """
        found = self.optional(name)
        if found is None:
            raise UnsupportedPlanError
        return found

    def optional(self, name: str) -> Expression | None:
        """The expression in a field, or None if the field is missing or null.

        Raises:
            UnsupportedPlanError: the field is not an expression.
        """
        value = self.entry.get(name)
        if value is not None and not _is_tree(value):
            raise UnsupportedPlanError
        return value

    def expressions(self, name: str) -> list[Expression]:
        """The expressions in a field that this class of operator always has.

        Raises:
            UnsupportedPlanError: the field is not a list of expressions; Spark writes null for some collections.
        """
        value = self.entry.get(name)
        if not isinstance(value, list) or not all(map(_is_tree, value)):
            raise UnsupportedPlanError
        return value

    def output(self) -> list[Expression]:
        """The operator's declared output columns; empty if it declares none."""
        value = self.entry.get("output")
        return [item for item in value if _is_tree(item)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """An analysed plan, read by `parse_plan`."""

    root: Node


def parse_plan(text: str | bytes) -> Plan:
    """Parse the result of `queryExecution.analyzed().toJSON()`.

    Raises:
        InvalidInputError: it is not JSON, or not a plan in Spark's form.
    """
    try:
        entries = orjson.loads(text)
    except orjson.JSONDecodeError as invalid:
        raise InvalidInputError(f"Spark plan: not JSON at character {invalid.pos}") from None
    if not _is_tree(entries):
        raise InvalidInputError("Spark plan: not a list of plan nodes")
    return Plan(_tree(entries))


@lru_cache(maxsize=1024)
def short_class(name: str) -> str:
    """The class without its package.

    >>> short_class("org.apache.spark.sql.catalyst.plans.logical.MergeRows$Keep")
    'MergeRows$Keep'
    """
    return name.rpartition(".")[2]


def _is_tree(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and "class" in value[0]


def _tree(entries: list[Entry]) -> Node:
    """Build the nodes without recursion: nested plans are found outermost first and built innermost first."""
    nested: list[tuple[Entry, str]] = []
    plans = [entries]
    for plan in plans:
        for holder, name in _inner_plans(plan):
            nested.append((holder, name))
            plans.append(holder[name])
    for holder, name in reversed(nested):
        holder[name] = _assembled(holder[name])
    return _assembled(entries)


def _inner_plans(plan: list[Entry]) -> Iterator[tuple[Entry, str]]:
    for entry in plan:
        if not isinstance(entry, dict):
            raise InvalidInputError("Spark plan: an entry is not a JSON object")
        yield from ((entry, name) for name in _INNER_PLANS if _is_tree(entry.get(name)))
        for expression in _expressions(entry):
            yield from ((step, "plan") for step in expression if isinstance(step, dict) and _is_tree(step.get("plan")))


def _expressions(entry: Entry) -> Iterator[Expression]:
    """All expressions in the entry's fields, in nested lists too, in the order of the fields."""
    pending = [value for name, value in reversed(entry.items()) if name not in _INNER_PLANS]
    while pending:
        value = pending.pop()
        if _is_tree(value):
            yield value
        elif isinstance(value, list):
            pending.extend(reversed(value))


def _assembled(entries: list[Entry]) -> Node:
    """The tree of a list in pre-order, read from the end: the children of each operator are on the stack before it."""
    built: list[Node] = []
    for entry in reversed(entries):
        try:
            kind = short_class(entry["class"])
            children = [built.pop() for _ in range(_positive(entry["num-children"]))]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as broken:
            raise InvalidInputError("Spark plan: an entry lacks its class, its child count or its children") from broken
        inner = [entry[name] for name in _INNER_PLANS if isinstance(entry.get(name), Node)]
        built.append(Node(kind, entry, (*children, *inner), tuple(_subqueries(entry))))
    if len(built) != 1:
        raise InvalidInputError(f"Spark plan: expected one tree, found {len(built)}")
    return built[0]


def _positive(count: int) -> int:
    if count < 0:
        raise ValueError
    return count


def _subqueries(entry: Entry) -> Iterator[Node]:
    for expression in _expressions(entry):
        steps = (step for step in expression if isinstance(step, dict))
        yield from (step["plan"] for step in steps if isinstance(step.get("plan"), Node))
