"""Corrects Trino's events: adds what they report elsewhere, and removes what misleads.

    what Trino sends                                            what is taken for true
    UPDATE and MERGE: columns without inputs                    those that the SQL's text tells
    a schema that has only the columns read, or assigned        none: the table has others, too
    `$row_id` and the like as inputs                            none: they are no columns of the table
    a table that is read, and in no column's inputs             it takes part as a whole: its rows were counted
    a field inside a struct as a column                         the struct
    where a materialized view has its rows                      the materialized view
    EXECUTE IMMEDIATE, with the statement in quotes             that statement
    a SELECT that a comment says is a dashboard's               a run of that query's job, which feeds the dashboard
    60 to 110 kB of statistics and plans in run facets          their figures; the long texts stay in the log

A pure function of one event, so that facts are. `docs/trino.md` says the same to users.

Source: Trino 476, `io.trino.plugin.openlineage.OpenLineageListener`
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater.model.events import DatasetRef, RunEvent
from headwater.model.names import DatasetId
from headwater.model.objects import objects, text
from headwater.sql.label import Label, label_of

if TYPE_CHECKING:
    from headwater.sql.columns import Source, Statement
    from headwater.sql.reading import Parts

_PRODUCER: Final = "/trino-openlineage"
_LONG: Final = ("trino_query_statistics", "trino_metadata")
_LONGEST_TEXT: Final = 200
# What may stand before the first word: white space, comments, and brackets around a query.
_FIRST_WORD: Final = re.compile(r"(?:\s|\(|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+(?P<word>[A-Za-z]+)")

# Drivers that are given parameters send statements so; the comment before it stays before it.
_IMMEDIATE: Final = re.compile(
    r"(?P<before>(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*+\*/)*+)EXECUTE\s+IMMEDIATE\s*'(?P<statement>(?:[^']|'')*+)'",
    re.IGNORECASE,
)
_ROWS_OF_VIEW: Final = "$materialized_view_storage"

_WRITES_BY_SQL: Final = frozenset({"UPDATE", "MERGE"})
_QUERIES: Final = frozenset({"SELECT", "WITH", "TABLE", "VALUES"})


def is_trinos(event: RunEvent) -> bool:
    """Whether Trino's own listener sent the event."""
    return event.producer.endswith(_PRODUCER)


def mended_trino(event: RunEvent) -> RunEvent:
    """The event after corrections; events of other producers unchanged."""
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
    if not isinstance(query, str):
        return ""
    immediate = _IMMEDIATE.match(query)
    return query if immediate is None else immediate["before"] + immediate["statement"].replace("''", "'")


def _first_word(sql: str) -> str:
    found = _FIRST_WORD.match(sql)
    return "" if found is None else found["word"].upper()


def _short(facet: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facet without its long texts, whose lengths are recorded instead."""
    long = {name: len(value) for name, value in facet.items() if isinstance(value, str) and len(value) > _LONGEST_TEXT}
    short = {name: value for name, value in facet.items() if name not in long}
    return {**short, "headwater_left_in_log": long} if long else facet


def _without(dataset: DatasetRef, facet: str) -> DatasetRef:
    return replace(dataset, facets={name: value for name, value in dataset.facets.items() if name != facet})


def _written(output: DatasetRef, event: RunEvent, sql: str) -> DatasetRef:
    word = _first_word(sql)
    if word != "CREATE":
        output = _without(output, "schema")
    lineage = output.facets.get("columnLineage")
    if lineage is None:
        return output
    statement = _statement(event, sql) if word in _WRITES_BY_SQL else None
    mended = {
        **lineage,
        **(_cleaned_lineage(lineage, event) if statement is None else _column_lineage(statement, event, sql)),
    }
    return replace(output, facets={**output.facets, "columnLineage": mended})


def _cleaned_lineage(lineage: Mapping[str, Any], event: RunEvent) -> dict[str, Any]:
    """Trino's column lineage without hidden columns; tables read without column lineage are added as wholes."""
    cleaned: dict[str, Any] = {}
    fields = lineage.get("fields")
    if isinstance(fields, dict):
        cleaned["fields"] = {
            column: {**entry, "inputFields": [*_real(entry["inputFields"])]}
            if isinstance(entry, dict) and isinstance(entry.get("inputFields"), list)
            else entry
            for column, entry in fields.items()
        }
    listed = lineage.get("dataset")
    cleaned["dataset"] = _with_structs([*_real(listed)], event) if isinstance(listed, list) else []
    inputs = (entry.get("inputFields") for entry in cleaned.get("fields", {}).values() if isinstance(entry, dict))
    named = {
        (text(each, "namespace"), text(each, "name"))
        for some in (cleaned["dataset"], *inputs)
        for each in objects(some)
    }
    read = sorted({each.id for each in event.inputs})
    cleaned["dataset"] += [{"namespace": each.namespace, "name": each.name} for each in read if each not in named]
    return cleaned


def _real(inputs: list[Any]) -> Iterator[Any]:
    """Without hidden columns; a materialized view's storage table is replaced by the view."""
    for each in inputs:
        if not isinstance(each, dict):
            yield each
        elif not _is_hidden(each.get("field")):
            name = each.get("name")
            yield {**each, "name": name.removesuffix(_ROWS_OF_VIEW)} if isinstance(name, str) else each


def _with_structs(inputs: list[Any], event: RunEvent) -> list[Any]:
    """Nested fields that Trino names as columns, replaced by their structs, as listed in the schemas of the inputs."""
    read: dict[DatasetId, dict[str, None]] = {}
    for each in event.inputs:
        read.setdefault(each.id, {}).update(dict.fromkeys(_fields(each.facets.get("schema"))))
    for name, columns in read.items():
        of_table = [each for each in objects(inputs) if (each.get("namespace"), each.get("name")) == name]
        named = {text(each, "field") for each in of_table}
        structs = [column for column in columns if column not in named]
        if structs and not named <= columns.keys():
            inputs = [each for each in inputs if each not in of_table or text(each, "field") in columns]
            inputs += [{"namespace": name.namespace, "name": name.name, "field": column} for column in structs]
    return inputs


def _is_hidden(column: object) -> bool:
    return isinstance(column, str) and column.startswith("$")


def _of_dashboard(mended: RunEvent, event: RunEvent, sql: str, label: Label) -> RunEvent:
    from headwater.model import sql_lineage  # here, not above: it brings sqlglot, 0.2 s, that few logs need

    job = sql_lineage.job_of(label)
    if not event.inputs:
        return replace(mended, job=job)
    facets: dict[str, Mapping[str, Any]] = {"datasetType": {"datasetType": "DASHBOARD"}}
    if (statement := _statement(event, sql)) is not None:
        facets["columnLineage"] = _column_lineage(statement, event, sql, label)
    dashboard = DatasetRef(sql_lineage.dashboard_of(label), facets)
    return replace(mended, job=job, outputs=(*mended.outputs, dashboard))


def _column_lineage(statement: "Statement", event: RunEvent, sql: str, label: Label | None = None) -> dict[str, Any]:
    from headwater.model import sql_lineage  # as in `_of_dashboard`

    named, read = _Tables(event, sql).named, [each.id for each in event.inputs]
    if label is None:
        return sql_lineage.column_lineage(statement, named, read)
    return sql_lineage.dashboard_lineage(statement, named, label, read)


def _statement(event: RunEvent, sql: str) -> "Statement | None":
    """The SQL's column lineage; None if it cannot be parsed, or lacks tables of the event."""
    from headwater.sql.columns import statement  # as in `_of_dashboard`
    from headwater.sql.reading import INTAKE_BOUNDS, UnreadableSqlError

    try:
        lineage = statement(sql, "trino", _Tables(event, sql).columns, INTAKE_BOUNDS, is_in_order=False)
    except UnreadableSqlError:
        return None
    columns = {column: _without_hidden(sources) for column, sources in lineage.columns.items()}
    return replace(lineage, columns=columns, rows=_without_hidden(lineage.rows))


def _without_hidden(sources: "Iterable[Source]") -> "frozenset[Source]":
    return frozenset(source for source in sources if not _is_hidden(source.column))


class _Tables:
    """Maps names in an event's SQL to its datasets: the session's catalog and schema may be omitted.

    The SQL must be parseable.
    """

    def __init__(self, event: RunEvent, sql: str) -> None:
        self._columns: dict[DatasetId, dict[str, None]] = {}
        self._sql = sql
        datasets = [*event.inputs, *event.outputs]
        for dataset in datasets:
            self._columns.setdefault(dataset.id, {}).update(dict.fromkeys(_fields(dataset.facets.get("schema"))))
        for source in objects([each for dataset in datasets for each in _listed(dataset)]):
            name = DatasetId(str(source.get("namespace")), str(source.get("name")))
            column = source.get("field")
            if name in self._columns and isinstance(column, str) and not _is_hidden(column):
                self._columns[name][column] = None

    def named(self, table: "Parts") -> DatasetId | None:
        """The one dataset that the SQL names so; None if there is none, or if it is ambiguous."""
        found = self._candidates(table)
        return found[0] if len(found) == 1 else self._named_by_no_other(table) if found else None

    def columns(self, table: "Parts") -> tuple[str, ...]:
        """The columns that the statement reads or assigns, which are those it can name, in no order."""
        name = self.named(table)
        return () if name is None else tuple(self._columns[name])

    def _candidates(self, table: "Parts") -> list[DatasetId]:
        """Datasets whose names end with these parts, wherever the dots belong."""
        end = ".".join(table)
        return [each for each in self._columns if f".{each.name}".endswith(f".{end}")]

    def _named_by_no_other(self, table: "Parts") -> DatasetId | None:
        """The one that nothing else in the SQL names: next to `staging.orders`, `orders` is that of another schema."""
        from headwater.sql.columns import tables_of  # as in `_of_dashboard`

        others = [self._candidates(each) for each in tables_of(self._sql, "trino") if each != table]
        left = [each for each in self._candidates(table) if not any(each in named for named in others)]
        return left[0] if len(left) == 1 else None


def _listed(dataset: DatasetRef) -> list[Any]:
    listed = dataset.facets.get("columnLineage", {}).get("dataset")
    return listed if isinstance(listed, list) else []


def _fields(schema: Mapping[str, Any] | None) -> Iterator[str]:
    for field in objects(None if schema is None else schema.get("fields")):
        if isinstance(name := field.get("name"), str) and not _is_hidden(name):
            yield name
