r"""Raw events that were moved out of the database: files that are written once, whole, and never changed.

    segment = "headwater segment 1\n", blocks, index, 8 bytes length of the index, 32 bytes SHA-256 of all before

A block is one Zstandard frame with the raw bytes of up to 64 events, one behind the other, which together take less
than each would alone; it ends with fewer once they take a megabyte, since one of them is read by reading all. The index
is a Zstandard frame of JSON: for each block where it begins, how long it is, and how long each event in it is. A file
is named by the log indexes of its events: FIRST-END.segment.
"""

import hashlib
import logging
import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from headwater.errors import UnavailableError
from headwater.signing.secretfile import UNFINISHED, write_whole
from headwater.store.packing import DamagedFrame, packed, unpacked

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"(\d+)-(\d+)")
_MAGIC: Final = b"headwater segment 1\n"
_IN_BLOCK: Final = 64
_BLOCK_BYTES: Final = 1 << 20
_TAIL: Final = 8 + 32
_KEPT_BLOCKS: Final = 16
_FAULTS: Final = (OSError, ValueError, IndexError, DamagedFrame)
"""What reading a damaged file raises."""


class _Block(NamedTuple):
    offset: int
    length: int
    raw_lengths: list[int]


class _File(NamedTuple):
    """A file in its current state: what is cached of it holds until it is replaced."""

    path: Path
    number: int
    changed_ns: int
    size: int

    @classmethod
    def at(cls, path: Path) -> "_File":
        found = path.stat()
        return cls(path, found.st_ino, found.st_mtime_ns, found.st_size)


class Segments:
    """The segments in one folder. Several processes may read and write it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: list[tuple[range, Path]] = []
        self._unexpected: set[Path] = set()
        """Files with unexpected names that were already logged."""
        self._index = lru_cache(maxsize=_KEPT_BLOCKS)(_index)
        self._block = lru_cache(maxsize=_KEPT_BLOCKS)(_block)

    def ranges(self) -> list[range]:
        """The log indexes whose raw bytes are in segments, in order; looks into the folder.

        Files that are not named as segments are skipped.
        """
        named = {path: _NAME.fullmatch(path.stem) for path in self._folder.glob("*.segment")}
        found = [(range(int(name[1]), int(name[2])), path) for path, name in named.items() if name]
        self._found = sorted(found, key=_start)
        self._warn_of(path for path, name in named.items() if not name)
        return [indexes for indexes, _ in self._found]

    def _warn_of(self, unexpected: Iterable[Path]) -> None:
        for path in set(unexpected) - self._unexpected:
            self._unexpected.add(path)
            log.warning("ignoring a file in the segment folder that is not a segment", extra={"path": str(path)})

    def write(self, first: int, raws: Sequence[bytes]) -> None:
        """Write the raw bytes of the events from that log index on, and read them back; on disk when this returns.

        Raises:
            UnavailableError: the disk is full, or did not keep what was written.
        """
        path = self._folder / f"{first:012d}-{first + len(raws):012d}.segment"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, _segment(raws))
        except OSError as fault:
            raise UnavailableError(f"cannot write a segment to {self._folder}: {fault.strerror}") from fault
        try:
            is_intact = all(read_back == raw for read_back, raw in zip_longest(_raws(_File.at(path)), raws))
        except _FAULTS as fault:
            raise _unreadable(path, fault) from fault
        if not is_intact:
            raise UnavailableError(f"the segment {path} does not read back as written")

    def sweep(self) -> None:
        """Remove what a process left that was killed while writing; nobody may be writing now."""
        for path in self._folder.glob(f"{UNFINISHED}*"):
            path.unlink(missing_ok=True)

    def raw(self, log_index: int) -> bytes:
        """The raw bytes of the event at that log index.

        Raises:
            UnavailableError: no segment in the folder has it, or the segment is damaged.
        """
        first, path = self._file_with(log_index)
        try:
            file = _File.at(path)
            block, number = _block_with(log_index - first, self._index(file))
            raws = self._block(file, block.offset, block.length)
        except _FAULTS as fault:
            raise _unreadable(path, fault) from fault
        begin = sum(block.raw_lengths[:number])
        return raws[begin : begin + block.raw_lengths[number]]

    def _file_with(self, log_index: int) -> tuple[int, Path]:
        """The file with the event at that log index, and the index of its first event."""
        for look_again in (True, False):
            found = self._found
            at = bisect_right(found, log_index, key=_start) - 1
            if at >= 0 and log_index in found[at][0]:
                return _start(found[at]), found[at][1]
            if look_again:
                self.ranges()
        raise UnavailableError(
            f"the bytes of event {log_index} are in a segment that is not in {self._folder}: put it there"
        )


def _segment(raws: Sequence[bytes]) -> Iterator[bytes]:
    digest, offset, index = hashlib.sha256(), 0, list[_Block]()

    def counted(part: bytes) -> bytes:
        nonlocal offset
        digest.update(part)
        offset += len(part)
        return part

    yield counted(_MAGIC)
    for some in _together(raws):
        frame = packed(b"".join(some))
        index.append(_Block(offset, len(frame), [len(raw) for raw in some]))
        yield counted(frame)
    frame = packed(orjson.dumps([list(each) for each in index]))
    yield counted(frame)
    yield counted(len(frame).to_bytes(8))
    yield digest.digest()


def _together(raws: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The events of each block."""
    some, size = list[bytes](), 0
    for raw in raws:
        some.append(raw)
        size += len(raw)
        if len(some) == _IN_BLOCK or size >= _BLOCK_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _start(found: tuple[range, Path]) -> int:
    return found[0].start


def _unreadable(path: Path, fault: BaseException) -> UnavailableError:
    return UnavailableError(f"the segment {path} cannot be read: {fault}")


def _index(file: _File) -> list[_Block]:
    with file.path.open("rb") as opened:
        end = opened.seek(0, os.SEEK_END) - _TAIL
        opened.seek(end)
        length = int.from_bytes(opened.read(8))
        opened.seek(end - length)
        return [_Block(*each) for each in orjson.loads(unpacked(opened.read(length)))]


def _block_with(number: int, index: Sequence[_Block]) -> tuple[_Block, int]:
    """The block with an event of the file, and the event's index in it."""
    for block in index:
        if number < len(block.raw_lengths):
            return block, number
        number -= len(block.raw_lengths)
    raise IndexError("it holds fewer events than its name says")


def _block(file: _File, offset: int, length: int) -> bytes:
    with file.path.open("rb") as opened:
        opened.seek(offset)
        return unpacked(opened.read(length))


def _raws(file: _File) -> Iterator[bytes]:
    """The raw bytes of each event, a block at a time."""
    for offset, length, raw_lengths in _index(file):
        raws, begin = _block(file, offset, length), 0
        for raw_length in raw_lengths:
            yield raws[begin : begin + raw_length]
            begin += raw_length
