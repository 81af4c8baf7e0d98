"""Where a full queue runs over: unsigned events in a file, until the worker gets to them.

The caller of `put` pays one `write` into the page cache for an event here; it never waits for the service, nor for the
worker. While events are in the overflow all later ones go there too, so the order of the puts is kept.
"""

import errno
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from headwater.emit.claim import Claim, orphans
from headwater.emit.spool import Outgoing

BATCH: Final = 256
"""How many events the worker takes at once."""

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class Overflow:
    """A file that callers append to and the worker takes away.

    A signal handler may put an event while the thread that it interrupted is inside `append`: the lock is reentrant,
    and the append that was interrupted writes the handler's event after its own.

    `wake` is called when the first event begins to wait here; `lose` for each event that the disk does not take whole,
    or that would make the overflow larger than a spool may be. Nothing of such an event is kept.
    """

    def __init__(self, directory: Path, max_bytes: int, wake: Callable[[], None], lose: Callable[[], None]) -> None:
        self._claim = Claim.create(directory)
        self._max_bytes = max_bytes
        self._wake = wake
        self._lose = lose
        self._lock = threading.RLock()
        self._unwritten: deque[bytes] = deque()
        self._is_writing = False
        self._fd: int | None = None
        self._bytes = 0
        self._files = 0

    @property
    def is_active(self) -> bool:
        """Whether events are waiting here, so that the next one must wait behind them."""
        return self._fd is not None

    def append(self, outgoing: Outgoing) -> None:
        """Write the event down, after all that were appended before."""
        with self._lock:
            self._unwritten.append(_line(outgoing))
            while self._unwritten and not self._is_writing:
                self._is_writing = True
                try:
                    if self._unwritten:  # else a handler wrote it, between the two checks
                        self._write(self._unwritten.popleft())
                except OSError:
                    self._lose()
                finally:
                    self._is_writing = False

    def take(self) -> Iterator[list[Outgoing]]:
        """The events that wait here, in batches, oldest first.

        Their file is deleted once the iterator is exhausted: not before the last batch has been dealt with.
        """
        with self._lock:
            if self._fd is None:
                return
            os.close(self._fd)
            path = self._path()
            self._fd, self._bytes, self._files = None, 0, self._files + 1
        yield from _batches(path)
        path.unlink()

    def close(self) -> None:
        """Delete what is empty; events that nobody took stay for the next process."""
        with self._lock:
            # A worker that was stuck may look in later: by then the number is another file's.
            fd, self._fd = self._fd, None
            if fd is None:
                self._claim.remove()
            else:
                os.close(fd)
                self._claim.release()

    def _write(self, line: bytes) -> None:
        if self._bytes + len(line) > self._max_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        if self._fd is None:
            self._fd = os.open(self._path(), _FLAGS, 0o600)
            self._wake()
        if os.write(self._fd, line) < len(line):
            os.ftruncate(self._fd, self._bytes)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._bytes += len(line)

    def _path(self) -> Path:
        return self._claim.path / f"{self._files:06}.events"


def left_behind(directory: Path) -> Iterator[list[Outgoing]]:
    """The events that dead processes left in their overflows, in batches; each is deleted as in `Overflow.take`."""
    for claim in orphans(directory):
        for path in sorted(claim.path.glob("*.events")):
            yield from _batches(path)
        claim.remove()


def _line(outgoing: Outgoing) -> bytes:
    # A line break in JSON is white space; the signer writes none.
    return b"%r %b\n" % (outgoing.put_at, outgoing.body.replace(b"\n", b" "))


def _batches(path: Path) -> Iterator[list[Outgoing]]:
    with path.open("rb") as lines:
        # A line without its end was cut short by a kill: its put never returned.
        whole = (line[:-1] for line in lines if line.endswith(b"\n"))
        while batch := [_outgoing(line) for line in islice(whole, BATCH)]:
            yield batch


def _outgoing(line: bytes) -> Outgoing:
    put_at, _, body = line.partition(b" ")
    try:
        return Outgoing(float(put_at), body)
    except ValueError:
        return Outgoing(0.0, line)  # damaged on the disk: the signer will refuse it, and it will be counted
