"""The lineage of one statement: the plan is taken before it is executed, its tables are described after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .java import Java, items, kind_of
from .tables import described, naming, resolved, target_columns
from .tree import tree

_WRITES = frozenset(("SinkModifyOperation", "CreateTableASOperation", "ReplaceTableAsOperation"))


class Write(NamedTuple):
    """A query and its target table; None for a query whose rows return to the program.

    The table is given by the name that `tables.described` takes; one in no catalog is already described.
    """

    target: list[str] | dict[str, Any] | None
    tree: dict[str, Any]


def parsed(environment: Java, statement: str) -> Java:
    """The statement as a Flink operation."""
    return environment.getParser().parse(statement).get(0)


def writes(environment: Java, operation: Java) -> Iterator[Write]:
    """The queries and targets of an operation; none if it moves no data."""
    kind = kind_of(operation)
    if kind == "StatementSetOperation":
        for one in items(operation.getOperations()):
            yield from writes(environment, one)
    elif kind in _WRITES:
        yield Write(_target(operation, kind), query_tree(environment, operation.getChild()))
    elif kind == "CompileAndExecutePlanOperation":
        yield from writes(environment, operation.getOperation())
    elif kind.endswith("QueryOperation"):
        yield Write(None, query_tree(environment, operation))


def query_tree(environment: Java, query: Java) -> dict[str, Any]:
    """The planner's tree of a query; one built by the Table API is given to the planner first."""
    if kind_of(query) == "PlannerQueryOperation":
        return tree(query.getCalciteTree())
    return tree(environment.getPlanner().createRelBuilder().queryOperation(query).build())


def with_tables(environment: Java, write: Write) -> dict[str, Any]:
    """A write with its tables described, to be called once it is executed."""
    tables = [
        described(environment, list(name)) if source is None else {**source, "name": list(name)}
        for name, source in _tables(write.tree).items()
    ]
    members: dict[str, Any] = {"tree": write.tree, "tables": tables}
    if write.target is not None:
        target = write.target if isinstance(write.target, dict) else described(environment, write.target)
        members |= {"target": target, "columns": target_columns(target)}
    return members


def _target(operation: Java, kind: str) -> list[str] | dict[str, Any]:
    if kind != "SinkModifyOperation":
        return _name(operation.getCreateTableOperation().getTableIdentifier())
    table = operation.getContextResolvedTable()
    if table.isAnonymous():
        return {"name": [str(table.getIdentifier().getObjectName())], **resolved(table.getResolvedTable())}
    hinted = sorted(naming(operation.getDynamicOptions() or {}).items())
    return [*_name(table.getIdentifier()), *(f"{key}={value}" for key, value in hinted)]


def _name(identifier: Java) -> list[str]:
    return [str(identifier.getCatalogName()), str(identifier.getDatabaseName()), str(identifier.getObjectName())]


def _tables(node: Any) -> dict[tuple[str, ...], dict[str, Any] | None]:  # noqa: ANN401  (JSON)
    """The tables anywhere in a tree, each once; those in no catalog with their description."""
    found: dict[tuple[str, ...], dict[str, Any] | None] = {}
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            if one.get("kind") == "LogicalTableScan":
                found[tuple(one["table"])] = one.get("source")
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)
    return found
