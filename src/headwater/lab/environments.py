"""Python environments of parts that conflict with Headwater's own: created once, in the project's `build/` folder."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from headwater.errors import SetupError
from headwater.lab import once
from headwater.lab.once import PROJECT

_DONE: Final = "made"
_PACKAGES: Final = "packages"
_OLDEST_MINOR: Final = 11
"""Of Python 3, as in pyproject.toml."""


def lock_of(part: str, project: Path = PROJECT) -> Path:
    """The file with the environment's requirements and their hashes.

    Raises:
        SetupError: there is none, for instance if Headwater was installed without its sources.
    """
    return once.source_of(part, "requirements.lock", project)


def is_created(part: str, project: Path = PROJECT) -> bool:
    """Whether the environment is complete, matches the current lock, and its Python is still on this machine."""
    folder = folder_of(part, project)
    is_complete = once.is_done(folder / _DONE, lock_of(part, project)) and packages_of(part, project).is_dir()
    return is_complete and (folder / "bin" / "python").exists()


def folder_of(part: str, project: Path = PROJECT) -> Path:
    """The folder of a part's environment, which may not exist yet."""
    return project / "build" / "lab" / f"{part}-python"


def packages_of(part: str, project: Path = PROJECT) -> Path:
    """The packages of a part's environment: a link to its `site-packages`, whatever its Python version."""
    return folder_of(part, project) / _PACKAGES


def make(part: str, project: Path = PROJECT, *, newest_minor: int | None = None) -> None:
    """Install exactly the packages of the part's lock; an incomplete installation is removed first.

    `newest_minor` is the newest Python 3 that the packages support: Headwater's own Python is used unless it is newer.

    Raises:
        SetupError: this machine has no such Python, or a package could not be installed.
    """
    lock, folder = lock_of(part, project), folder_of(part, project)
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    interpreter = sys.executable if newest_minor is None else _interpreter(part, newest_minor)
    _run([interpreter, "-m", "venv", *(["--without-pip"] if uv.exists() else []), str(folder)], f"create {folder}")
    python = str(folder / "bin" / "python")
    # uv shares files between environments: half a minute for 330 MB, and no time at all for the next project's.
    installer = [str(uv), "pip", "install", "--python", python] if uv.exists() else [python, "-m", "pip", "install"]
    arguments = ["--quiet", "--no-deps", "--require-hashes", "-r", str(lock)]
    _run([*installer, *arguments], f"install the packages in {lock}")
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (folder / _PACKAGES).symlink_to(site_packages.relative_to(folder))
    once.done(folder / _DONE, lock)


def _interpreter(part: str, newest_minor: int) -> str:
    """This Python, or the newest one on the PATH that is not newer than that."""
    if sys.version_info.minor <= newest_minor:
        return sys.executable
    names = [f"python3.{minor}" for minor in range(newest_minor, _OLDEST_MINOR - 1, -1)]
    for path in filter(None, map(shutil.which, names)):
        if subprocess.run([path, "-c", "import venv"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return path
    raise SetupError(
        f"the packages of {part} do not support Python 3.{sys.version_info.minor}:"
        f" install one of {', '.join(names)}, then try again"
    )


def _run(command: list[str], purpose: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise SetupError(f"cannot {purpose}: {(done.stderr or done.stdout).strip()[-400:]}")
