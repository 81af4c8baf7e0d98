"""First and last events of jobs and datasets as of a time, derived from the intervals of the current runs."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final, TypeVar

from headwater.graph.past.cut import CutGraph
from headwater.graph.past.last_changes import (
    dataset_last_reported_us,
    dataset_seen_until,
    datasets_reported_by,
    job_seen_until,
    jobs_reported_by,
)
from headwater.graph.past.recounted import last_event_us
from headwater.graph.past.unchanged import ReportingRunsAsOf
from headwater.graph.records import Run
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US, BEFORE_ALL_US
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.tallies.tally import DatasetTally, JobTally

MentionT = TypeVar("MentionT")

_LATELY: Final = 64
"""Runs examined, from the last one back: a dataset that so many jobs touch is likely mentioned by one of them."""


class SeenAsOf:
    """First and last events by `until_us` of nodes that only runs mention, without examining each run."""

    def __init__(self, cut: CutGraph, now: Knowledge, until_us: int, reporting_runs: ReportingRunsAsOf) -> None:
        self._cut = cut
        self._now = now
        self._until_us = until_us
        self._reporting_runs = reporting_runs
        self._newly_mentioned: AbstractSet[JobId] | None = None

    def invalidate(self) -> None:
        """Called after `now`, or the graph as of then, learned something."""
        self._newly_mentioned = None

    def from_runs(self, node: DatasetId | JobId) -> Seen | None:
        """A node's events by then, if only its runs mention it; None if others do, or if there were none."""
        if isinstance(node, JobId):
            again = self._cut.own_runs_again(node)
            return None if again is None else self.job_from_runs(node, again)
        dataset = self._now.dataset_tallies.get(node)
        is_one = self._cut.is_alone_as_then(node) and not self.was_declared(node)
        return (
            self.dataset(node, dataset)
            if dataset is not None and is_one and is_mentioned_by_runs_only(dataset)
            else None
        )

    def job_from_runs(self, name: JobId, again: Iterable[str]) -> Seen | None:
        """The same of a job, if its `own_runs_again` are known."""
        job = self._now.job_tallies.get(name)
        if job is None or not is_mentioned_by_runs_only(job) or self._cut.has_silent_run_again(name):
            return None
        return self._job_with(again, name, job)

    def was_declared(self, name: DatasetId) -> bool:
        """Whether a dataset was declared by then, even by a declaration that was replaced since."""
        again = self._cut.again.datasets.get(name)
        return again is not None and again.was_declared

    def job(self, name: JobId, now: JobTally) -> Seen | None:
        """A job's events by then, of runs not folded again; for a job that only its own runs mention."""
        if now.seen.first_us > self._until_us:
            return None
        if name in self.newly_mentioned:
            return job_seen_until(self._now.graph, name, self._until_us)
        last = self._reporting_runs.last(name)
        return None if last is None else Seen(now.seen.first_us, last_event_us(self._now.graph.runs[last]))

    def _job_with(self, again: Iterable[str], name: JobId, now: JobTally) -> Seen | None:
        """As `job`, also of these runs, which are folded again."""
        runs = (self._cut.again.runs[run_id] for run_id in again)
        return Seen.over((self.job(name, now), *(run.times.seen for run in runs if run.times is not None)))

    @property
    def newly_mentioned(self) -> AbstractSet[JobId]:
        """The jobs that runs mention now, but did not mention then."""
        if self._newly_mentioned is None:
            moved = (run_id for run_id in self._cut.again.runs if not self._cut.has_same_job(run_id))
            runs = (self._now.graph.runs.get(run_id) for run_id in moved)
            self._newly_mentioned = frozenset(
                job for run in runs if run is not None for job, _ in jobs_reported_by(run)
            )
        return self._newly_mentioned

    def have_runs_same_jobs(self) -> bool:
        """Whether each run that was folded again has the same job, parent and root now as then."""
        return all(map(self._cut.has_same_job, self._cut.again.runs))

    def dataset(self, name: DatasetId, now: DatasetTally) -> Seen | None:
        """A dataset's events by then; for a dataset with one name that only runs mention."""
        again = self._cut.again.datasets.get(name)
        return Seen.over((self._dataset_not_refolded(name, now), None if again is None else again.observed))

    def _dataset_not_refolded(self, name: DatasetId, now: DatasetTally) -> Seen | None:
        """Its events by then of runs not folded again; None if there are none."""
        if now.seen.first_us > self._until_us:
            return None
        if now.seen.last_us <= self._until_us:
            return now.seen
        last_us = self._last_recent_mention_us(name)
        if last_us is None:
            last_us = dataset_last_reported_us(self._now.graph, name, self._until_us, self._reporting_runs.last)
        if last_us is None:
            return dataset_seen_until(self._now.graph, name, self._until_us)
        return Seen(now.seen.first_us, last_us)

    def _last_recent_mention_us(self, name: DatasetId) -> int | None:
        """The last mention by then of a dataset that many jobs touch, if it is among the latest runs."""
        dataset, mentioned_us = self._now.graph.datasets[name], BEFORE_ALL_US
        if len(dataset.readers) + len(dataset.writers) < _LATELY:
            return None  # examining its own jobs is cheaper
        for last_us, mentions in islice(self.runs_backwards(datasets_reported_by), _LATELY):
            if mentioned_us >= last_us:
                return mentioned_us
            mentioned_us = max((mentioned_us, *(us for each, us in mentions if each == name)))
        return None

    def runs_backwards(
        self, mentions_of: Callable[[Run], Iterator[MentionT]]
    ) -> Iterator[tuple[int, Iterator[MentionT]]]:
        """Runs not folded again by their last event by then, latest first: its time, and what the run mentions."""
        runs = self._now.graph.runs
        for last_us, run_id in self._now.run_intervals.back_from(self._until_us):
            yield last_us, mentions_of(runs[run_id])


def is_mentioned_by_runs_only(now: JobTally | DatasetTally) -> bool:
    """Whether only runs mention the node with this tally."""
    return now.last_new_us != AFTER_ALL_US
