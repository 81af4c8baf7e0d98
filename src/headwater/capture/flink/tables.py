"""A Flink table as a dataset, named by its external location, as other engines name it."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from openlineage.client.facet_v2 import dataset_type_dataset, schema_dataset

from headwater.errors import InvalidNameError
from headwater.model.catalogs import catalog_kind
from headwater.model.naming import kafka_dataset, path_dataset
from headwater.model.naming_jdbc import jdbc_dataset, quoted
from headwater.observe.described import Described, files, source_facet, table_of
from headwater.observe.spark.iceberg import IcebergCatalog, iceberg_dataset

Table = Mapping[str, Any]
"""A table as described by `inside/headwater_probe/tables.py`."""

_WITHOUT_DATASET: Final = frozenset(("blackhole", "datagen", "print"))
"""Connectors that generate rows or discard them."""

_DATABASES: Final = {"mysql-cdc": "mysql", "postgres-cdc": "postgresql", "sqlserver-cdc": "sqlserver"}
"""Change data capture connectors, with JDBC's name for their database."""

_PATTERNS: Final = {
    "mysql-cdc": ("database-name", "table-name"),
    "postgres-cdc": ("schema-name", "table-name"),
    "sqlserver-cdc": ("table-name",),
}
"""Their options that are regular expressions; most are plain names, others match several tables."""
_IN_NO_NAME: Final = re.compile(r"[\\^*+?|()\[\]{},]")
"""Characters that only regular expressions or lists have; dots, dashes, underscores and dollars also occur in names."""


class UnnamedTableError(Exception):
    """A table holds data but cannot be named; the message says why."""


def datasets(table: Table) -> list[Described]:
    """The datasets of a table: mostly one; none if no data persists; several for a list of topics.

    Raises:
        UnnamedTableError: the connector, or its location, is unknown.
    """
    options: Mapping[str, str] = table.get("options", {})
    connector = options.get("connector", "iceberg" if "iceberg" in table else None)
    if connector in _WITHOUT_DATASET:
        return []
    if connector is None:
        raise UnnamedTableError("cannot name a table that is in no catalog")
    rule = _RULES.get(connector)
    if rule is None or "unknown" in table:
        raise UnnamedTableError(f"cannot name a table of the connector {connector!r}")
    try:
        found = rule(table, options)
    except (InvalidNameError, LookupError) as unnamed:
        raise UnnamedTableError(f"cannot name a table of the connector {connector!r}: {unnamed}") from unnamed
    for one in found:
        one.facets["schema"] = _schema(table["columns"])
    return found


def field_names(table: Table) -> dict[str, str]:
    """The dataset's name of each column of the table, without columns that Flink computes.

    Metadata of the connector (a record's timestamp, its partition) has the connector's name, not the user's.
    """
    stored = (column for column in table.get("columns", ()) if not column["computed"])
    return {column["name"]: column.get("metadata", column["name"]) for column in stored}


def _kafka(_: Table, options: Mapping[str, str]) -> list[Described]:
    servers = options["properties.bootstrap.servers"]
    kind = dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TOPIC")
    names = [kafka_dataset(servers, topic.strip()) for topic in options["topic"].split(";")]
    return [Described(name, {"dataSource": source_facet(name), "datasetType": kind}) for name in names]


def _files(_: Table, options: Mapping[str, str]) -> list[Described]:
    return [files(path_dataset(options["path"]), options.get("format"))]


def _jdbc(_: Table, options: Mapping[str, str]) -> list[Described]:
    from headwater.observe.queries import is_of_database  # imported here: few jobs have such a table, and it takes 8 MB

    url, table = options["url"], options["table-name"]
    if not is_of_database(table, url):
        raise InvalidNameError("table-name is of another server, behind a link")
    return [table_of(jdbc_dataset(url, table))]


def _database_log(_: Table, options: Mapping[str, str]) -> list[Described]:
    """The table by its name in the database; in SQL Server that includes the schema.

    Source: Flink CDC 3, "MySQL CDC Connector" and its siblings, https://nightlies.apache.org/flink/flink-cdc-docs-stable
    """
    connector = options["connector"]
    for option in _PATTERNS[connector]:
        if _IN_NO_NAME.search(options.get(option, "")):
            raise InvalidNameError(f"{option} is a pattern")
    port = f":{options['port']}" if "port" in options else ""
    url = f"jdbc:{_DATABASES[connector]}://{options['hostname']}{port}/{options['database-name']}"
    schema, table = [options[name] for name in ("schema-name",) if name in options], options["table-name"]
    names = table.split(".") if connector == "sqlserver-cdc" else [*schema, table]
    return [table_of(jdbc_dataset(url, quoted(*names)))]


def _iceberg(table: Table, _: Mapping[str, str]) -> list[Described]:
    found = table["iceberg"]
    catalog_options = found["catalog"]
    kind = catalog_kind(catalog_options.get("catalog-type") or catalog_options.get("catalog-impl") or "hive")
    catalog = IcebergCatalog(kind, catalog_options.get("uri"), catalog_options.get("warehouse"))
    return [iceberg_dataset(found["location"], found["format"], found["table"], catalog, engine="flink")]


_RULES: Final[Mapping[str, Callable[[Table, Mapping[str, str]], list[Described]]]] = {
    **dict.fromkeys(_DATABASES, _database_log),
    "filesystem": _files,
    "iceberg": _iceberg,
    "jdbc": _jdbc,
    "kafka": _kafka,
    "upsert-kafka": _kafka,
}


def _schema(columns: Iterable[Mapping[str, Any]]) -> schema_dataset.SchemaDatasetFacet:
    """The columns of the data itself, without computed columns and metadata."""
    stored = [column for column in columns if not column["computed"] and "metadata" not in column]
    return schema_dataset.SchemaDatasetFacet(
        fields=[
            schema_dataset.SchemaDatasetFacetFields(
                name=column["name"], type=column["type"], description=column.get("comment"), ordinal_position=position
            )
            for position, column in enumerate(stored, start=1)
        ]
    )
