"""Reading the store: the log, merged facts and facets, on a separate connection that never waits for writers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from headwater.model import strict_json
from headwater.model.facts import (
    TROUBLE,
    Alias,
    CatalogEntry,
    ChainLink,
    Content,
    DeclaredShape,
    Edit,
    EngineCatalog,
    FacetReport,
    Fact,
    ObservedFacet,
    Renaming,
    RunFacet,
)
from headwater.model.merging import Seen
from headwater.store.connection import Connection, Row
from headwater.store.facet_reader import OF_DATASET, FacetReader
from headwater.store.log_reader import LogReader
from headwater.store.numbers import LookedUpNames, ReadNames
from headwater.store.packing import content_of_row
from headwater.store.segments import Segments
from headwater.store.tables import TABLES, Table, target_of_key
from headwater.store.tree import ReadTree

_KEPT_CONTENTS: Final = 1_000
"""Parsed contents in the cache; one that lists the sources of 100 columns takes 100 kB of memory."""

_OF_GRAPH: Final[Mapping[type[Fact], str]] = {
    ObservedFacet: f" WHERE {OF_DATASET}",
    DeclaredShape: " WHERE dataset IS NULL",  # none: read from here where versions are shown
    FacetReport: " WHERE dataset IS NULL",
    RunFacet: " WHERE name IN ('" + "', '".join(sorted(TROUBLE)) + "')",
}
"""Conditions for the kinds of facts of which a graph needs only some."""


class Reader(LogReader, FacetReader):
    """Queries over one database: the log, the merged facts, their contents, the tree."""

    def __init__(self, connection: Connection, segments: Segments | None = None, until_us: int | None = None) -> None:
        """Read from a connection; with `until_us`, only what events up to that time say, as far as rows can tell."""
        super().__init__(connection, segments, until_us)
        self.tree = ReadTree(self._rows)
        self.content = lru_cache(maxsize=_KEPT_CONTENTS)(self._read_content)

    def facts(self) -> Iterator[Fact]:
        """Every merged fact, contents first, runs before what they observed."""
        return self._read_facts(TABLES, {})

    def graph_facts(self) -> Iterator[Fact]:
        """The merged facts that a graph is made of: no contents, and nothing that is read only to show a run."""
        return self._read_facts([table for table in TABLES if table.kind is not Content], _OF_GRAPH)

    def named_rows(self) -> Iterator[tuple[type[Fact], Iterator[Row]]]:
        """The rows of all merged facts by kind, with names and run ids in place of surrogate keys.

        In the order of `facts`; each kind's are to be read before the next kind is asked for.
        """
        self.wait_for_facts()
        with self.connection.one_moment():
            names = ReadNames(self.connection)
            for table in TABLES:
                yield table.kind, table.named(self.connection.many_rows(table.select), names)

    def edit_facts(self, kind: str) -> Iterator[Edit]:
        """The edits in force on targets of one kind, such as `key` or `dataset`."""
        sql = "SELECT target, what, value, log_idx, first_us, last_us FROM edit"
        for target, what, value, place, *seen in self._fact_rows(sql):
            if (named := target_of_key(target))[0] == kind:
                yield Edit(named, what, value, place, Seen(*seen))

    def _read_facts(self, tables: Sequence[Table[Any]], where: Mapping[type[Fact], str]) -> Iterator[Fact]:
        self.wait_for_facts()
        with self.connection.one_moment():
            names = ReadNames(self.connection)
            for table in tables:
                for row in self.connection.many_rows(table.select + where.get(table.kind, "")):
                    yield table.fact(row, names)

    def identity_facts(self) -> list[Fact]:
        """The evidence about names that was first reported up to this reader's time."""
        self.wait_for_facts()
        names = LookedUpNames(self.connection)
        tables = (table for table in TABLES if table.kind in (Alias, Renaming, CatalogEntry, EngineCatalog))
        early, until = " WHERE first_us <= ?", (self._until_us,)
        return [table.fact(row, names) for table in tables for row in list(self._rows(table.select + early, until))]

    def chain_links(self, until_us: int) -> list[Fact]:
        """The chain records of nodes, from events up to that time."""
        names = LookedUpNames(self.connection)
        (table,) = (table for table in TABLES if table.kind is ChainLink)
        rows = self._fact_rows(f"{table.select} WHERE event_us <= ?", (until_us,))
        return [table.fact(row, names) for row in list(rows)]

    def _read_content(self, digest: bytes) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], strict_json.parse(self._read_content_body(digest)))

    def _read_content_body(self, digest: bytes) -> bytes:
        return content_of_row(self._value("SELECT body FROM content WHERE digest = ?", (digest,)))

    def bodies(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """The JSON of contents, by digest."""
        sql = "SELECT digest, body FROM content WHERE digest IN ({})"
        return {digest: content_of_row(body) for digest, body in self._fact_rows_in(sql, digests)}


AnotherReader = Callable[[], Reader]
"""Opens a reader for another thread; the caller closes it."""
