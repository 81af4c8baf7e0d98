"""Directories that belong to one living process.

A process makes a directory of its own and holds a lock on a file in it. The kernel drops the lock when the process
dies, however it dies; then whoever takes the lock next owns the directory and what is in it.

A forked child would hold the lock as well, for as long as it lives: it lets go of it at once.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Self
from weakref import WeakSet

_LOCK: Final = "lock"
_SET_ASIDE: Final = "damaged-"
_FOLDERS: Final = 3
"""Above a claimed directory: those of its target, of all spools, and of this machine's own things."""


_held: Final[WeakSet["Claim"]] = WeakSet()


class Claim:
    """A directory, ours until it is released or removed.

    Its name begins with the time of its making, so that names sort by age.
    """

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd
        _held.add(self)

    @classmethod
    def create(cls, parent: Path) -> Self:
        """Make a new directory under `parent`. Nobody sees it before it is locked.

        Raises:
            OSError: the disk is full, read-only or knows no locks.
        """
        parent.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020}-{os.getpid()}-{secrets.token_hex(4)}"
        unseen = parent / f".new-{name}"
        unseen.mkdir(mode=0o700)
        try:
            lock_fd = _lock(unseen, os.O_CREAT)
            unseen.rename(parent / name)
        except OSError:
            shutil.rmtree(unseen, ignore_errors=True)
            raise
        return cls(parent / name, lock_fd)

    def release(self) -> None:
        """Leave the directory to whoever comes next."""
        _held.discard(self)
        os.close(self._lock_fd)

    def sync(self) -> None:
        """Have the disk keep that the directory is there, with what files it has; what is in these is not synced.

        Raises:
            OSError: the disk fails.
        """
        for folder in (self.path, *self.path.parents[:_FOLDERS]):
            sync(folder)

    def leave_to_parent(self) -> None:
        """Have a forked child hold nothing; that the parent holds it stays as it is."""
        os.close(self._lock_fd)

    def remove(self) -> None:
        """Delete the directory with all files in it."""
        for file in self.path.iterdir():
            if file.name != _LOCK:
                file.unlink()
        (self.path / _LOCK).unlink()
        self.path.rmdir()
        self.release()

    def set_aside(self) -> Path:
        """Rename the directory so that nobody claims it again, for a person to look at; returns where it is now."""
        aside = self.path.with_name(f"{_SET_ASIDE}{self.path.name}")
        self.path.rename(aside)
        self.release()
        return aside


def orphans(parent: Path) -> Iterator[Claim]:
    """Claim what dead processes left under `parent`, the oldest first; each is the caller's to release or remove."""
    try:
        names = sorted(os.listdir(parent))
    except FileNotFoundError:
        return
    for name in names:
        if name[0].isdigit() and (claim := _claimed(parent / name)) is not None:
            yield claim


def sync(path: Path) -> None:
    """Have the disk keep a file, or which files a folder has.

    Raises:
        OSError: it is not there, or the disk fails.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _claimed(path: Path) -> Claim | None:
    """A claim on an existing directory; None if its owner lives, or took it away before we had the lock."""
    try:
        lock_fd = _lock(path)
    except (BlockingIOError, FileNotFoundError, NotADirectoryError):
        return None
    try:
        if os.path.samestat(os.fstat(lock_fd), (path / _LOCK).stat()):
            return Claim(path, lock_fd)
    except FileNotFoundError:
        pass
    os.close(lock_fd)
    return None


def _lock(directory: Path, create: int = 0) -> int:
    lock_fd = os.open(directory / _LOCK, os.O_RDWR | os.O_CLOEXEC | create, 0o600)
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock_fd)
        raise
    return lock_fd


def _in_child() -> None:
    while _held:
        _held.pop().leave_to_parent()


os.register_at_fork(after_in_child=_in_child)
