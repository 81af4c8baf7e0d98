"""The tree of RFC 6962: the vectors of Certificate Transparency, the definition, and altered proofs."""

import hashlib
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.signing.merkle import (
    EMPTY,
    EMPTY_ROOT,
    Growth,
    consistency_proof,
    frontier_of,
    inclusion_proof,
    is_consistent,
    is_included,
    leaf_hash,
    node_hash,
    nodes_between,
)

# Source: github.com/transparency-dev/merkle, testonly/constants.go and proof/verify_test.go
LEAVES = [
    leaf_hash(bytes.fromhex(data))
    for data in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f")
]
ROOTS = {
    0: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    4: "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    6: "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    7: "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
}
INCLUSION = [
    (0, 1, []),
    (
        0,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]
CONSISTENCY = [
    (1, 1, []),
    (
        1,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        6,
        8,
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (
        2,
        5,
        [
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
    (
        6,
        7,
        [
            "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
            "b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
]


def _hashes(proof: Sequence[str]) -> list[bytes]:
    return [bytes.fromhex(each) for each in proof]


def _root(leaves: Sequence[bytes]) -> bytes:
    """The definition, literally."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(_root(leaves[:split]), _root(leaves[split:]))


def _leaves(count: int) -> list[bytes]:
    return [leaf_hash(b"%d" % number) for number in range(count)]


@pytest.mark.parametrize("size", ROOTS)
def test_the_head_of_a_tree_is_that_of_certificate_transparency(size: int) -> None:
    assert Growth(EMPTY, LEAVES[:size]).frontier.root.hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size", "proof"), INCLUSION)
def test_inclusion_proofs_are_those_of_certificate_transparency(index: int, size: int, proof: list[str]) -> None:
    node = Growth(EMPTY, LEAVES[:size]).node

    assert inclusion_proof(index, size, node) == _hashes(proof)
    assert is_included(LEAVES[index], index, size, _hashes(proof), bytes.fromhex(ROOTS[size]))


@pytest.mark.parametrize(("old", "new", "proof"), CONSISTENCY)
def test_consistency_proofs_are_those_of_certificate_transparency(old: int, new: int, proof: list[str]) -> None:
    node = Growth(EMPTY, LEAVES[:new]).node

    assert consistency_proof(old, new, node) == _hashes(proof)
    assert is_consistent(old, bytes.fromhex(ROOTS[old]), new, bytes.fromhex(ROOTS[new]), _hashes(proof))


@given(st.lists(st.integers(0, 40), max_size=8))
def test_a_tree_that_grows_in_parts_is_the_tree_of_the_definition(parts: list[int]) -> None:
    leaves, frontier = _leaves(sum(parts)), EMPTY

    for part in parts:
        growth = Growth(frontier, leaves[frontier.size : frontier.size + part])
        for index in range(frontier.size, growth.size):
            proof = inclusion_proof(index, growth.size, growth.node)
            assert is_included(leaves[index], index, growth.size, proof, growth.frontier.root)
        frontier = growth.frontier

    assert frontier.root == _root(leaves)


def test_every_leaf_of_every_small_tree_is_proven() -> None:
    for size in range(1, 34):
        growth = Growth(EMPTY, _leaves(size))
        for index, leaf in enumerate(_leaves(size)):
            proof = inclusion_proof(index, size, growth.node)

            assert is_included(leaf, index, size, proof, growth.frontier.root)
            assert not is_included(leaf, index ^ 1, size, proof, growth.frontier.root)


def test_every_small_tree_is_consistent_with_every_smaller_one() -> None:
    node = Growth(EMPTY, _leaves(33)).node
    roots = [_root(_leaves(size)) for size in range(34)]
    for new in range(1, 34):
        for old in range(1, new + 1):
            proof = consistency_proof(old, new, node)

            assert is_consistent(old, roots[old], new, roots[new], proof)
            assert not is_consistent(old, LEAVES[0], new, roots[new], proof)
            assert not is_consistent(old, roots[old], new, LEAVES[0], proof)
            assert not is_consistent(old, roots[old], new, roots[new], [*proof, LEAVES[0]])
            if old > 1:
                assert not is_consistent(old - 1, roots[old - 1], new, roots[new], proof)


@pytest.mark.parametrize(("index", "size", "proof"), INCLUSION)
def test_an_altered_inclusion_proof_is_refused(index: int, size: int, proof: list[str]) -> None:
    root, good = bytes.fromhex(ROOTS[size]), _hashes(proof)
    leaf = LEAVES[index]
    longer = ([*good, leaf], [*good, root], [root, *good], [b"", *good], [*good, b""])
    altered = [
        [*good[:position], bytes([good[position][0] ^ 8]) + good[position][1:], *good[position + 1 :]]
        for position in range(len(good))
    ]

    for invalid in (*longer, *altered, *([good[:-1], good[1:]] if good else [])):
        assert not is_included(leaf, index, size, invalid, root)
    for wrong_index in (index - 1, index + 1, index ^ 2):
        assert not is_included(leaf, wrong_index, size, good, root)
    assert not is_included(leaf, index, size * 2, good, root)
    assert not is_included(leaf, index, size, good, EMPTY_ROOT)
    assert not is_included(LEAVES[7], index, size, good, root)


@pytest.mark.parametrize(("old", "new", "proof"), CONSISTENCY[1:])
def test_an_altered_consistency_proof_is_refused(old: int, new: int, proof: list[str]) -> None:
    first, second, good = bytes.fromhex(ROOTS[old]), bytes.fromhex(ROOTS[new]), _hashes(proof)
    altered = [
        [*good[:index], bytes([good[index][0] ^ 8]) + good[index][1:], *good[index + 1 :]] for index in range(len(good))
    ]

    for invalid in (
        [],
        good[:-1],
        [*good, b""],
        [*good, first],
        [*good, second],
        [b"", *good],
        [first, *good],
        *altered,
    ):
        assert not is_consistent(old, first, new, second, invalid)
    for wrong_old in (old - 1, old + 1, old ^ 2):
        assert not is_consistent(wrong_old, first, new, second, good)
    assert not is_consistent(old, first, new * 2, second, good)
    assert not is_consistent(old, second, new, first, good)


def test_hashes_of_other_lengths_are_refused_even_if_they_lead_to_the_head() -> None:
    """With wrong lengths, the same bytes would lead to an older head and to one over other leaves."""
    first, second, third, fourth, forged = _leaves(5)
    both = node_hash(first, second) + third
    old = _root([first, second, third])
    new = hashlib.sha256(b"\1" + both + node_hash(forged, fourth)).digest()

    assert not is_consistent(3, old, 4, new, [b"", forged + fourth, both])
    assert not is_included(fourth, 1, 2, [b""], hashlib.sha256(b"\1" + fourth).digest())


def test_an_empty_tree_is_consistent_with_any() -> None:
    assert is_consistent(0, EMPTY_ROOT, 3, bytes.fromhex(ROOTS[3]), [])
    assert not is_consistent(0, LEAVES[0], 3, bytes.fromhex(ROOTS[3]), [])
    assert not is_consistent(0, EMPTY_ROOT, 3, bytes.fromhex(ROOTS[3]), [LEAVES[0]])
    assert not is_consistent(3, bytes.fromhex(ROOTS[3]), 0, EMPTY_ROOT, [])


def test_a_smaller_tree_is_never_a_consistent_successor_of_a_larger_one() -> None:
    old, sibling = _root(_leaves(3)), LEAVES[0]

    assert not is_consistent(3, old, 2, node_hash(old, sibling), [old, sibling])


@given(st.integers(0, 500), st.integers(0, 500))
def test_perfect_subtrees_are_adjacent(first: int, second: int) -> None:
    begin, end = sorted((first, second))

    spans = [(index << height, (index + 1) << height) for height, index in nodes_between(begin, end)]

    assert all(left[1] == right[0] for left, right in pairwise(spans))
    assert not spans if begin == end else (spans[0][0], spans[-1][1]) == (begin, end)


def test_the_frontier_can_be_read_from_the_nodes() -> None:
    growth = Growth(EMPTY, _leaves(21))

    assert frontier_of(21, growth.node) == growth.frontier
    with pytest.raises(IndexError):
        Growth(growth.frontier, _leaves(3)).node(0, 19)
