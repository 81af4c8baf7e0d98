"""Pasts: what the service would know, had only some of its events come.

A past is the log replayed through the same facts into a store in memory and a graph of its own, so every view works on
it unchanged. Replays run one at a time in a thread of their own; what they made is kept for the next read, up to a
number of events over all pasts. A past without a bound on the log takes in what comes late, as now does: facts merge in
any order.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from headwater.errors import UnavailableError
from headwater.graph.lineage import Graph
from headwater.model.facts import Fact, happened_us
from headwater.service.as_of import AsOf
from headwater.service.knowledge import Knowledge
from headwater.service.metrics import Metrics
from headwater.store.entries import LoggedEvent
from headwater.store.memory import MemoryStore
from headwater.store.reader import Reader

DEFAULT_KEPT_EVENTS: Final = 50_000
"""Events in all pasts that are kept; one of 10 kB takes 13 kB of memory."""
_MAX_WAITING: Final = 8
"""Replays that may wait for their turn."""
_GROUP: Final = 256
"""Events of a replay between two looks at whether the service stops."""
_LATE_GROUP: Final = 16
"""Late events that a past takes in before others may use the event loop's thread."""


_GIVEN_UP_S: Final = 60.0
_NEVER_US: Final = -(2**62)


class Past(NamedTuple):
    """What was known, and as of when; both bounds are set but for the time where nothing happened."""

    knowledge: Knowledge
    as_of: AsOf


@dataclass(slots=True)
class _Kept:
    """A past, or the replay that makes it."""

    key: AsOf
    """Its time is the latest that an event of it has; so times between two events share a past."""
    asked_us: int | None
    looked_at: int
    """How much of the log was looked through for its events."""
    replay: "asyncio.Future[_Replayed]"
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class _Replayed(NamedTuple):
    store: MemoryStore
    knowledge: Knowledge


class Pasts:
    """Now, and the pasts that were asked for last; lives on the event loop's thread."""

    def __init__(
        self, now: Knowledge, another_reader: Callable[[], Reader], metrics: Metrics, kept_events: int
    ) -> None:
        self._now = now
        self._newest = AsOf(None, 0)
        self.another_reader = another_reader
        self._metrics = metrics
        self._kept_events = kept_events
        self._kept: dict[AsOf, _Kept] = {}
        self._waiting = 0
        self._is_stopping = threading.Event()
        self._thread = ThreadPoolExecutor(1, "headwater-replay")

    def load(self) -> None:
        """Note which events `now` was loaded from."""
        self._newest = AsOf(self._now.store.newest_us(), self._now.store.size())

    def learned(self, log_index: int, facts: Sequence[Fact]) -> None:
        """Note that `now` has learned an event."""
        event_us, (newest_us, size) = happened_us(facts), self._newest
        self._newest = AsOf(event_us if newest_us is None else max(newest_us, event_us), max(size or 0, log_index + 1))

    def stop(self) -> None:
        """Let a replay that is under way end soon; requests that wait for it are told to come back."""
        self._is_stopping.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def known(self, asked: AsOf) -> Past:
        """What was known, as of then.

        Raises:
            UnavailableError: too many other pasts are being made, or the disk does not answer.
        """
        bounds = asked.without_idle_bounds(self._newest)
        if bounds == AsOf():
            return Past(self._now, _said(asked, self._newest))
        while True:
            size = self._now.store.size() if bounds.log_size is None else bounds.log_size
            key = AsOf(self._now.store.newest_us(size, bounds.time_us), bounds.log_size)
            kept = self._find(key, bounds) or self._begin(key, bounds, size)
            replayed = await asyncio.shield(kept.replay)
            await self._take_in_late(kept, replayed, size)
            replayed.knowledge.graph.hand_over()
            if kept.key == key:  # else it moved on while we waited
                return Past(replayed.knowledge, _said(asked, AsOf(key.time_us, size)))

    def _find(self, key: AsOf, asked: AsOf) -> _Kept | None:
        kept = self._kept.pop(key, None)
        if kept is None and asked.log_size is None:
            kept = next((each for each in self._kept.values() if _is_moved_on(each, asked)), None)
            if kept is not None:  # an event came between the latest one of this past and the time that was asked for
                del self._kept[kept.key]
        if kept is not None:
            kept.key, kept.asked_us = key, asked.time_us
            self._kept[key] = kept  # now the last to be given up
        return kept

    # Replaying

    def _begin(self, key: AsOf, asked: AsOf, size: int) -> _Kept:
        if self._waiting >= _MAX_WAITING:
            raise UnavailableError("asOf, logSize: too many other pasts are being made, try again in a few seconds")
        replay = asyncio.get_running_loop().run_in_executor(self._thread, self._replay, key.time_us, size)
        kept = self._kept[key] = _Kept(key, asked.time_us, size, replay)
        self._waiting += 1
        replay.add_done_callback(lambda _: self._replayed(kept))
        return kept

    def _replayed(self, kept: _Kept) -> None:
        self._waiting -= 1
        if kept.replay.cancelled() or kept.replay.exception() is not None:
            self._kept.pop(kept.key, None)
            return
        self._make_room(kept)

    def _make_room(self, newest: _Kept) -> None:
        """Give up the pasts that were asked for longest ago, but for the one just made."""
        made = {key: kept for key, kept in self._kept.items() if kept.replay.done()}
        events = sum(len(kept.replay.result().store) for kept in made.values())
        for key, kept in made.items():
            if events <= self._kept_events:
                break
            if kept is not newest:
                events -= len(kept.replay.result().store)
                del self._kept[key]
                # Not at once: whoever asked for it may wait for another past still, to compare the two.
                asyncio.get_running_loop().call_later(_GIVEN_UP_S, _empty, kept.replay.result())
        self._metrics.pasts.set(events)

    async def _take_in_late(self, kept: _Kept, replayed: _Replayed, size: int) -> None:
        """Add the events that came since, up to that size of the log, and that happened early enough."""
        if kept.looked_at >= size:
            return
        async with kept.turn:
            until_us = _NEVER_US if kept.key.time_us is None else kept.key.time_us
            late = list(self._now.store.logged(range(kept.looked_at, size), until_us))
            for group in _groups(late, _LATE_GROUP):
                replayed.knowledge.learn(replayed.store.add_logged(group))
                await asyncio.sleep(0)
            kept.looked_at = max(kept.looked_at, size)

    # On the replay's thread

    def _replay(self, until_us: int | None, size: int) -> _Replayed:
        begin = time.perf_counter()
        store = MemoryStore(self._now.store)
        knowledge = Knowledge(store, Graph(store.content, self._now.graph.column_edges))
        if until_us is not None:
            with closing(self.another_reader()) as reader:
                for group in _groups(reader.logged(range(size), until_us), _GROUP):
                    store.add_logged(group)
                    self._go_on()
        knowledge.load()
        self._metrics.replayed(len(store), time.perf_counter() - begin)
        return _Replayed(store, knowledge)

    def _go_on(self) -> None:
        if self._is_stopping.is_set():
            raise UnavailableError("the service is stopping")


def _said(asked: AsOf, newest: AsOf) -> AsOf:
    """What an answer says it is for: sent back as parameters, it gives the same answer again."""
    return AsOf(newest.time_us if asked.time_us is None else asked.time_us, newest.log_size)


def _is_moved_on(kept: _Kept, asked: AsOf) -> bool:
    return kept.key.log_size is None and kept.asked_us == asked.time_us


def _groups(events: Iterable[LoggedEvent], size: int) -> Iterator[list[LoggedEvent]]:
    waiting = iter(events)
    while group := list(islice(waiting, size)):
        yield group


def _empty(given_up: _Replayed) -> None:
    """Give the memory back now: the caches of a knowledge refer to it, so only garbage collection would, much later."""
    given_up.store.close()
    vars(given_up.knowledge).clear()
