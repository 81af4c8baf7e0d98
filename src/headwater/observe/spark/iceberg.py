"""Iceberg tables as datasets.

A table is named by its location (`file` and a path, `s3://bucket` and a key), which every engine that opens it knows.
Symlinks hold the names that people use: `raw.flights` under the warehouse, as in openlineage-spark, and
`lake.raw.flights` in the catalog.
"""

from dataclasses import dataclass
from typing import Final

from openlineage.client.facet_v2 import (
    catalog_dataset,
    dataset_type_dataset,
    dataset_version_dataset,
    storage_dataset,
    symlinks_dataset,
)

from headwater.errors import InvalidNameError
from headwater.model.names import DatasetId
from headwater.model.naming import first_address, path_dataset, warehouse_table, without_secrets
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.observe.described import Described, source_facet

_DEFAULT_FORMAT: Final = "parquet"


@dataclass(frozen=True, slots=True)
class IcebergCatalog:
    """A catalog's properties, from which a table's names besides its location derive.

    Attributes:
        type: `jdbc`, `rest`, `glue`, `hadoop`, `hive`, or the class of another implementation.
    """

    type: str
    uri: str | None
    warehouse: str | None


def iceberg_dataset(
    location: str, file_format: str | None, table: str, catalog: IcebergCatalog | None, engine: str = "spark"
) -> Described:
    """A table at a location; `table` begins with the catalog's name as known to `engine`."""
    described = Described(path_dataset(location))
    described.facets |= {
        "dataSource": source_facet(described.id),
        "storage": storage_dataset.StorageDatasetFacet(
            storageLayer="iceberg", fileFormat=file_format or _DEFAULT_FORMAT
        ),
        "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="TABLE"),
    }
    if catalog is not None:
        names = symlinks(*called(table, catalog))
        described.facets |= {"catalog": _catalog_facet(table, catalog, engine), "symlinks": names}
    return described


def called(table: str, catalog: IcebergCatalog) -> list[DatasetId]:
    """A table's names in its catalog; the one with the catalog's name, which people use, comes first."""
    address = address_of(catalog.uri)
    first = _under_warehouse(table, catalog) if address is None else [DatasetId(address, table)]
    return [*first, *_under_warehouse(table.partition(".")[2], catalog)]


def version_facet(snapshot: str) -> dataset_version_dataset.DatasetVersionDatasetFacet:
    """The version facet of a table: its snapshot id, as text since it does not fit a JSON number's 53 bits."""
    return dataset_version_dataset.DatasetVersionDatasetFacet(datasetVersion=snapshot)


def symlinks(*names: DatasetId) -> symlinks_dataset.SymlinksDatasetFacet:
    """The facet with a table's names besides its location."""
    return symlinks_dataset.SymlinksDatasetFacet(
        identifiers=[symlinks_dataset.Identifier(namespace=one.namespace, name=one.name, type="TABLE") for one in names]
    )


def _catalog_facet(table: str, catalog: IcebergCatalog, engine: str) -> catalog_dataset.CatalogDatasetFacet:
    return catalog_dataset.CatalogDatasetFacet(
        framework="iceberg",
        type=catalog.type,
        name=table.partition(".")[0],
        metadataUri=address_of(catalog.uri),
        warehouseUri=address_of(catalog.warehouse),
        source=engine,
    )


def _under_warehouse(table: str, catalog: IcebergCatalog) -> list[DatasetId]:
    """The table's name under the warehouse; none for a REST catalog whose warehouse is a word, not a location."""
    try:
        return [warehouse_table(catalog.warehouse, table)] if catalog.warehouse else []
    except InvalidNameError:
        return []


def address_of(uri: str | None) -> str | None:
    """A catalog's or warehouse's address without credentials; None if these cannot be separated safely.

    Of several metastores, the first.
    """
    if uri is None:
        return None
    try:
        if uri.startswith("jdbc:"):
            return jdbc_dataset(uri, "iceberg_tables").namespace
        return uri if uri.startswith(("/", "file:")) else without_secrets(first_address(uri))
    except InvalidNameError:
        return None
