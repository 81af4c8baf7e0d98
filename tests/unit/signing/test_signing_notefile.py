"""The key of a log on disk: created once, under a name that does not change."""

from pathlib import Path

import pytest

from headwater.errors import InvalidInputError, SetupError
from headwater.signing.note import COSIGNATURE, ED25519
from headwater.signing.notefile import log_key, witness_key


def test_the_first_use_creates_a_key_and_later_ones_read_it(tmp_path: Path) -> None:
    first = log_key(tmp_path, None, "here.example.org")

    later = log_key(tmp_path, None, "elsewhere.example.org")

    assert str(later.verifier) == str(first.verifier)
    assert first.verifier.name == "here.example.org"
    assert (tmp_path / "keys" / "log.key").stat().st_mode & 0o777 == 0o600


def test_a_requested_name_is_used_and_cannot_be_changed(tmp_path: Path) -> None:
    log_key(tmp_path, "lineage.example.org", "here")

    assert log_key(tmp_path, "lineage.example.org", "here").verifier.name == "lineage.example.org"
    with pytest.raises(SetupError, match=r"signs as lineage\.example\.org, which cannot be changed to other"):
        log_key(tmp_path, "other", "here")


def test_a_name_that_is_not_valid_in_a_note_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="expected a name"):
        log_key(tmp_path, "a log", "here")


def test_a_log_and_a_witness_have_separate_keys(tmp_path: Path) -> None:
    log, witness = log_key(tmp_path, None, "here"), witness_key(tmp_path, None, "here")

    assert (log.verifier.kind, witness.verifier.kind) == (ED25519, COSIGNATURE)
    assert log.verifier.public_key != witness.verifier.public_key


@pytest.mark.parametrize("text", ["", "{}", '{"kid":"here","d":"AA","x":""}', "[]"])
def test_a_damaged_key_is_refused(tmp_path: Path, text: str) -> None:
    log_key(tmp_path, None, "here")
    (tmp_path / "keys" / "log.key").write_text(text)

    with pytest.raises(SetupError, match="is damaged: restore it"):
        log_key(tmp_path, None, "here")


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    log_key(tmp_path, None, "here")
    (tmp_path / "keys" / "log.key").chmod(0o644)

    with pytest.raises(SetupError, match="chmod 600"):
        log_key(tmp_path, None, "here")


def test_a_key_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("a file in the folder's place")

    with pytest.raises(SetupError, match=r"cannot create or read the key .* HEADWATER_HOME"):
        log_key(tmp_path, None, "here")
