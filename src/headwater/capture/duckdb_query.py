"""A query of Iceberg tables, run by DuckDB in this process and reported as a run: for machines too small for Trino.

pyiceberg reads the columns that the query names, so it works with every catalog that pyiceberg supports. DuckDB's own
Iceberg extension would have to be downloaded when the query runs. The query may be written for Trino; sqlglot
translates it. Names, columns and jobs are those of the same query on Trino.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from openlineage.client.event_v2 import Job, RunState
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    dataset_type_dataset,
    job_type_job,
    schema_dataset,
    sql_job,
)
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import (
    AuthorizationExpiredError,
    ForbiddenError,
    NoSuchTableError,
    OAuthError,
    RESTError,
    UnauthorizedError,
)
from pyiceberg.table import Table
from sqlalchemy.exc import SQLAlchemyError
from sqlglot import exp

from headwater.capture.column_facet import column_facet
from headwater.errors import InvalidInputError, NotFoundError, SetupError, UnavailableError
from headwater.model import sql_lineage
from headwater.model.build import HeadwaterRunFacet
from headwater.model.names import DatasetId, JobId
from headwater.model.sql_secrets import sql_without_secrets
from headwater.observe.described import Described
from headwater.observe.failure import Failure, python_message, python_trace
from headwater.observe.run_facets import failure_facet
from headwater.observe.run_reporter import Content, EventOutput, RunReporter
from headwater.observe.spark.iceberg import IcebergCatalog, iceberg_dataset, version_facet
from headwater.sql.columns import Statement, statement
from headwater.sql.label import Label, label_of
from headwater.sql.reading import Parsed, Parts, UnreadableSqlError, parsed

Catalogs = Callable[[str], Catalog]
"""Returns the catalog of that name.

Raises:
    InvalidInputError: there is none.
"""

_DATABASES: Final[Mapping[str, str]] = {"sqlite:///": "jdbc:sqlite:", "postgresql+psycopg2://": "jdbc:postgresql://"}
"""Prefixes of SQLAlchemy's addresses of a catalog, with those of JDBC, by which other engines name it."""

_BEFORE_ANY_ROW: Final = frozenset({"BinderException", "CatalogException", "ParserException", "PermissionException"})
"""DuckDB's errors about the query text alone, so that their messages hold no table values."""
_OF_VALUES: Final[Mapping[str, str]] = {
    "ConversionException": "a value cannot be converted to the type in the query; TRY_CAST gives null instead",
    "OutOfRangeException": "a number is too large or too small for its type or its function",
    "InvalidInputException": "a function got a value that it does not accept",
    "OutOfMemoryException": "there is not enough memory for it",
}


class QueryRequest(NamedTuple):
    """A query in a SQL `dialect`; `job` is its job unless a comment names a dashboard."""

    sql: str
    dialect: str
    job: JobId


class Answer(NamedTuple):
    """A query's result."""

    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]


_SETTINGS: Final = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
}
"""DuckDB itself may neither download anything nor read files; only pyiceberg reads."""


_BY_NO_NAME: Final = (exp.Columns, exp.PositionalColumn, exp.Pivot)
"""Expressions that select columns by a pattern, by position, or all remaining ones."""


@dataclass(frozen=True, slots=True)
class _Query:
    read: Parsed
    statement_lineage: Statement
    tables: Mapping[str, Table]
    """Tables by their flat names in `read`."""


def run_query(asked: QueryRequest, catalogs: Catalogs, run_id: str, out: EventOutput) -> Answer:
    """Run a query, and report its run: START, then COMPLETE or FAIL.

    Raises:
        InvalidInputError: it is not a query, a table's name has fewer than three parts, or a catalog does not exist.
        NotFoundError: a table does not exist.
    """
    query = _prepared(asked, catalogs)
    label = label_of(asked.sql)
    inputs = [_described(query.read.tables[flat], table) for flat, table in query.tables.items()]
    names = {query.read.tables[flat]: described.id for flat, described in zip(query.tables, inputs, strict=True)}
    outputs = [] if label is None else [_dashboard(label, query.statement_lineage, names)]
    started_at = out.now()
    run = RunReporter(_job(asked, label), run_id, started_at, {}, out)
    run.emit(RunState.START, Content(inputs=inputs))
    try:
        answer, rows_in = _answered(query)
    except Exception as error:
        # Only the error's class: DuckDB's messages quote values.
        failure = Failure(python_message(error), python_trace(error), "PYTHON")
        figures = _figures(started_at, out.now(), None, None)
        run.emit(RunState.FAIL, Content({"errorMessage": failure_facet(failure), "headwater_run": figures}, inputs))
        raise
    figures = _figures(started_at, out.now(), rows_in, len(answer.rows))
    run.emit(RunState.COMPLETE, Content({"headwater_run": figures}, inputs, outputs))
    return answer


def why_failed(error: Exception) -> str:
    """Why a query failed, on one line, without values that it read."""
    kind = type(error).__name__
    if kind in _BEFORE_ANY_ROW:
        message, *_ = str(error).partition("\n\nLINE ")
        return " ".join(message.split())
    return f"{_OF_VALUES.get(kind, 'the query failed')} ({kind})"


@contextmanager
def asking(catalog: str) -> Iterator[None]:
    """In the block, a catalog's errors are ours; of its messages, which may quote a password, none is passed on.

    Raises:
        SetupError: it refuses the login.
        UnavailableError: it does not answer, or not as a catalog.
    """
    try:
        yield
    except (AuthorizationExpiredError, ForbiddenError, OAuthError, UnauthorizedError) as refusal:
        raise SetupError(
            f"catalog {catalog}: it refuses the login ({type(refusal).__name__}); check its credential or token in "
            "--catalog or in pyiceberg's configuration"
        ) from None
    except (RESTError, SQLAlchemyError, OSError) as fault:
        raise UnavailableError(
            f"catalog {catalog}: no answer ({type(fault).__name__}); check its uri, user and password in --catalog or "
            "in pyiceberg's configuration"
        ) from None


def _prepared(asked: QueryRequest, catalogs: Catalogs) -> _Query:
    try:
        read = parsed(asked.sql, asked.dialect)
    except UnreadableSqlError as fault:
        raise InvalidInputError(f"sql: {fault}") from None
    if not isinstance(read.tree, exp.Query):
        raise InvalidInputError("sql: expected a query that only reads; to write tables, use Spark or Trino")
    if any(isinstance(table.this, exp.Var) for table in read.tree.find_all(exp.Table)):
        raise InvalidInputError("sql: expected only tables, catalog.schema.table, and no file")
    tables = {flat: _table(parts, catalogs) for flat, parts in read.tables.items()}
    columns = {read.tables[flat]: _names(table) for flat, table in tables.items()}
    try:
        statement_lineage = statement(asked.sql, asked.dialect, lambda table: columns.get(table, ()))
    except UnreadableSqlError as fault:
        raise InvalidInputError(f"sql: {fault}") from None
    return _Query(read, statement_lineage, tables)


def _table(parts: Parts, catalogs: Catalogs) -> Table:
    if len(parts) < 3:
        raise InvalidInputError(f"sql: {'.'.join(parts)}: expected catalog.schema.table")
    catalog, *name = parts
    opened = catalogs(catalog)
    try:
        with asking(catalog):
            return opened.load_table(tuple(name))
    except NoSuchTableError:
        raise NotFoundError(f"no table {'.'.join(parts)}") from None


def _names(table: Table) -> list[str]:
    """The column names in lower case, as unquoted names are resolved."""
    return [field.name.lower() for field in table.schema().fields]


def _answered(query: _Query) -> tuple[Answer, int]:
    import duckdb  # imported here: 40 MB that checking a query does not need

    rows_in = 0
    with duckdb.connect(":memory:", config={**_SETTINGS}) as database:
        for flat, table in query.tables.items():
            read = table.scan(selected_fields=_needed(query, flat), case_sensitive=False).to_arrow()
            rows_in += read.num_rows
            database.register(flat, read)
        answer = database.execute(query.read.tree.sql(dialect="duckdb"))
        return Answer([column[0] for column in answer.description or ()], answer.fetchall()), rows_in


def _needed(query: _Query, flat: str) -> tuple[str, ...]:
    """The columns to read: those that the query names; only the first of a table that is just counted; all in doubt.

    A name counts for every table that has such a column: reading it is cheaper than resolving the name.
    """
    tree = query.read.tree
    if (
        query.statement_lineage.gaps
        or tree.find(*_BY_NO_NAME)
        or any(join.method == "NATURAL" for join in tree.find_all(exp.Join))
    ):
        return ("*",)
    if any(_is_meant_whole(table) for table in tree.find_all(exp.Table) if table.name == flat):
        return ("*",)
    named = {identifier.name.lower() for identifier in tree.find_all(exp.Identifier)}
    every = _names(query.tables[flat])
    return tuple(name for name in every if name in named) or tuple(every[:1])


def _is_meant_whole(table: exp.Table) -> bool:
    """Whether a star may select all its columns, or its name stand for whole rows."""
    select = table.parent_select
    if select is None or any(star.parent_select is select and not _counts(star) for star in select.find_all(exp.Star)):
        return True
    name = table.alias_or_name.lower()
    return any(column.name.lower() == name for column in table.root().find_all(exp.Column))


def _counts(star: exp.Star) -> bool:
    return isinstance(star.parent, exp.Count)


def _job(asked: QueryRequest, label: Label | None) -> Job:
    name = asked.job if label is None else sql_lineage.job_of(label)
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration="DUCKDB", jobType="QUERY"),
        "sql": sql_job.SQLJobFacet(query=sql_without_secrets(asked.sql, asked.dialect), dialect=asked.dialect),
    }
    return Job(namespace=name.namespace, name=name.name, facets=facets)


def _described(parts: Parts, table: Table) -> Described:
    catalog = table.catalog.properties
    kind, uri = catalog.get("type", "rest"), catalog.get("uri")
    if kind == "sql":
        kind, uri = "jdbc", _as_jdbc(uri or "")
    name = ".".join(parts)
    described = iceberg_dataset(table.location(), None, name, IcebergCatalog(kind, uri, catalog.get("warehouse")))
    fields = [
        schema_dataset.SchemaDatasetFacetFields(name=field.name, type=str(field.field_type), ordinal_position=at)
        for at, field in enumerate(table.schema().fields, start=1)
    ]
    described.facets["schema"] = schema_dataset.SchemaDatasetFacet(fields=fields)
    if (snapshot := table.current_snapshot()) is not None:
        described.facets["version"] = version_facet(str(snapshot.snapshot_id))
    return described


def _as_jdbc(uri: str) -> str | None:
    return next((f"{java}{uri.removeprefix(own)}" for own, java in _DATABASES.items() if uri.startswith(own)), None)


def _dashboard(label: Label, statement_lineage: Statement, names: Mapping[Parts, DatasetId]) -> Described:
    facets: dict[str, DatasetFacet] = {
        "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="DASHBOARD")
    }
    lineage = sql_lineage.dashboard_lineage(statement_lineage, names.get, label, names.values())
    if (columns := column_facet(lineage)) is not None:
        facets["columnLineage"] = columns
    return Described(sql_lineage.dashboard_of(label), facets)


def _figures(started_at: datetime, now: datetime, rows_in: int | None, rows_out: int | None) -> HeadwaterRunFacet:
    return HeadwaterRunFacet(
        recordsIn=rows_in,
        recordsOut=rows_out,
        bytesIn=None,
        bytesOut=None,
        errorCount=int(rows_out is None),
        durationMs=round((now - started_at).total_seconds() * 1000),
    )
