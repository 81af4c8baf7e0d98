"""A past that is cut out of what is known now: only the runs that spoke across that time are read again.

What stands in memory and in rows is as it was for every run that spoke for the last time before then
(`headwater.graph.cut`, `headwater.store.until`). Made on the event loop's thread, in slices, and kept in step from then
on: an event that happened earlier and comes late belongs to this past, and one that is heard of a run that is in it
makes that run's rows say more than was known then.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from itertools import islice
from typing import Final

from headwater.graph.cut import CutGraph, side
from headwater.model.facts import Fact, RunOfJob, happened_us
from headwater.service.ahead import groups, in_turns
from headwater.service.knowledge import Knowledge
from headwater.service.older import OlderFacets
from headwater.store.entries import LoggedEvent
from headwater.store.memory import MemoryStore
from headwater.store.reader import Reader
from headwater.store.until import ReaderUntil

_SLICE: Final = 50
"""Runs that are taken over in one go: a millisecond's work."""
_GROUP: Final = 64
"""Events that are folded again in one go."""
_BYTES_OF_A_RUN: Final = 3_000
_BYTES_OF_AN_EVENT: Final = 13_000
"""Of one that was folded again: its facts in a store in memory, and in the graph."""


class CutPast:
    """What was known as of `until_us`, kept in step with what comes."""

    def __init__(self, now: Knowledge, until_us: int) -> None:
        self._now = now
        self._until_us = until_us
        self._beside = MemoryStore(now.store)
        self._store = ReaderUntil(now.store, until_us, self._beside)
        older = OlderFacets(self._store)
        self._graph = older.graph = CutGraph(now.graph, until_us, older)
        self.knowledge = Knowledge(self._store, self._graph)
        self._heard_again: dict[str, None] = {}
        self._heard_late: list[int] = []
        self._turn = asyncio.Lock()

    @property
    def size_bytes(self) -> int:
        """About how much memory it takes."""
        return len(self._graph.runs) * _BYTES_OF_A_RUN + len(self._beside) * _BYTES_OF_AN_EVENT

    def close(self) -> None:
        """Give the memory back now: the caches of a knowledge refer to it."""
        self._store.close()
        vars(self.knowledge).clear()

    # Making

    async def make(self, another_reader: Callable[[], Reader], thread: Executor) -> None:
        """Fill it; called once, and before anything is asked of its knowledge."""
        across: list[str] = []
        await in_turns(self._take_over(across))
        await in_turns(self._add(self._store.identity_facts()))
        await in_turns(self._add(list(self._graph.quarantined_before())))
        self._store.runs.update(across)
        loop = asyncio.get_running_loop()
        told = await loop.run_in_executor(thread, self._fold_again, another_reader, across)
        await in_turns(self._add(told))
        self._graph.hand_over()
        self.knowledge.count_anew()
        self.knowledge.share_derivations(self._now)
        await self.catch_up()

    def _take_over(self, across: list[str]) -> Iterator[None]:
        for runs in groups(list(self._now.graph.runs.items()), _SLICE):
            for run_id, run in runs:
                match side(run, self._until_us):
                    case "before":
                        self._graph.same(run_id, run)
                    case "across":
                        across.append(run_id)
            yield

    def _add(self, facts: Sequence[Fact]) -> Iterator[None]:
        for group in groups(facts, _SLICE * 4):
            self._graph.add_all(group)
            yield

    def _fold_again(self, another_reader: Callable[[], Reader], run_ids: Sequence[str]) -> list[Fact]:
        """Fold what runs said by then, and what was said without a run; and find the nodes' links; in a thread."""
        with closing(another_reader()) as reader:
            logged = sorted(reader.told_of(run_ids, self._until_us), key=_place)
            links = reader.chain_links(self._until_us)
        return links + [fact for group in groups(logged, _GROUP) for fact in self._beside.add_logged(group)]

    # Keeping in step

    def keep(self, facts: Sequence[Fact]) -> None:
        """Keep what is known of the run that an event is about, which `now` is about to learn."""
        if (run_id := _run_of(facts)) is not None:
            self._graph.keep(run_id)

    def hear(self, log_index: int, facts: Sequence[Fact]) -> None:
        """Note that `now` learned an event."""
        is_late = happened_us(facts) <= self._until_us
        run_id = _run_of(facts)
        if run_id is None and is_late:
            self._heard_late.append(log_index)
        elif run_id is not None and (is_late or side(self._now.graph.runs[run_id], self._until_us) != "after"):
            self._heard_again[run_id] = None

    async def catch_up(self) -> None:
        """Take in what was heard of since; runs that spoke again are from now on read from their events."""
        async with self._turn:
            while self._heard_again or self._heard_late:
                run_ids = [*islice(self._heard_again, _GROUP)]
                places = self._heard_late[:_GROUP]
                logged = [event for run_id in run_ids for event in self._store.run_events(run_id)]
                logged += self._store.at(places).values()
                self._store.runs.update(run_ids)
                self._store.heard_late()
                self.knowledge.learn(self._beside.add_logged(sorted(logged, key=_place)))
                self._graph.hand_over()
                del self._heard_late[: len(places)]
                for run_id in run_ids:
                    del self._heard_again[run_id]
                await asyncio.sleep(0)


def _run_of(facts: Sequence[Fact]) -> str | None:
    return next((fact.run_id for fact in facts if isinstance(fact, RunOfJob)), None)


def _place(event: LoggedEvent) -> int:
    return event.log_index
