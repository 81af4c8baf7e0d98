"""What is unchanged since a time: the current state and rendered JSON of it hold for that time, too."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from headwater.graph.edits import node_of
from headwater.graph.past.cut import CutGraph
from headwater.graph.records import Run
from headwater.model.edits import target_of
from headwater.model.facts import Edit, Fact, ParentRun
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import Knowledge


class Unchanged:
    """Tells whether jobs, datasets and runs are the same now as in the graph as of then."""

    def __init__(self, cut: CutGraph, now: Knowledge) -> None:
        self._cut = cut
        self._now = now
        self.edited = cut.edited_since()
        """The jobs and datasets that were edited over the API since."""

    def note_edits(self, facts: Sequence[Fact]) -> None:
        """Note the nodes edited by these facts, which `now` just learned."""
        nodes = (node_of(fact.target) for fact in facts if isinstance(fact, Edit))
        self.edited |= {node for node in nodes if node is not None}

    def edited_any(self, names: Sequence[DatasetId]) -> bool:
        """Whether any of these datasets was edited since, under these very names."""
        return bool(self.edited) and not self.edited.isdisjoint(map(target_of, names))

    def is_job(self, job: JobId) -> bool:
        """Whether a job, and the datasets that its runs met, are unchanged."""
        return job in self.jobs((job,))

    def jobs(self, jobs: Iterable[JobId]) -> list[JobId]:
        """The jobs that are unchanged, with the datasets that their runs met."""
        cut, edited = self._cut, self.edited
        is_shape_as_then = cache(cut.is_shape_as_then)  # a hub dataset is checked for each of its readers
        return [
            job
            for job in jobs
            if cut.is_job_as_then(job)
            and not (edited and target_of(job) in edited)
            and self._are_ends((*(known := cut.jobs[job]).reads, *known.writes), is_shape_as_then)
        ]

    def have_parents_same_names(self, job: JobId) -> bool:
        """Whether the parents and roots of an unchanged job and its newest run have the same names now."""
        activity = self._now.activity(job)
        parents: tuple[ParentRun, ...] = () if activity.parent is None else (activity.parent,)
        if activity.runs:
            parents += self._parts_of(activity.runs[0])
        return all(map(self._cut.is_meant_as_then, parents))

    def _parts_of(self, run_id: str) -> tuple[ParentRun, ...]:
        """The parent and root of a run, as its own events name them, or its children's."""
        run = self._now.graph.runs.get(run_id)
        if run is not None and run.of_job is not None:
            return run.of_job.parts_of
        silent = self._now.activities.reported_run(run_id)
        return () if silent is None else tuple(each for each in (silent.parent, silent.root) if each is not None)

    def is_dataset(self, name: DatasetId) -> bool:
        """Whether a dataset itself, given by its shown name, is unchanged."""
        if self._cut.is_alone_as_then(name):  # as nearly all are
            return self._cut.is_dataset_as_then(name) and not self.edited_any((name,))
        return self._is_end(name) and all(map(self._cut.is_dataset_as_then, self._cut.members(name)))

    def is_dataset_with_sources(self, name: DatasetId) -> bool:
        """Whether a dataset is unchanged, and so are the names of the sources of its columns."""
        return self.is_dataset(name) and all(
            self._cut.is_named_as_then(source)
            for member in self._cut.members(name)
            if (dataset := self._cut.datasets.get(member)) is not None
            for _, digest in dataset.evidence
            for source in self._cut.column_edges.sources(member, digest)
        )

    def is_run(self, run_id: str) -> bool:
        """Whether a run has no later events, and its parents and datasets have the same names."""
        run = self._run_without_later_events(run_id)
        if run is None:
            return False
        parts_of = run.of_job.parts_of if run.of_job is not None else ()
        if not all(map(self._cut.is_meant_as_then, parts_of)):
            return False
        return self._are_ends([name for _, name in run.observed], self._cut.is_shape_as_then)

    def is_record(self, run_id: str) -> bool:
        """Whether a run has no later events, and its datasets the same shown names."""
        return self._run_without_later_events(run_id) is not None and self.has_same_names(run_id)

    def has_same_names(self, run_id: str) -> bool:
        """Whether a run's datasets, also those that it names later, have the same shown names."""
        run, shown, shown_now = self._now.graph.runs.get(run_id), self._cut.shown, self._now.graph.shown
        if run is None or not self._cut.is_in_step:
            return False
        return all(shown(name) == shown_now(name) for _, name in run.observed)

    def _run_without_later_events(self, run_id: str) -> Run | None:
        """The run, if it has no later events."""
        run = self._now.graph.runs.get(run_id)
        return run if run is not None and self._cut.is_run_as_then(run_id) and self._cut.is_in_step else None

    def _are_ends(self, names: Sequence[DatasetId], is_shape_as_then: Callable[[DatasetId], bool]) -> bool:
        """Whether all these datasets are unchanged as run inputs and outputs; fast if each has one name, as usual."""
        if self._cut.are_alone_as_then(names):
            again = self._cut.again.datasets
            is_same = again.keys().isdisjoint(names) or all(is_shape_as_then(name) for name in names if name in again)
            return is_same and not self.edited_any(names)
        return all(map(self._is_end, names))

    def _is_end(self, name: DatasetId) -> bool:
        """Whether a dataset has the same names, and was not edited (deleted, restored) since."""
        if not self._cut.is_named_as_then(name):
            return False
        return not self.edited or self.edited.isdisjoint(map(target_of, self._cut.members(name)))
