"""The log as others can verify it: signed checkpoints, tiles, proofs, and a receipt for each event.

Receipts and checkpoints are composed on request; their content was fixed with the append.
"""

import re
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from headwater.errors import InvalidInputError, NotFoundError
from headwater.model.digest import as_text
from headwater.model.words import so_many
from headwater.service.log.cosignatures import Cosignatures, Enrolled
from headwater.service.shapes.log import ConsistencyProof, InclusionProof, Receipt
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.merkle import Frontier, Growth, Node, consistency_proof, inclusion_proof
from headwater.signing.note import NoteSigner
from headwater.store.tree import TILE_WIDTH, ReadTree

_KEPT_NOTES: Final = 64
_KEPT_NODES: Final = 1_024
_TILE: Final = re.compile(
    r"(?P<level>entries|0|[1-9]\d?)/(?P<place>(?:x\d{3}/)*\d{3})(?:\.p/(?P<width>[1-9]\d{0,2}))?", re.ASCII
)
"""Source: https://c2sp.org/tlog-tiles"""
_MOST_LEVELS: Final = 64
_LENGTH_BYTES: Final = 2


class Proofs:
    """Queries of the tree over the log. For the event loop's thread."""

    def __init__(self, tree: ReadTree, signer: NoteSigner, enrolled: Enrolled) -> None:
        self._tree = tree
        self.cosignatures = Cosignatures(tree, signer, enrolled)
        self._signer = signer
        self._note = lru_cache(maxsize=_KEPT_NOTES)(self._signed)

    @property
    def log_key(self) -> str:
        """The log's public key, in the form that witnesses use."""
        return str(self._signer.verifier)

    def checkpoint(self, witnesses: int = 0) -> str:
        """The newest checkpoint with so many witnesses' signatures; for 0, the current one with those it has.

        Raises:
            NotFoundError: so many never signed one.
        """
        if witnesses:
            return self.cosignatures.newest(witnesses)
        head = self._tree.frontier()
        return self.cosignatures.note(Checkpoint(self._signer.verifier.name, head.size, head.root))

    def _signed(self, head: Frontier) -> str:
        return Checkpoint(self._signer.verifier.name, head.size, head.root).signed(self._signer)

    def receipt(self, index: int, growth: Growth) -> Receipt:
        """Proof that an event is in the log at its index, for the size of the log at this moment."""
        node = self._nodes_of(growth)
        return Receipt(
            index=index,
            leafHash=as_text(node(0, index)),
            checkpoint=self._note(growth.frontier),
            inclusionProof=_encoded(inclusion_proof(index, growth.size, node)),
        )

    def _nodes_of(self, growth: Growth) -> Node:
        known = growth.node

        def node(height: int, index: int) -> bytes:
            try:
                return known(height, index)
            except IndexError:  # it was in the tree before
                return self._tree.node(height, index)

        return node

    def inclusion(self, index: int, size: int | None) -> InclusionProof:
        """Prove that an entry is at its index in the log of that size.

        Raises:
            InvalidInputError: the log never had that size, or no such entry then.
        """
        log_size = self._tree.size()
        size = log_size if size is None else _size("size", size, log_size)
        if index >= size:
            raise InvalidInputError(f"index: expected less than {size}, the requested size")
        return InclusionProof(
            index=index,
            size=size,
            leafHash=as_text(self._tree.node(0, index)),
            rootHash=as_text(self._tree.frontier(size).root),
            inclusionProof=_encoded(inclusion_proof(index, size, self._tree.node)),
        )

    def consistency(self, old: int, new: int | None) -> ConsistencyProof:
        """Prove that the log only grew from one size to another.

        Raises:
            InvalidInputError: the log never had these sizes, in this order.
        """
        log_size = self._tree.size()
        new = log_size if new is None else _size("to", new, log_size)
        if not 0 < old <= new:
            raise InvalidInputError(f"from: expected 1 to {new}, an earlier size of the log")
        return ConsistencyProof(
            fromSize=old,
            toSize=new,
            fromRootHash=as_text(self._tree.frontier(old).root),
            rootHash=as_text(self._tree.frontier(new).root),
            consistencyProof=_encoded(consistency_proof(old, new, self._tree.node)),
        )

    def tile(self, path: str) -> bytes:
        """A tile of hashes, or a bundle of leaves, by its path.

        Raises:
            NotFoundError: no such tile, or the log has not so many entries.
        """
        found = _TILE.fullmatch(path)
        if found is None:
            raise NotFoundError(f"no tile {path[:80]!r}: expected LEVEL/N or entries/N, .p/WIDTH if partial")
        index = int(re.sub("[x/]", "", found["place"]))
        width = int(found["width"] or TILE_WIDTH)
        level = 0 if found["level"] == "entries" else int(found["level"])
        begin, end = index * TILE_WIDTH, index * TILE_WIDTH + width
        if level >= _MOST_LEVELS or width > TILE_WIDTH or end > self._tree.size() // TILE_WIDTH**level:
            raise NotFoundError(f"no tile {path[:80]!r}: the log has {so_many(self._tree.size(), 'entry')}")
        if found["level"] == "entries":
            return b"".join(map(_with_length, self._tree.leaf_data(range(begin, end))))
        return b"".join(self._tree.tile(level, begin, end))


def _size(parameter: str, size: int, log_size: int) -> int:
    if not 0 < size <= log_size:
        raise InvalidInputError(f"{parameter}: expected 1 to {log_size}, the size of the log")
    return size


def _with_length(leaf: bytes) -> bytes:
    return len(leaf).to_bytes(_LENGTH_BYTES) + leaf


def _encoded(proof: Sequence[bytes]) -> list[str]:
    return [_in_base64(each) for each in proof]


@lru_cache(maxsize=_KEPT_NODES)  # receipts of one batch share most nodes
def _in_base64(node: bytes) -> str:
    return b64encode(node).decode()
