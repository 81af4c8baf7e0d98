"""The key on disk: created once, readable for its owner only, and never replaced silently."""

import json
import uuid
from pathlib import Path

import pytest

from headwater.errors import SetupError
from headwater.signing.jwks import write_jwks
from headwater.signing.keyfile import key_path, load_or_create, next_key, replace_key, trusted_keys
from headwater.signing.keys import NodeKey, key_id
from headwater.signing.secretfile import write_whole

OTHER = NodeKey.from_seed("11111111-1111-1111-1111-111111111111", bytes(32))


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_the_first_use_creates_a_key_that_only_its_owner_can_read(tmp_path: Path) -> None:
    home = tmp_path / "not" / "yet"

    key = load_or_create(home)

    assert str(uuid.UUID(key.node_id)) == key.node_id
    assert key.key_id == key_id(key.node_id, key.public_key)
    assert _mode(key_path(home)) == 0o600
    assert _mode(key_path(home).parent) == 0o700
    assert [path.name for path in key_path(home).parent.iterdir()] == ["node.key"]


def test_every_later_use_finds_the_same_key(tmp_path: Path) -> None:
    first = load_or_create(tmp_path)

    second = load_or_create(tmp_path)

    assert second.key_id == first.key_id
    first.public_key.verify(second.sign(b"payload"), b"payload")


def test_two_homes_have_two_keys(tmp_path: Path) -> None:
    first, second = load_or_create(tmp_path / "one"), load_or_create(tmp_path / "other")

    assert first.node_id != second.node_id
    assert first.public_key != second.public_key


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_key_that_others_have_access_to_is_refused(tmp_path: Path, mode: int) -> None:
    load_or_create(tmp_path)
    key_path(tmp_path).chmod(mode)

    with pytest.raises(SetupError, match=r"run: chmod 600 .*node\.key"):
        load_or_create(tmp_path)


@pytest.mark.parametrize("mode", [0o770, 0o702])
def test_a_folder_in_which_others_can_replace_the_key_is_refused(tmp_path: Path, mode: int) -> None:
    load_or_create(tmp_path)
    key_path(tmp_path).parent.chmod(mode)

    with pytest.raises(SetupError, match=r"run: chmod 700 .*keys"):
        load_or_create(tmp_path)


def _another_seed(jwk: dict[str, str]) -> dict[str, str]:
    return {**jwk, "d": "A" * 43}


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda text: text[:-10],
        lambda _: b"[]",
        lambda _: b"null",
        lambda _: b'{"kid": 1, "d": 1}',
        lambda text: json.dumps(_another_seed(json.loads(text))).encode(),
        lambda text: text.replace(b'"d":"', b'"d":"\xc3\xa9'),
    ],
    ids=["empty", "cut off", "list", "null", "wrong types", "another seed", "not base64"],
)
def test_a_damaged_key_is_refused_and_not_changed(tmp_path: Path, damage: object) -> None:
    load_or_create(tmp_path)
    assert callable(damage)
    damaged = damage(key_path(tmp_path).read_bytes())
    key_path(tmp_path).write_bytes(damaged)

    with pytest.raises(SetupError, match="is damaged") as refusal:
        load_or_create(tmp_path)

    assert key_path(tmp_path).read_bytes() == damaged
    assert refusal.value.__cause__ is None


def test_a_home_where_no_key_can_be_created_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(
        SetupError, match=r"cannot create or read the node key .*: Not a directory; let this user .* HEADWATER_HOME"
    ):
        load_or_create(tmp_path / "file" / "home")


def test_a_node_trusts_itself_even_before_its_first_event(tmp_path: Path) -> None:
    trusted = trusted_keys(tmp_path)

    assert list(trusted) == [load_or_create(tmp_path).key_id]


def test_a_node_trusts_the_key_sets_in_the_folder_of_its_key(tmp_path: Path) -> None:
    own = load_or_create(tmp_path)
    (tmp_path / "keys" / "colleagues.jwks").write_text(write_jwks({OTHER.key_id: OTHER.public_key}))

    assert trusted_keys(tmp_path) == {own.key_id: own.public_key, OTHER.key_id: OTHER.public_key}


@pytest.mark.parametrize("content", [b"{", b"\xff", b'{"keys": [{"kty": "OKP", "crv": "Ed25519"}]}'])
def test_a_key_set_that_cannot_be_read_is_not_ignored(tmp_path: Path, content: bytes) -> None:
    load_or_create(tmp_path)
    (tmp_path / "keys" / "broken.jwks").write_bytes(content)

    with pytest.raises(SetupError, match=r"cannot read the trusted keys in .*broken\.jwks"):
        trusted_keys(tmp_path)


def test_the_next_key_is_created_once_for_the_node_and_replaces_the_old_one(tmp_path: Path) -> None:
    old = load_or_create(tmp_path)

    first, second = next_key(tmp_path), next_key(tmp_path)
    before = load_or_create(tmp_path)
    replace_key(tmp_path)

    assert first.key_id == second.key_id != old.key_id == before.key_id
    assert first.node_id == old.node_id
    assert load_or_create(tmp_path).key_id == first.key_id
    assert next_key(tmp_path).key_id != first.key_id


def test_a_next_key_of_another_node_is_not_the_next_key_of_this_one(tmp_path: Path) -> None:
    load_or_create(tmp_path)
    before = next_key(tmp_path)
    key_path(tmp_path).unlink()
    own = load_or_create(tmp_path)

    following = next_key(tmp_path)

    assert following.node_id == own.node_id != before.node_id


def test_replaced_keys_stay_trusted_without_their_private_halves(tmp_path: Path) -> None:
    keys = [load_or_create(tmp_path)]
    for _ in range(2):
        keys.append(next_key(tmp_path))
        replace_key(tmp_path)

    assert trusted_keys(tmp_path) == {key.key_id: key.public_key for key in keys}
    assert '"d"' not in (tmp_path / "keys" / "replaced.jwks").read_text()


def test_a_key_is_not_replaced_if_those_before_it_cannot_be_read(tmp_path: Path) -> None:
    old = load_or_create(tmp_path)
    next_key(tmp_path)
    (tmp_path / "keys" / "replaced.jwks").write_text("{")

    with pytest.raises(SetupError, match=r"cannot read the trusted keys in .*replaced\.jwks"):
        replace_key(tmp_path)

    assert load_or_create(tmp_path).key_id == old.key_id


def test_a_file_that_cannot_be_replaced_leaves_nothing_else_behind(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").mkdir()

    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path / "checkpoint", [b"a head"])

    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]
