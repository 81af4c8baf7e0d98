"""Sends the file transport's files to a service: written where there is no network, shipped from where there is one.

Events are sent in the order in which they were written, from where the last shipment stopped, each verified first.
Events that did not arrive stay in their file, and each later shipment reports them until they are gone from it.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import IO, Final, NamedTuple

from headwater.emit.retry import backoff_s
from headwater.emit.shipment_marks import REFUSED, Mark, Marks, Undelivered, first_line, marks_of
from headwater.emit.shipment_order import FileOrder
from headwater.emit.transport import Outcome, Refused, Transport, Unavailable
from headwater.errors import SetupError
from headwater.signing.verify import Verification

_PATTERN: Final = "*.jsonl"
_MOST_TOGETHER: Final = 64
_MOST_TROUBLES: Final = 1_000
_UNFINISHED: Final = "unfinished"
_UNREADABLE: Final = "unreadable"
_TO_FINISH_S: Final = 0.2
"""How long to wait for the end of an unterminated last line; a writer needs no longer."""


_Inode = tuple[int, int]
"""Device and inode."""


class Line(NamedTuple):
    """An event in a file: its line number from 1, and the offset of its end."""

    number: int
    event: bytes
    end: int


class Trouble(NamedTuple):
    """An event that did not arrive: held back for its `verdict`, `refused` by the service, or `unfinished`.

    Or a file that is `unreadable` from somewhere on: that has no line.
    """

    file: str
    line: int | None
    verdict: str
    reason: str | None
    is_from_before: bool = False
    """Whether an earlier shipment reported it already; it is not sent again."""


@dataclass(slots=True)
class Shipped:
    """The result of a shipment, as counts of events.

    Attributes:
        arrived: acknowledged by the service.
        held_back: not sent, since no trusted key signed these bytes.
        refused: rejected by the service for good.
        held_back_before: held back by an earlier shipment, and still in the files.
        refused_before: refused in an earlier shipment, and still in the files.
        troubles: details of the first of all these.
        left: still to be sent: the service was not available, for the reason `why`.
        unfinished: unterminated last lines, cut off or still being written.
        unreadable: files that could not be read, or not to their end: what is not read is sent once it can be.
    """

    arrived: int = 0
    held_back: int = 0
    refused: int = 0
    held_back_before: int = 0
    refused_before: int = 0
    troubles: list[Trouble] = field(default_factory=list)
    left: int = 0
    why: str | None = None
    unfinished: int = 0
    unreadable: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every event in the files has arrived."""
        before = self.held_back_before or self.refused_before
        still_there = self.left or self.unfinished or self.unreadable
        return not (self.held_back or self.refused or before or still_there)

    def add_trouble(self, trouble: Trouble) -> None:
        """Add to the troubles, up to their limit."""
        if len(self.troubles) < _MOST_TROUBLES:
            self.troubles.append(trouble)

    def add_unreadable(self, file: str, fault: OSError) -> None:
        """Count a file that cannot be read, or not to its end."""
        self.unreadable += 1
        self.add_trouble(Trouble(file, None, _UNREADABLE, fault.strerror))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShipmentOptions:
    """The dependencies and settings of a shipment.

    Attributes:
        verify: the verdict on an event, which decides whether it is sent.
        wait: sleeps for a number of seconds.
        tries: after this many unavailable answers in a row the shipment gives up.
    """

    transport: Transport
    verify: Callable[[bytes], Verification]
    wait: Callable[[float], None]
    rng: Random
    tries: int = 8


def ship(folder: Path, how: ShipmentOptions, *, from_start: bool = False) -> Shipped:
    """Send the events in the folder's `*.jsonl` files that were not sent to this target yet.

    An unterminated last line may be being written: after a moment's wait it is reported, and left for the next
    shipment. So is a file that cannot be read: it does not hold up the others.

    Raises:
        SetupError: the folder cannot be read, the marks cannot be written, or another shipment is in progress.
    """
    shipped = Shipped()
    try:
        with marks_of(folder, how.transport.target, from_start=from_start) as marks:
            _ship_files(folder, how, marks, shipped)
    except OSError as fault:
        where = fault.filename or folder
        raise SetupError(f"{where}: {fault.strerror}: cannot ship the events in {folder}") from fault
    return shipped


def _ship_files(folder: Path, how: ShipmentOptions, marks: Marks, shipped: Shipped) -> None:
    done: set[_Inode] = set()
    seen: list[Mark] = []
    order = FileOrder()
    while (file := _next_file(folder, order, done, shipped)) is not None:
        with file:
            done.add(_inode(os.fstat(file.fileno())))
            try:
                _ship_whole_file(file, how, marks, seen, shipped)
            except OSError as fault:
                shipped.add_unreadable(Path(file.name).name, fault)
    for path in _files(folder, order):
        with suppress(FileNotFoundError):  # it may be rotated away meanwhile
            if _inode(path.stat()) not in done:  # it has no complete line
                with path.open("rb") as file:
                    _add_unfinished(file, shipped)


def _ship_whole_file(file: IO[bytes], how: ShipmentOptions, marks: Marks, seen: list[Mark], shipped: Shipped) -> None:
    mark = marks.of(file)
    if not any(mark is other for other in seen):  # a copy has the same
        _add_earlier_troubles(file, mark, shipped)
    seen.append(mark)
    _ship_file(file, mark, how, marks, shipped)
    if shipped.why is None and _unfinished_line(file) is not None:
        how.wait(_TO_FINISH_S)
        _ship_file(file, mark, how, marks, shipped)
    _add_unfinished(file, shipped)


def _add_earlier_troubles(file: IO[bytes], mark: Mark, shipped: Shipped) -> None:
    shipped.held_back_before += mark.held_back
    shipped.refused_before += mark.refused
    for behind in mark.behind:
        shipped.add_trouble(Trouble(Path(file.name).name, *behind, is_from_before=True))


def _add_unfinished(file: IO[bytes], shipped: Shipped) -> None:
    number = _unfinished_line(file)
    if number is not None:
        shipped.unfinished += 1
        shipped.add_trouble(Trouble(Path(file.name).name, number, _UNFINISHED, "the line is incomplete"))


def _unfinished_line(file: IO[bytes]) -> int | None:
    """The number of the last line, if it is unterminated and not blank."""
    size = os.fstat(file.fileno()).st_size
    if size == 0 or os.pread(file.fileno(), 1, size - 1) == b"\n":
        return None
    file.seek(0)
    number, line = max(enumerate(file, 1), default=(0, b""))
    return number if line.strip() and not line.endswith(b"\n") else None


def _next_file(folder: Path, order: FileOrder, done: set[_Inode], shipped: Shipped) -> IO[bytes] | None:
    """The first file in order that is not done and has a complete line, opened; None if there is none.

    The folder is listed again for each file, and once more when it is open: a file that was rotated in between has
    another name now, and the new file of that name comes after it.
    """
    while True:
        paths = _files(folder, order)
        try:
            file = next(filter(None, (_begun(path, done, shipped) for path in paths)), None)
        except FileNotFoundError:  # rotated away meanwhile
            continue
        if file is None or _files(folder, order) == paths:
            return file
        file.close()


def _begun(path: Path, done: set[_Inode], shipped: Shipped) -> IO[bytes] | None:
    """The file, opened, if it is not done and has a complete line; one that cannot be read is reported, and done.

    Raises:
        FileNotFoundError: it is no longer there.
    """
    inode = _inode(path.stat())
    if inode in done:
        return None
    try:
        with ExitStack() as opened:
            file = opened.enter_context(path.open("rb"))
            if first_line(file) is not None:
                opened.pop_all()
                return file
    except FileNotFoundError:
        raise
    except OSError as fault:
        done.add(inode)
        shipped.add_unreadable(path.name, fault)
    return None


def _inode(status: os.stat_result) -> _Inode:
    """What identifies a file across renames during this shipment."""
    return status.st_dev, status.st_ino


def _files(folder: Path, order: FileOrder) -> list[Path]:
    """The files in the order in which they were written; folders of such a name, as Spark writes, are left out."""
    return order.of(path for path in folder.glob(_PATTERN) if path.is_file())


def _lines(file: IO[bytes], offset: int) -> Iterator[Line]:
    """The complete, non-empty lines after an offset."""
    file.seek(0)
    end = 0
    for number, line in enumerate(file, 1):
        end += len(line)
        if end > offset and line.endswith(b"\n") and line.strip():
            yield Line(number, line.strip(), end)


@dataclass(slots=True)
class _FileProgress:
    """Progress within one file; `behind` are the lines that did not arrive, with the offsets of their ends."""

    file: IO[bytes]
    mark: Mark
    marks: Marks
    shipped: Shipped
    behind: list[tuple[int, Undelivered]] = field(default_factory=list)

    def leave_behind(self, line: Line, verdict: str, reason: str | None) -> None:
        """Record that the line did not arrive."""
        behind = Undelivered(line.number, verdict, reason)
        self.behind.append((line.end, behind))
        self.shipped.add_trouble(Trouble(Path(self.file.name).name, *behind))

    def reach(self, end: int) -> None:
        """Persist that no line up to this offset is sent again."""
        passed = [behind for line_end, behind in self.behind if line_end <= end]
        self.behind = [(line_end, behind) for line_end, behind in self.behind if line_end > end]
        self.marks.move(self.mark, self.file, end, passed)


def _ship_file(file: IO[bytes], mark: Mark, how: ShipmentOptions, marks: Marks, shipped: Shipped) -> None:
    if shipped.why is not None:
        shipped.left += sum(1 for _ in _lines(file, mark.end))
        return
    course = _FileProgress(file, mark, marks, shipped)
    lines = _lines(file, mark.end)
    while chunk := list(islice(lines, _MOST_TOGETHER)):
        good = []
        for line in chunk:
            found = how.verify(line.event)
            if found.verdict == "ok":
                good.append(line)
            else:
                shipped.held_back += 1
                course.leave_behind(line, found.verdict, found.reason)
        if not _send(good, course, how):
            shipped.left += sum(1 for _ in lines)
            return
        course.reach(chunk[-1].end)


def _send(lines: Sequence[Line], course: _FileProgress, how: ShipmentOptions) -> bool:
    """Send lines in order; False if the service is no longer available, with `left` and `why` set."""
    failures, shipped = 0, course.shipped
    while lines:
        outcomes = how.transport.send_batch([line.event for line in lines])
        taken = _taken(outcomes)
        for line, outcome in zip(lines, outcomes[:taken], strict=False):
            if isinstance(outcome, Refused):
                shipped.refused += 1
                course.leave_behind(line, REFUSED, outcome.why)
            else:
                shipped.arrived += 1
        if taken:
            course.reach(lines[taken - 1].end)
            lines, failures = lines[taken:], 0
        if taken < len(outcomes):
            failures += 1
            unavailable = outcomes[taken]
            assert isinstance(unavailable, Unavailable)  # noqa: S101  it ended the batch
            if failures >= how.tries:
                shipped.left, shipped.why = shipped.left + len(lines), unavailable.why
                return False
            how.wait(unavailable.after_s or backoff_s(failures, how.rng))
    return True


def _taken(outcomes: Sequence[Outcome]) -> int:
    """How many events are settled before the first that must be sent again; all after that one are sent again too."""
    return next((at for at, outcome in enumerate(outcomes) if isinstance(outcome, Unavailable)), len(outcomes))
