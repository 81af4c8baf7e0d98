"""The pinned key of a service's log: from the configuration, the environment, or as it was kept."""

from pathlib import Path

import pytest

from headwater.emit.log_keys import PinnedKey, keep_key, kept_path, pinned_key
from headwater.signing.note import COSIGNATURE, NoteSigner

FIRST, SECOND, THIRD = (NoteSigner.from_seed(name, bytes(32)).verifier for name in ("first", "second", "third"))
URL = "http://lineage.test:5000"
ENDPOINT = f"{URL}/api/v1/lineage"


def test_the_configuration_counts_before_the_environment_and_that_before_a_kept_key(tmp_path: Path) -> None:
    environ = {"HEADWATER_LOG_KEY": str(SECOND)}
    keep_key(tmp_path, URL, THIRD)

    found = [
        pinned_key(tmp_path, ENDPOINT, str(FIRST), environ),
        pinned_key(tmp_path, ENDPOINT, None, environ),
        pinned_key(tmp_path, ENDPOINT, None, {"HEADWATER_LOG_KEY": ""}),
    ]

    assert [(str(each.verifier), each.where) for each in found if each is not None] == [
        (str(FIRST), "lineage.http.log_key"),
        (str(SECOND), "HEADWATER_LOG_KEY"),
        (str(THIRD), str(kept_path(tmp_path))),
    ]


@pytest.mark.parametrize(
    ("kept_for", "endpoint", "is_same"),
    [
        ("http://localhost:5000", "http://127.0.0.1:5000/api/v1/lineage", True),
        ("http://127.0.0.1:5000/", "http://[::1]:5000/api/v1/lineage/", True),
        ("https://Lineage.Test", "https://lineage.test:443/api/v1/lineage?key=x", True),
        ("https://ann:secret@lineage.test/below/", "https://lineage.test/below/api/v1/lineage", True),
        ("https://lineage.test/below", "https://lineage.test/api/v1/lineage", False),
        ("https://lineage.test", "http://lineage.test/api/v1/lineage", False),
        ("http://lineage.test:5000", "http://lineage.test:5001/api/v1/lineage", False),
    ],
)
def test_a_kept_key_is_that_of_one_service_however_its_address_is_written(
    tmp_path: Path, kept_for: str, endpoint: str, is_same: bool
) -> None:
    keep_key(tmp_path, kept_for, FIRST)

    found = pinned_key(tmp_path, endpoint, environ={})

    assert (found is not None) == is_same
    assert "secret" not in kept_path(tmp_path).read_text()


def test_a_later_line_replaces_an_earlier_one_also_after_a_line_without_an_end(tmp_path: Path) -> None:
    kept_path(tmp_path).parent.mkdir()
    kept_path(tmp_path).write_text(f"# by hand\n\n{URL} {FIRST}\nhttp://other.test {THIRD}")

    keep_key(tmp_path, URL, SECOND)

    found = [pinned_key(tmp_path, each, environ={}) for each in (ENDPOINT, "http://other.test")]
    assert [str(each.verifier) for each in found if each is not None] == [str(SECOND), str(THIRD)]


@pytest.mark.parametrize("text", [f"{FIRST}", f"{URL} {FIRST} {SECOND}", f"{URL} first+00000000+AAAA", "\udcff"])
def test_a_damaged_file_pins_a_key_that_signs_nothing(tmp_path: Path, text: str) -> None:
    kept_path(tmp_path).parent.mkdir()
    kept_path(tmp_path).write_bytes(text.encode(errors="surrogateescape"))

    assert pinned_key(tmp_path, ENDPOINT, environ={}) == PinnedKey(None, str(kept_path(tmp_path)))


def test_a_witnesss_key_is_not_a_logs(tmp_path: Path) -> None:
    witness = str(NoteSigner.from_seed("witness", bytes(32), COSIGNATURE).verifier)

    assert pinned_key(tmp_path, ENDPOINT, witness) == PinnedKey(None, "lineage.http.log_key")


def test_without_any_pinned_key_there_is_none(tmp_path: Path) -> None:
    assert pinned_key(tmp_path, ENDPOINT, environ={}) is None
