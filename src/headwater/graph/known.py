"""What is known of jobs, runs and datasets, by name."""

from collections import defaultdict
from collections.abc import MutableMapping

from headwater.graph.column_edges import ContentReader
from headwater.graph.edits import Edits
from headwater.graph.identity import Identities
from headwater.graph.nodes import Nodes
from headwater.graph.records import Dataset, Job, Run, RunEnd, Teller, ToldOfRun
from headwater.graph.sayings import Sayings
from headwater.model.facts import Quarantined, RunOfJob
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId


class Known:
    """The records of a graph; what is asked for to be added to is made where it is not there."""

    def __init__(self, content: ContentReader) -> None:
        self.runs: MutableMapping[str, Run] = {}
        self.jobs: MutableMapping[JobId, Job] = {}
        self.datasets: MutableMapping[DatasetId, Dataset] = {}
        self.quarantined: dict[tuple[object, ...], Quarantined] = {}
        self.child_runs: MutableMapping[str, dict[JobId, set[str]]] = defaultdict(dict)
        """By the id of a run, which may be silent itself: the runs whose parent facets name it, also as root, by the
        job that it has there."""
        self.misnamed: set[str] = set()
        """Runs that some of these give another job than the run itself tells."""
        self.identities = Identities()
        self.edits = Edits()
        self.nodes = Nodes()
        self.named_in_control: MutableMapping[JobId, set[str]] = defaultdict(set)
        """By job: the runs whose `jobDependencies` facets name it."""
        self.named_in_flows: MutableMapping[str, set[Teller]] = defaultdict(set)
        """By the id of a run: who tells of flows out of it or into it; a declaration may have been replaced since."""
        self.renaming_runs: dict[frozenset[DatasetId], set[str]] = defaultdict(set)
        """By both names of a rename the runs that told it."""
        self.renamed_anyway: set[frozenset[DatasetId]] = set()
        """Those that were told without a run."""
        self.content = content
        """Reads what a facet or declaration says, by its digest."""
        self.sayings = Sayings(content)
        self._same_ends: dict[RunEnd, RunEnd] = {}
        self._same_jobs: dict[JobId, JobId] = {}
        self._same_uses: dict[bytes, bytes] = {}
        """What many runs say alike: each of them is to hold the same object, for there are many."""
        self._shown: dict[DatasetId, DatasetId] = {}
        """The shown names of datasets that have several names, until one of these changes its standing."""
        self._spelt_otherwise: set[DatasetId] = set()
        """Those of them that nobody uses."""
        self._shown_as_of = 0
        """How often classes of names had changed when these were chosen."""

    def _same_end(self, end: RunEnd) -> RunEnd:
        return self._same_ends.setdefault(end, end)

    def _same_job(self, job: JobId) -> JobId:
        return self._same_jobs.setdefault(job, job)

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = Run()
        return run

    def job_of(self, run_id: str) -> JobId | None:
        """The job that a run tells itself; None for one that is silent."""
        told = self._job_told_by(run_id)
        return None if told is None else told.job

    def _job_told_by(self, run_id: str) -> RunOfJob | None:
        run = self.runs.get(run_id)
        return None if run is None else run.of_job

    def _job(self, job: JobId) -> Job:
        known = self.jobs.get(job)
        if known is None:
            known = self.jobs[job] = Job()
        return known

    def _told(self, run_id: str) -> ToldOfRun:
        run = self._run(run_id)
        if run.told is None:
            run.told = ToldOfRun()
        return run.told

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
        """Forget which name of the dataset is shown, also for whoever asked by a spelling that nobody uses."""
        if not self.identities.is_alone(name):
            for member in (*self.identities.members(name), *self._spelt_otherwise):
                self._shown.pop(member, None)
            self._spelt_otherwise.clear()
