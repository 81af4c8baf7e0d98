"""The content of a dashboards file."""

from dataclasses import dataclass
from typing import Final

from headwater.model.names import JobId
from headwater.model.sql_lineage import job_of
from headwater.sql.identifiers import location_of
from headwater.sql.label import DEFAULT_NAMESPACE, Label
from headwater.sql.reading import Parts

TABLES: Final = "tables"
"""Stands for a query's name in the job of the tables that a dashboard uses without a query."""


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner of a dashboard, such as `team:finance`, with an optional role."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a dashboard; the name is empty if it is the only one. `line` is its line in the file."""

    name: str
    sql: str
    line: int


@dataclass(frozen=True, slots=True)
class DirectTable:
    """A table that a dashboard uses without a known query; without `columns`, the ones used are unknown."""

    table: Parts
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """One dashboard."""

    name: str
    title: str | None = None
    description: str | None = None
    url: str | None = None
    owners: tuple[Owner, ...] = ()
    queries: tuple[Query, ...] = ()
    tables: tuple[DirectTable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboards:
    """A dashboards file.

    Attributes:
        engine: the namespace of the tables' names, `trino://host:port`.
        catalog: the default catalog of tables; empty if the engine has none.
        schema: the default schema of tables.
        dialect: the queries' SQL dialect, by sqlglot's name.
    """

    engine: str
    dialect: str
    namespace: str = DEFAULT_NAMESPACE
    catalog: str = ""
    schema: str = ""
    dashboards: tuple[Dashboard, ...] = ()

    def full_name(self, table: Parts) -> str:
        """A table's name completed with the default catalog and schema."""
        missing = (self.catalog, self.schema)[: max(0, 3 - len(table))]
        return ".".join((*filter(None, missing), *table))

    def unplaced(self, table: Parts) -> str:
        """Why a table's name cannot be completed; empty if it can."""
        return "" if location_of(table, self.dialect) else unplaced(table, self.catalog, self.schema)

    def jobs(self, dashboard: Dashboard) -> frozenset[JobId]:
        """The jobs that feed the dashboard: one for each query, and one for its tables without a query."""
        names = [*(query.name for query in dashboard.queries), *([TABLES] if dashboard.tables else ())]
        return frozenset(job_of(self.label(dashboard, name)) for name in names)

    def label(self, dashboard: Dashboard, query: str) -> Label:
        """The label that a comment in the query would carry."""
        return Label(self.namespace, dashboard.name, query)


def unplaced(table: Parts, catalog: str, schema: str) -> str:
    """Why a table's name cannot be completed with these defaults; empty if it can. A catalog requires a schema."""
    if len(table) > 1 or schema or not catalog:
        return ""
    return f"{table[0]} has no schema; set schema next to catalog, or write SCHEMA.{table[0]}"
