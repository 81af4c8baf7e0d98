"""Python environments of parts."""

import sys
from pathlib import Path

import pytest

from headwater.errors import SetupError
from headwater.lab import environments
from headwater.lab.lab import LABS


def test_every_part_with_an_environment_of_its_own_has_a_lock_with_hashes() -> None:
    locks = [environments.lock_of(part.python) for parts in LABS.values() for part in parts if part.python]

    assert locks
    assert all("--hash=sha256:" in lock.read_text() for lock in locks)


def test_a_changed_lock_is_installed_again_and_the_environment_has_nothing_of_ours(tmp_path: Path) -> None:
    lock = tmp_path / "jvm" / "part" / "requirements.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("# nothing\n")
    before = environments.is_created("part", tmp_path)
    environments.make("part", tmp_path)
    created = environments.is_created("part", tmp_path)

    lock.write_text("# nothing else\n")

    assert (before, created, environments.is_created("part", tmp_path)) == (False, True, False)
    assert not (environments.packages_of("part", tmp_path) / "headwater").exists()
    assert (environments.folder_of("part", tmp_path) / "bin" / "python").resolve() == Path(sys.executable).resolve()


def test_an_environment_of_another_python_is_made_anew(tmp_path: Path) -> None:
    lock = tmp_path / "jvm" / "part" / "requirements.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("# nothing\n")
    environments.make("part", tmp_path)
    of_this = environments.packages_of("part", tmp_path).parent
    of_this.rename(of_this.with_name("python3.9"))

    assert not environments.is_created("part", tmp_path)


def test_a_package_that_cannot_be_installed_is_told_with_the_lock_that_names_it(tmp_path: Path) -> None:
    lock = tmp_path / "jvm" / "part" / "requirements.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("nowhere @ file:///nowhere --hash=sha256:" + "0" * 64 + "\n")

    with pytest.raises(SetupError, match=r"cannot install the packages in .*part/requirements\.lock"):
        environments.make("part", tmp_path)

    assert not environments.is_created("part", tmp_path)


def test_without_the_projects_sources_the_missing_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"needs Headwater's sources .*requirements\.lock is missing"):
        environments.lock_of("part", tmp_path)
