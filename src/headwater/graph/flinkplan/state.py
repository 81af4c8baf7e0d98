"""State that the rules share during a walk of the tree."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.graph.flinkplan.scope import Scope
from headwater.graph.sparkplan.inputs import FILTER, TRANSFORMATION, Inputs, Source

Node = Mapping[str, Any]
"""An operator or an expression, as the tree's JSON has it."""

Table = tuple[str, ...]
"""A table's name in Flink: catalog, database, table."""


class UnsupportedPlanError(Exception):
    """A part of the tree is not in the form that a rule expects; it becomes a gap."""


RULE_ERRORS = (UnsupportedPlanError, LookupError, TypeError, ValueError, AttributeError)
"""The exceptions that rules raise for trees of another version of Flink."""


@dataclass(slots=True)
class WalkState:
    """The tables of a tree, each once, and its gaps.

    An origin is the index of a table or, for a gap, a negative number from -1 down.
    """

    tables: dict[Table, int] = field(default_factory=dict)
    gaps: list[tuple[str, frozenset[Table]]] = field(default_factory=list)

    def origin_of(self, table: Table) -> int:
        """The table's index; a new table is added."""
        return self.tables.setdefault(table, len(self.tables))

    def gap(self, kind: str, node: Node) -> Inputs:
        """A placeholder for the inputs of an unsupported node, over all tables under it."""
        tables = frozenset(tables_under(node))
        for table in tables:
            self.origin_of(table)
        self.gaps.append((kind, tables))
        return Inputs.of(Source(-len(self.gaps), ""), TRANSFORMATION)

    def opaque(self, kind: str, node: Node) -> Scope:
        """The scope of an unsupported operator: any column may depend on anything below."""
        gap = self.gap(kind, node)
        return Scope((gap,) * len(node.get("columns", ())), gap.through(FILTER))


@dataclass(frozen=True, slots=True)
class Correlations:
    """The rows of enclosing queries, by the correlation variables that expressions in a subquery reference."""

    rows: Mapping[str, Scope]

    def bind(self, variables: Sequence[str], scope: Scope) -> "Correlations":
        """These, and further variables for a row of the scope."""
        return Correlations({**self.rows, **dict.fromkeys(variables, scope)}) if variables else self


def tables_under(node: Node) -> Iterator[Table]:
    """The tables that are read anywhere in an operator or expression, with repetitions."""
    pending: list[Any] = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, Mapping):
            if found.get("kind") == "LogicalTableScan":
                yield tuple(found["table"])
            pending.extend(found.values())
        elif isinstance(found, list):
            pending.extend(found)
