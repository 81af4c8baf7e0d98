"""The lines of a file on a disk that may not return all of it."""

import errno
import io
from collections.abc import Iterator
from typing import Final, NamedTuple

SECTOR_BYTES: Final = 4096
"""What a disk or a file system returns whole or not at all."""
_SINGLE_STEPS: Final = 16
"""How many sectors in a row are tried one by one; after that the steps double, as each try may take seconds."""
NOT_RETURNED: Final = frozenset({errno.EIO, errno.EBADMSG, errno.EUCLEAN})
"""The errors of a disk or a file system that has lost what it should return."""


class Line(NamedTuple):
    """A line without its end, and the offset after it; for lines that the disk does not return, `text` is None."""

    text: bytes | None
    end: int


def lines_of(file: io.RawIOBase, start: int) -> Iterator[Line]:
    """The lines from an offset on; an unterminated one at the end is left out.

    What the disk does not return is skipped, with the lines that are partly there, if it returns something after it.

    Raises:
        OSError: the disk fails, or it returns nothing more from some place on.
    """
    begun, at, is_cut = bytearray(), start, False
    while True:
        file.seek(at)
        try:
            part = file.read(SECTOR_BYTES - at % SECTOR_BYTES)
        except OSError as failure:
            at = _next_readable(file, at, failure)
            yield Line(None, at)
            begun, is_cut = bytearray(), True
            continue
        if not part:
            return
        first = at - len(begun)
        begun += part
        at += len(part)
        if b"\n" not in part:
            continue
        *whole, rest = bytes(begun).split(b"\n")
        for text in whole:
            first += len(text) + 1
            if not is_cut:
                yield Line(text, first)
            is_cut = False
        begun = bytearray(rest)


def _next_readable(file: io.RawIOBase, unreadable: int, failure: OSError) -> int:
    """The offset of the next sector that the disk returns, or raises `failure`."""
    if failure.errno not in NOT_RETURNED:
        raise failure
    at, tries = unreadable, 0
    while True:
        at = (at // SECTOR_BYTES + (1 << max(0, tries - _SINGLE_STEPS))) * SECTOR_BYTES
        tries += 1
        file.seek(at)
        try:
            if file.read(1):
                return at
        except OSError as another:
            if another.errno not in NOT_RETURNED:
                raise
        else:
            raise failure  # the end of the file
