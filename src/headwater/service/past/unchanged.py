"""What is now as it was by some time: of that, what is known and rendered of now holds for then, too."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from headwater.graph.edits import node_of
from headwater.graph.past.cut import CutGraph
from headwater.graph.records import Run
from headwater.model.edits import target_of
from headwater.model.facts import Edit, Fact
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge


class Unchanged:
    """Tells of jobs, datasets and runs whether they are the same now as in the graph as it was."""

    def __init__(self, cut: CutGraph, now: Knowledge) -> None:
        self._cut = cut
        self._now = now
        self.edited = cut.edited_since()
        """The jobs and datasets of which somebody said something over the API since."""

    def note_edits(self, facts: Sequence[Fact]) -> None:
        """Note of whom something was said over the API, of what `now` has just learned."""
        nodes = (node_of(fact.target) for fact in facts if isinstance(fact, Edit))
        self.edited |= {node for node in nodes if node is not None}

    def edited_any(self, names: Sequence[DatasetId]) -> bool:
        """Whether somebody said anything over the API since of any of the datasets, under these names."""
        return bool(self.edited) and not self.edited.isdisjoint(map(target_of, names))

    def is_job(self, job: JobId) -> bool:
        """Whether what is known of a job, and of what its runs met, is the same now."""
        return job in self.jobs((job,))

    def jobs(self, jobs: Iterable[JobId]) -> list[JobId]:
        """Those of the jobs that are."""
        cut, edited = self._cut, self.edited
        is_shape_as_then = cache(cut.is_shape_as_then)  # asked of a hub by each of its readers
        return [
            job
            for job in jobs
            if cut.is_job_as_then(job)
            and not (edited and target_of(job) in edited)
            and self._are_ends((*(known := cut.jobs[job]).reads, *known.writes), is_shape_as_then)
        ]

    def are_wholes(self, job: JobId) -> bool:
        """Whether what a job that is the same, and its newest run, are parts of goes by the same names now."""
        done, meant, meant_now = self._now.activity(job), self._cut.meant, self._now.graph.meant
        newest = self._now.activities.told_run(done.runs[0]) if done.runs else None
        wholes = (done.parent, None if newest is None else newest.parent, None if newest is None else newest.root)
        return all(meant(whole) == meant_now(whole) for whole in wholes if whole is not None)

    def is_dataset(self, name: DatasetId) -> bool:
        """Whether what is known of a dataset itself, by its shown name, is the same now."""
        if self._cut.are_alone_as_then((name,)):  # as nearly all are
            return self._cut.is_dataset_as_then(name) and not self.edited_any((name,))
        return self._is_end(name) and all(map(self._cut.is_dataset_as_then, self._cut.members(name)))

    def is_dataset_with_sources(self, name: DatasetId) -> bool:
        """Whether it is, and what its columns are made from goes by the same names, too."""
        return self.is_dataset(name) and all(
            self._cut.is_named_as_then(source)
            for member in self._cut.members(name)
            if (dataset := self._cut.datasets.get(member)) is not None
            for _, digest in dataset.evidence
            for source in self._cut.column_edges.sources(member, digest)
        )

    def is_run(self, run_id: str) -> bool:
        """Whether a run had told all by then that it has told, of datasets that went by the same names."""
        run = self._told_by_then(run_id)
        if run is None:
            return False
        parts_of = run.of_job.parts_of if run.of_job is not None else ()
        if any(self._cut.meant(whole) != self._now.graph.meant(whole) for whole in parts_of):
            return False
        return self._are_ends([name for _, name in run.observed], self._cut.is_shape_as_then)

    def is_record(self, run_id: str) -> bool:
        """Whether a run had told all by then that it has told, and its datasets were shown by the same names."""
        run, shown, shown_now = self._told_by_then(run_id), self._cut.shown, self._now.graph.shown
        return run is not None and all(shown(name) == shown_now(name) for _, name in run.observed)

    def _told_by_then(self, run_id: str) -> Run | None:
        """The run, if it had told all by then that it has told."""
        run = self._now.graph.runs.get(run_id)
        return run if run is not None and self._cut.is_run_as_then(run_id) and self._cut.is_in_step else None

    def _are_ends(self, names: Sequence[DatasetId], is_shape_as_then: Callable[[DatasetId], bool]) -> bool:
        """Whether each of the datasets is: found out faster where all go by one name, as nearly all do."""
        if self._cut.are_alone_as_then(names):
            again = self._cut.again.datasets
            return all(is_shape_as_then(name) for name in names if name in again) and not self.edited_any(names)
        return all(map(self._is_end, names))

    def _is_end(self, name: DatasetId) -> bool:
        """Whether a dataset goes by the same names, and nobody deleted it or brought it back since."""
        if not self._cut.is_named_as_then(name):
            return False
        return not self.edited or self.edited.isdisjoint(map(target_of, self._cut.members(name)))
