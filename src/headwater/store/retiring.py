"""Raw events that have become old move out of the database, into segments; proofs and facts stay."""

from collections.abc import Callable
from contextlib import closing
from typing import Final

from headwater.store.opened import OpenStore

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
    """Move the raw bytes of events that were received before then into segments; gives how many.

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
    for places in ranges[-1:]:  # an earlier call may have ended between the two steps
        store.empty(places)
    with closing(store.opened_reader()) as reader:
        while not is_over() and (raws := reader.raw_before(range(first, first + each), before_us, enough_bytes)):
            segments.write(first, raws)
            store.empty(range(first, first + len(raws)))
            first += len(raws)
    return first - begin
