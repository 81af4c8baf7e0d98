"""The tables that Trino's catalogs stand for, from its configuration: one dataset event per catalog and change.

With it the service joins `trino://host:port` / `lake.sales.orders` to the table that Spark, Flink and others name by
its location. Trino itself is not queried, and single tables are not reported: a catalog's event covers all its tables,
future ones included.

Source: https://trino.io/docs/476/connector.html, the properties of each connector
"""

import logging
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import attrs
import javaproperties
from openlineage.client.event_v2 import StaticDataset
from openlineage.client.facet_v2 import DatasetFacet, dataset_type_dataset

from headwater.capture.outlet import Outlet
from headwater.errors import InvalidInputError, InvalidNameError, SetupError
from headwater.model.build import dataset_event
from headwater.model.credentials import without_credentials
from headwater.model.names import DatasetId
from headwater.model.naming import authority, first_address
from headwater.model.naming_jdbc import jdbc_dataset
from headwater.model.producer import HEADWATER_FACETS
from headwater.observe.spark.iceberg import address_of

log = logging.getLogger(__name__)

Properties = Mapping[str, str]

_LISTENER: Final = "openlineage-event-listener"
_ANY_TABLE: Final = "s.t"
_DATABASES: Final = frozenset({"postgresql", "mysql", "mariadb", "sqlserver", "oracle", "redshift"})
_OWN: Final = frozenset({"system", "jmx", "memory", "tpch", "tpcds", "blackhole"})
"""Connectors whose tables exist only in Trino."""
_ON_HIVE: Final = frozenset({"hive", "delta_lake", "hudi"})
_SECRET: Final = re.compile(r"\$\{[A-Za-z][A-Za-z0-9_-]*:[^}]+\}")
"""A reference that Trino resolves when it starts: https://trino.io/docs/476/security/secrets.html."""
_METASTORE: Final = "hive.metastore.uri"


@attrs.define(kw_only=True)
class HeadwaterEngineCatalogFacet(DatasetFacet):
    """The dataset facet `headwater_engine_catalog`: which tables a query engine's catalog stands for.

    Either `type` with `metadataUri` or `warehouseUri`, as in the facet `catalog` of other engines' tables; or
    `namespace` and `prefix`: how the names of its tables begin in other engines.
    """

    type: str | None = None
    metadataUri: str | None = None
    warehouseUri: str | None = None
    namespace: str | None = None
    prefix: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_engine_catalog.json"


class CatalogMeaning(NamedTuple):
    """A catalog, and which tables it stands for; if `facet` is None, `why` says why that is unknown."""

    name: str
    facet: HeadwaterEngineCatalogFacet | None
    why: str = ""


def namespace_of(etc: Path) -> str | None:
    """The namespace of this Trino's tables, from its OpenLineage listener's configuration; None without a listener.

    Raises:
        SetupError: there is no such folder, or it cannot be read.
    """
    for file in _properties_files(etc):
        properties = _properties_in(file) or {}
        if properties.get("event-listener.name") == "openlineage":
            uri = properties.get(f"{_LISTENER}.trino.uri")
            return properties.get(f"{_LISTENER}.namespace") if uri is None else engine_namespace(uri)
    return None


def engine_namespace(uri: str) -> str:
    """The namespace for a coordinator's address.

    >>> engine_namespace("http://Trino:8080")
    'trino://trino:8080'

    Raises:
        InvalidInputError: it has no host and port.
    """
    try:
        return f"trino://{authority(uri.partition('://')[2].rstrip('/'))}"
    except InvalidNameError:
        raise InvalidInputError("uri: expected http://host:port, the address of Trino's coordinator") from None


def catalogs_in(etc: Path) -> list[CatalogMeaning]:
    """The catalogs configured in `etc/catalog`, by name; one whose file cannot be read is unknown.

    Raises:
        SetupError: there is no such folder, or it cannot be read.
    """
    found = []
    for file in _properties_files(etc / "catalog"):
        properties = _properties_in(file)
        each = (
            CatalogMeaning(file.stem, None, f"cannot read {file}")
            if properties is None
            else meant(file.stem, properties)
        )
        if each is not None:
            found.append(each)
    return found


def _properties_files(folder: Path) -> list[Path]:
    try:
        return sorted(file for file in folder.iterdir() if file.suffix == ".properties")
    except (FileNotFoundError, NotADirectoryError):
        raise SetupError(
            f"{folder} is not a folder; expected Trino's configuration folder, which contains `catalog`"
        ) from None
    except OSError as fault:
        raise SetupError(f"cannot read {folder}: {fault.strerror}; let this user read it") from fault


def _properties_in(file: Path) -> dict[str, str] | None:
    """The file's properties; None if it cannot be read: no permission, deleted meanwhile, or invalid for Java."""
    try:
        return read_properties(file.read_bytes())
    except (OSError, javaproperties.InvalidUEscapeError):
        return None


def read_properties(text: bytes) -> dict[str, str]:
    r"""The properties of a Java properties file, as Trino takes them: values without white space around them.

    >>> read_properties(b"# ours\nconnection-url = jdbc\\:mysql\\://db\\:3306 \nmetastore : \\\n  thrift\\u003a//m")
    {'connection-url': 'jdbc:mysql://db:3306', 'metastore': 'thrift://m'}

    Raises:
        InvalidUEscapeError: `\u` is not followed by four hex digits; Java refuses it, too.

    Source: Java 17, `java.util.Properties.load`; airlift 336, `ConfigurationLoader.loadPropertiesFrom`
    """
    return {key: value.strip() for key, value in javaproperties.loads(text).items()}


def meant(name: str, properties: Properties) -> CatalogMeaning | None:
    """The tables that a catalog stands for; None for a connector whose tables exist only in Trino."""
    connector = properties.get("connector.name", "")
    if connector in _OWN:
        return None
    named_by = _named_by(connector, properties)
    if elsewhere := [each for each in named_by if _is_left_open(properties.get(each, ""))]:
        return CatalogMeaning(name, None, f"{' and '.join(elsewhere)} is unknown: Trino substitutes it at its start")
    try:
        facet = _facet(connector, properties)
    except InvalidNameError as fault:
        return CatalogMeaning(name, None, f"{' and '.join(named_by)}: {fault}")
    return CatalogMeaning(name, facet, "" if facet else _why(connector, named_by, properties))


def _named_by(connector: str, properties: Properties) -> list[str]:
    """The properties that other engines' names of a catalog's tables depend on; none for an unknown connector."""
    if connector == "iceberg":
        return [each for each in _ADDRESSES.get(_kind(properties), ()) if each]
    if connector in _DATABASES:
        return ["connection-url"]
    return [_METASTORE] if connector in _ON_HIVE else []


def _is_left_open(address: str) -> bool:
    """Whether Trino fills in a part of an address, other than a password or an option."""
    return _SECRET.search(without_credentials(address).partition("?")[0]) is not None


def _facet(connector: str, properties: Properties) -> HeadwaterEngineCatalogFacet | None:
    if connector == "iceberg":
        return _iceberg(properties)
    if connector in _DATABASES:
        named = jdbc_dataset(properties.get("connection-url", ""), _ANY_TABLE)
        if named.name.lower().endswith(_ANY_TABLE):
            return _names(DatasetId(named.namespace, named.name[: -len(_ANY_TABLE)]))
    elif connector in _ON_HIVE and (uri := properties.get(_METASTORE)):
        return _names(DatasetId(f"hive://{authority(first_address(uri).partition('://')[2])}", ""))
    return None


def _kind(properties: Properties) -> str:
    return properties.get("iceberg.catalog.type", "hive_metastore").lower()


def _iceberg(properties: Properties) -> HeadwaterEngineCatalogFacet | None:
    kind = _kind(properties)
    uri, warehouse = _ADDRESSES.get(kind, ("", ""))
    facet = HeadwaterEngineCatalogFacet(
        type="hive" if kind == "hive_metastore" else kind,
        metadataUri=address_of(properties.get(uri)),
        warehouseUri=address_of(properties.get(warehouse)),
    )
    return facet if facet.metadataUri or facet.warehouseUri else None


_ADDRESSES: Final[Mapping[str, tuple[str, str]]] = {
    "glue": ("", "hive.metastore.glue.default-warehouse-dir"),
    "hive_metastore": (_METASTORE, ""),
    "jdbc": ("iceberg.jdbc-catalog.connection-url", "iceberg.jdbc-catalog.default-warehouse-dir"),
    "rest": ("iceberg.rest-catalog.uri", "iceberg.rest-catalog.warehouse"),
    "nessie": ("iceberg.nessie-catalog.uri", "iceberg.nessie-catalog.default-warehouse-dir"),
}
"""By kind of catalog, the properties that correspond to `uri` and `warehouse` of Spark's catalogs."""


def _names(names: DatasetId) -> HeadwaterEngineCatalogFacet:
    return HeadwaterEngineCatalogFacet(namespace=names.namespace, prefix=names.name)


def _why(connector: str, named_by: Sequence[str], properties: Properties) -> str:
    if connector == "iceberg" and not named_by:
        return "unknown catalog type"
    if set_ones := [each for each in named_by if properties.get(each)]:
        return f"cannot parse {' and '.join(set_ones)}"
    if named_by:
        return f"missing {' and '.join(named_by)}"
    return f"how other systems name tables of the connector {connector or '(none)'} is unknown"


class TrinoWatcher:
    """Reports the catalogs of a configuration folder: all of them once, then those that changed."""

    def __init__(self, etc: Path, namespace: str, outlet: Outlet) -> None:
        self._etc = etc
        self._namespace = namespace
        self._outlet = outlet
        self._reported: dict[str, CatalogMeaning] = {}

    def run(self, stop: threading.Event, every_s: float, on_report: Callable[[CatalogMeaning], None]) -> None:
        """Poll until told to stop; `on_report` is called for each new or changed catalog."""
        while True:
            for each in self.poll():
                on_report(each)
            if stop.wait(every_s):
                self._outlet.settle()
                return

    def poll(self) -> list[CatalogMeaning]:
        """Report the catalogs that are new or have changed.

        Raises:
            SetupError: the folder no longer exists.
        """
        fresh = [each for each in catalogs_in(self._etc) if self._reported.get(each.name) != each]
        for each in fresh:
            self._reported[each.name] = each
            if each.facet is not None:
                self._outlet.put(self._event(each.name, each.facet))
        return fresh

    def _event(self, name: str, facet: HeadwaterEngineCatalogFacet) -> bytes:
        facets: dict[str, DatasetFacet] = {
            "datasetType": dataset_type_dataset.DatasetTypeDatasetFacet(datasetType="CATALOG"),
            "headwater_engine_catalog": facet,
        }
        return dataset_event(datetime.now(UTC), StaticDataset(namespace=self._namespace, name=name, facets=facets))
