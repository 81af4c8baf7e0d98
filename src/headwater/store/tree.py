"""The Merkle tree over the log, in the database: leaves, the heads of full tiles, and the right edge.

It is written in the transaction that appends to the log, so no entry is ever acknowledged without its leaf.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from headwater.errors import UnavailableError
from headwater.model.words import so_many
from headwater.signing.erasure import are_salts
from headwater.signing.leaf import Seal, leaf_data
from headwater.signing.merkle import HASH_BYTES, Frontier, Growth, frontier_of, node_hash
from headwater.store.bulk import Insert
from headwater.store.connection import RESTORED, Connection, Row
from headwater.store.entries import found

TILE_HEIGHT: Final = 8
"""A tile has 2^8 hashes, as in https://c2sp.org/tlog-tiles."""
TILE_WIDTH: Final = 1 << TILE_HEIGHT

_LEAVES: Final = Insert("leaf", 4)
_TILE_ROOTS: Final = Insert("tile_root", 3)
_TREE: Final = Insert(
    "tree (id, size, frontier)", 3, "ON CONFLICT (id) DO UPDATE SET size = excluded.size, frontier = excluded.frontier"
)
_STORED: Final = (  # in one statement, as another process may append
    "SELECT leaves, coalesce(size, 0), coalesce(frontier, ?) "
    "FROM (SELECT coalesce(max(idx) + 1, 0) AS leaves FROM leaf) AS stored LEFT JOIN tree ON true"
)
_KEPT_NODES: Final = 4096

Rows = Callable[[str, Sequence[object]], Iterable[Row]]
"""Runs a query."""


def stored_frontier(rows: Rows) -> Frontier:
    """The stored frontier of the tree.

    Raises:
        UnavailableError: it is damaged.
    """
    [(leaves, size, edge)] = rows(_STORED, (b"",))
    nodes = tuple(edge[at : at + HASH_BYTES] for at in range(0, len(edge), HASH_BYTES))
    if len(nodes) != size.bit_count():
        raise UnavailableError(f"the right edge of the log's tree is not that of {so_many(size, 'entry')}: {RESTORED}")
    if leaves != size:
        raise UnavailableError(
            f"the log's tree has the leaves of {so_many(leaves, 'entry')}, but the right edge of {size:,}: {RESTORED}"
        )
    return Frontier(size, nodes)


def grown(connection: Connection, before: Frontier, seals: Sequence[Seal]) -> Growth:
    """Append to the tree, within the transaction that appends the entries to the log."""
    growth = Growth(before, [each.leaf for each in seals])
    rows = [(before.size + number, each.leaf, each.commitment, each.salt) for number, each in enumerate(seals)]
    _LEAVES.run(connection, rows)
    _TILE_ROOTS.run(connection, list(new_tile_roots(growth)))
    if seals:
        _TREE.run(connection, [(0, growth.size, b"".join(growth.frontier.nodes))])
    return growth


def new_tile_roots(growth: Growth) -> Iterator[tuple[int, int, bytes]]:
    """The heads of the tiles that a growth of the tree filled: level, index in it, hash."""
    level, height = 1, TILE_HEIGHT
    while growth.size >> height:
        for index in range(growth.before.size >> height, growth.size >> height):
            yield level, index, growth.node(height, index)
        level, height = level + 1, height + TILE_HEIGHT


class ReadTree:
    """Reads the tree from a database; called from one thread at a time.

    Raises UnavailableError where the database does not answer, or lacks a part of the tree.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.node = lru_cache(maxsize=_KEPT_NODES)(self._node)
        """Returns a node by height and index; all leaves below it must be stored. Nodes never change."""

    def size(self) -> int:
        """The number of leaves."""
        return stored_frontier(self._rows).size

    def frontier(self, size: int | None = None) -> Frontier:
        """The frontier of the whole tree, or of its first leaves."""
        newest = stored_frontier(self._rows)
        return newest if size in (None, newest.size) else frontier_of(size or 0, self.node)

    def tile(self, level: int, begin: int, end: int) -> list[bytes]:
        """Consecutive hashes in the tiles of a level."""
        if level == 0:
            rows = self._rows("SELECT hash FROM leaf WHERE idx >= ? AND idx < ? ORDER BY idx", (begin, end))
        else:
            sql = "SELECT hash FROM tile_root WHERE level = ? AND place >= ? AND place < ? ORDER BY place"
            rows = self._rows(sql, (level, begin, end))
        hashes = [row[0] for row in rows]
        if len(hashes) != end - begin:
            raise UnavailableError(f"the tree lacks hashes {begin} to {end} of level {level}: {RESTORED}")
        return hashes

    def seals(self, indexes: range) -> list[Seal]:
        """What is stored of the leaves of these log entries."""
        sql = "SELECT salt, commitment, hash FROM leaf WHERE idx >= ? AND idx < ? ORDER BY idx"
        seals = [Seal(*row) for row in self._rows(sql, (indexes.start, indexes.stop))]
        if len(seals) != len(indexes):
            raise UnavailableError(f"the tree lacks leaves of entries {indexes.start} to {indexes.stop}: {RESTORED}")
        for log_index, sealed in zip(indexes, seals, strict=True):
            if not are_salts(sealed.salt):
                raise UnavailableError(f"the salts of entry {log_index} are damaged: {RESTORED}")
        return seals

    def leaf_data(self, indexes: range) -> list[bytes]:
        """The leaves of these log entries, as they are hashed."""
        sql = (
            "SELECT commitment, event_type, received_us, verdict, key_id FROM log JOIN leaf ON leaf.idx = log.idx "
            "WHERE log.idx >= ? AND log.idx < ? ORDER BY log.idx"
        )
        leaves = [leaf_data(row[0], found(*row[1:])) for row in self._rows(sql, (indexes.start, indexes.stop))]
        if len(leaves) != len(indexes):
            raise UnavailableError(
                f"the log lacks one of the entries {indexes.start} to {indexes.stop}, or its leaf: {RESTORED}"
            )
        return leaves

    def _node(self, height: int, index: int) -> bytes:
        level, within = divmod(height, TILE_HEIGHT)
        hashes = self.tile(level, index << within, (index + 1) << within)
        while len(hashes) > 1:
            hashes = [node_hash(hashes[at], hashes[at + 1]) for at in range(0, len(hashes), 2)]
        return hashes[0]
