"""Marks of a folder's installation from a source file, to repeat it only when that file has changed."""

from hashlib import sha256
from pathlib import Path
from typing import Final

import headwater
from headwater.errors import SetupError

PROJECT: Final = Path(headwater.__file__).parents[2]


def source_of(part: str, name: str, project: Path) -> Path:
    """The file `name` among the sources of a part.

    Raises:
        SetupError: there is none, for instance if Headwater was installed without its sources.
    """
    source = project / "jvm" / part / name
    if not source.is_file():
        raise SetupError(
            f"the lab needs Headwater's sources ({source} is missing): clone the project and run `make setup`"
        )
    return source


def is_done(mark: Path, source: Path) -> bool:
    """Whether the file `mark` says that the installation is complete for the current `source`."""
    return mark.is_file() and mark.read_text() == _digest(source)


def done(mark: Path, source: Path) -> None:
    """Write `mark`; to be called as the last step of an installation."""
    mark.write_text(_digest(source))


def _digest(source: Path) -> str:
    return sha256(source.read_bytes()).hexdigest()
