"""What one statement reads and writes, noted before it is executed and described after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .java import Java, items, kind_of
from .tables import described, target_columns
from .tree import tree

_WRITES = frozenset(("SinkModifyOperation", "CreateTableASOperation", "ReplaceTableAsOperation"))


class Write(NamedTuple):
    """A query and the table that it goes into; None for a query whose rows come back to the program."""

    target: list[str] | None
    tree: dict[str, Any]


def parsed(environment: Java, statement: str) -> Java:
    """The statement as an operation of Flink's."""
    return environment.getParser().parse(statement).get(0)


def writes(environment: Java, operation: Java) -> Iterator[Write]:
    """What an operation will do with data; nothing for one that only declares or asks."""
    kind = kind_of(operation)
    if kind == "StatementSetOperation":
        for one in items(operation.getOperations()):
            yield from writes(environment, one)
    elif kind in _WRITES:
        yield Write(_identifier(operation, kind), query_tree(environment, operation.getChild()))
    elif kind.endswith("QueryOperation"):
        yield Write(None, query_tree(environment, operation))


def query_tree(environment: Java, query: Java) -> dict[str, Any]:
    """The planner's tree of a query; what the Table API has put together is handed to the planner first."""
    if kind_of(query) == "PlannerQueryOperation":
        return tree(query.getCalciteTree())
    return tree(environment.getPlanner().createRelBuilder().queryOperation(query).build())


def told(environment: Java, write: Write) -> dict[str, Any]:
    """A write with its tables described, as they are once it is executed."""
    tables = [described(environment, list(name)) for name in _tables(write.tree)]
    said: dict[str, Any] = {"tree": write.tree, "tables": tables}
    if write.target is not None:
        target = described(environment, write.target)
        said |= {"target": target, "columns": target_columns(target)}
    return said


def _identifier(operation: Java, kind: str) -> list[str]:
    if kind == "SinkModifyOperation":
        identifier = operation.getContextResolvedTable().getIdentifier()
    else:
        identifier = operation.getCreateTableOperation().getTableIdentifier()
    return [str(identifier.getCatalogName()), str(identifier.getDatabaseName()), str(identifier.getObjectName())]


def _tables(node: Any) -> list[tuple[str, ...]]:  # noqa: ANN401  (JSON)
    """The tables anywhere in a tree, each once."""
    found: dict[tuple[str, ...], None] = {}
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if one.get("kind") == "LogicalTableScan":
                found[tuple(one["table"])] = None
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
    return list(found)
