"""Which names denote the same catalog table, by events, by engine configuration and by the names themselves.

The order of arrival does not matter. Each method that takes a name or fact yields the pairs of names now known to
denote the same table, for `Identities` to join.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, Literal, NamedTuple

from headwater.model.facts import Catalog, CatalogEntry, EngineCatalog
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId
from headwater.model.spelling import normal, normal_uri

Pair = tuple[DatasetId, DatasetId]
_HOST: Final = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*")


class _Table(NamedTuple):
    """A table, identified by its catalog's kind and addresses; the engine's own name for the catalog is ignored."""

    kind: str
    metadata_uri: str
    warehouse_uri: str
    table: str


class _Resolution(NamedTuple):
    """The meaning of the first part of an engine's names: a catalog, or a prefix of other names."""

    catalog: Catalog
    names: DatasetId


class Catalogs:
    """Maps names to catalog tables."""

    def __init__(self) -> None:
        self._names_of: dict[_Table, dict[DatasetId, Seen | None]] = defaultdict(dict)
        """By table and dataset: when it was reported; None where the table is identified by that very name."""
        self._tables_of: dict[DatasetId, set[_Table]] = defaultdict(set)
        self._engines: dict[str, dict[str, dict[_Resolution, Seen]]] = {}
        """By engine namespace and first part of the name."""
        self._behind: set[str] = set()
        """Namespaces that engine names resolve into."""
        self._configured: dict[DatasetId, set[_Table]] = defaultdict(set)

    @property
    def has_engines(self) -> bool:
        """Whether any engine has reported how it resolves names."""
        return bool(self._engines)

    @property
    def meant_namespaces(self) -> set[str]:
        """The namespaces of the names to which engines resolve theirs, as reported."""
        meanings = chain.from_iterable(words.values() for words in self._engines.values())
        return {meant.names.namespace for each in meanings for meant in each if meant.names.namespace}

    def note(self, name: DatasetId) -> Iterator[Pair]:
        """Register a name in use: resolve it if it is an engine's, else enter it if an engine's may resolve to it."""
        if name.namespace in self._engines:
            yield from self._resolve(name)
        if normal(name).namespace in self._behind:
            yield from self._enter(name, _behind(name), None)

    def add_entry(self, fact: CatalogEntry) -> Iterator[Pair]:
        """Add a table of a catalog; ignored without an address, since the catalog's name alone is ambiguous."""
        if fact.catalog.metadata_uri or fact.catalog.warehouse_uri:
            yield from self._enter(fact.dataset, _table(fact.catalog, fact.table), fact.seen)

    def add_engine(self, fact: EngineCatalog, known: Iterable[DatasetId]) -> Iterator[Pair]:
        """Add how an engine resolves the first part of its names; `known` are the names in use."""
        meant = self._engines.setdefault(fact.engine, {}).setdefault(fact.word, {})
        what = _Resolution(fact.catalog, fact.names)
        meant[what] = widened(meant.get(what), fact.seen)
        behind = normal(fact.names).namespace
        if behind and behind not in self._behind:
            self._behind.add(behind)
            for name in [name for name in known if normal(name).namespace == behind]:
                yield from self._enter(name, _behind(name), None)
        for name in [name for name in known if name.namespace == fact.engine]:
            yield from self._resolve(name)

    def would_enter(self, fact: CatalogEntry) -> set[DatasetId]:
        """The names that this fact would make one: the dataset, and those of the table at its catalog's address.

        Empty if this is known already, or if the catalog has no address.
        """
        names = self._names_of.get(_table(fact.catalog, fact.table), {})
        place = place_of(fact.catalog)
        return {fact.dataset, DatasetId(place, fact.table), *names} if place and fact.dataset not in names else set()

    def would_resolve(self, fact: EngineCatalog, known: Iterable[DatasetId]) -> set[DatasetId]:
        """The names that this fact would make one: the engine's, and those it resolves to; empty if not new.

        Each with its known names: whichever of them the engine uses later is then one with those it resolves to.
        """
        if _Resolution(fact.catalog, fact.names) in self._engines.get(fact.engine, {}).get(fact.word, {}):
            return set()
        known = [*known]
        engines = (name for name in known if name.namespace == fact.engine and _word_of(name) == fact.word)
        joined = {DatasetId(fact.engine, fact.word), *engines}
        if not fact.names.namespace:
            table = _table(fact.catalog, "")
            tables = (names for each, names in self._names_of.items() if each._replace(table="") == table)
            return joined | {DatasetId(place_of(fact.catalog), fact.word), *chain.from_iterable(tables)}
        behind = normal(fact.names).namespace
        return joined | {fact.names, *(name for name in known if normal(name).namespace == behind)}

    def links(self, name: DatasetId) -> Iterator[tuple[DatasetId, Literal["catalog", "configuration"], Seen | None]]:
        """Yield each name of the same tables, including `name` itself, with the reason it is one of them."""
        for table in self._tables_of.get(name, ()):
            names = self._names_of[table]
            for other, seen in names.items():
                is_configured = any(table in self._configured.get(each, ()) for each in (name, other))
                yield other, "configuration" if is_configured else "catalog", Seen.over((names[name], seen))

    def _resolve(self, name: DatasetId) -> Iterator[Pair]:
        """Enter an engine's name as each table that it resolves to."""
        word, _, rest = name.name.partition(".")
        for meant, seen in self._engines[name.namespace].get(word, {}).items() if rest else ():
            if meant.names.namespace:
                table = _behind(DatasetId(meant.names.namespace, f"{meant.names.name}{rest}"))
            else:
                table = _table(meant.catalog, rest)
            self._configured[name].add(table)
            yield from self._enter(name, table, seen)

    def _enter(self, name: DatasetId, table: _Table, seen: Seen | None) -> Iterator[Pair]:
        """Record that the name denotes this table; `seen` None: the name itself identifies the table."""
        self._tables_of[name].add(table)
        names = self._names_of[table]
        is_new = name not in names
        names[name] = Seen.over((names.get(name), seen))
        if is_new:
            yield name, next(iter(names))


def _table(catalog: Catalog, table: str) -> _Table:
    """The key of a table. Address alone identifies a Hive metastore: its warehouse is only where new tables go."""
    warehouse = "" if catalog.kind == "hive" and catalog.metadata_uri else normal_uri(catalog.warehouse_uri)
    return _Table(catalog.kind, normal_uri(catalog.metadata_uri), warehouse, table)


def place_of(catalog: Catalog) -> str:
    """A catalog's location as the namespace of datasets stored there: `thrift://metastore:9083`, `s3://lake`."""
    address = normal_uri(catalog.metadata_uri or catalog.warehouse_uri)
    if (host := _HOST.match(address)) is not None:
        return host[0]
    return address.partition(":/")[0] if address.startswith(("file:/", "dbfs:/")) else address


def _word_of(name: DatasetId) -> str:
    """The first part of an engine's name."""
    return name.name.partition(".")[0]


def _behind(name: DatasetId) -> _Table:
    """A table identified by its own dataset name."""
    return _Table("", "", *normal(name))
