"""Joins a plan over a micro-batch with the stream's query that produces the batch.

The micro-batch that `foreachBatch` passes to a program is a relation of rows without a source, `LogicalRDD`; its rows
are those of the stream's own query.
"""

from collections.abc import Sequence
from typing import Any, Final

import orjson

from headwater.graph.sparkplan.leaves import Attribute, attributes
from headwater.graph.sparkplan.plan import Entry, short_class

_CATALYST: Final = "org.apache.spark.sql.catalyst"
_ROWS: Final = "LogicalRDD"


def with_query(plan: str | bytes, query: str | bytes, output: Sequence[Attribute]) -> bytes:
    """The plan's JSON, with the query in place of each relation of rows that has the query's columns.

    `output` are the query's columns in order, which its JSON does not list.
    """
    entries: list[Entry] = orjson.loads(query)
    return orjson.dumps(_replaced(orjson.loads(plan), entries, output))


def _replaced(value: Any, query: list[Entry], output: Sequence[Attribute]) -> Any:  # noqa: ANN401  (JSON)
    if not isinstance(value, list):
        return value
    replaced: list[Any] = []
    for item in value:
        if not isinstance(item, dict):
            replaced.append(_replaced(item, query, output))
        elif _is_rows_of(item, output):
            replaced += [_renumbered(item, output), *query]
        else:
            replaced.append({key: _replaced(field, query, output) for key, field in item.items()})
    return replaced


def _is_rows_of(entry: Entry, output: Sequence[Attribute]) -> bool:
    if short_class(str(entry.get("class"))) != _ROWS or not isinstance(entry.get("output"), list):
        return False
    return [column.name for column in attributes(entry["output"])] == [column.name for column in output]


def _renumbered(rows: Entry, output: Sequence[Attribute]) -> Entry:
    """A projection from the query's columns to the expression ids by which the plan references the rows' columns."""
    columns = zip(attributes(rows["output"]), output, strict=True)
    return {
        "class": f"{_CATALYST}.plans.logical.Project",
        "num-children": 1,
        "projectList": [[_alias(row_column), _reference(query_column)] for row_column, query_column in columns],
        "child": 0,
    }


def _alias(column: Attribute) -> Entry:
    number = {"id": column.expression_id}
    return {"class": f"{_CATALYST}.expressions.Alias", "num-children": 1, "name": column.name, "exprId": number}


def _reference(column: Attribute) -> Entry:
    number = {"id": column.expression_id}
    kind = f"{_CATALYST}.expressions.AttributeReference"
    return {"class": kind, "num-children": 0, "name": column.name, "exprId": number}
