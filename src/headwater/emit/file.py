"""Events into a JSONL file, one per line, rotated by size.

Several processes may write to one file. Each holds the file's lock while it writes a line, which makes rotation safe. A
reader needs no lock; its last line may be a part of one, until a line break follows.

The file is synced when it is rotated, by `Emitter.secure`, and when the transport closes. Acknowledged events therefore
survive the death of the process, but a power cut may take the last lines.
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Final

from headwater.emit.config import FileConfig
from headwater.emit.transport import Acknowledged, Outcome, Refused, Unavailable
from headwater.signing.secretfile import sync

_MODE: Final = 0o640
_OPEN_TRIES: Final = 10
_MB: Final = 1 << 20


class FileTransport:
    """Appends events to a file.

    A full file is renamed to `<stem>-<UTC time>-<number><suffix>` beside it; no name is ever used twice.
    """

    name: Final = "file"

    def __init__(self, config: FileConfig, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._path = config.path.absolute()
        self._max_bytes = int(config.rotation_size_mb * _MB)
        self._now = now
        self._fd: int | None = None

    @property
    def target(self) -> str:
        """The file's absolute path."""
        return str(self._path)

    def send_batch(self, events: Sequence[bytes]) -> Sequence[Outcome]:
        """Append the events."""
        outcomes: list[Outcome] = []
        for event in events:
            outcomes.append(self.send(event))
            if isinstance(outcomes[-1], Unavailable):
                break
        return outcomes

    def send(self, event: bytes) -> Outcome:
        """Append the event; if the disk takes only a part of the line, that part is removed."""
        if b"\n" in event or b"\r" in event:
            return Refused("the event holds a line break")
        try:
            fd = self._locked(len(event) + 1)
            try:
                _append_line(fd, event)
            finally:
                fcntl.flock(fd, fcntl.LOCK_UN)
        except OSError as failure:
            self.close()
            return Unavailable(f"{failure.strerror or type(failure).__name__}: {self._path}")
        except ValueError:  # no system call takes it
            return Unavailable(f"the path contains a null character: {self.target!r}")
        return Acknowledged()

    def sync(self) -> bool:
        """Sync the file, with the lines of other processes too; False if that fails. Any thread may call it."""
        try:
            for path in (self._path, self._path.parent):
                sync(path)
        except FileNotFoundError:
            return True  # nothing was appended, or the file was rotated away, and synced by that
        except (OSError, ValueError):  # as in `send`
            return False
        return True

    def close(self) -> None:
        """Sync and close the file."""
        if self._fd is not None:
            fd, self._fd = self._fd, None
            _sync_and_close(fd)

    def _locked(self, incoming_bytes: int) -> int:
        """The current file at our path, locked, with room for the incoming bytes unless it is empty."""
        while True:
            if self._fd is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._fd = _open(self._path)
            fcntl.flock(self._fd, fcntl.LOCK_EX)
            if self._is_elsewhere(self._fd):
                self.close()
                continue
            size = os.fstat(self._fd).st_size
            if size == 0 or size + incoming_bytes <= self._max_bytes:
                return self._fd
            self._path.rename(self._unused_name())
            self.close()

    def _is_elsewhere(self, fd: int) -> bool:
        """Whether the file at our path is another one now: it was rotated by another process, or removed."""
        try:
            return not os.path.samestat(os.fstat(fd), self._path.stat())
        except FileNotFoundError:
            return True

    def _unused_name(self) -> Path:
        time = f"{self._now().astimezone(UTC):%Y%m%dT%H%M%SZ}"
        names = (self._path.with_name(f"{self._path.stem}-{time}-{n:04}{self._path.suffix}") for n in count(1))
        return next(name for name in names if not name.exists())


def _open(path: Path) -> int:
    """Open the file or create it; retries if another process rotates it away in between."""
    flags = os.O_RDWR | os.O_APPEND
    for _ in range(_OPEN_TRIES):
        try:
            fd = os.open(path, flags | os.O_CREAT | os.O_EXCL, _MODE)
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                return os.open(path, flags)
        else:
            os.fchmod(fd, _MODE)  # whatever the umask says
            return fd
    return os.open(path, flags)


def _append_line(fd: int, event: bytes) -> None:
    """Write one line at the end of the locked file; a partial line left by a crash is terminated first."""
    size = os.fstat(fd).st_size
    is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
    line = (b"\n" if is_torn else b"") + event + b"\n"
    if os.write(fd, line) < len(line):
        os.ftruncate(fd, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _sync_and_close(fd: int) -> None:
    with contextlib.suppress(OSError):  # a device that cannot be synced; on a failing disk the next write fails
        os.fsync(fd)
    os.close(fd)
