"""Pasts: the read model restricted to some of the events, by time or by size of the log.

A past is a store and a graph of its own, so every view works on it unchanged. A past by time is derived from the
current state. So is a past by size of the log, as long as no later entry is of an earlier time: it is that of its
newest time. Any other past is built by replaying the log. Pasts are cached, up to an amount of memory for all
together. A past by time takes in late events, as the current state does: facts merge in any order.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Final, NamedTuple

from headwater.errors import UnavailableError
from headwater.model.facts import Deletion, Fact, happened_us
from headwater.model.times import AFTER_ALL_US
from headwater.service.http.as_of import AsOf
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.mentions import mentions
from headwater.service.knowledge.touched import Touched
from headwater.service.metrics import Metrics
from headwater.service.past.cut_past import CutPast
from headwater.service.past.events_again import RunsAgain
from headwater.service.past.replayed_past import ReplayedPast
from headwater.store.reader import AnotherReader

DEFAULT_KEPT_MB: Final = 128
"""Memory for all cached pasts together, in MB."""
_MAX_WAITING: Final = 8
"""Pasts being built or queued for it, at most."""
_MAX_BEGINNINGS: Final = 64
"""Beginnings of the log whose times are cached, at most."""
_GIVEN_UP_S: Final = 60.0
_MB: Final = 1_000_000


class Past(NamedTuple):
    """A read model and its bounds; both are set, except for the time if there are no events."""

    knowledge: Knowledge
    as_of: AsOf


class _Key(NamedTuple):
    bounds: AsOf
    """The time is that of the past's latest event, so that all times between two events share a past."""
    is_cut: bool


class _Beginning(NamedTuple):
    """The first entries of the log."""

    newest_us: int | None
    """The latest time among them."""
    next_us: int
    """The earliest time of all later entries."""

    def before(self, event_us: int) -> "_Beginning":
        """The same, given a later entry of that time."""
        return self._replace(next_us=min(self.next_us, event_us))


@dataclass(slots=True)
class _CachedPast:
    """A cached past, and the task that builds it."""

    past: CutPast | ReplayedPast
    building: "asyncio.Task[None]"


class Pasts:
    """The current state, and the most recently used pasts. For the event loop's thread."""

    def __init__(self, now: Knowledge, another_reader: AnotherReader, metrics: Metrics, max_bytes: int) -> None:
        self._now = now
        self._newest = AsOf(None, 0)
        self._beginnings: dict[int, _Beginning] = {}
        """Those asked for last, by the number of entries."""
        self._overtaking_us = AFTER_ALL_US
        """The earliest event time that was learned while a beginning is read."""
        self._reading = asyncio.Lock()
        self.another_reader = another_reader
        self._metrics = metrics
        self._max_bytes = max_bytes
        self._cached: dict[_Key, _CachedPast] = {}
        self._evicted: set[CutPast | ReplayedPast] = set()
        """Still open for requests that hold them."""
        self._building_count = 0
        self._is_stopping = threading.Event()
        self._replaying = ThreadPoolExecutor(1, "headwater-replay")
        self._cutting = ThreadPoolExecutor(1, "headwater-cut")  # is short, and must not queue behind a replay
        self._runs_again = RunsAgain(self._is_stopping)

    def load(self) -> None:
        """Note the bounds of the current state, after it was loaded."""
        self._newest = AsOf(self._now.store.newest_us(), self._now.store.size())

    def about_to_learn(self, facts: Sequence[Fact]) -> None:
        """Called before the current state learns an event."""
        for cached in self._cached.values():
            cached.past.about_to_learn(facts)

    def learned(self, log_index: int, facts: Sequence[Fact], touched: Touched) -> None:
        """Called after the current state learned an event, which touched these nodes."""
        event_us, (newest_us, newest_size) = happened_us(facts), self._newest
        log_size = max(newest_size or 0, log_index + 1)
        self._newest = AsOf(event_us if newest_us is None else max(newest_us, event_us), log_size)
        self._overtaking_us = min(self._overtaking_us, event_us)
        for size, beginning in self._beginnings.items():
            self._beginnings[size] = beginning.before(event_us)
        if not self._cached:
            return
        touched = self._by_all_names(facts, touched)
        for cached in self._cached.values():
            cached.past.learned(log_index, facts, touched)
        is_deletion = any(isinstance(fact, Deletion) for fact in facts)
        derived = [key for key in self._cached if key.is_cut]
        self._evict([key for key in derived if is_deletion or self._may_have_restored(key.bounds.time_us, event_us)])

    def _may_have_restored(self, time_us: int | None, event_us: int) -> bool:
        """Whether an event may mean that something was not deleted at that time."""
        if time_us is None or event_us > time_us:
            return False
        return self._now.graph.edits.restored_after(time_us) is not None

    def reset(self) -> None:
        """Drop all pasts: the current state half-learned an event, so they may have missed changes."""
        self._evict([*self._cached])

    def _by_all_names(self, facts: Sequence[Fact], touched: Touched) -> Touched:
        """What an event touched, with datasets under all their names, including quarantined ones."""
        members = (self._now.graph.identities.members(name) for name in touched.datasets)
        return touched._replace(datasets=touched.datasets.union(mentions(facts).datasets, *members))

    def stop(self) -> None:
        """Close all pasts, and interrupt a running replay; requests that wait for it get a retriable error."""
        self._is_stopping.set()
        for thread in (self._replaying, self._cutting):
            thread.shutdown(wait=False, cancel_futures=True)
        built = {cached.past for cached in self._cached.values() if cached.building.done()}
        for past in built | self._evicted:
            past.close()
        self._cached.clear()
        self._evicted.clear()

    async def past(self, requested: AsOf, *, replayed: bool = False) -> Past:
        """The past with these bounds; `replayed` if the last times of links between names must be known.

        Raises:
            UnavailableError: too many other pasts are being built, or the store does not answer.
        """
        bounds = requested.without_idle_bounds(self._newest)
        if bounds == AsOf():
            return Past(self._now, _stated_bounds(requested, self._newest))
        while True:
            size = (self._newest.log_size or 0) if bounds.log_size is None else bounds.log_size
            exact = await self._exactly(bounds, size)
            key = _Key(exact, is_cut=False) if replayed else await self._key(exact)
            self._drop_incomplete()
            cached = self._cached.pop(key, None) or self._begin(key, size)
            self._cached[key] = cached  # now the most recently used
            await asyncio.shield(cached.building)
            await cached.past.catch_up()
            if self._is_current(exact, size, key, cached):
                return Past(cached.past.knowledge, _stated_bounds(requested, AsOf(key.bounds.time_us, size)))

    def _drop_incomplete(self) -> None:
        self._evict(
            [key for key, cached in self._cached.items() if cached.building.done() and cached.past.is_incomplete]
        )

    async def _exactly(self, bounds: AsOf, size: int) -> AsOf:
        """The bounds, with the time of the latest event that counts."""
        if bounds.log_size is None:
            return AsOf(self._now.store.newest_us(size, bounds.time_us))
        newest_us = (await self._beginning(size)).newest_us
        is_earlier = bounds.time_us is not None and newest_us is not None and bounds.time_us < newest_us
        return AsOf(self._now.store.newest_us(size, bounds.time_us) if is_earlier else newest_us, size)

    async def _beginning(self, size: int) -> _Beginning:
        """The first entries of the log; reads the times of all entries, unless they were asked for before."""
        async with self._reading:
            known = self._beginnings.pop(size, None)
            if known is None:
                self._overtaking_us = AFTER_ALL_US
                read = await asyncio.get_running_loop().run_in_executor(self._cutting, self._read_beginning, size)
                known = read.before(self._overtaking_us)
            self._beginnings[size] = known  # now the most recently used
            if len(self._beginnings) > _MAX_BEGINNINGS:
                del self._beginnings[next(iter(self._beginnings))]
            return known

    def _read_beginning(self, size: int) -> _Beginning:
        with closing(self.another_reader()) as reader:
            next_us = reader.earliest_us_after(size)
            return _Beginning(reader.newest_us(size), AFTER_ALL_US if next_us is None else next_us)

    async def _key(self, exact: AsOf) -> _Key:
        """The key of the past within these bounds, which is derived from the current state if it can be."""
        if exact.time_us is None:
            return _Key(exact, is_cut=False)
        for size in self._beginnings_of(exact.time_us, exact.log_size):
            await self._beginning(size)
        is_cut = not self._has_late_entry(exact.time_us, exact.log_size)
        return _Key(AsOf(exact.time_us) if is_cut else exact, is_cut)

    def _beginnings_of(self, time_us: int, log_size: int | None) -> list[int]:
        """The sizes of beginnings of the log that must have all events up to that time for its state to be derived."""
        deciding = self._now.graph.edits.restored_after(time_us)
        sizes = (log_size, None if deciding is None else deciding + 1)
        return [size for size in sizes if size is not None]

    def _has_late_entry(self, time_us: int, log_size: int | None) -> bool:
        """Whether one of these beginnings lacks an event up to that time; assumed if it was not read."""
        found = map(self._beginnings.get, self._beginnings_of(time_us, log_size))
        return any(each is None or each.next_us <= time_us for each in found)

    def _is_current(self, exact: AsOf, size: int, key: _Key, cached: _CachedPast) -> bool:
        """Whether nothing was learned while the past was built that it must have, or must not have."""
        if exact.log_size is None:
            return size == self._newest.log_size
        if key.bounds.time_us is None or not key.is_cut:
            return True
        return self._cached.get(key) is cached and not self._has_late_entry(key.bounds.time_us, exact.log_size)

    def _begin(self, key: _Key, size: int) -> _CachedPast:
        if self._is_stopping.is_set():
            raise UnavailableError("the service is stopping")
        if self._building_count >= _MAX_WAITING:
            raise UnavailableError("asOf, logSize: too many past states are being computed; try again in a few seconds")
        self._building_count += 1
        past: CutPast | ReplayedPast
        if key.is_cut and key.bounds.time_us is not None:
            past = CutPast(self._now, key.bounds.time_us, self.another_reader, self._cutting, self._runs_again)
            building = past.make()
        else:
            past = ReplayedPast(self._now, key.bounds, size, self._is_stopping)
            building = past.make(self.another_reader, self._replaying, self._metrics)
        cached = _CachedPast(past, asyncio.create_task(building))
        cached.building.add_done_callback(lambda _: self._on_built(key, cached))
        return cached

    def _on_built(self, key: _Key, cached: _CachedPast) -> None:
        self._building_count -= 1
        if cached.building.cancelled():  # a thread may still read from it
            self._cached.pop(key, None)
        elif cached.building.exception() is not None:
            self._cached.pop(key, None)
            cached.past.close()
        else:
            self._make_room(cached)

    def _make_room(self, newest: _CachedPast) -> None:
        """Evict the least recently used pasts, except the one just built."""
        built = {key: cached for key, cached in self._cached.items() if cached.building.done()}
        size_bytes = sum(cached.past.size_bytes for cached in built.values())
        for key, cached in built.items():
            if size_bytes <= self._max_bytes:
                break
            if cached is not newest:
                size_bytes -= cached.past.size_bytes
                self._evict([key])
        self._metrics.pasts.set(size_bytes)

    def _evict(self, keys: Sequence[_Key]) -> None:
        for key in keys:
            past = self._cached.pop(key).past
            self._evicted.add(past)
            # Not at once: a request may hold it while it waits for another past, to compare the two.
            asyncio.get_running_loop().call_later(_GIVEN_UP_S, self._close, past)

    def _close(self, past: CutPast | ReplayedPast) -> None:
        if past in self._evicted:
            self._evicted.remove(past)
            past.close()


def _stated_bounds(requested: AsOf, newest: AsOf) -> AsOf:
    """The bounds that the answer states: sent back as parameters, they give the same answer."""
    return AsOf(newest.time_us if requested.time_us is None else requested.time_us, newest.log_size)
