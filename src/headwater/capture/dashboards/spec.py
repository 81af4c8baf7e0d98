"""What a file of dashboards says."""

from dataclasses import dataclass

from headwater.sql.label import DEFAULT_NAMESPACE, Label
from headwater.sql.reading import Parts


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
        """A table's name with the catalog and schema that it may leave out."""
        defaults = tuple(part for part in (self.catalog, self.schema) if part)
        missing = max(0, len(defaults) + 1 - len(table))
        return ".".join((*defaults[:missing], *table))

    def label(self, dashboard: Dashboard, query: str) -> Label:
        """What a comment in the query would say."""
        return Label(self.namespace, dashboard.name, query)
