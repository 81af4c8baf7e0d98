"""Trino's events as Trino means them: what they lack and tell elsewhere is filled in, what misleads is cut.

    what Trino sends                                            what is taken for true
    UPDATE and MERGE: columns without inputs                    those that the SQL's text tells
    a schema that has only the columns read, or assigned        none: the table has others, too
    `$row_id` and the like as inputs                            none: they are no columns of the table
    a SELECT that a comment says is a dashboard's               a run of that query's job, which feeds the dashboard
    60 to 110 kB of statistics and plans in run facets          their figures; the long texts stay in the log

A pure function of one event, so that facts are. `docs/trino.md` says the same to users.

Source: Trino 476, `io.trino.plugin.openlineage.OpenLineageListener`
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater.model.events import DatasetRef, RunEvent
from headwater.model.names import DatasetId
from headwater.model.objects import objects
from headwater.sql.label import Label, label_of

if TYPE_CHECKING:
    from headwater.sql.columns import Statement
    from headwater.sql.reading import Parts

_PRODUCER: Final = "/trino-openlineage"
_LONG: Final = ("trino_query_statistics", "trino_metadata")
_LONGEST_TEXT: Final = 200
# What may stand before the first word: white space, comments, and brackets around a query.
_FIRST_WORD: Final = re.compile(r"(?:\s|\(|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+(?P<word>[A-Za-z]+)")

_WRITES_BY_SQL: Final = frozenset({"UPDATE", "MERGE"})
_QUERIES: Final = frozenset({"SELECT", "WITH", "TABLE", "VALUES"})


def is_trinos(event: RunEvent) -> bool:
    """Whether Trino's own listener sent the event."""
    return event.producer.endswith(_PRODUCER)


def as_meant(event: RunEvent) -> RunEvent:
    """The event, mended; one of another producer as it is."""
    if not is_trinos(event):
        return event
    sql = _sql(event)
    label = label_of(sql) if _first_word(sql) in _QUERIES else None
    mended = replace(
        event,
        run_facets={name: _short(facet) if name in _LONG else facet for name, facet in event.run_facets.items()},
        inputs=tuple(_without(each, "schema") for each in event.inputs),
        outputs=tuple(_written(each, event, sql) for each in event.outputs),
    )
    return mended if label is None else _of_dashboard(mended, event, sql, label)


def _sql(event: RunEvent) -> str:
    query = event.job_facets.get("sql", {}).get("query")
    return query if isinstance(query, str) else ""


def _first_word(sql: str) -> str:
    found = _FIRST_WORD.match(sql)
    return "" if found is None else found["word"].upper()


def _short(facet: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facet without its long texts; how long they are is said."""
    long = {name: len(value) for name, value in facet.items() if isinstance(value, str) and len(value) > _LONGEST_TEXT}
    kept = {name: value for name, value in facet.items() if name not in long}
    return {**kept, "headwater_left_in_log": long} if long else facet


def _without(dataset: DatasetRef, facet: str) -> DatasetRef:
    return replace(dataset, facets={name: value for name, value in dataset.facets.items() if name != facet})


def _written(output: DatasetRef, event: RunEvent, sql: str) -> DatasetRef:
    word = _first_word(sql)
    if word != "CREATE":
        output = _without(output, "schema")
    lineage = output.facets.get("columnLineage")
    if lineage is None:
        return output
    told = _statement(event, sql) if word in _WRITES_BY_SQL else None
    mended = {**lineage, **_real_columns(lineage)} if told is None else {**lineage, **_column_lineage(told, event)}
    return replace(output, facets={**output.facets, "columnLineage": mended})


def _real_columns(lineage: Mapping[str, Any]) -> dict[str, Any]:
    listed = lineage.get("dataset")
    if not isinstance(listed, list):
        return {}
    return {"dataset": [each for each in listed if not (isinstance(each, dict) and _is_hidden(each.get("field")))]}


def _is_hidden(column: object) -> bool:
    return isinstance(column, str) and column.startswith("$")


def _of_dashboard(mended: RunEvent, event: RunEvent, sql: str, label: Label) -> RunEvent:
    from headwater.model import sql_lineage  # here, not above: it brings sqlglot, 0.2 s, that few logs need

    job = sql_lineage.job_of(label)
    if not event.inputs:
        return replace(mended, job=job)
    facets: dict[str, Mapping[str, Any]] = {"datasetType": {"datasetType": "DASHBOARD"}}
    if (told := _statement(event, sql)) is not None:
        facets["columnLineage"] = _column_lineage(told, event, label)
    dashboard = DatasetRef(sql_lineage.dashboard_of(label), facets)
    return replace(mended, job=job, outputs=(*mended.outputs, dashboard))


def _column_lineage(told: "Statement", event: RunEvent, label: Label | None = None) -> dict[str, Any]:
    from headwater.model import sql_lineage  # as in `_of_dashboard`

    named = _Tables(event).named
    return (
        sql_lineage.column_lineage(told, named) if label is None else sql_lineage.dashboard_lineage(told, named, label)
    )


def _statement(event: RunEvent, sql: str) -> "Statement | None":
    """What the SQL says of columns; None where it cannot be read, or tables of the event are not in it."""
    from headwater.sql.columns import statement  # as in `_of_dashboard`
    from headwater.sql.reading import AT_INTAKE, UnreadableSqlError

    try:
        return statement(sql, "trino", _Tables(event).columns, AT_INTAKE, is_in_order=False)
    except UnreadableSqlError:
        return None


class _Tables:
    """The datasets of an event by what its SQL calls them: the session's catalog and schema may be left out."""

    def __init__(self, event: RunEvent) -> None:
        self._columns: dict[DatasetId, dict[str, None]] = {}
        for dataset in (*event.inputs, *event.outputs):
            self._columns.setdefault(dataset.id, {}).update(dict.fromkeys(_fields(dataset.facets.get("schema"))))
            for source in objects(dataset.facets.get("columnLineage", {}).get("dataset")):
                name = DatasetId(str(source.get("namespace")), str(source.get("name")))
                column = source.get("field")
                if isinstance(column, str) and not _is_hidden(column):
                    self._columns.setdefault(name, {})[column] = None

    def named(self, table: "Parts") -> DatasetId | None:
        """The one dataset whose name ends so; None where there are none or several."""
        found = [each for each in self._columns if tuple(each.name.split("."))[-len(table) :] == table]
        return found[0] if len(found) == 1 else None

    def columns(self, table: "Parts") -> tuple[str, ...]:
        """Its columns that the statement reads or assigns, which are those that it can name, in no order."""
        name = self.named(table)
        return () if name is None else tuple(self._columns[name])


def _fields(schema: Mapping[str, Any] | None) -> Iterator[str]:
    for field in objects(None if schema is None else schema.get("fields")):
        if isinstance(name := field.get("name"), str):
            yield name
