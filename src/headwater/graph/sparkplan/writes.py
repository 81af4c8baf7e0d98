"""Rules for commands that write: their outputs are the columns of the target."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from headwater.graph.sparkplan.expressions import operands
from headwater.graph.sparkplan.inputs import CONDITIONAL, FILTER, IDENTITY, NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.operation import Operation, scope_of
from headwater.graph.sparkplan.plan import Expression, UnforeseenError, short_class
from headwater.graph.sparkplan.relational import Rule
from headwater.graph.sparkplan.scope import Scope


def _query(operation: Operation) -> Scope:
    """A command whose query already has the target's column names."""
    return operation.below[-1]


def _insert(operation: Operation) -> Scope:
    """The analyser has put the query in the table's order; a sink without a schema takes it as it is."""
    query = operation.only
    columns = _table_columns(operation)
    return scope_of(columns, query.in_order(), query.rows) if columns else query


def _rewrite(operation: Operation) -> Scope:
    """UPDATE, DELETE and MERGE: the query has the table's columns among others that steer the writer.

    A delete by position mentions no columns at all; then none has inputs.
    """
    query = operation.only
    by_name = dict(zip((column.name for column in query.output), query.in_order(), strict=True))
    columns = _table_columns(operation)
    scope = scope_of(columns, [by_name.get(column.name, NOTHING) for column in columns], query.rows)
    return replace(scope, target=_target(operation, columns))


def _target(operation: Operation, columns: tuple[Attribute, ...]) -> int | None:
    """The leaf that starts with the table's own first column; others may read the same table once more."""
    leaves = operation.ledger.leaf_of
    return next((leaves[node] for node in leaves if columns and attributes(node.output()[:1]) == columns[:1]), None)


def _table_columns(operation: Operation) -> tuple[Attribute, ...]:
    return attributes(operation.node.expression("table")[0]["output"])


@dataclass(frozen=True, slots=True)
class _Instruction:
    """What MERGE does with a row: `Copy`, `Update`, `Insert` or `Delete` it, with these values.

    `conditions` are its own, and those of the updates before it: only the first that holds is done.
    """

    action: str
    conditions: list[Expression]
    values: list[Expression]


_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _merge(operation: Operation) -> Scope:
    """MERGE: each column from all values assigned to it.

    Whether a row is inserted or deleted decides the rows; whether it is updated decides the assigned columns only.
    """
    output = attributes(operation.node.expressions("output"))
    carried_over = _target_ids(operation)
    columns: list[list[Inputs]] = [[] for _ in output]
    decisive = []
    for instruction in _instructions(operation, len(output)):
        if instruction.action in {"Insert", "Delete"}:
            decisive.append(operation.inputs(instruction.conditions, FILTER))
        if instruction.action in {"Insert", "Update"}:
            condition = operation.inputs(instruction.conditions, CONDITIONAL)
            updates = instruction.action == "Update"
            for column, value in zip(columns, instruction.values, strict=True):
                column.append(operation.inputs([value], IDENTITY))
                if updates and not _is_carried_over(value, carried_over):
                    column.append(condition)
    return scope_of(output, [merged(inputs) for inputs in columns], operation.rows(*decisive))


def _instructions(operation: Operation, width: int) -> Iterator[_Instruction]:
    for field in _INSTRUCTIONS:
        before: list[Expression] = []
        for written in operation.node.expressions(field):
            condition, *values = operands(written)
            action = _action(written)
            # A split row is written as a row to delete, of nulls and positions, and then the row to insert.
            yield _Instruction(action, [*before, condition], values[-width:])
            if action == "Update":
                before.append(condition)


def _action(written: Expression) -> str:
    kind = short_class(written[0]["class"])
    if kind.endswith("$Keep"):
        return short_class(written[0]["context"]["object"]).removeprefix("MergeRows$").removesuffix("$")
    if kind.endswith("$Split"):
        return "Update"
    if kind.endswith("$Discard"):
        return "Delete"
    raise UnforeseenError


def _target_ids(operation: Operation) -> frozenset[int]:
    """The ids of the target's columns: Spark joins the target, as the left side, with the source."""
    join = operation.node.children[0]
    left = join.children[0] if join.children else join
    return frozenset(column.expression_id for column in attributes(left.entry.get("projectList", [])))


def _is_carried_over(value: Expression, target_ids: frozenset[int]) -> bool:
    return len(value) == 1 and any(column.expression_id in target_ids for column in attributes([value]))


def _delete_all(operation: Operation) -> Scope:
    """A DELETE that drops files whole; its condition, where there is one, decides which."""
    return Scope(rows=operation.rows(operation.inputs([operation.node.optional("condition")], FILTER)))


def _create_view(operation: Operation) -> Scope:
    """A view with the query's column names; names of its own are not written into the plan."""
    if operation.node.entry["userSpecifiedColumns"]:
        raise UnforeseenError
    return _query(operation)


_QUERIES = (
    "CacheTableAsSelect",
    "CommandResult",
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "CreateTableAsSelect",
    "InsertIntoDataSourceCommand",
    "InsertIntoDataSourceDirCommand",
    "InsertIntoHadoopFsRelationCommand",
    "InsertIntoHiveDirCommand",
    "InsertIntoHiveTable",
    "ReplaceTableAsSelect",
    "SaveAsV1TableCommand",
    "SaveIntoDataSourceCommand",
    "WriteFiles",
    "WriteToMicroBatchDataSource",
    "WriteToMicroBatchDataSourceV1",
    "WriteToStream",
)

WRITE_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_QUERIES, _query),
    "AppendData": _insert,
    "CreateViewCommand": _create_view,
    "DeleteFromTable": _delete_all,
    "MergeRows": _merge,
    "OverwriteByExpression": _insert,
    "OverwritePartitionsDynamic": _insert,
    "ReplaceData": _rewrite,
    "WriteDelta": _rewrite,
}
