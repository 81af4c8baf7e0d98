"""Counted edges of jobs: from what their runs observed, from declarations, and from what others report about them.

Counts can be taken back: a run turns out to belong to another job, or a declaration is replaced.
"""

from collections.abc import Iterable

from headwater.graph.declared import dataset_of, references
from headwater.graph.records import Edge, Reporter, Run
from headwater.graph.state import GraphState
from headwater.model.events import Direction
from headwater.model.facts import Declaration, ParentRun, RunOfJob
from headwater.model.flow_facts import Flow
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId, JobId


class JobEdges(GraphState):
    """Adds the edges of runs and declarations between jobs and datasets, and from job to job."""

    def _belongs(self, run_id: str, of_job: RunOfJob) -> None:
        """Register a run with its job, and with the jobs of its parent and root."""
        self._job(of_job.job).runs.add(run_id)
        if run_id in self.child_runs:
            self._compare_names(run_id)
        for parent in of_job.parts_of:
            job = self._job(parent.job)
            job.children.add(run_id)
            job.named.add(parent.run_id)
            self.child_runs[parent.run_id].setdefault(parent.job, set()).add(run_id)
            if parent.run_id in self.runs:
                self._compare_names(parent.run_id)

    def _drop_child(self, parent: ParentRun, run_id: str) -> None:
        job, claims = self._job(parent.job), self.child_runs[parent.run_id]
        job.children.discard(run_id)
        claims[parent.job].discard(run_id)
        if not claims[parent.job]:
            del claims[parent.job]
            job.named.discard(parent.run_id)
            self._compare_names(parent.run_id)

    def _compare_names(self, run_id: str) -> None:
        """Record whether the run's children all name the job that the run itself reports."""
        own = self.job_of(run_id)
        if own is not None and any(job != own for job in self.child_runs[run_id]):
            self.misnamed.add(run_id)
        else:
            self.misnamed.discard(run_id)

    def _count_edge(
        self, job_id: JobId, direction: Direction, dataset: DatasetId, seen: Seen, *, is_new_run: bool
    ) -> None:
        job = self._job(job_id)
        edges = job.reads if direction == "input" else job.writes
        edge = edges.get(dataset)
        if edge is None:
            edges[dataset] = Edge(seen, int(is_new_run))
        else:
            edge.count(seen, is_new_run=is_new_run)
        touched = self._dataset(dataset)
        (touched.readers if direction == "input" else touched.writers).add(job_id)

    def _rebuild_edges(self, job_id: JobId) -> None:
        """Recount a job's edges, after a run moved to another job or a declaration was replaced."""
        job = self.jobs[job_id]
        for name in {*job.reads, *job.writes}:
            self.datasets[name].readers.discard(job_id)
            self.datasets[name].writers.discard(job_id)
        job.reads, job.writes, job.uses = {}, {}, {}
        for run_id in job.runs:
            run = self.runs[run_id]
            for (direction, dataset), seen in run.observed.items():
                self._count_edge(job_id, direction, dataset, seen, is_new_run=True)
            self._count_uses(job_id, run)
        for (direction, dataset), reporters in job.reported.items():
            for reporter, seen in reporters.items():
                self._count_edge(job_id, direction, dataset, seen, is_new_run=isinstance(reporter, str))
        if job.declaration is not None:
            self._declare_edges(job_id, job.declaration)

    def _read_declared(self, jobs: Iterable[JobId]) -> None:
        """Load the declarations of jobs whose edges may be rebuilt, before any state changes.

        If one cannot be read now, nothing has changed yet and the fact can be added again later.
        """
        for job in jobs:
            if (known := self.jobs.get(job)) is not None and known.declaration is not None:
                self.content(known.declaration.content)

    def _count_uses(self, job: JobId, run: Run) -> None:
        """Count what a run reports of uses by its job itself."""
        for facet, seen in run.extras.uses.items() if run.extras is not None else ():
            self._count_use(job, facet, seen, is_new_run=True)

    def _count_use(self, job: JobId, facet: bytes, seen: Seen, *, is_new_run: bool) -> None:
        uses = self._job(job).uses
        if facet in uses:
            uses[facet].count(seen, is_new_run=is_new_run)
        else:
            uses[facet] = Edge(seen, int(is_new_run))

    def _declare_edges(self, job_id: JobId, declaration: Declaration) -> None:
        seen = Seen(declaration.stamp.time_us, declaration.stamp.time_us)
        for direction, reference in references(self.content(declaration.content)):
            self._count_edge(job_id, direction, dataset_of(reference), seen, is_new_run=False)

    def _report_flow(self, reporter: Reporter, flow: Flow, seen: Seen) -> None:
        for run_id in filter(None, (flow.source_run, flow.target_run)):
            self.named_in_flows[run_id].add(reporter)
        match flow:
            case Flow(JobId() as source, JobId() as target) if source != target:  # else a run that moved
                for reporters in self._feeding(source, target):
                    reporters[reporter] = widened(reporters.get(reporter), seen)
            case Flow(DatasetId() as dataset, JobId() as job):
                self._report_edge(reporter, job, ("input", dataset), seen, is_of_any=flow.target_run is None)
            case Flow(JobId() as job, DatasetId() as dataset):
                self._report_edge(reporter, job, ("output", dataset), seen, is_of_any=flow.source_run is None)

    def _retract_flow(self, reporter: Reporter, flow: Flow) -> None:
        match flow:
            case Flow(JobId() as source, JobId() as target) if source != target:  # else a run that moved
                for reporters in self._feeding(source, target):
                    reporters.pop(reporter, None)
                if not self.jobs[source].feeds[target]:
                    del self.jobs[source].feeds[target], self.jobs[target].fed_by[source]
            case Flow(DatasetId() as dataset, JobId() as job):
                self._retract_edge(reporter, job, ("input", dataset))
            case Flow(JobId() as job, DatasetId() as dataset):
                self._retract_edge(reporter, job, ("output", dataset))

    def _feeding(self, source: JobId, target: JobId) -> tuple[dict[Reporter, Seen], dict[Reporter, Seen]]:
        return self._job(source).feeds.setdefault(target, {}), self._job(target).fed_by.setdefault(source, {})

    def _report_edge(
        self, reporter: Reporter, job: JobId, end: tuple[Direction, DatasetId], seen: Seen, *, is_of_any: bool
    ) -> None:
        if is_of_any:
            self._job(job).reported_without_run.setdefault(end, set()).add(reporter)
        reporters = self._job(job).reported.setdefault(end, {})
        known = reporters.get(reporter)
        reporters[reporter] = widened(known, seen)
        is_run = isinstance(reporter, str)
        if is_run:
            self._observe(end[1], seen)
        self._count_edge(job, *end, seen, is_new_run=known is None and is_run)

    def _retract_edge(self, reporter: Reporter, job: JobId, end: tuple[Direction, DatasetId]) -> None:
        known = self.jobs[job]
        known.reported.get(end, {}).pop(reporter, None)
        known.reported_without_run.get(end, set()).discard(reporter)
        known.reported = {each: reporters for each, reporters in known.reported.items() if reporters}
        known.reported_without_run = {
            each: reporters for each, reporters in known.reported_without_run.items() if reporters
        }
        self._rebuild_edges(job)
