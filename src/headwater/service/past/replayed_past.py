"""A past built by replaying the log into a temporary store and a graph of its own.

It takes time in proportion to the log, and works for any bounds. Where a past can be derived from the current state
(`cut_past.py`), that is done instead.
"""

import asyncio
import threading
import time
from collections.abc import Generator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cached_property
from typing import Final

from headwater.errors import UnavailableError
from headwater.graph.diff.compare import Among
from headwater.graph.lineage import Graph
from headwater.model.facts import Fact
from headwater.model.times import BEFORE_ALL_US
from headwater.service.background import collect_in_slices, groups
from headwater.service.http.as_of import AsOf
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.run_records import RunRecords
from headwater.service.knowledge.touched import Touched
from headwater.service.metrics import Metrics
from headwater.store.reader import AnotherReader
from headwater.store.temporary import TemporaryStore

_GROUP: Final = 256
"""Events of a replay between two checks whether the service is stopping."""
_LATE_GROUP: Final = 16
"""Late events that a past takes in before it yields to the event loop."""
BYTES_OF_AN_EVENT: Final = 5_000
"""Memory of a folded event: mostly its facts in the graph."""


class _KnowledgeReplayed(Knowledge):
    """The read model of a replayed past, which shares nothing with the current one."""

    @cached_property
    def run_records(self) -> RunRecords:
        """An empty cache: the memory of a past is for its events."""
        return RunRecords(max_bytes=0)

    def may_have_changed(self) -> Generator[None, None, Among | None]:
        """As in `Knowledge`: unknown."""
        yield from ()
        return None


class ReplayedPast:
    """The state by the events up to a time among the first `size` log entries; late events are taken in."""

    def __init__(self, now: Knowledge, bounds: AsOf, size: int, is_stopping: threading.Event) -> None:
        self._now = now
        self._until_us = BEFORE_ALL_US if bounds.time_us is None else bounds.time_us
        self._is_fixed = bounds.log_size is not None
        self._looked_at = size
        """How many log entries were scanned for its events."""
        self._is_stopping = is_stopping
        self._store = TemporaryStore(now.store)
        self.knowledge = _KnowledgeReplayed(self._store, Graph(self._store.content, now.graph.column_edges))
        self._turn = asyncio.Lock()

    @property
    def size_bytes(self) -> int:
        """An estimate of its memory."""
        return len(self._store) * BYTES_OF_AN_EVENT

    @property
    def is_incomplete(self) -> bool:
        """Whether it lacks events since a full disk, for good."""
        return self._store.is_incomplete

    def close(self) -> None:
        """Free the memory now: the caches form reference cycles, which only the garbage collector would find."""
        self._store.close()
        vars(self.knowledge).clear()

    async def make(self, another_reader: AnotherReader, thread: Executor, metrics: Metrics) -> None:
        """Replay the log in a thread."""
        await asyncio.get_running_loop().run_in_executor(thread, self._replay, another_reader, metrics)
        self.knowledge.graph.hand_over()
        await collect_in_slices(self.knowledge.derivations.catch_up())

    def _replay(self, another_reader: AnotherReader, metrics: Metrics) -> None:
        begin = time.perf_counter()
        if self._until_us != BEFORE_ALL_US:
            with closing(another_reader()) as reader:
                for group in groups(reader.logged(range(self._looked_at), self._until_us), _GROUP):
                    self._store.add_logged(group)
                    if self._is_stopping.is_set():
                        raise UnavailableError("the service is stopping")
        self.knowledge.load()
        metrics.replayed(len(self._store), time.perf_counter() - begin)

    def about_to_learn(self, facts: Sequence[Fact]) -> None:
        """Nothing to do: no state is shared with the current one."""

    def learned(self, log_index: int, facts: Sequence[Fact], touched: Touched) -> None:
        """Nothing to do: `catch_up` scans the log."""

    async def catch_up(self) -> None:
        """Add events that were logged since, and that belong to this past by their time."""
        async with self._turn:
            size = self._looked_at if self._is_fixed else self._now.store.size()
            if self._looked_at < size:
                late = list(self._now.store.logged(range(self._looked_at, size), self._until_us))
                for group in groups(late, _LATE_GROUP):
                    self.knowledge.learn(self._store.add_logged(group))
                    await asyncio.sleep(0)
                self._looked_at = size
            self.knowledge.graph.hand_over()
