"""A witness signs only heads that are consistent with what it signed before."""

import pytest

from headwater.errors import UntrustedNoteError
from headwater.signing.checkpoint import Checkpoint
from headwater.signing.merkle import EMPTY, Growth, consistency_proof, leaf_hash
from headwater.signing.note import COSIGNATURE, NoteSigner, is_signed_by, parse_note
from headwater.signing.witness import Witnessed, nothing_yet, witnessed

LOG = NoteSigner.from_seed("lineage.example.org", bytes(32))
OTHER_LOG = NoteSigner.from_seed("other.example.org", bytes(32))
WITNESS = NoteSigner.from_seed("witness.example.org", bytes(range(32)), COSIGNATURE)
TREE = Growth(EMPTY, [leaf_hash(b"%d" % number) for number in range(9)])
REWRITTEN = Growth(EMPTY, [leaf_hash(b"other %d" % number) for number in range(9)])


def head(tree: Growth, size: int, signer: NoteSigner = LOG) -> str:
    leaves = [tree.node(0, place) for place in range(size)]
    return Checkpoint(signer.verifier.name, size, Growth(EMPTY, leaves).frontier.root).signed(signer)


def seen(size: int) -> Witnessed:
    return witnessed(head(TREE, size), LOG.verifier, nothing_yet(LOG.verifier), [], WITNESS, 1)


def test_the_first_head_of_a_log_is_signed() -> None:
    first = seen(5)

    assert first.head.size == 5
    note = parse_note(first.note)
    assert is_signed_by(note, LOG.verifier)
    assert is_signed_by(note, WITNESS.verifier)


@pytest.mark.parametrize(("old", "new"), [(1, 9), (5, 8), (5, 5), (8, 9)])
def test_a_consistent_head_is_signed(old: int, new: int) -> None:
    proof = consistency_proof(old, new, TREE.node)

    assert witnessed(head(TREE, new), LOG.verifier, seen(old), proof, WITNESS, 2).head.size == new


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (head(REWRITTEN, 5), "it was rewritten"),
        (head(REWRITTEN, 9), "it was rewritten"),
        (head(TREE, 4), "it was cut off"),
        (head(TREE, 9), "it was rewritten"),  # its proof is missing
        (head(TREE, 9, OTHER_LOG), "not signed by"),
        (Checkpoint("other.example.org", 5, TREE.frontier.root).signed(LOG), "of the log other.example.org"),
    ],
)
def test_an_inconsistent_or_foreign_head_is_refused(note: str, reason: str) -> None:
    with pytest.raises(UntrustedNoteError, match=reason):
        witnessed(note, LOG.verifier, seen(5), [], WITNESS, 2)


def test_other_signatures_are_not_passed_on() -> None:
    other_signer = NoteSigner.from_seed("stranger", bytes([3] * 32))
    note = head(TREE, 5) + other_signer.line(parse_note(head(TREE, 5)).text)

    witnessed_note = witnessed(note, LOG.verifier, nothing_yet(LOG.verifier), [], WITNESS, 1).note

    assert [each.name for each in parse_note(witnessed_note).signatures] == [
        "lineage.example.org",
        "witness.example.org",
    ]
