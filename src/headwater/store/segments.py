r"""Raw events that were moved out of the database: files that are written once, whole, and never changed.

    segment = "headwater segment 1\n", blocks, index, 8 bytes length of the index, 32 bytes SHA-256 of all before

A block is one Zstandard frame with the raw bytes of up to 64 events, one behind the other, which together take less
than each would alone. The index is a Zstandard frame of JSON: for each block where it begins, how long it is, and how
long each event in it is. A file is named by the places of its events in the log: FIRST-END.segment.
"""

import hashlib
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from headwater.errors import UnavailableError
from headwater.store.packing import DamagedFrame, packed, unpacked

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"(\d+)-(\d+)")
_MAGIC: Final = b"headwater segment 1\n"
_UNFINISHED: Final = ".writing-"
_IN_BLOCK: Final = 64
_TAIL: Final = 8 + 32
_KEPT_BLOCKS: Final = 16


class _Block(NamedTuple):
    offset: int
    length: int
    raw_lengths: list[int]


class Segments:
    """The segments in one folder. Several processes may read and write it at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[range, Path] = {}
        self._strange: set[Path] = set()
        """Files that are named otherwise, of which was told."""
        self._index = lru_cache(maxsize=_KEPT_BLOCKS)(_index)
        self._block = lru_cache(maxsize=_KEPT_BLOCKS)(_block)

    def ranges(self) -> list[range]:
        """The places in the log whose raw bytes are in segments, in order; looks into the folder.

        Files that are not named as segments are passed over.
        """
        named = {path: _NAME.fullmatch(path.stem) for path in self._folder.glob("*.segment")}
        self._found = {range(int(name[1]), int(name[2])): path for path, name in named.items() if name}
        self._tell_of(path for path, name in named.items() if not name)
        return sorted(self._found, key=lambda each: each.start)

    def _tell_of(self, strange: Iterable[Path]) -> None:
        for path in set(strange) - self._strange:
            self._strange.add(path)
            log.warning("a file among the segments is none of them, and is passed over", extra={"path": str(path)})

    def write(self, first: int, raws: Sequence[bytes]) -> None:
        """Write the raw bytes of the events from that place on, and read them back; on disk when this returns.

        Raises:
            UnavailableError: the disk is full, or did not keep what was written.
        """
        path = self._folder / f"{first:012d}-{first + len(raws):012d}.segment"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write_whole(path, _segment(raws))
        except OSError as fault:
            raise UnavailableError(f"a segment cannot be written to {self._folder}: {fault.strerror}") from fault
        self._index.cache_clear()
        self._block.cache_clear()
        if [self.raw(first + number) for number in range(len(raws))] != list(raws):
            raise UnavailableError(f"the segment {path} was not kept as it was written")

    def sweep(self) -> None:
        """Take away what a process that was killed while it wrote left behind; nobody may be writing now."""
        for path in self._folder.glob(f"{_UNFINISHED}*"):
            path.unlink(missing_ok=True)

    def raw(self, place: int) -> bytes:
        """The raw bytes of the event at a place of the log.

        Raises:
            UnavailableError: no segment in the folder has it, or the segment is damaged.
        """
        path = self._path_of(place)
        number = place - int(path.stem.split("-")[0])
        try:
            block = self._index(path)[number // _IN_BLOCK]
            raws = self._block(path, block.offset, block.length)
        except (OSError, ValueError, IndexError, DamagedFrame) as fault:
            raise UnavailableError(f"the segment {path} cannot be read: {fault}") from fault
        ends = [*accumulate(block.raw_lengths)]
        end = ends[number % _IN_BLOCK]
        return raws[end - block.raw_lengths[number % _IN_BLOCK] : end]

    def _path_of(self, place: int) -> Path:
        for look_again in (True, False):
            for places, path in self._found.items():
                if place in places:
                    return path
            if look_again:
                self.ranges()
        raise UnavailableError(f"the bytes of event {place} are in a segment that is not in {self._folder}")


def _segment(raws: Sequence[bytes]) -> Iterator[bytes]:
    digest, offset, index = hashlib.sha256(), 0, list[_Block]()

    def counted(part: bytes) -> bytes:
        nonlocal offset
        digest.update(part)
        offset += len(part)
        return part

    yield counted(_MAGIC)
    for begin in range(0, len(raws), _IN_BLOCK):
        some = raws[begin : begin + _IN_BLOCK]
        frame = packed(b"".join(some))
        index.append(_Block(offset, len(frame), [len(raw) for raw in some]))
        yield counted(frame)
    frame = packed(orjson.dumps([list(each) for each in index]))
    yield counted(frame)
    yield counted(len(frame).to_bytes(8))
    yield digest.digest()


def _write_whole(path: Path, parts: Iterator[bytes]) -> None:
    """Write a file that is there whole, or not at all, whatever happens."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED)
    try:
        with os.fdopen(number, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _index(path: Path) -> list[_Block]:
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END) - _TAIL
        file.seek(end)
        length = int.from_bytes(file.read(8))
        file.seek(end - length)
        return [_Block(*each) for each in orjson.loads(unpacked(file.read(length)))]


def _block(path: Path, offset: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return unpacked(file.read(length))
