"""Rules for write commands: their outputs are the target's columns."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from headwater.graph.sparkplan.expressions import operands
from headwater.graph.sparkplan.inputs import CONDITIONAL, FILTER, IDENTITY, NOTHING, Inputs, merged
from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.operator import Operator, scope_of
from headwater.graph.sparkplan.plan import Expression, UnsupportedPlanError, short_class
from headwater.graph.sparkplan.relational import Rule
from headwater.graph.sparkplan.scope import Scope


def _query(operator: Operator) -> Scope:
    """A command whose query already has the target's column names."""
    return operator.below[-1]


def _insert(operator: Operator) -> Scope:
    """The query is already in the table's column order; for a sink without a schema, its columns are the output."""
    query = operator.only_child
    columns = _table_columns(operator)
    return scope_of(columns, query.in_order(), query.rows) if columns else query


def _rewrite(operator: Operator) -> Scope:
    """Row-level operations (UPDATE, DELETE, MERGE): the query has the table's columns, and others for the writer.

    A positional delete has no columns of the table; then they have no inputs.
    """
    query = operator.only_child
    by_name = dict(zip((column.name for column in query.output), query.in_order(), strict=True))
    columns = _table_columns(operator)
    scope = scope_of(columns, [by_name.get(column.name, NOTHING) for column in columns], query.rows)
    return replace(scope, target=_target(operator, columns))


def _target(operator: Operator, columns: tuple[Attribute, ...]) -> int | None:
    """The leaf with the target's own first column; other leaves may read the same table again."""
    leaves = operator.state.leaf_of
    return next((leaves[node] for node in leaves if columns and attributes(node.output()[:1]) == columns[:1]), None)


def _table_columns(operator: Operator) -> tuple[Attribute, ...]:
    return attributes(operator.node.expression("table")[0]["output"])


@dataclass(frozen=True, slots=True)
class _Instruction:
    """An action of MERGE on a row: `Copy`, `Update`, `Insert` or `Delete`, with these values.

    `conditions` are its own, and those of the updates before it: only the first action whose condition holds applies.
    """

    action: str
    conditions: list[Expression]
    values: list[Expression]


_INSTRUCTIONS = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")


def _merge(operator: Operator) -> Scope:
    """MERGE: a column has the inputs of all values assigned to it.

    Conditions of inserts and deletes are inputs of the rows, those of updates of the assigned columns only.
    """
    output = attributes(operator.node.expressions("output"))
    carried_over = _target_ids(operator)
    columns: list[list[Inputs]] = [[] for _ in output]
    row_inputs = []
    for instruction in _instructions(operator, len(output)):
        if instruction.action in {"Insert", "Delete"}:
            row_inputs.append(operator.inputs(instruction.conditions, FILTER))
        if instruction.action in {"Insert", "Update"}:
            condition = operator.inputs(instruction.conditions, CONDITIONAL)
            updates = instruction.action == "Update"
            for column, value in zip(columns, instruction.values, strict=True):
                column.append(operator.inputs([value], IDENTITY))
                if updates and not _is_carried_over(value, carried_over):
                    column.append(condition)
    return scope_of(output, [merged(inputs) for inputs in columns], operator.rows(*row_inputs))


def _instructions(operator: Operator, width: int) -> Iterator[_Instruction]:
    for field in _INSTRUCTIONS:
        before: list[Expression] = []
        for written in operator.node.expressions(field):
            condition, *values = operands(written)
            action = _action(written)
            # A split has the values of a row to delete, nulls and positions, and then those of the row to insert.
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
    raise UnsupportedPlanError


def _target_ids(operator: Operator) -> frozenset[int]:
    """The expression ids of the target's columns: the target is the left side of the join with the source."""
    join = operator.node.children[0]
    left = join.children[0] if join.children else join
    return frozenset(column.expression_id for column in attributes(left.entry.get("projectList", [])))


def _is_carried_over(value: Expression, target_ids: frozenset[int]) -> bool:
    return len(value) == 1 and any(column.expression_id in target_ids for column in attributes([value]))


def _delete_all(operator: Operator) -> Scope:
    """A metadata-only DELETE, which drops whole files; its condition, if any, decides which."""
    return Scope(rows=operator.rows(operator.inputs([operator.node.optional("condition")], FILTER)))


def _create_view(operator: Operator) -> Scope:
    """A view with the query's column names; a view's own names are not in the plan, so it is not supported."""
    if operator.node.entry["userSpecifiedColumns"]:
        raise UnsupportedPlanError
    return _query(operator)


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
