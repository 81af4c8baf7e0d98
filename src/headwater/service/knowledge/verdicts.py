"""Counts of signature verdicts by the namespace of the run's job; the log is read incrementally, when asked for."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from headwater.graph.lineage import Graph
from headwater.store.log_reader import VerdictRow, VerdictsRead

_SLICE: Final = 256
"""Rows counted per step."""


class VerdictKey(NamedTuple):
    """What verdicts are counted by: namespace (empty without a run), verdict, the key that the event names (if any)."""

    namespace: str
    verdict: str
    key_id: str | None


class Verdicts:
    """The counts for the part of the log that has been read."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.read = 0
        """How many log entries have been read."""
        self._unplaced: list[VerdictRow] = []
        """Rows read but not yet counted."""
        self._placed: Counter[VerdictKey] = Counter()
        self._unknown: dict[str, Counter[VerdictKey]] = defaultdict(Counter)
        """Counts by run, for runs that the graph does not know yet."""

    def reset(self) -> None:
        """Read the log again, as a run may have moved to another namespace; until then the old counts stand."""
        self.read = 0
        self._unplaced.clear()

    def take(self, stretch: VerdictsRead) -> bool:
        """Take rows that were read; returns False, and takes nothing, if another reader was faster."""
        if stretch.begin != self.read:
            return False
        if stretch.begin == 0:
            self._placed.clear()
            self._unknown.clear()
        self.read = stretch.end
        self._unplaced += stretch.rows
        return True

    def place(self) -> Iterator[None]:
        """Count all rows taken, some with each step."""
        while self._unplaced:
            rows = self._unplaced[-_SLICE:]
            del self._unplaced[-_SLICE:]
            for run_id, verdict, key_id, events in rows:
                namespace = None if run_id is None else self._namespace_of(run_id)
                counts = self._placed if run_id is None or namespace is not None else self._unknown[run_id]
                counts[VerdictKey(namespace or "", verdict, key_id)] += events
            yield

    def place_runs(self, run_ids: Iterable[str]) -> None:
        """Move the counts of these runs, which the graph has learned about, to their namespaces."""
        for run_id in run_ids if self._unknown else ():
            if run_id in self._unknown and (namespace := self._namespace_of(run_id)) is not None:
                for key, events in self._unknown.pop(run_id).items():
                    self._placed[key._replace(namespace=namespace)] += events

    def _namespace_of(self, run_id: str) -> str | None:
        run = self._graph.runs.get(run_id)
        return None if run is None or run.of_job is None else run.of_job.job.namespace

    def counts(self) -> Iterator[tuple[VerdictKey, int]]:
        """The number of events per key."""
        for _ in self.place():
            pass
        yield from self._placed.items()
        for unknown in self._unknown.values():
            yield from unknown.items()
