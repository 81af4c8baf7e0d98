"""How the signatures of events fared, by the namespace of their run's job: read on in the log when somebody asks."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from headwater.graph.lineage import Graph
from headwater.store.log_reader import VerdictRow, VerdictsRead

_SLICE: Final = 256
"""Runs whose verdicts are placed in one go."""


class Fared(NamedTuple):
    """Events of one namespace, empty for those without a run, with the key that they name, if any."""

    namespace: str
    verdict: str
    key_id: str | None


class Verdicts:
    """Counts of events, as far as the log has been read."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.read = 0
        """Of how many entries."""
        self._unplaced: list[VerdictRow] = []
        """What was read and is still to be counted."""
        self._placed: Counter[Fared] = Counter()
        self._unknown: dict[str, Counter[Fared]] = defaultdict(Counter)
        """By run: of those that the graph does not know, or not yet."""

    def begin_again(self) -> None:
        """A run may have turned out to be of another namespace's job; what was counted stands until it is read anew."""
        self.read = 0
        self._unplaced.clear()

    def take(self, stretch: VerdictsRead) -> bool:
        """Take what was read; gives false, and takes nothing, where somebody else has read on meanwhile."""
        if stretch.begin != self.read:
            return False
        if stretch.begin == 0:
            self._placed.clear()
            self._unknown.clear()
        self.read = stretch.end
        self._unplaced += stretch.rows
        return True

    def place(self) -> Iterator[None]:
        """Count what was taken, some with each step; at its end nothing is left."""
        while self._unplaced:
            rows = self._unplaced[-_SLICE:]
            del self._unplaced[-_SLICE:]
            for run_id, verdict, key_id, events in rows:
                namespace = None if run_id is None else self._namespace_of(run_id)
                counts = self._placed if run_id is None or namespace is not None else self._unknown[run_id]
                counts[Fared(namespace or "", verdict, key_id)] += events
            yield

    def hear(self, run_ids: Iterable[str]) -> None:
        """The graph has heard of these runs."""
        for run_id in run_ids if self._unknown else ():
            if run_id in self._unknown and (namespace := self._namespace_of(run_id)) is not None:
                for fared, events in self._unknown.pop(run_id).items():
                    self._placed[fared._replace(namespace=namespace)] += events

    def _namespace_of(self, run_id: str) -> str | None:
        run = self._graph.runs.get(run_id)
        return None if run is None or run.of_job is None else run.of_job.job.namespace

    def counts(self) -> Iterator[tuple[Fared, int]]:
        """How many events fared so."""
        for _ in self.place():
            pass
        yield from self._placed.items()
        for unknown in self._unknown.values():
            yield from unknown.items()
