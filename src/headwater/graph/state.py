"""The graph's mutable state: records of jobs, runs and datasets by name."""

from collections import defaultdict
from collections.abc import Iterable, MutableMapping
from typing import NamedTuple

from headwater.graph.column_edges import ContentReader
from headwater.graph.edits import Edits
from headwater.graph.identity import Identities
from headwater.graph.nodes import Nodes
from headwater.graph.records import Dataset, Job, Reporter, Run, RunEnd, RunExtras
from headwater.graph.semantic_digests import SemanticDigests
from headwater.model.facts import Quarantined, RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId


class PossibleKeys(NamedTuple):
    """Keys of records, of which some may not exist."""

    runs: Iterable[str]
    jobs: Iterable[JobId]
    datasets: Iterable[DatasetId]


class GraphState:
    """The records of a graph; the private accessors create a missing record, so that facts can be added to it."""

    def __init__(self, content: ContentReader) -> None:
        self.runs: MutableMapping[str, Run] = {}
        self.jobs: MutableMapping[JobId, Job] = {}
        self.datasets: MutableMapping[DatasetId, Dataset] = {}
        self.quarantined: dict[tuple[object, ...], Quarantined] = {}
        self.child_runs: MutableMapping[str, dict[JobId, set[str]]] = defaultdict(dict)
        """By the id of a run, which may have no events itself: the runs whose parent facets name it as parent or root,
        by the job that they give it."""
        self.misnamed: set[str] = set()
        """Runs to which a child gives another job than the run itself reports."""
        self.identities = Identities()
        self.edits = Edits()
        self.nodes = Nodes()
        self.named_in_control: MutableMapping[JobId, set[str]] = defaultdict(set)
        """By job: the runs whose `jobDependencies` facets name it."""
        self.named_in_flows: MutableMapping[str, set[Reporter]] = defaultdict(set)
        """By run id: who reports flows into or out of the run; may include declarations that were replaced since."""
        self.renaming_runs: dict[frozenset[DatasetId], set[str]] = defaultdict(set)
        """By the two names of a rename: the runs that reported it."""
        self.renamed_anyway: set[frozenset[DatasetId]] = set()
        """The renames that were reported without a run."""
        self.content = content
        """Reads a facet or declaration by its digest."""
        self.semantic_digests = SemanticDigests(content)
        self._interned_ends: dict[RunEnd, RunEnd] = {}
        self._interned_jobs: dict[JobId, JobId] = {}
        self._interned_uses: dict[bytes, bytes] = {}
        """Interned: many runs report the same, and each should hold the same object."""
        self._shown: dict[DatasetId, DatasetId] = {}
        """Cache: the shown names of datasets with several names; entries are dropped when the choice may change."""
        self._spelt_otherwise: set[DatasetId] = set()
        """Names in the cache that are not in use."""
        self._shown_as_of = 0
        """The value of `identities.changes` for which the cache is valid."""

    def possible_keys(self) -> "PossibleKeys":
        """The keys of all runs, jobs and datasets; in a past perhaps also of some that it does not have."""
        return PossibleKeys(self.runs, self.jobs, self.datasets)

    def _interned_end(self, end: RunEnd) -> RunEnd:
        return self._interned_ends.setdefault(end, end)

    def _interned_job(self, job: JobId) -> JobId:
        return self._interned_jobs.setdefault(job, job)

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = Run()
        return run

    def job_of(self, run_id: str) -> JobId | None:
        """The job that a run itself reports; None for a run without events."""
        of_job = self._reported_job(run_id)
        return None if of_job is None else of_job.job

    def _reported_job(self, run_id: str) -> RunOfJob | None:
        run = self.runs.get(run_id)
        return None if run is None else run.of_job

    def _job(self, job: JobId) -> Job:
        known = self.jobs.get(job)
        if known is None:
            known = self.jobs[job] = Job()
        return known

    def _extras(self, run_id: str) -> RunExtras:
        run = self._run(run_id)
        if run.extras is None:
            run.extras = RunExtras()
        return run.extras

    def _dataset(self, name: DatasetId) -> Dataset:
        dataset = self.datasets.get(name)
        if dataset is None:
            dataset = self.datasets[name] = Dataset()
        return dataset

    def _observe(self, name: DatasetId, seen: Seen) -> None:
        dataset = self._dataset(name)
        is_new = not dataset.is_known
        dataset.observe(seen)
        self.identities.note(name)
        if is_new:
            self._choose_again(name)

    def _choose_again(self, name: DatasetId) -> None:
        """Drop the cached shown name of the dataset, also for unused spellings that were asked about."""
        if not self.identities.is_alone(name):
            for member in (*self.identities.members(name), *self._spelt_otherwise):
                self._shown.pop(member, None)
            self._spelt_otherwise.clear()
