"""Python environments of parts."""

import sys
from collections.abc import Iterator
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
    lock = _lock(tmp_path, "# nothing\n")
    before = environments.is_created("part", tmp_path)
    environments.make("part", tmp_path)
    created = environments.is_created("part", tmp_path)

    lock.write_text("# nothing else\n")

    assert (before, created, environments.is_created("part", tmp_path)) == (False, True, False)
    assert not (environments.packages_of("part", tmp_path) / "headwater").exists()
    assert (environments.folder_of("part", tmp_path) / "bin" / "python").resolve() == Path(sys.executable).resolve()


def test_an_environment_whose_python_was_removed_counts_as_not_created(tmp_path: Path) -> None:
    _lock(tmp_path, "# nothing\n")
    environments.make("part", tmp_path)
    python = environments.folder_of("part", tmp_path) / "bin" / "python"
    python.unlink()
    python.symlink_to(tmp_path / "removed")

    assert not environments.is_created("part", tmp_path)


def test_packages_that_do_not_support_this_python_get_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lock(tmp_path, "# nothing\n")
    older = sys.version_info.minor - 1
    monkeypatch.setattr(environments, "_OLDEST_MINOR", older - 1)
    broken = tmp_path / f"python3.{older}"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    works = tmp_path / f"python3.{older - 1}"
    works.symlink_to(getattr(sys, "_base_executable", sys.executable))
    monkeypatch.setenv("PATH", str(tmp_path))

    environments.make("part", tmp_path, newest_minor=older)

    python = environments.folder_of("part", tmp_path) / "bin" / "python"
    assert tmp_path / works.name in (python.parent / each.readlink() for each in _links(python))
    assert environments.is_created("part", tmp_path)


def test_packages_that_support_no_installed_python_are_refused_with_the_versions_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lock(tmp_path, "# nothing\n")
    older = sys.version_info.minor - 1
    monkeypatch.setattr(environments, "_OLDEST_MINOR", older)
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SetupError, match=rf"part do not support Python 3\.\d+: install one of python3\.{older}, then"):
        environments.make("part", tmp_path, newest_minor=older)


def test_a_package_that_cannot_be_installed_is_reported_with_its_lock(tmp_path: Path) -> None:
    _lock(tmp_path, "nowhere @ file:///nowhere --hash=sha256:" + "0" * 64 + "\n")

    with pytest.raises(SetupError, match=r"cannot install the packages in .*part/requirements\.lock"):
        environments.make("part", tmp_path)

    assert not environments.is_created("part", tmp_path)


def test_without_the_projects_sources_the_missing_lock_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"needs Headwater's sources .*requirements\.lock is missing"):
        environments.lock_of("part", tmp_path)


def _lock(project: Path, text: str) -> Path:
    """Write the lock of a part."""
    lock = project / "jvm" / "part" / "requirements.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text(text)
    return lock


def _links(path: Path) -> Iterator[Path]:
    """The link, and the further links that it leads to."""
    while path.is_symlink():
        yield path
        path = path.parent / path.readlink()
