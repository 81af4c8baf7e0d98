"""Dashboards with the known columns of their tables."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from headwater.capture.dashboards.spec import Dashboard, Dashboards, Query
from headwater.model.names import DatasetId
from headwater.model.naming import file_dataset
from headwater.sql.columns import Statement, statement
from headwater.sql.identifiers import location_of
from headwater.sql.reading import Parts, UnreadableSqlError

Columns = Callable[[DatasetId], Sequence[str]]
"""Returns the columns of a dataset, in order; none if unknown."""


class AnalysedQuery(NamedTuple):
    """A query of a dashboard with its lineage; `statement` is None if that is unknown, and `fault` says why."""

    dashboard: Dashboard
    query: Query
    statement: Statement | None
    fault: str = ""


def asked(file: Dashboards, columns: Columns) -> Iterator[AnalysedQuery]:
    """Each query of each dashboard, in the file's order."""
    for dashboard in file.dashboards:
        for query in dashboard.queries:
            yield _asked(file, dashboard, query, columns)


def dataset(file: Dashboards, table: Parts) -> DatasetId:
    """The table as the engine names it in its events; a file that a query reads by its address, as anybody names it."""
    location = location_of(table, file.dialect)
    return DatasetId(file.engine, file.full_name(table)) if location is None else file_dataset(location)


def _asked(file: Dashboards, dashboard: Dashboard, query: Query, columns: Columns) -> AnalysedQuery:
    def known(table: Parts) -> Sequence[str]:
        return () if file.unplaced(table) else columns(dataset(file, table))

    try:
        parsed = statement(query.sql, file.dialect, known)
    except UnreadableSqlError as fault:
        return AnalysedQuery(dashboard, query, None, str(fault))
    if parsed.target is not None:
        return AnalysedQuery(dashboard, query, None, "it writes to a table; expected a query that only reads")
    if unplaced := [*filter(None, map(file.unplaced, parsed.reads))]:
        return AnalysedQuery(dashboard, query, None, "; ".join(unplaced))
    return AnalysedQuery(dashboard, query, parsed)
