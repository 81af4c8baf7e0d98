"""The Merkle tree of a log: its head, how it grows, and proofs about it.

A node is named by its height and its index among those of that height: node (h, i) is the hash over the leaves from
i·2^h up to, but not including, (i+1)·2^h. Only such perfect subtrees are stored; other nodes, at the right edge of a
tree, are computed from them.

Source: RFC 6962, section 2.1, and RFC 9162, sections 2.1.3.2 and 2.1.4.2 for verifying.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()

Node = Callable[[int, int], bytes]
"""Returns the hash of the node with that height and index."""


def leaf_hash(data: bytes) -> bytes:
    """Hash a log entry."""
    return hashlib.sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two adjacent nodes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


class Frontier(NamedTuple):
    """The perfect subtrees that a tree consists of, the largest first: enough to append to it."""

    size: int
    nodes: tuple[bytes, ...]

    @property
    def root(self) -> bytes:
        """The root hash of the tree."""
        return _folded(self.nodes) if self.nodes else EMPTY_ROOT


EMPTY: Final = Frontier(0, ())


class Growth:
    """A tree after appending leaves, with every new node: enough to prove the new leaves' inclusion."""

    def __init__(self, before: Frontier, leaves: Sequence[bytes]) -> None:
        self.before = before
        self.size = before.size + len(leaves)
        self._rows: list[tuple[int, Sequence[bytes]]] = []
        left = dict(zip(_heights(before.size), before.nodes, strict=True))
        nodes: list[bytes] = list(leaves)
        for height in range(self.size.bit_length()):
            begin = before.size >> height
            if begin & 1:
                nodes.insert(0, left[height])
                begin -= 1
            self._rows.append((begin, nodes))
            nodes = [node_hash(nodes[i], nodes[i + 1]) for i in range(0, len(nodes) - 1, 2)]
        self.frontier = Frontier(self.size, tuple(self._rows[height][1][-1] for height in _heights(self.size)))

    def node(self, height: int, index: int) -> bytes:
        """A node that is new, or a sibling of one.

        Raises:
            IndexError: it is not known here.
        """
        begin, nodes = self._rows[height]
        if index < begin:
            raise IndexError(f"node {height}, {index} was in the tree before")
        return nodes[index - begin]


def frontier_of(size: int, node: Node) -> Frontier:
    """The frontier of a tree whose nodes are available."""
    return Frontier(size, tuple(_subtrees(0, size, node)))


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """The hashes that lead from a leaf to the root of the tree of that size; `index` < `size`."""
    proof = []
    for height in range((size - 1).bit_length()):
        sibling = (index >> height) ^ 1
        if (sibling + 1) << height <= size:
            proof.append(node(height, sibling))
        elif sibling << height < size:
            proof.append(_root_between(sibling << height, size, node))
    return proof


def consistency_proof(old: int, new: int, node: Node) -> list[bytes]:
    """The hashes that show that the first `old` leaves of a tree of size `new` are the older tree; 0 < `old` <= `new`.

    Source: RFC 6962, section 2.1.2
    """
    proof: list[bytes] = []
    begin, end, is_known = 0, new, True
    while old != end:
        split = begin + (1 << (end - begin - 1).bit_length() - 1)
        if old <= split:
            proof.append(_root_between(split, end, node))
            end = split
        else:
            proof.append(_root_between(begin, split, node))
            begin, is_known = split, False
    if not is_known:
        proof.append(_root_between(begin, end, node))
    return proof[::-1]


def is_included(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Whether the proof leads from the leaf to the root.

    Source: RFC 9162, section 2.1.3.2
    """
    if not 0 <= index < size or not _are_hashes(proof):
        return False
    position, last, found = index, size - 1, leaf
    for node in proof:
        if last == 0:
            return False
        if position & 1 or position == last:
            found = node_hash(node, found)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            found = node_hash(found, node)
        position, last = position >> 1, last >> 1
    return last == 0 and found == root


def is_consistent(old: int, old_root: bytes, new: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether the proof shows that the newer tree only adds to the older; an empty tree grows into any.

    Source: RFC 9162, section 2.1.4.2
    """
    if old == 0 or old == new:
        return not proof and (old_root == (EMPTY_ROOT if old == 0 else new_root))
    if not 0 < old < new or not _are_hashes(proof):
        return False
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    position, last = old - 1, new - 1
    while position & 1:
        position, last = position >> 1, last >> 1
    first = second = path[0]
    for node in path[1:]:
        if last == 0:
            return False
        if position & 1 or position == last:
            first, second = node_hash(node, first), node_hash(node, second)
            while not position & 1 and position:
                position, last = position >> 1, last >> 1
        else:
            second = node_hash(second, node)
        position, last = position >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root


def nodes_between(begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The fewest perfect subtrees that the leaves between fall into, from left to right, as height and index.

    >>> list(nodes_between(3, 8))
    [(0, 3), (2, 1)]
    """
    while begin < end:
        fits = (end - begin).bit_length() - 1
        height = min(fits, (begin & -begin).bit_length() - 1) if begin else fits
        yield height, begin >> height
        begin += 1 << height


def _heights(size: int) -> list[int]:
    """The heights of the perfect subtrees of a tree, the largest first."""
    return [height for height in reversed(range(size.bit_length())) if size >> height & 1]


def _subtrees(begin: int, end: int, node: Node) -> Iterator[bytes]:
    return (node(height, index) for height, index in nodes_between(begin, end))


def _root_between(begin: int, end: int, node: Node) -> bytes:
    """The root over these leaves, where `begin` is the beginning of such a subtree."""
    return _folded(tuple(_subtrees(begin, end, node)))


def _are_hashes(proof: Sequence[bytes]) -> bool:
    """Whether each has a hash's length: with other lengths, two could be split differently and hash to the same."""
    return all(len(node) == HASH_BYTES for node in proof)


def _folded(nodes: Sequence[bytes]) -> bytes:
    root = nodes[-1]
    for node in reversed(nodes[:-1]):
        root = node_hash(node, root)
    return root
