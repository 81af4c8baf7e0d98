"""Signed notes and checkpoints: the examples of the specifications, and altered notes."""

from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import InvalidInputError, UntrustedNoteError
from headwater.signing.checkpoint import Checkpoint, parse_checkpoint
from headwater.signing.merkle import EMPTY_ROOT
from headwater.signing.note import (
    COSIGNATURE,
    NoteSigner,
    NoteVerifier,
    is_signed_by,
    parse_note,
    parse_verifier,
    signed_note,
    verified_text,
)

# Source: golang.org/x/mod/sumdb/note, package documentation
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
LOG = NoteSigner.from_seed("lineage.example.org", bytes(32))
WITNESS = NoteSigner.from_seed("witness.example.org/w1", bytes(range(32)), COSIGNATURE)
CHECKPOINT = Checkpoint("lineage.example.org", 20_852_163, bytes(range(32)))


def test_the_example_of_the_go_package_verifies() -> None:
    verifier = parse_verifier(GO_KEY)

    assert str(verifier) == GO_KEY
    assert verified_text(GO_NOTE, [verifier]).endswith("what your problem is.\n")


def test_the_key_hash_of_a_key_of_the_specification() -> None:
    # Source: the Ed25519 test key of Go's sum.golang.org, as `go` itself has it
    verifier = parse_verifier("sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8")

    assert verifier.key_hash.hex() == "033de0ae"


def test_a_checkpoint_is_three_lines() -> None:
    assert CHECKPOINT.text == f"lineage.example.org\n20852163\n{b64encode(bytes(range(32))).decode()}\n"
    assert parse_checkpoint(CHECKPOINT.text + "an extension\n") == CHECKPOINT


def test_the_checkpoint_of_an_empty_log_is_valid() -> None:
    empty = Checkpoint("lineage.example.org", 0, EMPTY_ROOT)

    assert parse_checkpoint(empty.text) == empty


def test_a_checkpoint_that_the_log_and_a_witness_signed_verifies_for_both() -> None:
    text = CHECKPOINT.text

    note = signed_note(text, [LOG.line(text), WITNESS.line(text, 1_679_315_147)])

    assert verified_text(note, [LOG.verifier]) == text
    assert verified_text(note, [WITNESS.verifier]) == text


def test_a_cosignature_signs_the_time_too() -> None:
    text = CHECKPOINT.text
    line = WITNESS.line(text, 1_679_315_147)

    signature = parse_note(signed_note(text, [line])).signatures[0]

    assert int.from_bytes(signature.value[:8]) == 1_679_315_147
    message = f"cosignature/v1\ntime 1679315147\n{text}".encode()
    WITNESS.verifier.public_key.verify(signature.value[8:], message)


def test_signatures_of_others_are_ignored() -> None:
    other_signer = NoteSigner.from_seed("lineage.example.org", bytes([7] * 32))
    note = parse_note(signed_note(CHECKPOINT.text, [other_signer.line(CHECKPOINT.text)]))

    assert not is_signed_by(note, LOG.verifier)
    with pytest.raises(UntrustedNoteError, match=r"not signed by lineage\.example\.org"):
        verified_text(signed_note(note.text, [note.signatures[0].line]), [LOG.verifier])


def test_a_bad_signature_in_the_name_of_a_trusted_key_is_not_ignored() -> None:
    other = CHECKPOINT._replace(size=1).text
    note = signed_note(CHECKPOINT.text, [LOG.line(other), LOG.line(CHECKPOINT.text)])

    with pytest.raises(UntrustedNoteError, match="does not match this text"):
        verified_text(note, [LOG.verifier])


@pytest.mark.parametrize(
    "altered",
    [
        CHECKPOINT.signed(LOG).replace("20852163", "20852164"),
        CHECKPOINT.signed(LOG).rstrip("\n"),
        CHECKPOINT.signed(LOG).replace("\n\n", "\n"),
        CHECKPOINT.signed(LOG).replace("—", "-"),
        CHECKPOINT.signed(LOG) + "more\n",
        CHECKPOINT.signed(LOG) + "\u2014 name AAAA\n",
        CHECKPOINT.signed(LOG) + f"\u2014 name {b64encode(bytes(4)).decode()}\n",
        CHECKPOINT.signed(LOG) + f"\u2014  {b64encode(bytes(68)).decode()}\n",
        CHECKPOINT.signed(LOG).replace("example.org", "example.org\t"),
        CHECKPOINT.text + "\n",
        "",
    ],
)
def test_an_altered_note_is_refused(altered: str) -> None:
    with pytest.raises(UntrustedNoteError):
        verified_text(altered, [LOG.verifier])


@pytest.mark.parametrize("control", ["\t", "\r", "\0", "\x1b[2J"])
def test_a_signed_note_with_a_control_character_is_refused(control: str) -> None:
    """Only newlines may stand in a note (https://c2sp.org/signed-note)."""
    text = f"{CHECKPOINT.text}{control}\n"

    with pytest.raises(UntrustedNoteError, match="control character"):
        verified_text(signed_note(text, [LOG.line(text)]), [LOG.verifier])


def test_a_note_has_at_most_100_signatures() -> None:
    line = LOG.line(CHECKPOINT.text)

    assert len(parse_note(signed_note(CHECKPOINT.text, [line] * 100)).signatures) == 100
    with pytest.raises(UntrustedNoteError, match="1 to 100 signatures"):
        parse_note(signed_note(CHECKPOINT.text, [line] * 101))


@pytest.mark.parametrize(
    "text", ["", "log\n", "log\n1\n", "log\n01\n{}\n", "log\n-1\n{}\n", "log\n1\nAAAA\n", "log\n1\n {}\n", "\n1\n{}\n"]
)
def test_an_invalid_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(UntrustedNoteError, match="checkpoint: expected"):
        parse_checkpoint(text.format(b64encode(bytes(32)).decode()))


@pytest.mark.parametrize(
    "altered", ["", "name", GO_KEY[:-1], GO_KEY.replace("c74f", "c74e"), GO_KEY.replace("Peter", "Pet er")]
)
def test_an_altered_verifier_key_is_refused(altered: str) -> None:
    with pytest.raises(InvalidInputError):
        parse_verifier(altered)


@pytest.mark.parametrize(("name", "kind"), [("a b", COSIGNATURE), ("a\u202eb", COSIGNATURE), ("log", 0), ("log", 2)])
def test_a_verifier_key_of_another_type_or_with_an_invalid_name_is_refused(name: str, kind: int) -> None:
    with pytest.raises(InvalidInputError):
        parse_verifier(str(NoteVerifier(name, LOG.verifier.public_key, kind)))


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b", "a\u202eb", "a\0b"])
def test_a_signer_with_an_invalid_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInputError, match="expected a name"):
        NoteSigner.from_seed(name, bytes(32))


def test_the_text_form_of_a_key_never_shows_it() -> None:
    verifier = NoteVerifier("name", Ed25519PublicKey.from_public_bytes(LOG.verifier.public_key.public_bytes_raw()))

    assert "private" not in repr(LOG).lower()
    assert str(verifier).startswith("name+")
