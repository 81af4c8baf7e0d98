"""An event's facts about names: aliases, former names, a dataset's table in a catalog.

Also how a query engine resolves the first part of its names, by its configuration.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from headwater.model.catalogs import catalog_kind
from headwater.model.events import DatasetRef, undeleted
from headwater.model.facts import Alias, Catalog, CatalogEntry, EngineCatalog, Evidence
from headwater.model.merging import Seen
from headwater.model.names import DatasetId
from headwater.model.objects import objects, text
from headwater.model.spelling import normal_place, normal_uri

_DIRECTORY_SUFFIX: Final = ".db"
"""Hive and Glue append it to a database's name to form its folder; engines that guess the folder omit it."""
_WITH_SUFFIX: Final = frozenset({"glue", "hive"})


def identity_facts(dataset: DatasetRef, seen: Seen) -> Iterator[Alias | CatalogEntry | EngineCatalog]:
    """Aliases of the dataset, its catalog table, and engine configuration; unreadable parts are skipped."""
    if (symlinks := undeleted(dataset.facets, "symlinks")) is not None:
        for identifier in objects(symlinks.get("identifiers")):
            yield from _alias(dataset.id, identifier, "symlinks", seen)
    change = undeleted(dataset.facets, "lifecycleStateChange")
    if change is not None and change.get("lifecycleStateChange") == "RENAME":
        yield from _alias(dataset.id, change.get("previousIdentifier"), "rename", seen)
    if (catalog := undeleted(dataset.facets, "catalog")) is not None and dataset.id.is_complete:
        yield from _catalog_entry(dataset, catalog, seen)
    if (meant := undeleted(dataset.facets, "headwater_engine_catalog")) is not None and dataset.id.is_complete:
        yield from _engine_catalog(dataset.id, meant, seen)


def _alias(name: DatasetId, other: object, evidence: Evidence, seen: Seen) -> Iterator[Alias]:
    match other:
        case {"namespace": str(namespace), "name": str(other_name)} if other_name:
            alias = DatasetId(namespace, other_name)
            if alias != name and (alias.is_complete or name.is_complete):
                yield Alias(name, alias, evidence, seen)


def _catalog_entry(dataset: DatasetRef, facet: Mapping[str, Any], seen: Seen) -> Iterator[CatalogEntry]:
    kind = catalog_kind(text(facet, "type"))
    catalog = Catalog(kind, text(facet, "name"), text(facet, "metadataUri"), text(facet, "warehouseUri"))
    table = _within(catalog, _symlinked_table(dataset)) or _table_at(dataset.id, catalog)
    if catalog.kind and catalog.name and table:
        yield CatalogEntry(dataset.id, catalog, table, seen)


def _engine_catalog(name: DatasetId, facet: Mapping[str, Any], seen: Seen) -> Iterator[EngineCatalog]:
    """The meaning of the first part of an engine's names; `name` is the engine's namespace, and that part."""
    catalog = Catalog(catalog_kind(text(facet, "type")), "", text(facet, "metadataUri"), text(facet, "warehouseUri"))
    names = DatasetId(text(facet, "namespace"), text(facet, "prefix"))
    if names.namespace:
        yield EngineCatalog(*name, Catalog("", "", "", ""), names, seen)
    elif catalog.kind and (catalog.metadata_uri or catalog.warehouse_uri):
        yield EngineCatalog(*name, catalog, DatasetId("", ""), seen)


def _symlinked_table(dataset: DatasetRef) -> str:
    """The table's name from a symlink; Glue writes it as `table/DATABASE/TABLE`."""
    symlinks = undeleted(dataset.facets, "symlinks")
    for identifier in objects(symlinks.get("identifiers") if symlinks is not None else None):
        if identifier.get("type") == "TABLE":
            name = text(identifier, "name")
            return name.removeprefix("table/").replace("/", ".") if name.startswith("table/") else name
    return ""


def _within(catalog: Catalog, table: str) -> str:
    """The table's name without the engine's name for the catalog, which may precede it: `lake.sales.orders`."""
    within = table.removeprefix(f"{catalog.name}.")
    return within if "." in within else table


def _table_at(name: DatasetId, catalog: Catalog) -> str:
    """The table's name by its path in the warehouse, `DATABASE/TABLE`; empty if it is elsewhere."""
    warehouse, location = normal_uri(catalog.warehouse_uri).rstrip("/"), normal_place(name)
    inside = location.removeprefix(f"{warehouse}/")
    database, _, table = inside.partition("/")
    if not warehouse or inside == location or not database or not table or "/" in table:
        return ""
    return f"{database.removesuffix(_DIRECTORY_SUFFIX) if catalog.kind in _WITH_SUFFIX else database}.{table}"
