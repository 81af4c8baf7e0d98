"""Directories that belong to one living process.

A process creates its own directory and holds a lock on a file in it. The kernel releases the lock when the process
dies, however it dies. The next process that takes the lock owns the directory and its content.

A forked child would inherit the lock for as long as it lives, so it closes its descriptor at once.
"""

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Self
from weakref import WeakSet

from headwater.signing.secretfile import sync

_LOCK: Final = "lock"
_SET_ASIDE: Final = "damaged-"
_FOLDERS: Final = 3
"""Folders above a claimed directory that `sync` includes: those of its target, of all spools, and `HEADWATER_HOME`."""


_held: Final[WeakSet["Claim"]] = WeakSet()


class Claim:
    """A directory, ours until it is released or removed.

    Its name begins with its creation time, so that names sort by age.
    """

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd
        _held.add(self)

    @classmethod
    def create(cls, parent: Path) -> Self:
        """Create a new directory under `parent`. It gets its final name only once it is locked.

        Raises:
            OSError: the disk is full, read-only or does not support locks.
        """
        parent.mkdir(parents=True, exist_ok=True)
        name = f"{time.time_ns():020}-{os.getpid()}-{secrets.token_hex(4)}"
        unseen = parent / f".new-{name}"
        unseen.mkdir(mode=0o700)
        try:
            lock_fd = _lock(unseen, os.O_CREAT)
            try:
                unseen.rename(parent / name)
            except OSError:
                os.close(lock_fd)
                raise
        except OSError:
            shutil.rmtree(unseen, ignore_errors=True)
            raise
        return cls(parent / name, lock_fd)

    def release(self) -> None:
        """Leave the directory to the next process."""
        _held.discard(self)
        os.close(self._lock_fd)

    def sync(self) -> None:
        """Sync the directory entries: that it exists, and which files it has. The files' content is not synced.

        Raises:
            OSError: the disk fails.
        """
        for folder in (self.path, *self.path.parents[:_FOLDERS]):
            sync(folder)

    def leave_to_parent(self) -> None:
        """Close a forked child's copy of the lock; the parent still holds it."""
        os.close(self._lock_fd)

    def remove(self) -> None:
        """Delete the directory with all files in it."""
        for file in self.path.iterdir():
            if file.name != _LOCK:
                file.unlink()
        (self.path / _LOCK).unlink()
        with suppress(FileNotFoundError):  # another process may have removed it, now that it has no lock
            self.path.rmdir()
        self.release()

    def set_aside(self) -> Path:
        """Rename the directory so that no process claims it again and a person can inspect it; returns its new path."""
        aside = self.path.with_name(f"{_SET_ASIDE}{self.path.name}")
        self.path.rename(aside)
        self.release()
        return aside


def orphans(parent: Path) -> Iterator[Claim]:
    """Claim directories of dead processes under `parent`, oldest first; the caller releases or removes each.

    Raises:
        OSError: the disk fails, or one of them is another user's; raised after all others.
    """
    try:
        names = sorted(os.listdir(parent))
    except FileNotFoundError:
        return
    failure = None
    for name in (each for each in names if each[0].isdigit()):
        try:
            claim = _claimed(parent / name)
        except OSError as fault:
            failure = fault
            continue
        if claim is not None:
            yield claim
    if failure is not None:
        raise failure


def _claimed(path: Path) -> Claim | None:
    """A claim on an existing directory; None if its owner is alive, or removed it before we got the lock."""
    try:
        lock_fd = _lock(path)
    except FileNotFoundError:
        with suppress(OSError):
            path.rmdir()  # if it is empty, its owner was killed while removing it
        return None
    except (BlockingIOError, NotADirectoryError):
        return None
    try:
        if os.path.samestat(os.fstat(lock_fd), (path / _LOCK).stat()):
            return Claim(path, lock_fd)
    except FileNotFoundError:
        pass
    os.close(lock_fd)
    return None


def _lock(directory: Path, create: int = 0) -> int:
    lock_fd = os.open(directory / _LOCK, os.O_RDWR | create, 0o600)
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
