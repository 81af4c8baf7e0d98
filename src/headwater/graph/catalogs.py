"""Which names are one table of a catalog: as events tell it, as engines are set up, and as the names themselves say.

The order in which it is told does not matter. Whatever takes a name here gives the pairs of names that are now known to
be one table, for classes of names to be joined.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from headwater.model.facts import Catalog, CatalogEntry, EngineCatalog
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId
from headwater.model.spelling import normal, normal_uri

Pair = tuple[DatasetId, DatasetId]
_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*")


class _Table(NamedTuple):
    """A table by what tells catalogs apart; the engine's own name for the catalog does not."""

    kind: str
    metadata_uri: str
    warehouse_uri: str
    table: str


class _Meant(NamedTuple):
    """What an engine means by the first word of a name: tables of a catalog, or names that begin otherwise."""

    catalog: Catalog
    names: DatasetId


class Catalogs:
    """The tables that names stand for."""

    def __init__(self) -> None:
        self._names_of: dict[_Table, dict[DatasetId, Seen | None]] = defaultdict(dict)
        """When each dataset was said to be the table; None where its name is what the table is told by."""
        self._tables_of: dict[DatasetId, set[_Table]] = defaultdict(set)
        self._engines: dict[str, dict[str, dict[_Meant, Seen]]] = {}
        """By namespace of an engine and first word of its names."""
        self._behind: set[str] = set()
        """The namespaces of names that engines have other names for."""
        self._configured: dict[DatasetId, set[_Table]] = defaultdict(set)

    @property
    def has_engines(self) -> bool:
        """Whether an engine ever said what it means by a word."""
        return bool(self._engines)

    def note(self, name: DatasetId) -> Iterator[Pair]:
        """A name that somebody uses now: what engines mean by it, and what it is told by."""
        if name.namespace in self._engines:
            yield from self._mean(name)
        if normal(name).namespace in self._behind:
            yield from self._enter(name, _behind(name), None)

    def add_entry(self, fact: CatalogEntry) -> Iterator[Pair]:
        """A dataset that is a table of a catalog; by its name alone a catalog may be any."""
        if fact.catalog.metadata_uri or fact.catalog.warehouse_uri:
            yield from self._enter(fact.dataset, _table(fact.catalog, fact.table), fact.seen)

    def add_engine(self, fact: EngineCatalog, known: Iterable[DatasetId]) -> Iterator[Pair]:
        """What an engine means by a word; `known` are the names that somebody uses."""
        meant = self._engines.setdefault(fact.engine, {}).setdefault(fact.word, {})
        what = _Meant(fact.catalog, fact.names)
        meant[what] = widened(meant.get(what), fact.seen)
        behind = normal(fact.names).namespace
        if behind and behind not in self._behind:
            self._behind.add(behind)
            for name in [name for name in known if normal(name).namespace == behind]:
                yield from self._enter(name, _behind(name), None)
        for name in [name for name in known if name.namespace == fact.engine]:
            yield from self._mean(name)

    def would_enter(self, fact: CatalogEntry) -> set[DatasetId]:
        """A dataset, the table that it is said to be by the catalog's address, and the names of that table.

        None where that was said before, or of a catalog without an address, which may be any.
        """
        names = self._names_of.get(_table(fact.catalog, fact.table), {})
        place = place_of(fact.catalog)
        return {fact.dataset, DatasetId(place, fact.table), *names} if place and fact.dataset not in names else set()

    def would_mean(self, fact: EngineCatalog, known: Iterable[DatasetId]) -> set[DatasetId]:
        """What an engine is said to mean by a word, and the known names behind it; none where that was said before."""
        if _Meant(fact.catalog, fact.names) in self._engines.get(fact.engine, {}).get(fact.word, {}):
            return set()
        engine = DatasetId(fact.engine, fact.word)
        if not fact.names.namespace:
            return {engine, DatasetId(place_of(fact.catalog), fact.word)}
        behind = normal(fact.names).namespace
        return {engine, fact.names, *(name for name in known if normal(name).namespace == behind)}

    def links(self, name: DatasetId) -> Iterator[tuple[DatasetId, Literal["catalog", "configuration"], Seen | None]]:
        """The names of the same tables, its own too, and by what each is known to be one."""
        for table in self._tables_of.get(name, ()):
            names = self._names_of[table]
            for other, seen in names.items():
                is_told = any(table in self._configured.get(each, ()) for each in (name, other))
                yield other, "configuration" if is_told else "catalog", Seen.over((names[name], seen))

    def _mean(self, name: DatasetId) -> Iterator[Pair]:
        """Enter an engine's name as what it stands for."""
        word, _, rest = name.name.partition(".")
        for meant, seen in self._engines[name.namespace].get(word, {}).items() if rest else ():
            if meant.names.namespace:
                table = _behind(DatasetId(meant.names.namespace, f"{meant.names.name}{rest}"))
            else:
                table = _table(meant.catalog, rest)
            self._configured[name].add(table)
            yield from self._enter(name, table, seen)

    def _enter(self, name: DatasetId, table: _Table, seen: Seen | None) -> Iterator[Pair]:
        """Note that the name is this table; None: by what it is called."""
        self._tables_of[name].add(table)
        names = self._names_of[table]
        is_new = name not in names
        names[name] = Seen.over((names.get(name), seen))
        if is_new:
            yield name, next(iter(names))


def _table(catalog: Catalog, table: str) -> _Table:
    """A table of a catalog. A Hive metastore is told by its address alone: a warehouse is where its new tables go."""
    warehouse = "" if catalog.kind == "hive" and catalog.metadata_uri else normal_uri(catalog.warehouse_uri)
    return _Table(catalog.kind, normal_uri(catalog.metadata_uri), warehouse, table)


def place_of(catalog: Catalog) -> str:
    """Where a catalog is, as datasets that lie there have it for a namespace: `thrift://metastore:9083`, `s3://lake`."""
    address = normal_uri(catalog.metadata_uri or catalog.warehouse_uri)
    if (host := _HOST.match(address)) is not None:
        return host[0]
    return address.partition(":/")[0] if address.startswith(("file:/", "dbfs:/")) else address


def _behind(name: DatasetId) -> _Table:
    """A table that is told by a name of its own."""
    return _Table("", "", *normal(name))
