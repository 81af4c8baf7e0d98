"""`access.yaml`, read when the service starts."""

from pathlib import Path

import pytest

from headwater.access.config import read_config
from headwater.access.entrance import entrance
from headwater.errors import SetupError

OIDC = "oidc: {issuer: https://id.example.org, audience: headwater, jwks: %s}"


def written(folder: Path, text: str) -> Path:
    path = folder / "access.yaml"
    path.write_text(text)
    return path


def test_a_file_of_keys_is_in_the_folder_of_access_yaml(tmp_path: Path) -> None:
    (tmp_path / "keys.jwks").write_text("{}")

    config = read_config(written(tmp_path, OIDC % "keys.jwks"))

    assert config.oidc is not None
    assert config.oidc.jwks == str(tmp_path / "keys.jwks")


def test_a_file_of_keys_that_does_not_exist_is_refused_with_what_is_expected(tmp_path: Path) -> None:
    with pytest.raises(
        SetupError, match=f"oidc.jwks: there is no file {tmp_path}/keys.jwks; expected the https:// URL"
    ):
        read_config(written(tmp_path, OIDC % "keys.jwks"))


@pytest.mark.parametrize(
    "url", ["https://id.example.org/keys", "http://localhost:8080/keys", "http://127.0.0.1/keys", "http://[::1]:8080/"]
)
def test_an_address_of_keys_is_not_asked_at_the_start(tmp_path: Path, url: str) -> None:
    config = read_config(written(tmp_path, OIDC % f"'{url}'"))

    assert config.oidc is not None
    assert config.oidc.jwks == url


@pytest.mark.parametrize(
    "url",
    ["http://id.example.org/keys", "HTTP://10.0.0.1/keys", "http://localhost.example.org/", "ftp://localhost/keys"],
)
def test_an_address_from_which_keys_could_be_forged_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(SetupError, match=r"access\.yaml: oidc\.jwks: expected an https:// URL, or a file"):
        read_config(written(tmp_path, OIDC % url))


def test_invalid_yaml_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"access\.yaml:3:1: not YAML: expected ',' or '\]'"):
        read_config(written(tmp_path, "oidc:\n  issuer: [a\n"))


def test_missing_rules_are_named_once(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, "policies: mine.cedar"))

    with pytest.raises(SetupError, match=f"^policies: {tmp_path}/mine.cedar: No such file or directory$"):
        entrance(config, tmp_path / "jwks.json", lambda: 0)
