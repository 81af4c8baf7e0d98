"""The overflow of a full queue: unsigned events in a file, until the worker gets to them.

For an event here the caller of `put` pays one `write` into the page cache; it never waits for the service or the
worker. While the overflow has events, all later ones go there too, which keeps the order of the puts.

An event is signed only once: a progress file beside the overflow says up to where it was signed, and holds the last
signed batch until that has been passed on. After a kill the next process passes on the same bytes, which a service
stores once.

If the disk does not return a part of the file, the rest is passed on, and the file is kept for a person to inspect.
"""

import errno
import io
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from headwater.emit.claim import Claim, orphans
from headwater.emit.lines import NOT_RETURNED, Line, lines_of
from headwater.emit.spool import Outgoing

log = logging.getLogger(__name__)

BATCH: Final = 256
"""How many events the worker takes at once."""

_DAMAGED: Final = ".damaged"
"""The end of the name of a file of which a part cannot be read; it is empty until the rest was passed on."""

_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL


def _keep_nothing(_: Sequence[Outgoing]) -> None:
    """For batches from memory, which have no progress file."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that the worker handles together.

    Attributes:
        is_signed: a killed process signed them, and perhaps passed them on: they go out as they are.
        keep: persists the signed events; to be called before any of them goes out. Raises OSError if the disk fails.
    """

    events: Sequence[Outgoing]
    is_signed: bool = False
    keep: Callable[[Sequence[Outgoing]], None] = _keep_nothing


class Overflow:
    """A file that callers append to and the worker consumes.

    A signal handler may put an event while the thread it interrupted is inside `append`: the lock is reentrant, and the
    interrupted append writes the handler's event after its own.

    `wake` is called when the overflow gets its first event. `lose` is called for each event that the disk does not take
    whole, or that would exceed the spool's size limit; nothing of such an event is kept.
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
        self._number = 1
        """Of the current file: odd ones are written here, and `close` may write the even one before."""
        self._unfinished = 0
        """How many files there are besides the current one: taken by the worker and unfinished, or ended by `close`."""

    @property
    def is_active(self) -> bool:
        """Whether events wait here, so that the next one must queue behind them."""
        return self._fd is not None

    def append(self, outgoing: Outgoing) -> None:
        """Append the event to the file, after all earlier ones."""
        with self._lock:
            self._unwritten.append(_line(outgoing))
            while self._unwritten and not self._is_writing:
                self._is_writing = True
                try:
                    if self._unwritten:  # else a signal handler wrote it between the two checks
                        self._write(self._unwritten.popleft())
                except OSError:
                    self._lose()
                finally:
                    self._is_writing = False

    def take(self) -> Generator[Batch]:
        """The waiting events in batches, oldest first; asking for the next confirms that the last was passed on.

        The file is deleted once all were passed on. If the consumer stops early, the rest is for the next process.
        """
        with self._lock:
            if self._fd is None:
                return
            os.close(self._fd)
            path = self._path()
            self._fd, self._bytes, self._number = None, 0, self._number + 2
            self._unfinished += 1
        yield from _remaining_batches(path)
        self._unfinished -= 1

    def close(self, queued: Sequence[Outgoing] = ()) -> None:
        """Leave the remaining events to the next process, and before them `queued`, which were put before the file's.

        If there are none, nothing is left on disk.
        """
        if queued:
            self._precede(queued)
        with self._lock:
            # A worker that was stuck may still use it: by then the descriptor may be another file's.
            fd, self._fd = self._fd, None
            if fd is not None:
                os.close(fd)
            if fd is None and not self._unfinished:
                _discard(self._claim)
            else:
                self._claim.release()

    def _precede(self, queued: Sequence[Outgoing]) -> None:
        """Write events to a file between the one that the worker took last and the current one."""
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
                self._fd, self._bytes = None, 0
                self._unfinished += 1
                self._number -= 1
        for outgoing in queued:
            self.append(outgoing)

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
        return self._claim.path / f"{self._number:06}.events"


def _opened(path: Path) -> io.RawIOBase:
    return path.open("rb", buffering=0)


def left_behind(directory: Path, opened: Callable[[Path], io.RawIOBase] = _opened) -> Generator[Batch]:
    """The events in the overflows of dead processes, in batches, as from `Overflow.take`.

    Raises:
        OSError: the disk fails to return one of them, which is left to the next process; raised after all others.
    """
    failure = None
    for claim in orphans(directory):
        is_worked_off = False
        try:
            for path in sorted(claim.path.glob("*.events")):
                yield from _remaining_batches(path, opened)
            is_worked_off = True
        except OSError as fault:
            failure = fault
        finally:
            if is_worked_off:
                _discard(claim)
            else:
                claim.release()
    if failure is not None:
        raise failure


class _Signed:
    """The progress file of an overflow: how far it was signed, and the last signed batch until it was passed on."""

    def __init__(self, events: Path) -> None:
        self._path = events.with_suffix(".signed")
        self._head_bytes = 0

    def read(self) -> tuple[int, list[Outgoing]]:
        """The offset up to which the file was signed, and the signed events that may not have been passed on."""
        try:
            with self._path.open("rb") as lines:
                offset = int(lines.readline())
                self._head_bytes = lines.tell()
                return offset, [_outgoing(line[:-1]) for line in lines if line.endswith(b"\n")]
        except (FileNotFoundError, ValueError):  # not written yet, or lost in a power cut
            return 0, []
        except OSError as failure:
            if failure.errno not in NOT_RETURNED:
                raise
            return 0, []  # events that went out are sent again, newly signed: better than never

    def keep(self, offset: int, signed: Sequence[Outgoing]) -> None:
        """Write the offset up to which the file was signed, and the last signed batch."""
        self._head_bytes = 0
        head = b"%d\n" % offset
        unseen = self._path.with_suffix(".new")
        unseen.write_bytes(head + b"".join(map(_line, signed)))
        unseen.replace(self._path)
        self._head_bytes = len(head)

    def pass_on(self) -> None:
        """Clear the last signed batch, if it was written; the offset stays."""
        if self._head_bytes:
            os.truncate(self._path, self._head_bytes)

    def remove(self) -> None:
        """Delete the progress file, once the overflow itself is gone."""
        self._path.unlink(missing_ok=True)


def _remaining_batches(path: Path, opened: Callable[[Path], io.RawIOBase] = _opened) -> Generator[Batch]:
    """The rest of a killed process's overflow, from its signed offset; deleted once all was passed on."""
    progress = _Signed(path)
    offset, signed = progress.read()
    if signed:
        yield Batch(signed, is_signed=True)
        progress.pass_on()
    damaged = path.with_suffix(_DAMAGED)
    with opened(path) as file:
        # An unterminated line was cut short by a kill: its put never returned.
        for lines in _batched(lines_of(file, offset)):
            if any(line.text is None for line in lines):
                damaged.touch()  # for a process that only reads what follows
            yield Batch([_outgoing(line.text or b"") for line in lines], keep=partial(progress.keep, lines[-1].end))
            progress.pass_on()
    if damaged.exists():
        path.replace(damaged)
    else:
        path.unlink()
    progress.remove()


def _batched(lines: Iterator[Line]) -> Iterator[list[Line]]:
    """The lines in batches; if the disk fails, first those before that."""
    failure = None
    while failure is None:
        batch: list[Line] = []
        try:
            for line in islice(lines, BATCH):
                batch.append(line)  # noqa: PERF402  what was read before a failure counts
        except OSError as fault:
            failure = fault
        if batch:
            yield batch
        elif failure is None:
            return
    raise failure


def _discard(claim: Claim) -> None:
    """Remove a directory whose events were passed on, unless it has a damaged file: that is kept out of the way."""
    if not any(claim.path.glob(f"*{_DAMAGED}")):
        claim.remove()
        return
    details = {"path": str(claim.set_aside())}
    log.error(
        "moved a damaged lineage overflow aside to %(path)s; what can be read of it is sent", details, extra=details
    )


def _line(outgoing: Outgoing) -> bytes:
    # A line break in JSON is white space; the signer writes none.
    return b"%r %b\n" % (outgoing.put_at, outgoing.body.replace(b"\n", b" "))


def _outgoing(line: bytes) -> Outgoing:
    put_at, _, body = line.partition(b" ")
    try:
        return Outgoing(float(put_at), body)
    except ValueError:
        return Outgoing(0.0, line)  # damaged on disk, or not returned: signing fails, and it is counted as dropped
