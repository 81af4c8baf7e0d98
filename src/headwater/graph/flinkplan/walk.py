"""What the rules share while a tree is walked."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.graph.flinkplan.scope import Scope
from headwater.graph.sparkplan.inputs import FILTER, TRANSFORMATION, Inputs, Source

Node = Mapping[str, Any]
"""An operator or an expression, as the tree's JSON has it."""

Table = tuple[str, ...]
"""A table's name in Flink: catalog, database, table."""


class UnforeseenError(Exception):
    """A part of the tree is not in the form that a rule expects; this becomes a gap."""


UNFORESEEN = (UnforeseenError, LookupError, TypeError, ValueError, AttributeError)
"""What rules raise where another version of Flink has other trees."""


@dataclass(slots=True)
class Ledger:
    """The tables of a whole tree, each once, and its gaps; an origin is a table's place, or a gap's, from -1 down."""

    tables: dict[Table, int] = field(default_factory=dict)
    gaps: list[tuple[str, frozenset[Table]]] = field(default_factory=list)

    def origin_of(self, table: Table) -> int:
        """Where the table stands among the tables."""
        return self.tables.setdefault(table, len(self.tables))

    def gap(self, kind: str, node: Node) -> Inputs:
        """Inputs that stand for what no rule covers, over all tables under the node."""
        tables = frozenset(tables_under(node))
        for table in tables:
            self.origin_of(table)
        self.gaps.append((kind, tables))
        return Inputs.of(Source(-len(self.gaps), ""), TRANSFORMATION)

    def opaque(self, kind: str, node: Node) -> Scope:
        """The scope of an operator that no rule covers: any column may be made from anything below."""
        gap = self.gap(kind, node)
        return Scope((gap,) * len(node.get("columns", ())), gap.through(FILTER))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Rows that expressions in a subquery refer to, by the name that the tree gives them."""

    rows: Mapping[str, Scope]

    def within(self, names: Sequence[str], scope: Scope) -> "Surroundings":
        """These, and a row of the scope under further names."""
        return Surroundings({**self.rows, **dict.fromkeys(names, scope)}) if names else self


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
