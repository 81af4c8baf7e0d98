"""Events from files to a service: what the file transport wrote where there was no network, sent where there is one.

In the order in which they were written, from where the last shipment got to, each verified before it is sent. Where it
got to is kept beside the files, so a disk may be carried from one machine to the next; a file is known by its first
line and by the end of what was sent of it, by whatever name rotation or a person gave it.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Final, NamedTuple

from headwater.emit.retry import backoff_s
from headwater.emit.transport import Outcome, Refused, Transport, Unavailable
from headwater.errors import SetupError
from headwater.signing.verify import Verification

_PATTERN: Final = "*.jsonl"
_MOST_TOGETHER: Final = 64
_MOST_TOLD: Final = 1_000
_TAIL_BYTES: Final = 4_096
"""So much of the end of what was sent tells files apart that begin alike; an event's signature and hash are in it."""


class Line(NamedTuple):
    """An event in a file: its number from 1, and the offset behind it."""

    number: int
    event: bytes
    end: int


class Trouble(NamedTuple):
    """An event that did not arrive: held back for its `verdict`, or `refused` by the service."""

    file: str
    line: int
    verdict: str
    reason: str | None


@dataclass(slots=True)
class Shipped:
    """What became of the events.

    Attributes:
        arrived: acknowledged by the service.
        held_back: not sent, since they are not what a trusted key signed.
        refused: that the service will never take.
        troubles: the first of these.
        left: still to be sent: the service did not take them, for the reason `why`.
        torn: files whose last line is not whole yet.
    """

    arrived: int = 0
    held_back: int = 0
    refused: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    left: int = 0
    why: str | None = None
    torn: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every event that was there has arrived."""
        return not (self.held_back or self.refused or self.left)

    def tell(self, file: str, line: int, verdict: str, reason: str | None) -> None:
        """Keep a trouble, unless there are very many already."""
        if len(self.troubles) < _MOST_TOLD:
            self.troubles.append(Trouble(file, line, verdict, reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipping:
    """What a shipment is given.

    Attributes:
        verify: whether an event may be sent.
        wait: sleeps for some seconds.
        tries: how often in a row a service that is not available is asked before the shipment gives up.
    """

    transport: Transport
    verify: Callable[[bytes], Verification]
    wait: Callable[[float], None]
    rng: Random
    tries: int = 8


def ship(folder: Path, how: Shipping, *, from_start: bool = False) -> Shipped:
    """Send what is in the folder's `*.jsonl` files and was not sent to this target yet.

    A line without its end is left for the next shipment: it is being written.

    Raises:
        SetupError: the folder cannot be read, what was sent cannot be noted in it, or another shipment is under way.
    """
    shipped = Shipped()
    try:
        with _marks(folder, how.transport.target, from_start) as marks:
            _ship_files(folder, how, marks, shipped)
    except OSError as fault:
        raise SetupError(f"{folder}: {fault.strerror}: events there cannot be shipped") from fault
    return shipped


def _ship_files(folder: Path, how: Shipping, marks: "_Marks", shipped: Shipped) -> None:
    done: set[tuple[int, int]] = set()
    while (file := _next_file(folder, done)) is not None:
        with file:
            done.add(_inode(file))
            mark = marks.of(file)
            if shipped.why is None:
                _ship_file(file, mark, how, marks, shipped)
            else:
                shipped.left += sum(1 for _ in _lines(file, mark.end))


def _next_file(folder: Path, done: set[tuple[int, int]]) -> IO[bytes] | None:
    """The first file in order that is not done, open, if it has a whole line.

    The names are listed again for each, and once more when it is open: a file that was rotated away in between has
    another name now, and one that took its name comes after it.
    """
    while True:
        names = _names(folder)
        for name in names:
            file = (folder / name).open("rb")
            if _inode(file) not in done and _first_line(file) is not None:
                if _names(folder) == names:
                    return file
                file.close()
                break
            file.close()
        else:
            return None


def _inode(file: IO[bytes]) -> tuple[int, int]:
    """What stays of a file when it is renamed, as long as this shipment lasts."""
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def _names(folder: Path) -> list[str]:
    """In the order in which they were written: a rotated `events-….jsonl` stands before `events.jsonl`."""
    return sorted(path.name for path in folder.glob(_PATTERN))


def _first_line(file: IO[bytes]) -> str | None:
    """The digest of the file's first line; None while there is no whole one."""
    file.seek(0)
    line = file.readline()
    return hashlib.sha256(line).hexdigest() if line.endswith(b"\n") else None


def _tail(file: IO[bytes], end: int) -> str:
    """The digest of the last bytes before an offset."""
    begin = max(end - _TAIL_BYTES, 0)
    return hashlib.sha256(os.pread(file.fileno(), end - begin, begin)).hexdigest()


def _lines(file: IO[bytes], offset: int) -> Iterator[Line]:
    """The whole lines behind an offset that are not empty."""
    file.seek(0)
    end = 0
    for number, line in enumerate(file, 1):
        end += len(line)
        if end > offset and line.endswith(b"\n") and line.strip():
            yield Line(number, line.strip(), end)


def _ship_file(file: IO[bytes], mark: "_Mark", how: Shipping, marks: "_Marks", shipped: Shipped) -> None:
    name = Path(file.name).name
    lines = _lines(file, mark.end)
    while chunk := list(islice(lines, _MOST_TOGETHER)):
        good = []
        for line in chunk:
            found = how.verify(line.event)
            if found.verdict == "ok":
                good.append(line)
            else:
                shipped.held_back += 1
                shipped.tell(name, line.number, found.verdict, found.reason)
        if not _send(good, name, partial(marks.move, mark, file), how, shipped):
            shipped.left += sum(1 for _ in lines)
            return
        marks.move(mark, file, chunk[-1].end)
    file.seek(0, os.SEEK_END)
    shipped.torn += file.tell() > mark.end


def _send(lines: Sequence[Line], name: str, arrived: Callable[[int], None], how: Shipping, shipped: Shipped) -> bool:
    """Send lines in their order; False where the service gave out, with `left` and `why` told.

    `arrived` is told the end of the last line that the service will not be sent again.
    """
    failures = 0
    while lines:
        outcomes = how.transport.send_some([line.event for line in lines])
        taken = _taken(outcomes)
        for line, outcome in zip(lines, outcomes[:taken], strict=False):
            if isinstance(outcome, Refused):
                shipped.refused += 1
                shipped.tell(name, line.number, "refused", outcome.why)
            else:
                shipped.arrived += 1
        if taken:
            arrived(lines[taken - 1].end)
            lines, failures = lines[taken:], 0
        if taken < len(outcomes):
            failures += 1
            unavailable = outcomes[taken]
            assert isinstance(unavailable, Unavailable)  # noqa: S101  what ended the row
            if failures >= how.tries:
                shipped.left, shipped.why = shipped.left + len(lines), unavailable.why
                return False
            how.wait(unavailable.after_s or backoff_s(failures, how.rng))
    return True


def _taken(outcomes: Sequence[Outcome]) -> int:
    """How many events are settled before the first that must be sent again; what is behind that is sent again too."""
    return next((at for at, outcome in enumerate(outcomes) if isinstance(outcome, Unavailable)), len(outcomes))


@dataclass(slots=True)
class _Mark:
    """How far a file was sent: its first line's digest, the offset, and the digest of what stands before that."""

    first: str
    end: int = 0
    tail: str = ""


class _Marks:
    """How far each file was sent; on the disk at each step."""

    def __init__(self, path: Path, marks: list[_Mark]) -> None:
        self._path = path
        self._marks = marks

    def of(self, file: IO[bytes]) -> _Mark:
        """That of a file with a whole line; a new one where nothing was sent of it.

        Of a file that was cut off and begun anew, or that only begins like another, nothing was.
        """
        first = _first_line(file) or ""
        known = [mark for mark in self._marks if mark.first == first and mark.tail == _tail(file, mark.end)]
        return max(known, key=lambda mark: mark.end, default=_Mark(first))

    def move(self, mark: _Mark, file: IO[bytes], end: int) -> None:
        """The file was sent up to here."""
        if end <= mark.end:
            return
        mark.end, mark.tail = end, _tail(file, end)
        if mark not in self._marks:
            self._marks.append(mark)
        unseen = self._path.with_suffix(".new")
        unseen.write_text(json.dumps([[mark.first, mark.end, mark.tail] for mark in self._marks]))
        unseen.replace(self._path)


@contextmanager
def _marks(folder: Path, target: str, from_start: bool) -> Iterator[_Marks]:
    """The marks of a target, ours alone meanwhile."""
    path = folder / f".shipped-{hashlib.sha256(target.encode()).hexdigest()[:16]}.json"
    with path.with_suffix(".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SetupError(f"{folder}: another shipment to {target} is under way") from None
        yield _Marks(path, [] if from_start else _read(path))


def _read(path: Path) -> list[_Mark]:
    try:
        return [_Mark(str(first), int(end), str(tail)) for first, end, tail in json.loads(path.read_text())]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError) as damaged:
        raise SetupError(f"{path} is damaged: remove it, and all is sent again; nothing is stored twice") from damaged
