"""A statement's lineage as OpenLineage's facets, and how dashboards stand in the graph.

A dashboard is a dataset, the end of the way, and each of its queries is a job that feeds it. The columns of a query's
answer are columns of the dashboard, behind the query's name where it has one.
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
"""What such an edge says of its derivation."""

_SCHEMA: Final = schema_url("1-2-0/ColumnLineageDatasetFacet")

_MOST_ENTRIES: Final = 10_000
"""Some 2 MB: `SELECT DISTINCT *` of 100 columns."""

Named = Callable[[Parts], DatasetId | None]
"""Gives the dataset that a table is, by what the statement calls it."""


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


def column_lineage(told: Statement, named: Named, read: Iterable[DatasetId]) -> dict[str, Any]:
    """The facet `columnLineage` of what a statement writes; columns of tables that are no datasets are left out.

    A column of which nothing is known is left out, since one without inputs is made from nothing, as literals are. Of
    `read`, a dataset of which no column takes part (its rows are counted, or its columns not known) stands there as a
    whole: an entry without `field`.
    """
    columns = _known(told, named)
    return _facet(columns, told.rows, named, _as_wholes(read, [*columns.values(), told.rows], named))


def dashboard_lineage(told: Statement, named: Named, label: Label, read: Iterable[DatasetId]) -> dict[str, Any]:
    """The facet `columnLineage` of a dashboard, as one of its queries tells it; as `column_lineage` but for the rows.

    What decides the query's rows stands beside each of its columns: what `dataset` says is of all that the dashboard
    has, by other queries, too. Only what would be longer than 10,000 entries so is said there. Of a query of whose
    columns none is known, nothing is said.
    """
    columns = {column_of(label, column): made for column, made in _known(told, named).items()}
    if not columns:
        return _facet({}, (), named, ())
    wholes = _as_wholes(read, [*columns.values(), told.rows], named)
    if len(columns) * (len(told.rows) + len(wholes)) > _MOST_ENTRIES:
        return _facet(columns, told.rows, named, wholes)
    lineage = _facet({column: made | told.rows for column, made in columns.items()}, (), named, ())
    for made in lineage["fields"].values():
        made["inputFields"] += wholes
    return lineage


def _known(told: Statement, named: Named) -> dict[str, frozenset[Source]]:
    """The columns of which something is known."""
    return {
        column: made
        for column, made in told.columns.items()
        if column not in told.gaps or any(named(source.table) for source in made)
    }


def _as_wholes(read: Iterable[DatasetId], told: Iterable[Iterable[Source]], named: Named) -> list[dict[str, Any]]:
    """Entries for the datasets of which no column takes part, in the form of those of columns but for `field`."""
    by_columns = {named(source.table) for made in told for source in made}
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
        "fields": {column: {"inputFields": _input_fields(made, named)} for column, made in columns.items()},
        "dataset": [*_input_fields(rows, named), *wholes],
    }


def _input_fields(sources: Iterable[Source], named: Named) -> list[Mapping[str, Any]]:
    """One entry a column, with all the ways in which it takes part; sorted, so that equal texts give equal facets."""
    ways: defaultdict[tuple[str, str, str], set[tuple[str, str, bool]]] = defaultdict(set)
    for source in sources:
        dataset = named(source.table)
        if dataset is not None:
            ways[dataset.namespace, dataset.name, source.column].add(
                (source.how.kind, source.how.subtype, source.how.masking)
            )
    return [
        {
            "namespace": namespace,
            "name": name,
            "field": column,
            "transformations": [
                {"type": kind, "subtype": subtype, "description": FROM_SQL, "masking": masking}
                for kind, subtype, masking in sorted(ways[namespace, name, column])
            ],
        }
        for namespace, name, column in sorted(ways)
    ]
