"""Files that only their owner may read: created atomically, or replaced atomically."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from headwater.errors import SetupError

UNFINISHED: Final = ".writing-"
"""How the names of files begin that `write_whole` has not completed; a killed process leaves one."""
_READ_OR_WRITE: Final = 0o077  # of group and others
_WRITE: Final = 0o022


def create_once(path: Path, text: bytes) -> None:
    """Create the file unless it exists; of concurrent calls, one succeeds. The file is on disk on return.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its file counts
            os.link(unfinished, path)  # unlike a rename, a link never replaces
    finally:
        os.unlink(unfinished)
    sync(path.parent)


def replace(path: Path, by: Path) -> None:
    """Replace one file by the other; on disk on return.

    Raises:
        OSError: one of them does not exist, or the folder cannot be written to.
    """
    os.replace(by, path)
    sync(path.parent)


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Create or replace the file atomically; it is complete and on disk on return.

    Raises:
        OSError: the disk is full, or the folder cannot be written to; then nothing is left there.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(prefix=UNFINISHED, dir=path.parent)  # 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        replace(path, Path(unfinished))
    finally:
        Path(unfinished).unlink(missing_ok=True)


def read_own(path: Path) -> bytes:
    """Read the file after checking that only its owner has access.

    Raises:
        SetupError: others have access to it, or to its folder; the message says what to do.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        _refuse_others(os.fstat(file.fileno()).st_mode & _READ_OR_WRITE, path, "600")
        _refuse_others(path.parent.stat().st_mode & _WRITE, path.parent, "700")
        return file.read()


def sync(path: Path) -> None:
    """Sync a file's content, or a folder's entries, to disk.

    Raises:
        OSError: it does not exist, or the disk fails.
    """
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _refuse_others(access: int, path: Path, mode: str) -> None:
    if access:
        raise SetupError(f"other users have access to {path}, which must be private; run: chmod {mode} {path}")
