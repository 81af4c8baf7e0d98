"""A past derived from the current state: only runs with events on both sides of its time are read again from the log.

For every run whose last event is before that time, memory and rows are as they were (`headwater.graph.past.cut`,
`headwater.store.until`), and are used as they are. The past is kept up to date: a late event with an earlier time
belongs to it, and a new event of one of its runs means that the run's rows now say more than was known then. For the
event loop's thread.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cache, partial
from itertools import islice
from typing import Final

from headwater.graph.minimal_events import MinimalEvents
from headwater.graph.past.cut import CutGraph, side
from headwater.model.facts import FacetReport, Fact, RunOfJob, happened_us
from headwater.service.background import collect_in_slices, groups
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.touched import Touched
from headwater.service.past.knowledge_as_of import KnowledgeAsOf
from headwater.service.past.older_facets import OlderFacets
from headwater.service.past.replayed_past import BYTES_OF_AN_EVENT
from headwater.store.entries import WITHOUT_RUN, LoggedEvent, facts_of
from headwater.store.reader import AnotherReader, Reader
from headwater.store.until import ReaderUntil

_FEW: Final = 16
"""Up to so many events are folded again on the event loop's thread; more in another thread, and only those whose facts
are not in rows."""
_FACTS: Final = 200
"""Facts added per step: a millisecond's work."""
_GROUP: Final = 64
"""Events folded again per step."""
_At = Callable[[Iterable[int]], Iterable[Sequence[LoggedEvent]]]
"""Returns the events at these log indexes, in log order, in chunks."""
_BYTES_OF_A_PAST: Final = 4_000_000
"""For its caches, and as a charge for updating it with every event."""
_BYTES_OF_A_NODE: Final = 1_500


class CutPast:
    """The state as of `until_us`, kept up to date with new events."""

    def __init__(self, now: Knowledge, until_us: int, another_reader: AnotherReader, thread: Executor) -> None:
        self._now = now
        self._another_reader = another_reader
        self._thread = thread
        self._until_us = until_us
        self._store = ReaderUntil(now.store, until_us)
        older = OlderFacets(self._store)
        self._graph = older.graph = CutGraph(now.graph, until_us, older)
        self.knowledge = KnowledgeAsOf(self._store, self._graph, now, self._read_nodes)
        self._runs_behind: dict[str, None] = {}
        self._late_entries: list[int] = []
        self._turn = asyncio.Lock()
        self._has_nodes = False
        self._is_catching_up = False

    @property
    def size_bytes(self) -> int:
        """An estimate of its memory."""
        return _BYTES_OF_A_PAST + self._graph.size * _BYTES_OF_A_NODE + self._store.refolded * BYTES_OF_AN_EVENT

    def close(self) -> None:
        """Free the memory now: the caches form reference cycles, which only the garbage collector would find."""
        self._store.close()
        vars(self.knowledge).clear()

    async def make(self) -> None:
        """Build the past; called once, before its knowledge is read."""
        await collect_in_slices(self._now.run_intervals.catch_up())
        across = [*self._now.run_intervals.across(self._until_us)]
        await collect_in_slices(self._add(self._store.identity_facts()))
        await collect_in_slices(self._add(list(self._graph.quarantined_before())))
        self._store.runs.update(across)
        if self._now.store.count_events_of_runs(across) <= _FEW:
            facts = self._refold_few(across)
        else:
            facts = await self._in_thread(lambda reader: self._refold_many(reader, across))
        await collect_in_slices(self._add(facts))
        self._graph.identities.note_joined()
        self._graph.hand_over()
        self.knowledge.derivations.invalidate_all()
        await self.catch_up()

    def _add(self, facts: Sequence[Fact]) -> Iterator[None]:
        for group in groups(facts, _FACTS):
            self._graph.add_all(group)
            yield

    def _refold_few(self, run_ids: Sequence[str]) -> list[Fact]:
        """Fold the events up to the time, of these runs and without a run; all are in memory meanwhile."""
        logged = {event.log_index: event for event in self._now.store.events_of_runs(run_ids, self._until_us)}
        return self._refold(
            logged.values(),
            lambda log_indexes: [[logged[log_index] for log_index in sorted(log_indexes)]],
            self._now.store,
        )

    def _refold_many(self, reader: Reader, run_ids: Sequence[str]) -> list[Fact]:
        """Fold the events up to the time, of these runs and without a run."""
        facts = self._refold(reader.events_of_runs(run_ids, self._until_us), partial(_in_order, reader), reader)
        self._store.fold_ahead()  # a second's work for a stream, which the first read would have to do
        return facts

    def _refold(self, events: Iterable[LoggedEvent], at: _At, reader: Reader) -> list[Fact]:
        """Fold the events whose facts are not in rows."""
        needed = _Needed(events, _StoredReports(reader, self._until_us))
        for _ in needed.steps():
            pass
        facts = [fact for logged in at(needed.log_indexes()) for fact in self._store.add_again(logged, needed.parsed)]
        self._store.skip(needed.examined)
        return facts

    async def _read_nodes(self) -> None:
        async with self._turn:
            if not self._has_nodes:
                await collect_in_slices(
                    self._add(await self._in_thread(lambda reader: reader.chain_links(self._until_us)))
                )
                self._has_nodes = True

    async def _in_thread(self, read: Callable[[Reader], list[Fact]]) -> list[Fact]:
        """Run `read` in another thread, with a reader of its own."""

        def reading() -> list[Fact]:
            with closing(self._another_reader()) as reader:
                return read(reader)

        return await asyncio.get_running_loop().run_in_executor(self._thread, reading)

    def about_to_learn(self, facts: Sequence[Fact]) -> None:
        """Keep the current state of the event's run, before it changes."""
        if (run_id := _run_of(facts)) is not None:
            self._graph.keep(run_id)

    def learned(self, log_index: int, facts: Sequence[Fact], touched: Touched) -> None:
        """Invalidate what the event touched (datasets under all their names), and note what to catch up with."""
        self._graph.forget(touched.jobs, touched.datasets)
        self.knowledge.on_learned(facts)
        is_late = happened_us(facts) <= self._until_us
        run_id = _run_of(facts)
        if run_id is None and is_late:
            self._late_entries.append(log_index)
        elif run_id is not None and (is_late or self._is_news(run_id)):
            self._runs_behind[run_id] = None
        self._graph.is_in_step = not self._is_behind

    @property
    def _is_behind(self) -> bool:
        return bool(self._runs_behind or self._late_entries or self._is_catching_up)

    def _is_news(self, run_id: str) -> bool:
        """Whether a run that was the same then and now has just changed."""
        is_of_then = side(self._now.graph.runs[run_id], self._until_us) != "after"
        return is_of_then and run_id not in self._store.runs

    async def catch_up(self) -> None:
        """Take in events learned since; runs with new events are from now on read from the log."""
        async with self._turn:
            while self._is_behind:
                run_ids, log_indexes = [*islice(self._runs_behind, _GROUP)], self._late_entries[:_GROUP]
                for run_id in run_ids:  # first, so that a run that changes meanwhile is added again
                    del self._runs_behind[run_id]
                del self._late_entries[: len(log_indexes)]
                self._is_catching_up = True
                try:
                    await self._take_in(run_ids, log_indexes)
                except BaseException:
                    self._runs_behind.update(dict.fromkeys(run_ids))
                    self._late_entries += log_indexes
                    raise
                finally:
                    self._is_catching_up = False
                self._graph.is_in_step = not self._is_behind
                await asyncio.sleep(0)

    async def _take_in(self, run_ids: Sequence[str], log_indexes: Sequence[int]) -> None:
        new = [log_index for log_index in self._store.times_of(run_ids) if not self._store.has_examined(log_index)]
        events = (event for group in groups((*log_indexes, *new), _GROUP) for event in self._store.at(group).values())
        needed = _Needed(events, _StoredReports(self._store, self._until_us))
        await collect_in_slices(needed.steps())
        logged = [event for group in _in_order(self._store, needed.log_indexes()) for event in group]
        self._store.runs.update(run_ids)
        self._store.note_late_events()
        self.knowledge.learn(self._store.add_again(logged, needed.parsed))
        self._store.skip(needed.examined)
        self._graph.hand_over()


class _Needed:
    """Selects the events to fold again: of each run's events, only as many as are needed for the facts of all."""

    def __init__(self, logged: Iterable[LoggedEvent], stored: "_StoredReports") -> None:
        self._logged = logged
        self._stored = stored
        self._minimal_events = MinimalEvents()
        self._without_run: set[int] = set()
        self.examined: set[int] = set()
        self.parsed: dict[int, Sequence[Fact]] = {}
        """The facts of the first few of them, by log index."""

    def steps(self) -> Iterator[None]:
        """Examine the events, one per step."""
        for event in self._logged:
            self.examined.add(event.log_index)
            if event.event_type in WITHOUT_RUN:
                self._without_run.add(event.log_index)
            else:
                facts = facts_of(event)
                self._minimal_events.add(event.log_index, facts)
                if len(self.parsed) < _FEW:
                    self.parsed[event.log_index] = facts
            yield

    def log_indexes(self) -> set[int]:
        """The log indexes of the events needed."""
        needed = self._minimal_events.positions()
        if len(needed) > _FEW:
            needed = self._minimal_events.positions(self._stored.holds)
        return self._without_run | needed


class _StoredReports:
    """Facts that rows hold as of then although their run has later events, like the versions that a stream reports."""

    def __init__(self, reader: Reader, until_us: int) -> None:
        self._ended = cache(partial(reader.ended_reports, until_us))

    def holds(self, fact: Fact) -> bool:
        """Whether a row holds the fact as it was then."""
        if not isinstance(fact, FacetReport):
            return False
        return (fact.direction, fact.name, fact.content) in self._ended(fact.run_id, fact.dataset)


def _in_order(reader: Reader, log_indexes: Iterable[int]) -> Iterator[list[LoggedEvent]]:
    """The events at these log indexes, in log order, in chunks."""
    for group in groups(sorted(log_indexes), _GROUP):
        yield sorted(reader.at(group).values(), key=_log_index)


def _run_of(facts: Sequence[Fact]) -> str | None:
    return next((fact.run_id for fact in facts if isinstance(fact, RunOfJob)), None)


def _log_index(event: LoggedEvent) -> int:
    return event.log_index
