"""Iceberg catalogs: the embedded `lake`, and those a pipeline file declares, as Spark configuration.

`lake` is a JDBC catalog on SQLite. pyiceberg can read and write the same tables with `lake_properties`, because both
store a table under the catalog's *name*.
"""

import os
import sqlite3
import uuid
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

from headwater.errors import SetupError
from headwater.pipeline.spec import CatalogSpec, PipelineSpec
from headwater.pipeline.terms import Location

EMBEDDED: Final = "lake"

_CATALOG_TABLES: Final = (
    """CREATE TABLE iceberg_tables (
        catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL,
        metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), iceberg_type VARCHAR(5),
        PRIMARY KEY (catalog_name, table_namespace, table_name))""",
    """CREATE TABLE iceberg_namespace_properties (
        catalog_name VARCHAR(255) NOT NULL, namespace VARCHAR(255) NOT NULL,
        property_key VARCHAR(255), property_value VARCHAR(1000),
        PRIMARY KEY (catalog_name, namespace, property_key))""",
)
"""The tables of Iceberg's JDBC catalog, in schema version V1 (tables and views).

Source: https://iceberg.apache.org/docs/latest/jdbc/
"""

# Two pipelines may commit at once: SQLite then waits for the other writer instead of failing; WAL lets readers go on.
_SQLITE_OPTIONS: Final = {"jdbc.busy_timeout": "30000", "jdbc.journal_mode": "WAL"}

_JDBC_OPTIONS: Final = {"jdbc.schema-version": "V1"}
"""Spark also asks a catalog for views, which fails with V0, Iceberg's default for new databases."""


def embedded(home: Path) -> CatalogSpec:
    """The catalog `lake` of a HEADWATER_HOME."""
    return CatalogSpec(
        type="jdbc",
        uri=f"jdbc:sqlite:{_database(home)}",
        warehouse=Location(f"file://{_warehouse(home)}"),
        options=_SQLITE_OPTIONS,
    )


def lake_properties(home: Path) -> dict[str, str]:
    """The properties of pyiceberg for the same catalog: `load_catalog("lake", **lake_properties(home))`."""
    return {"type": "sql", "uri": f"sqlite:///{_database(home)}", "warehouse": f"file://{_warehouse(home)}"}


def catalogs_of(spec: PipelineSpec, home: Path) -> dict[str, CatalogSpec]:
    """Every catalog a pipeline may name; a `lake` of its own replaces the embedded one."""
    return {EMBEDDED: embedded(home), **spec.catalogs}


def spark_conf(name: str, catalog: CatalogSpec) -> dict[str, str]:
    """Spark's configuration for a catalog.

    Raises:
        SetupError: an environment variable that `options_env` names is not set.
    """
    settings = {"type": catalog.type, "uri": catalog.uri, "warehouse": catalog.warehouse}
    secret = {option: _from_environment(name, option, variable) for option, variable in catalog.options_env.items()}
    usual = _JDBC_OPTIONS if catalog.type == "jdbc" else {}
    properties = {**{key: value for key, value in settings.items() if value}, **usual, **catalog.options, **secret}
    prefix = f"spark.sql.catalog.{name}"
    return {
        prefix: "org.apache.iceberg.spark.SparkCatalog",
        **{f"{prefix}.{key}": value for key, value in properties.items()},
    }


def prepare_lake(home: Path) -> None:
    """Create the embedded catalog's database if it is missing.

    Iceberg would create it too, but if two pipelines use a new lake at once, one of them fails. SQLite does not wait
    for a lock when it changes the journal mode, so each process creates a file of its own and renames it.

    Raises:
        SetupError: the folder or the database cannot be created.
    """
    database = _database(home)
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        if not database.exists():
            _make_catalog(database)
    except (OSError, sqlite3.Error) as fault:
        raise SetupError(f"cannot create {database} ({fault}): set HEADWATER_HOME to a writable folder") from fault


def _make_catalog(database: Path) -> None:
    new_catalog = database.with_name(f".{database.name}.{uuid.uuid4().hex}")
    try:
        with closing(sqlite3.connect(new_catalog, isolation_level=None)) as catalog:
            catalog.execute("PRAGMA journal_mode = WAL")
            for statement in _CATALOG_TABLES:
                catalog.execute(statement)
        with suppress(FileExistsError):
            os.link(new_catalog, database)
    finally:
        new_catalog.unlink(missing_ok=True)


def _database(home: Path) -> Path:
    return home.absolute() / "lake" / "catalog.db"


def _warehouse(home: Path) -> Path:
    return home.absolute() / "lake" / "warehouse"


def _from_environment(catalog: str, option: str, variable: str) -> str:
    try:
        return os.environ[variable]
    except KeyError:
        raise SetupError(
            f"catalog {catalog}: option {option} needs the environment variable {variable}, which is not set"
        ) from None
