"""What an event says about names: other names, former names, and the table of a catalog that a dataset is."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headwater.model.events import DatasetRef
from headwater.model.facts import Alias, Catalog, CatalogEntry, Evidence, Seen
from headwater.model.names import DatasetId

_FILE: Final = re.compile(r"file:/*")
_DIRECTORY_SUFFIX: Final = ".db"
"""What Hive and Glue append to a database's name to make its folder; engines that guess the folder leave it out."""
_WITH_SUFFIX: Final = frozenset({"glue", "hive"})


def identity_facts(dataset: DatasetRef, seen: Seen) -> Iterator[Alias | CatalogEntry]:
    """Other names of the dataset, and its place in a catalog; what cannot be read is passed over."""
    if (symlinks := dataset.facets.get("symlinks")) is not None:
        for identifier in _objects(symlinks.get("identifiers")):
            yield from _alias(dataset.id, identifier, "symlinks", seen)
    change = dataset.facets.get("lifecycleStateChange")
    if change is not None and change.get("lifecycleStateChange") == "RENAME":
        yield from _alias(dataset.id, change.get("previousIdentifier"), "rename", seen)
    if "catalog" in dataset.facets and dataset.id.is_complete:
        yield from _catalog_entry(dataset, dataset.facets["catalog"], seen)


def _alias(name: DatasetId, other: object, evidence: Evidence, seen: Seen) -> Iterator[Alias]:
    if isinstance(other, dict):
        alias = DatasetId(_text(other, "namespace"), _text(other, "name"))
        if alias.name and alias != name and (alias.is_complete or name.is_complete):
            yield Alias(name, alias, evidence, seen)


def _catalog_entry(dataset: DatasetRef, facet: Mapping[str, Any], seen: Seen) -> Iterator[CatalogEntry]:
    catalog = Catalog(
        _text(facet, "type"), _text(facet, "name"), _text(facet, "metadataUri"), _text(facet, "warehouseUri")
    )
    table = _table_told(dataset) or _table_at(dataset.id, catalog)
    if catalog.kind and catalog.name and table:
        yield CatalogEntry(dataset.id, catalog, table, seen)


def _table_told(dataset: DatasetRef) -> str:
    """The table's name by a symlink; Glue writes it as `table/DATABASE/TABLE`."""
    symlinks = dataset.facets.get("symlinks")
    for identifier in _objects(symlinks.get("identifiers") if symlinks is not None else None):
        if identifier.get("type") == "TABLE":
            name = _text(identifier, "name")
            return name.removeprefix("table/").replace("/", ".") if name.startswith("table/") else name
    return ""


def _table_at(name: DatasetId, catalog: Catalog) -> str:
    """The table's name by its place in the warehouse, `DATABASE/TABLE`; empty where it lies elsewhere."""
    warehouse = _place(catalog.warehouse_uri)
    inside = _place(f"{name.namespace}:{name.name}" if name.namespace == "file" else "/".join(name))
    steps = inside.removeprefix(f"{warehouse}/").split("/") if warehouse else []
    if len(steps) != 2 or not all(steps):  # also where the warehouse is not its beginning: places have more steps
        return ""
    database, table = steps
    return f"{database.removesuffix(_DIRECTORY_SUFFIX) if catalog.kind in _WITH_SUFFIX else database}.{table}"


def _place(uri: str) -> str:
    return _FILE.sub("file:/", uri, count=1).rstrip("/")


def _objects(value: object) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item


def _text(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key)
    return value if isinstance(value, str) else ""
