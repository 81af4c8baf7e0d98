"""A statement's lineage as OpenLineage facets, and the representation of dashboards in the graph.

A dashboard is a dataset, at the end of the data flow, and each of its queries is a job that feeds it. The columns of a
query's answer are columns of the dashboard, prefixed with the query's name if it has one.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from headwater.model.names import DatasetId, JobId
from headwater.model.slim import schema_url
from headwater.sql.columns import Source, Statement
from headwater.sql.label import Label
from headwater.sql.reading import Parts

FROM_SQL: Final = "from the SQL's text"
"""Marks the derivation of such an edge."""

_SCHEMA: Final = schema_url("1-2-0/ColumnLineageDatasetFacet")

_MOST_ENTRIES: Final = 10_000
"""About 2 MB: `SELECT DISTINCT *` of 100 columns."""

Named = Callable[[Parts], DatasetId | None]
"""Maps a table's name in the statement to its dataset."""


def dashboard_of(label: Label) -> DatasetId:
    """The dashboard as a dataset.

    >>> dashboard_of(Label("dashboards", "revenue", "by_supplier"))
    DatasetId(namespace='dashboards', name='revenue')
    """
    return DatasetId(label.namespace, label.dashboard)


def job_of(label: Label) -> JobId:
    """The query of a dashboard as a job.

    >>> job_of(Label("dashboards", "revenue", "by_supplier"))
    JobId(namespace='dashboards', name='revenue.by_supplier')
    """
    return JobId(label.namespace, f"{label.dashboard}.{label.query}" if label.query else label.dashboard)


def column_of(label: Label, column: str) -> str:
    """The dashboard's column for a column of the query's answer.

    >>> column_of(Label("dashboards", "revenue", "by_supplier"), "total_price")
    'by_supplier.total_price'
    """
    return f"{label.query}.{column}" if label.query else column


def column_lineage(statement: Statement, named: Named, read: Iterable[DatasetId]) -> dict[str, Any]:
    """The facet `columnLineage` for a statement's target; columns of tables that are no datasets are left out.

    A column about which nothing is known is left out, since one without inputs means that it is made from none, as
    literals are. A dataset in `read` of which no column takes part (its rows are counted, or its columns are unknown)
    is listed as a whole: an entry without `field`.
    """
    columns = _known(statement, named)
    return _facet(columns, statement.rows, named, _as_wholes(read, [*columns.values(), statement.rows], named))


def dashboard_lineage(statement: Statement, named: Named, label: Label, read: Iterable[DatasetId]) -> dict[str, Any]:
    """The facet `columnLineage` of a dashboard for one of its queries; like `column_lineage`, except for the rows.

    What decides the query's rows is added to each of its columns: entries in `dataset` would apply to the whole
    dashboard, including other queries. They are used only if the facet would exceed 10,000 entries otherwise. Without
    any known columns the facet is empty.
    """
    columns = {column_of(label, column): entry for column, entry in _known(statement, named).items()}
    if not columns:
        return _facet({}, (), named, ())
    wholes = _as_wholes(read, [*columns.values(), statement.rows], named)
    if len(columns) * (len(statement.rows) + len(wholes)) > _MOST_ENTRIES:
        return _facet(columns, statement.rows, named, wholes)
    lineage = _facet({column: entry | statement.rows for column, entry in columns.items()}, (), named, ())
    for entry in lineage["fields"].values():
        entry["inputFields"] += wholes
    return lineage


def _known(statement: Statement, named: Named) -> dict[str, frozenset[Source]]:
    """The columns about which something is known."""
    return {
        column: sources
        for column, sources in statement.columns.items()
        if column not in statement.gaps or any(named(source.table) for source in sources)
    }


def _as_wholes(read: Iterable[DatasetId], columns: Iterable[Iterable[Source]], named: Named) -> list[dict[str, Any]]:
    """Entries for datasets of which no column takes part: like those for columns, but without `field`."""
    by_columns = {named(source.table) for sources in columns for source in sources}
    step = {"type": "INDIRECT", "subtype": "", "description": FROM_SQL, "masking": False}
    return [
        {"namespace": each.namespace, "name": each.name, "transformations": [step]}
        for each in sorted(set(read))
        if each not in by_columns
    ]


def _facet(
    columns: Mapping[str, Iterable[Source]], rows: Iterable[Source], named: Named, wholes: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "_schemaURL": _SCHEMA,
        "fields": {column: {"inputFields": _input_fields(sources, named)} for column, sources in columns.items()},
        "dataset": [*_input_fields(rows, named), *wholes],
    }


def _input_fields(sources: Iterable[Source], named: Named) -> list[Mapping[str, Any]]:
    """One entry per column, with all its transformations; sorted, so that equal statements give equal facets."""
    transformations: defaultdict[tuple[str, str, str], set[tuple[str, str, bool]]] = defaultdict(set)
    for source in sources:
        dataset = named(source.table)
        if dataset is not None:
            transformations[dataset.namespace, dataset.name, source.column].add(
                (source.how.kind, source.how.subtype, source.how.masking)
            )
    return [
        {
            "namespace": namespace,
            "name": name,
            "field": column,
            "transformations": [
                {"type": kind, "subtype": subtype, "description": FROM_SQL, "masking": masking}
                for kind, subtype, masking in sorted(transformations[namespace, name, column])
            ],
        }
        for namespace, name, column in sorted(transformations)
    ]
