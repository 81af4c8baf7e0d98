"""A table as JSON: the options that its name depends on, its columns, and an Iceberg table's location."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pyflink.java_gateway import get_gateway

from .java import Java, items, kind_of, optional

_OPTIONS = frozenset(
    (
        "catalog-database",
        "catalog-impl",
        "catalog-name",
        "catalog-table",
        "catalog-type",
        "connector",
        "database-name",
        "format",
        "hostname",
        "path",
        "port",
        "properties.bootstrap.servers",
        "schema-name",
        "table-name",
        "topic",
        "topic-pattern",
        "uri",
        "url",
        "value.format",
        "warehouse",
    )
)
"""The options that a name depends on. Others are not reported, since any of them may be a secret."""

_PARTS = 3
"""The parts of a name in a catalog."""


def described(environment: Java, name: list[str]) -> dict[str, Any]:
    """Describe the table of that name: catalog, database, table, then options of a hint (`topic=other`).

    Only `{"name": …}` if there is no such table.
    """
    if len(name) < _PARTS:
        return {"name": name}
    manager = environment.getCatalogManager()
    identifier = get_gateway().jvm.org.apache.flink.table.catalog.ObjectIdentifier.of(*name[:_PARTS])
    found = optional(manager.getTable(identifier))
    if found is None:
        return {"name": name}
    table = found.getResolvedTable()
    description = {**resolved(table), "name": name}
    options = {str(key): str(value) for key, value in dict(table.getOptions()).items()}
    hinted = dict(change.split("=", 1) for change in name[_PARTS:])
    options |= hinted
    description["options"] |= hinted
    try:
        iceberg = _iceberg(optional(manager.getCatalog(name[0])), name, options)
    except Exception as unknown:  # the catalog does not answer; the rest of the statement is known
        return {**description, "unknown": type(unknown).__name__}
    return {**description, "iceberg": iceberg} if iceberg else description


def resolved(table: Java) -> dict[str, Any]:
    """Options and columns of a table object, whether it is in a catalog or not."""
    options = {str(key): str(value) for key, value in dict(table.getOptions()).items()}
    columns = [_column(one) for one in items(table.getResolvedSchema().getColumns())]
    return {"options": naming(options), "columns": columns}


def naming(options: Mapping[str, str]) -> dict[str, str]:
    """The options that a name depends on; any of the others may be a secret."""
    return {str(key): str(value) for key, value in dict(options).items() if key in _OPTIONS}


def target_columns(table: Mapping[str, Any]) -> list[str]:
    """The columns that a statement writes, in the order in which its query has them."""
    return [str(column["name"]) for column in table.get("columns", ()) if column["persisted"]]


def _column(column: Java) -> dict[str, Any]:
    description: dict[str, Any] = {
        "name": str(column.getName()),
        "type": str(column.getDataType().getLogicalType().asSummaryString()),
        "persisted": bool(column.isPersisted()),
        "computed": kind_of(column) == "ComputedColumn",
    }
    if kind_of(column) == "MetadataColumn":
        description["metadata"] = str(optional(column.getMetadataKey()) or column.getName())
    comment = optional(column.getComment())
    return {**description, "comment": str(comment)} if comment else description


def _iceberg(catalog: Java | None, name: list[str], options: Mapping[str, str]) -> dict[str, Any] | None:
    """Location, format and catalog of an Iceberg table, by its Iceberg catalog or by its options."""
    if catalog is not None and kind_of(catalog) == "FlinkCatalog":
        properties = json.loads(options.get("src-catalog", "{}"))
        path = [*str(name[1]).split("."), name[2]]
        return _loaded(catalog, name[0], path, properties.get("catalog-props", properties))
    if options.get("connector") != "iceberg":
        return None
    own = options.get("catalog-name", "iceberg")
    jvm = get_gateway().jvm
    settings = jvm.org.apache.flink.configuration.Configuration()
    classes = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    factories = jvm.org.apache.flink.table.factories.FactoryUtil
    own_catalog = factories.createCatalog(own, {**options, "type": "iceberg"}, settings, classes)
    path = [options.get("catalog-database", name[1]), options.get("catalog-table", name[2])]
    return _loaded(own_catalog, own, path, options)


def _loaded(catalog: Java, name: str, path: list[str], properties: Mapping[str, str]) -> dict[str, Any]:
    gateway = get_gateway()
    parts = gateway.new_array(gateway.jvm.java.lang.String, len(path))
    for at, part in enumerate(path):
        parts[at] = part
    table = catalog.catalog().loadTable(gateway.jvm.org.apache.iceberg.catalog.TableIdentifier.of(parts))
    return {
        "location": str(table.location()),
        "format": table.properties().get("write.format.default"),
        "table": ".".join([name, *path]),
        "catalog": naming(properties),
    }
