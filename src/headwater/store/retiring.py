"""Old raw events move out of the database into segments; proofs and facts stay."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from headwater.store.opened import OpenStore
from headwater.store.reader import Reader

IN_SEGMENT: Final = 1024
"""Events in one segment."""
ENOUGH_BYTES: Final = 16 << 20
"""Raw bytes after which a segment ends with fewer: those of all its events are in memory while it is written."""

IsOver = Callable[[], bool]


def retire(
    store: OpenStore,
    before_us: int,
    is_over: IsOver = lambda: False,
    each: int = IN_SEGMENT,
    enough_bytes: int = ENOUGH_BYTES,
) -> int:
    """Move the raw bytes of events received before that time into segments; returns how many were moved.

    Segments are written only when they are full, with `each` so many events or enough bytes, from the beginning of the
    log on. Called by one thread of its own at a time; another process may do the same, with the same outcome. `is_over`
    is asked between two segments.

    Raises:
        SetupError: no folder of segments is known.
        UnavailableError: a disk is full, or the database does not answer; nothing is lost, and a call goes on.
    """
    segments = store.segments
    ranges = segments.ranges()
    begin = first = ranges[-1].stop if ranges else 0
    with closing(store.opened_reader()) as reader:
        _empty_again(store, reader, ranges, is_over)
        while not is_over() and (raws := reader.raw_before(range(first, first + each), before_us, enough_bytes)):
            segments.write(first, raws)
            store.empty(range(first, first + len(raws)))
            first += len(raws)
    return first - begin


def _empty_again(store: OpenStore, reader: Reader, ranges: Sequence[range], is_over: IsOver) -> None:
    """Empty rows whose bytes are in segments: an earlier call was interrupted, or the database was restored.

    If there are none, this takes some 0.1 s for a million rows.
    """
    end = ranges[-1].stop if ranges else 0
    log_index = reader.first_with_raw(range(end))
    for segment in ranges:
        if log_index is None or is_over():
            return
        if log_index < segment.start:  # in no segment
            log_index = reader.first_with_raw(range(segment.start, end))
        if log_index in segment:
            store.empty(segment)
            log_index = reader.first_with_raw(range(segment.stop, end))
