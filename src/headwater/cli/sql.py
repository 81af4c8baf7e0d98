"""`headwater sql …`: queries of Iceberg tables on this machine, by DuckDB."""

import csv
import sys
from collections import defaultdict
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.capture.unread import why_unread
from headwater.cli.events_to import OptionalEndpointOption, TokenEnvOption, closed_with_warning
from headwater.cli.exit_status import IS_BAD
from headwater.cli.printed import say
from headwater.emission import new_run_id, opened_emitter
from headwater.emit.home import headwater_home
from headwater.errors import InvalidInputError, NotFoundError, SetupError
from headwater.model.names import JobId
from headwater.observe.run_reporter import EventOutput
from headwater.pipeline.catalogs import lake_properties

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

    from headwater.capture.duckdb_query import Catalogs

sql = typer.Typer(name="sql", help="Query Iceberg tables on this machine, by DuckDB.", no_args_is_help=True)
_EMBEDDED = "lake"


@sql.callback()
def _group() -> None:
    """Query Iceberg tables on this machine, by DuckDB."""


@sql.command()
def run(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A file with one query.", show_default=False)
    ] = None,
    text: Annotated[str | None, typer.Option("--execute", "-e", metavar="SQL", help="The query itself.")] = None,
    catalog: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME.KEY=VALUE", help="A property of a catalog, as pyiceberg has them: lake.type=glue."),
    ] = None,
    dialect: Annotated[str, typer.Option(help="The SQL dialect.")] = "trino",
    job: Annotated[str | None, typer.Option(help="The job's name; the file's, or `query`.", show_default=False)] = None,
    namespace: Annotated[str, typer.Option(help="The job's namespace.")] = "duckdb",
    endpoint: OptionalEndpointOption = None,
    token_env: TokenEnvOption = None,
) -> None:
    """Run one query over Iceberg tables, print the result as CSV, and report the run with its columns.

    Tables are named catalog.schema.table. Catalogs are defined by --catalog or pyiceberg's configuration; unless
    defined there, `lake` is the lake of this machine's pipelines.

    Exit status: 0 answered, 1 the query failed, 2 it was not run.

    Example: headwater sql run -e "SELECT carrier, count(*) FROM lake.raw.flights GROUP BY carrier"
    """
    if (file is None) == (text is None):
        raise typer.BadParameter("expected a FILE or --execute SQL")
    try:
        # Imported here: DuckDB and pyiceberg are extras, and --help must neither need them, nor wait a second for them.
        import duckdb

        from headwater.capture.duckdb_query import QueryRequest, run_query, why_failed
    except ModuleNotFoundError as missing:
        raise SetupError(f"{missing.name} is not installed: pip install 'headwater[duckdb]'") from missing
    query = text if file is None else _read(file)
    name = job or ("query" if file is None else file.stem)
    asked = QueryRequest(query or "", dialect, JobId(namespace, name))
    with closed_with_warning(opened_emitter(endpoint, None, token_env)) as emitter:
        outward = EventOutput(lambda: datetime.now(UTC), emitter.put)
        try:
            answer = run_query(asked, _catalogs(catalog or []), new_run_id(), outward)
        except (duckdb.Error, OSError) as fault:
            say(f"headwater: sql: {why_failed(fault)}", err=True)
            raise typer.Exit(IS_BAD) from fault
    writer = csv.writer(sys.stdout)
    writer.writerow(answer.columns)
    writer.writerows(answer.rows)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        hint = "; to pass the query itself, use -e" if isinstance(fault, FileNotFoundError) else ""
        raise InvalidInputError(f"{file}: {why_unread(fault)}{hint}") from None


def _catalogs(settings: list[str]) -> "Catalogs":
    from pyiceberg.catalog import load_catalog  # as in `run`
    from pyiceberg.exceptions import NoSuchPropertyException, NotInstalledError
    from pyiceberg.utils.config import Config

    from headwater.capture.duckdb_query import asking

    by_catalog = _catalog_settings(settings)

    @cache
    def opened(name: str) -> "Catalog":
        properties = by_catalog.get(name, {})
        if not properties and not Config().get_catalog_config(name):
            if name != _EMBEDDED:
                raise InvalidInputError(
                    f"catalog {name}: not configured; set --catalog {name}.type=… and its other properties"
                )
            properties = lake_properties(headwater_home())
            _check_is_there(Path(properties["uri"].removeprefix("sqlite:///")))
        try:
            with asking(name):
                return load_catalog(name, **properties)
        except NotInstalledError as missing:
            raise SetupError(f"catalog {name}: {missing}") from None
        except (ValueError, NoSuchPropertyException) as fault:
            raise InvalidInputError(f"catalog {name}: pyiceberg cannot open it ({type(fault).__name__})") from None

    return opened


def _check_is_there(lake: Path) -> None:
    if not lake.exists():
        raise NotFoundError(
            f"no lake at {lake}: it is created by the first pipeline that writes an Iceberg table; "
            "set HEADWATER_HOME for another user's lake, or --catalog for another catalog"
        )


def _catalog_settings(settings: list[str]) -> dict[str, dict[str, str]]:
    by_catalog: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for setting in settings:
        key, is_pair, value = setting.partition("=")
        name, _, of_catalog = key.partition(".")
        if not (is_pair and of_catalog):
            raise InvalidInputError("--catalog: expected NAME.KEY=VALUE, for example lake.type=glue")
        by_catalog[name][of_catalog] = value
    return by_catalog
