"""The parts' jars: fetched by Maven once, into the project's `build/` folder."""

import shutil
import subprocess
from pathlib import Path
from typing import Final

from headwater.errors import SetupError
from headwater.lab import once
from headwater.lab.once import PROJECT

_DONE: Final = "fetched"


def pom_of(part: str, project: Path = PROJECT) -> Path:
    """The pom that defines a part's jars.

    Raises:
        SetupError: there is none, for instance if Headwater was installed without its sources.
    """
    return once.source_of(part, "pom.xml", project)


def is_fetched(part: str, project: Path = PROJECT) -> bool:
    """Whether the jars are complete and match the current pom."""
    return once.is_done(folder_of(part, project) / _DONE, pom_of(part, project))


def folder_of(part: str, project: Path = PROJECT) -> Path:
    """The folder of a part's jars, which may not exist yet."""
    return project / "build" / "lab" / part


def fetch(part: str, project: Path = PROJECT) -> None:
    """Fetch the part's jars with Maven; an incomplete fetch is removed first.

    Raises:
        SetupError: Maven is missing, it failed, or the folder cannot be created.
    """
    pom, folder = pom_of(part, project), folder_of(part, project)
    maven = shutil.which("mvn")
    if maven is None:
        raise SetupError("Maven (mvn) is missing: install it; the lab downloads its servers with it")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
    except OSError as fault:
        raise SetupError(f"cannot create {folder}: {fault.strerror}; let this user write there") from fault
    quiet = ("--batch-mode", "--quiet", "--no-transfer-progress")
    done = subprocess.run(  # noqa: S603
        [maven, *quiet, "-f", str(pom), f"-DoutputDirectory={folder}"], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        first = next((line for line in done.stdout.splitlines() if "[ERROR]" in line), "no error message")
        free = shutil.disk_usage(folder).free // 1_000_000
        raise SetupError(
            f"Maven cannot download the artifacts in {pom} ({free} MB of disk are free): {first.strip()[:400]}"
        )
    once.done(folder / _DONE, pom)
