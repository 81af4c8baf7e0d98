"""Column evidence, counted: for each dataset, the facets that report its columns; of each run only the strongest."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from headwater.graph.column_edges import ColumnEdges, ContentReader
from headwater.graph.records import Edge, EvidenceKey
from headwater.graph.state import GraphState
from headwater.model.facts import STRENGTH, ColumnEvidence
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId


class ColumnEvidences(GraphState):
    """Adds the column evidence of runs and declarations."""

    def __init__(self, content: ContentReader, column_edges: ColumnEdges | None = None) -> None:
        """An empty graph.

        `column_edges` may be shared with another graph, since a facet says the same in both. This graph may then be
        filled in another thread; `hand_over` registers its new facets with the shared object.
        """
        super().__init__(content)
        self.column_edges = ColumnEdges(content) if column_edges is None else column_edges
        self._unregistered: list[tuple[DatasetId, bytes]] | None = None if column_edges is None else []
        self._handed_over: dict[DatasetId, None] = {}
        """Targets of the facets that were handed over, and others to be rechecked."""
        self.derivation_candidates: set[DatasetId] = set()
        """Candidates for `derived.py`: datasets of which a facet may report sources that no job carries."""
        self._reporting_runs: dict[DatasetId, dict[str, None]] | None = None
        self._interned_keys: dict[EvidenceKey, EvidenceKey] = {}
        """Interned: many runs report the same, and each should hold the same object."""

    def _add_evidence(self, fact: ColumnEvidence) -> None:
        run, target = self._run(fact.run_id), self._interned_end(("output", fact.target))[1]
        mine = run.evidence.get(target, ())
        self._note_reporting_run(fact.target, fact.run_id)
        self._observe(fact.target, fact.seen)
        key = (fact.strength, fact.content)
        key = self._interned_keys.setdefault(key, key)
        strongest = max((strength for (strength, _), _ in mine), default=0)
        known = next((seen for each, seen in mine if each == key), None)
        others = (each for each in mine if each[0] != key)
        run.evidence[target] = tuple(sorted((*others, (key, run.interned_times(widened(known, fact.seen))))))
        if fact.strength > strongest > 0:
            self._rebuild_evidence(fact.target)
        elif fact.strength >= strongest:
            self._count_evidence(fact.target, key, fact.seen, is_new_run=known is None)

    def runs_reporting(self, target: DatasetId) -> Iterable[str]:
        """The runs that gave evidence for the target, from an index that is built on the first call."""
        if self._reporting_runs is None:
            self._reporting_runs = defaultdict(dict)
            for run_id, run in self.runs.items():
                for name in run.evidence:
                    self._reporting_runs[name][run_id] = None
        return self._reporting_runs.get(target, ())

    def _note_reporting_run(self, target: DatasetId, run_id: str) -> None:
        if self._reporting_runs is not None:
            self._reporting_runs[target][run_id] = None

    def _count_evidence(self, target: DatasetId, key: EvidenceKey, seen: Seen, *, is_new_run: bool) -> None:
        dataset = self._dataset(target)
        evidence, edge = dataset.evidence, dataset.evidence.get(key)
        if edge is None:
            if key[0] == STRENGTH["lineage"] or not dataset.writers:
                self.derivation_candidates.add(target)
            evidence[key] = Edge(seen, int(is_new_run))
            self._note_evidence(target, key[1])
        else:
            if seen.first_us < edge.seen.first_us:
                self._note_evidence(target, key[1])
            edge.count(seen, is_new_run=is_new_run)

    def _note_evidence(self, target: DatasetId, digest: bytes) -> None:
        if self._unregistered is None:
            self.column_edges.note(target, digest)
        else:
            self._unregistered.append((target, digest))

    def _rebuild_evidence(self, target: DatasetId) -> None:
        """Recount the target's evidence, after a run gave stronger evidence than before."""
        self.datasets[target].evidence.clear()
        for run_id in self.runs_reporting(target):
            mine = self.runs[run_id].evidence[target]
            strongest = max((strength for (strength, _), _ in mine), default=0)
            for key, seen in mine:
                if key[0] == strongest:
                    self._count_evidence(target, key, seen, is_new_run=True)
        for declared in self.datasets[target].declared.values():
            if declared.evidence is not None:
                seen = Seen(declared.stamp.time_us, declared.stamp.time_us)
                self._count_evidence(target, declared.evidence, seen, is_new_run=False)

    def hand_over(self) -> None:
        """Register new facets with the shared column edges; to be called in the thread that owns them."""
        for target, digest in self._unregistered or ():
            self.column_edges.note(target, digest)
            self._handed_over[target] = None
        if self._unregistered is not None:
            self._unregistered.clear()

    def recheck(self, target: DatasetId) -> None:
        """Queue a dataset among the `newly_read`."""
        self._newly_read[target] = None

    @property
    def _newly_read(self) -> dict[DatasetId, None]:
        return self.column_edges.newly_read if self._unregistered is None else self._handed_over

    def newly_read(self) -> Iterator[DatasetId]:
        """Yield and remove the datasets with newly read facets.

        Of a graph with shared column edges, those handed over since, read or not; the graph that owns them has its own
        queue.
        """
        while self._newly_read:
            yield self._newly_read.popitem()[0]
