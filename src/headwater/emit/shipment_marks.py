"""Marks of how far each file was sent, and which lines did not arrive; next to the files, so a disk can be moved.

A file is identified by digests of its first line and of the end of the sent part, not by its name, which may change.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from headwater.errors import SetupError

REFUSED: Final = "refused"
"""The verdict for events that the service refused; all other verdicts come from the verification here."""

_MOST_KEPT: Final = 100
"""Undelivered lines listed for each file; the others are only counted, since all marks are rewritten at each step."""
_TAIL_BYTES: Final = 4_096
"""This much of the end of the sent part tells apart files that begin alike: it covers an event's signature and hash."""


class Undelivered(NamedTuple):
    """A line that did not arrive: `refused` by the service, or held back with another verdict."""

    line: int
    verdict: str
    reason: str | None


@dataclass(slots=True)
class Mark:
    """How far a file was sent: the digest of its first line, the offset, and the digest of the bytes before that.

    Attributes:
        held_back: lines before the offset that were not sent, since no trusted key signed these bytes.
        refused: lines before the offset that the service rejected for good.
        behind: the first of both kinds.
    """

    first: str
    end: int = 0
    tail: str = ""
    held_back: int = 0
    refused: int = 0
    behind: list[Undelivered] = field(default_factory=list)

    def leave_behind(self, behind: Undelivered) -> None:
        """Count a line that did not arrive, and list it, up to the limit."""
        if behind.verdict == REFUSED:
            self.refused += 1
        else:
            self.held_back += 1
        if len(self.behind) < _MOST_KEPT:
            self.behind.append(behind)


class Marks:
    """The marks of all files for one target; written to disk at each step."""

    def __init__(self, path: Path, marks: list[Mark]) -> None:
        self._path = path
        self._marks = marks

    def of(self, file: IO[bytes]) -> Mark:
        """The mark of a file that has a complete line; a new one if nothing of it was sent.

        The latter also holds for a file that was truncated and rewritten, or that only begins like another one.
        """
        first = first_line(file) or ""
        known = [mark for mark in self._marks if mark.first == first and mark.tail == _tail(file, mark.end)]
        return max(known, key=lambda mark: mark.end, default=Mark(first))

    def move(self, mark: Mark, file: IO[bytes], end: int, behind: Sequence[Undelivered]) -> None:
        """Record that the file was sent up to offset `end`, except for the lines `behind`.

        Raises:
            SetupError: the marks cannot be written.
        """
        if end <= mark.end:
            return
        mark.end, mark.tail = end, _tail(file, end)
        for each in behind:
            mark.leave_behind(each)
        if not any(mark is other for other in self._marks):
            self._marks.append(mark)
        unseen = self._path.with_suffix(".new")
        try:
            unseen.write_text(json.dumps([*map(_written, self._marks)]))
            unseen.replace(self._path)
        except OSError as fault:
            raise SetupError(f"{self._path}: {fault.strerror}: cannot write down what was sent") from fault


@contextmanager
def marks_of(folder: Path, target: str, *, from_start: bool) -> Iterator[Marks]:
    """The marks of a target, locked for the block; `from_start` ignores the existing ones.

    Raises:
        SetupError: another shipment to the target is in progress, or the marks are damaged.
    """
    path = folder / f".shipped-{hashlib.sha256(target.encode()).hexdigest()[:16]}.json"
    with path.with_suffix(".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SetupError(f"{folder}: another shipment to {target} is in progress") from None
        yield Marks(path, [] if from_start else _read(path))


def first_line(file: IO[bytes]) -> str | None:
    """The digest of the file's first line; None while that is incomplete."""
    file.seek(0)
    line = file.readline()
    return hashlib.sha256(line).hexdigest() if line.endswith(b"\n") else None


def _tail(file: IO[bytes], end: int) -> str:
    """The digest of the last bytes before an offset."""
    begin = max(end - _TAIL_BYTES, 0)
    return hashlib.sha256(os.pread(file.fileno(), end - begin, begin)).hexdigest()


def _written(mark: Mark) -> list[Any]:
    position = [mark.first, mark.end, mark.tail]
    return [*position, mark.held_back, mark.refused, mark.behind] if mark.behind else position


def _read(path: Path) -> list[Mark]:
    try:
        return [_mark(each) for each in json.loads(path.read_text())]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError) as damaged:
        raise SetupError(
            f"{path} is damaged: remove it, and all events are sent again; a service stores nothing twice"
        ) from damaged


def _mark(wire: list[Any]) -> Mark:
    first, end, tail, *more = wire
    held_back, refused, behind = more or (0, 0, ())
    lines = [Undelivered(int(line), str(verdict), reason and str(reason)) for line, verdict, reason in behind]
    return Mark(str(first), int(end), str(tail), int(held_back), int(refused), lines)
