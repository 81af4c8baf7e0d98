"""Finds the jobs, datasets and runs that are unchanged since a time: their current records hold for then."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, Protocol

from headwater.graph.past.cut_facets import CutFacets
from headwater.graph.records import Dataset, Job, Run
from headwater.model.facts import ParentRun, Stamped, Target
from headwater.model.names import DatasetId, JobId

_FEW_RUNS: Final = 4
"""Faster examined one by one than by the order of their last events."""


class ReportingRunsAsOf(Protocol):
    """The runs that report a job (its own, and children of its runs), as of the time of a cut."""

    def are_silent_since(self, job: JobId) -> bool:
        """Whether no run that reports the job had events after then."""

    def count_since(self, job: JobId) -> int:
        """The number of runs with an event after then, including those that are folded again."""

    def since(self, jobs: Iterable[JobId]) -> Iterator[str]:
        """Those of them, over several jobs, that are not folded again."""

    def back(self, job: JobId) -> Iterator[tuple[int, str]]:
        """The other runs that are not folded again, each with its last time; the latest first."""

    def back_over(self, jobs: Iterable[JobId]) -> Iterator[str]:
        """The same over several jobs, without the times."""

    def last(self, job: JobId) -> str | None:
        """The latest of the runs that `back` gives; None where there is none."""

    def last_alone_us(self, job: JobId) -> int | None:
        """The last time of the latest of them; None where another has the same time."""


class UnchangedSince(CutFacets):
    """Decides what is unchanged, from the current graph and the part that is folded again."""

    reporting_runs: ReportingRunsAsOf | None = None
    """Without it, all runs of a job are checked one by one."""

    def is_job_as_then(self, name: JobId) -> bool:
        """Whether the job is unchanged since then."""
        job = self.jobs.get(name)
        return job is not None and job is self.now.jobs.get(name)

    def is_dataset_as_then(self, name: DatasetId) -> bool:
        """Whether the dataset, under this exact name, is unchanged since then, or unknown."""
        now = self.now.datasets.get(name)
        return name not in self.again.datasets and (now is None or self._is_dataset_same(now))

    def is_named_as_then(self, name: DatasetId) -> bool:
        """Whether the dataset has the same complete names and shown name as then, and nothing of it is folded again."""
        now = self.now.identities
        if self.is_alone_as_then(name):
            return name not in self.again.datasets
        if not name.is_complete:
            return False
        members = {*self.identities.members(name)}
        is_again = any(member in self.again.datasets for member in members)
        return not is_again and members == {*now.members(name)} and self.now.shown(name) == self.shown(name)

    def is_used_alone(self, name: DatasetId) -> bool:
        """Whether a run used the name by then, complete, and the dataset had no other name."""
        return name.is_complete and self._is_named(name) and self.identities.is_alone(name)

    def has_run(self, name: JobId) -> bool:
        """Whether the job has an unchanged run; then it existed."""
        job = self.now.jobs.get(name)
        return job is not None and any(map(self.is_run_as_then, job.runs))

    def has_silent_run_again(self, name: JobId) -> bool:
        """Whether a run that is folded again was a child of a run of the job that others name too."""
        job = self.now.jobs.get(name)
        return job is not None and bool(job.named) and not self.again.child_runs.keys().isdisjoint(job.named)

    def own_runs_again(self, name: JobId) -> AbstractSet[str] | None:
        """The job's runs that are folded again.

        None if anything else of what is folded again mentions the job, or if such a run had another job or parent then.
        """
        now, then = self.now.jobs.get(name), self.again.jobs.get(name)
        run_ids = frozenset[str]() if now is None else self.again.runs.keys() & now.runs
        if then is None:
            return None if run_ids else run_ids
        if then.runs != run_ids or then.children or then.named or then.is_reported_by_others:
            return None
        return run_ids if all(map(self.has_same_job, run_ids)) else None

    def has_same_job(self, run_id: str) -> bool:
        """Whether a run that is folded again has the same job, parent and root now as then."""
        now, then = self.now.runs.get(run_id), self.again.runs[run_id]
        if now is None or now.of_job is None or then.of_job is None:
            return False
        return now.of_job.job == then.of_job.job and now.of_job.parts_of == then.of_job.parts_of

    def edited_since(self) -> frozenset[Target]:
        """The jobs and datasets that were edited over the API since then."""
        return frozenset(self.now.edits.nodes_edited_after(self._until_us))

    def may_be_misnamed(self, run_id: str) -> bool:
        """As in `Graph`; what is folded again may have differed from now."""
        again = self.again
        return run_id in self.now.misnamed or run_id in again.runs or run_id in again.child_runs

    def is_run_as_then(self, run_id: str) -> bool:
        """Whether a known run is unchanged since then."""
        times = self.now.runs[run_id].times
        return (times is None or times.seen.last_us <= self._until_us) and run_id not in self.again.runs

    def is_meant_as_then(self, parent: ParentRun) -> bool:
        """Whether a parent or root has the same job now as then; `meant` says which."""
        run_id = parent.run_id
        is_same = self.is_run_as_then(run_id) if run_id in self.now.runs else run_id not in self.again.runs
        return is_same or self.meant(parent) == self.now.meant(parent)

    def _run_ids_as_then(self, run_ids: Iterable[str]) -> set[str]:
        """The unchanged ones of the runs, in one pass: a job may have thousands."""
        runs, again, until_us = self.now.runs, self.again.runs, self._until_us
        return {
            run_id
            for run_id in run_ids
            if run_id not in again and ((times := runs[run_id].times) is None or times.seen.last_us <= until_us)
        }

    def _are_all_as_then(self, run_ids: Iterable[str]) -> bool:
        """Whether all of the runs are unchanged; faster than a check for each."""
        runs, again, until_us = self.now.runs, self.again.runs, self._until_us
        for run_id in run_ids:
            if run_id in again or ((times := runs[run_id].times) is not None and times.seen.last_us > until_us):
                return False
        return True

    def parts_as_then(self, run_id: str) -> list[Run]:
        """The unchanged child runs of a run."""
        claims = self.now.child_runs.get(run_id, {}).values()
        return [self.now.runs[part] for parts in claims for part in parts if self.is_run_as_then(part)]

    def _is_reported_before(self, reporter: object) -> bool:
        """Whether the reporter of a flow is an unchanged run; declarations are all folded again."""
        return isinstance(reporter, str) and self.is_run_as_then(reporter)

    def _is_job_same(self, name: JobId, job: Job) -> bool:
        if job.declaration is not None or job.declared_over is not None or self._is_reported_since(job.facets):
            return False
        if not self._are_runs_as_then(name, job) or not self._are_children_same(job):
            return False
        if not (job.reported or job.feeds or job.fed_by):  # the common case
            return True
        reporters = (of_side for side in (job.reported, job.feeds, job.fed_by) for of_side in side.values())
        return all(self._is_reported_before(reporter) for of_side in reporters for reporter in of_side)

    def _are_runs_as_then(self, name: JobId, job: Job) -> bool:
        if self.reporting_runs is None or len(job.runs) <= _FEW_RUNS:
            return self._are_all_as_then(job.runs)
        return self.reporting_runs.are_silent_since(name) and self.again.runs.keys().isdisjoint(job.runs)

    def _is_reported_since(self, facets: Mapping[str, Stamped]) -> bool:
        """Whether any facet was reported since, even with the same content."""
        until_us = self._until_us
        for stamp, _, _ in facets.values():  # noqa: SIM110  takes half the time
            if stamp.time_us > until_us:
                return True
        return False

    def _are_children_same(self, job: Job) -> bool:
        """Whether all child runs of the job's runs are unchanged.

        Their parent runs and all their siblings must be too: these may have belonged to another job then.
        """
        if not job.children:
            return True
        if not self._are_all_as_then(job.children):
            return False
        of_jobs = (self.now.runs[run_id].of_job for run_id in job.children)
        parents = {each.run_id for of_job in of_jobs if of_job is not None for each in of_job.parts_of}
        if not self.again.child_runs.keys().isdisjoint(parents):  # another run may have been a child then
            return False
        claims = (runs for run_id in parents for runs in self.now.child_runs[run_id].values())
        known = (run_id for run_id in parents if run_id in self.now.runs)
        return self._are_all_as_then(known) and all(map(self._are_all_as_then, claims))

    def _is_dataset_same(self, dataset: Dataset) -> bool:
        if dataset.observed is None or dataset.was_declared:
            return False
        return dataset.observed.last_us <= self._until_us and not self._is_reported_since(dataset.facets)
