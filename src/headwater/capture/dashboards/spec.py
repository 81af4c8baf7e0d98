"""What a file of dashboards says."""

from dataclasses import dataclass
from typing import Final

from headwater.model.names import JobId
from headwater.model.sql_lineage import job_of
from headwater.sql.label import DEFAULT_NAMESPACE, Label
from headwater.sql.reading import Parts

TABLES: Final = "tables"
"""In the place of a query's name: the tables that a dashboard rests on without one."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Who answers for a dashboard: `team:finance`, and perhaps as what."""

    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A query of a dashboard; its name is empty where it is the only one. `line` is where it stands in the file."""

    name: str
    sql: str
    line: int


@dataclass(frozen=True, slots=True)
class Rest:
    """A table that a dashboard rests on without a query that could be read; no columns: nobody says which."""

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
    tables: tuple[Rest, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboards:
    """A file.

    Attributes:
        engine: the namespace of the tables' names, `trino://host:port`.
        catalog: of tables named without one; empty where the engine has none.
        schema: of tables named without one.
        dialect: of the queries, as sqlglot calls it.
    """

    engine: str
    dialect: str
    namespace: str = DEFAULT_NAMESPACE
    catalog: str = ""
    schema: str = ""
    dashboards: tuple[Dashboard, ...] = ()

    def full_name(self, table: Parts) -> str:
        """A table's name with the catalog and schema that it may leave out; it is one that has a schema then."""
        missing = (self.catalog, self.schema)[: max(0, 3 - len(table))]
        return ".".join((*filter(None, missing), *table))

    def unplaced(self, table: Parts) -> str:
        """As `unplaced` says of a table's name."""
        return unplaced(table, self.catalog, self.schema)

    def jobs(self, dashboard: Dashboard) -> frozenset[JobId]:
        """Those that feed the dashboard, as far as the file says: one for each query, and one for its tables."""
        names = [*(query.name for query in dashboard.queries), *([TABLES] if dashboard.tables else ())]
        return frozenset(job_of(self.label(dashboard, name)) for name in names)

    def label(self, dashboard: Dashboard, query: str) -> Label:
        """What a comment in the query would say."""
        return Label(self.namespace, dashboard.name, query)


def unplaced(table: Parts, catalog: str, schema: str) -> str:
    """Why a table's name cannot be completed by these; empty where it can: between catalog and table is a schema."""
    if len(table) > 1 or schema or not catalog:
        return ""
    return f"{table[0]} has no schema; expected schema beside catalog, or SCHEMA.{table[0]}"
