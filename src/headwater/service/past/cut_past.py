"""A past derived from the current state: only runs with events on both sides of its time are read again from the log.

For every run whose last event is before that time, memory and rows are as they were (`headwater.graph.past.cut`,
`headwater.store.until`), and are used as they are. The past is kept up to date: a late event with an earlier time
belongs to it, and a new event of one of its runs means that the run's rows now say more than was known then. For the
event loop's thread.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Final, TypeVar

from headwater.graph.past.cut import CutGraph, side
from headwater.model.facts import FacetReport, Fact, RunOfJob, happened_us
from headwater.service.background import collect_in_slices, groups
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.touched import Touched
from headwater.service.past.events_again import RunsAgain, read_again
from headwater.service.past.knowledge_as_of import KnowledgeAsOf
from headwater.service.past.older_facets import OlderFacets
from headwater.service.past.replayed_past import BYTES_OF_AN_EVENT
from headwater.store.reader import AnotherReader, Reader
from headwater.store.until import ReaderUntil

ReadT = TypeVar("ReadT")

_FEW: Final = 16
"""Up to so many events are folded again on the event loop's thread; more in another thread, and only those needed."""
_FACTS: Final = 200
"""Facts added per step: a millisecond's work."""
_GROUP: Final = 64
"""Runs that are caught up with per step; reports of a run that may be repetitions."""
_LATE_GROUP: Final = 16
"""Late events that are caught up with per step."""
_BYTES_OF_A_PAST: Final = 4_000_000
"""For its caches, and as a charge for updating it with every event."""
_BYTES_OF_A_NODE: Final = 1_500


class CutPast:
    """The state as of `until_us`, kept up to date with new events."""

    def __init__(
        self, now: Knowledge, until_us: int, another_reader: AnotherReader, thread: Executor, runs_again: RunsAgain
    ) -> None:
        """Derive from `now`; `runs_again` is for use in `thread` only."""
        self._now = now
        self._runs_again = runs_again
        self._another_reader = another_reader
        self._thread = thread
        self._until_us = until_us
        self._store = ReaderUntil(now.store, until_us)
        older = OlderFacets(self._store)
        self._graph = older.graph = CutGraph(now.graph, until_us, older)
        self.knowledge = KnowledgeAsOf(self._store, self._graph, now, self._read_nodes)
        self._runs_behind: dict[str, None] = {}
        self._late_entries: list[int] = []
        self._perhaps_repeated: dict[str, list[FacetReport]] = {}
        """Later reports of runs folded again, by run: if they repeat what was reported by then, rows lost when."""
        self._turn = asyncio.Lock()
        self._has_nodes = False
        self._is_catching_up = False

    @property
    def size_bytes(self) -> int:
        """An estimate of its memory."""
        return _BYTES_OF_A_PAST + self._graph.size * _BYTES_OF_A_NODE + self._store.refolded * BYTES_OF_AN_EVENT

    @property
    def is_incomplete(self) -> bool:
        """Whether it lacks events since a full disk, for good."""
        return self._store.is_incomplete

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
        store, more = self._now.store, _FEW + 1
        if store.count_events_of_runs(across, more) + store.count_events_without_run(more) <= _FEW:
            log_indexes = *self._store.times_of(across), *self._store.log_indexes_without_run()
            facts = self._store.add_again(read_again(store, log_indexes, self._until_us))
        else:
            facts = await self._in_thread(lambda reader: self._refold(reader, across))
        await collect_in_slices(self._add(facts))
        self._graph.add_all(self._now.graph.edits.deletions_by(self._until_us))
        self._graph.identities.note_joined()
        self._graph.hand_over()
        self.knowledge.derivations.invalidate_all()
        await self.catch_up()

    def _add(self, facts: Sequence[Fact]) -> Iterator[None]:
        for group in groups(facts, _FACTS):
            self._graph.add_all(group)
            yield

    def _refold(self, reader: Reader, run_ids: Sequence[str]) -> list[Fact]:
        """Fold the events up to the time, of these runs and without a run."""
        without_run = reader.log_indexes_without_run(self._until_us)
        facts = self._store.add_again(self._runs_again.read(reader, run_ids, self._until_us, without_run))
        self._store.fold_ahead()  # a second's work for a stream, which the first read would have to do
        return facts

    async def _read_nodes(self) -> None:
        async with self._turn:
            if not self._has_nodes:
                await collect_in_slices(
                    self._add(await self._in_thread(lambda reader: reader.chain_links(self._until_us)))
                )
                self._has_nodes = True

    async def _in_thread(self, read: Callable[[Reader], ReadT]) -> ReadT:
        """Run `read` in another thread, with a reader of its own."""

        def reading() -> ReadT:
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
        if is_late and (run_id is None or run_id in self._store.runs):
            self._late_entries.append(log_index)
        elif run_id in self._store.runs:
            self._note_repetitions(run_id, facts)
        elif run_id is not None and (is_late or self._is_news(run_id)):
            self._runs_behind[run_id] = None
        self._graph.is_in_step = not self._is_behind

    def _note_repetitions(self, run_id: str, facts: Sequence[Fact]) -> None:
        """Note which of a run's later reports may repeat what it reported by then; too many are assumed to."""
        reports = self._perhaps_repeated.setdefault(run_id, [])
        reports += (
            fact for fact in facts if isinstance(fact, FacetReport) and fact.key not in self._store.reports_again
        )
        if len(reports) > _GROUP:
            self._runs_behind[run_id] = None
            reports.clear()

    @property
    def _is_behind(self) -> bool:
        return bool(self._runs_behind or self._late_entries or self._is_catching_up)

    def _is_news(self, run_id: str) -> bool:
        """Whether a run that was the same then and now has just changed, given that it is not folded again."""
        return side(self._now.graph.runs[run_id], self._until_us) != "after"

    async def catch_up(self) -> None:
        """Take in events learned since; runs with new events are from now on read from the log."""
        async with self._turn:
            self._runs_behind.update(dict.fromkeys(self._that_repeated()))
            while self._is_behind:
                run_ids, log_indexes = [*islice(self._runs_behind, _GROUP)], self._late_entries[:_LATE_GROUP]
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

    def _that_repeated(self) -> list[str]:
        """The runs whose rows may have lost when something was last reported by then."""
        waiting, self._perhaps_repeated = self._perhaps_repeated, {}
        return [run_id for run_id, reports in waiting.items() if any(map(self._was_reported, reports))]

    def _was_reported(self, report: FacetReport) -> bool:
        return self._now.store.report_by(report, self._until_us) is not None

    async def _take_in(self, run_ids: Sequence[str], log_indexes: Sequence[int]) -> None:
        now, until_us = self._now.store, self._until_us
        if now.count_events_of_runs(run_ids, _FEW + 1) <= _FEW:
            again = read_again(now, self._store.times_of(run_ids), until_us)
        else:
            again = await self._in_thread(partial(self._runs_again.read, run_ids=run_ids, until_us=until_us))
        late = read_again(now, log_indexes, until_us, self._store.runs)
        self._store.runs.update(run_ids)
        self._store.note_late_events()
        self.knowledge.learn([*self._store.add_again(late), *self._store.add_again(again)])
        self._graph.hand_over()


def _run_of(facts: Sequence[Fact]) -> str | None:
    return next((fact.run_id for fact in facts if isinstance(fact, RunOfJob)), None)
