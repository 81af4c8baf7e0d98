"""Python environments of parts that conflict with Headwater's own: created once, in the project's `build/` folder."""

import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

from headwater.errors import SetupError
from headwater.lab import once
from headwater.lab.once import PROJECT

_DONE: Final = "made"


def lock_of(part: str, project: Path = PROJECT) -> Path:
    """The file with the environment's requirements and their hashes.

    Raises:
        SetupError: there is none, for instance if Headwater was installed without its sources.
    """
    return once.source_of(part, "requirements.lock", project)


def is_created(part: str, project: Path = PROJECT) -> bool:
    """Whether the environment is complete, of this Python version, and matches the current lock."""
    is_complete = once.is_done(folder_of(part, project) / _DONE, lock_of(part, project))
    return is_complete and packages_of(part, project).is_dir()


def folder_of(part: str, project: Path = PROJECT) -> Path:
    """The folder of a part's environment, which may not exist yet."""
    return project / "build" / "lab" / f"{part}-python"


def packages_of(part: str, project: Path = PROJECT) -> Path:
    """The `site-packages` folder of a part's environment."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder_of(part, project) / "lib" / version / "site-packages"


def make(part: str, project: Path = PROJECT) -> None:
    """Install exactly the packages of the part's lock; an incomplete installation is removed first.

    Raises:
        SetupError: a package could not be installed.
    """
    lock, folder = lock_of(part, project), folder_of(part, project)
    shutil.rmtree(folder, ignore_errors=True)
    uv = Path(sys.executable).with_name("uv")
    venv.create(folder, with_pip=not uv.exists(), symlinks=True)
    python = str(folder / "bin" / "python")
    # uv shares files between environments: half a minute for 330 MB, and no time at all for the next project's.
    installer = [str(uv), "pip", "install", "--python", python] if uv.exists() else [python, "-m", "pip", "install"]
    arguments = ["--quiet", "--no-deps", "--require-hashes", "-r", str(lock)]
    done = subprocess.run([*installer, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        raise SetupError(f"cannot install the packages in {lock}: {done.stderr.strip()[-400:]}")
    once.done(folder / _DONE, lock)
