"""Contributions of jobs and datasets to the totals as of a time, derived from their current ones."""

from collections.abc import Callable, Iterable
from itertools import chain

from headwater.graph.past.cut import CutGraph
from headwater.graph.past.last_changes import job_seen_until
from headwater.model.edits import target_of
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.knowledge import SCHEMA, Knowledge
from headwater.service.past.seen_as_of import SeenAsOf, is_mentioned_by_runs_only
from headwater.service.past.unchanged import Unchanged
from headwater.service.tallies.tally import DatasetTally, JobTally


class TalliesAsOf:
    """The tallies as of `until_us` of nodes that only runs mention; all others are counted in full."""

    def __init__(self, cut: CutGraph, now: Knowledge, until_us: int, unchanged: Unchanged, seen: SeenAsOf) -> None:
        self._cut = cut
        self._now = now
        self._until_us = until_us
        self._unchanged = unchanged
        self._seen = seen

    def job_now(self, name: JobId) -> JobTally | None:
        """A job's current tally, if the one of then can be derived from it."""
        known = self._now.job_tallies.get(name)
        if known is None or not is_mentioned_by_runs_only(known) or target_of(name) in self._unchanged.edited:
            return None
        return known if self._can_derive_job(name) else None

    def job(self, name: JobId, now: JobTally, tags: Callable[[JobId], Iterable[str]]) -> JobTally | None:
        """The tally of then of a job with the current tally `now`; None if it did not exist. `tags` gives its tags."""
        seen, again = self._seen.job(name, now), self._cut.again
        if seen is not None and now.last_new_us <= self._until_us and name not in again.jobs:
            return now._replace(seen=seen)
        seen = Seen.over((seen, job_seen_until(again, name, self._until_us) if name in again.jobs else None))
        if seen is None:
            return None
        known = self._now.graph.jobs[name]
        edges = sum(edge.seen.first_us <= self._until_us for edge in chain(known.reads.values(), known.writes.values()))
        return now._replace(seen=seen, edges=edges, tags=tuple(dict.fromkeys(tags(name))))

    def _can_derive_job(self, name: JobId) -> bool:
        """Whether no run of a job was folded again, or all of them have the same job, parent and root as then."""
        again = self._cut.again.jobs.get(name)
        if again is None:
            return name not in self._seen.newly_mentioned and not self._cut.has_silent_run_again(name)
        is_reported = again.reported or again.feeds or again.fed_by
        return not is_reported and self._seen.have_runs_same_jobs()

    def dataset_now(self, name: DatasetId) -> DatasetTally | None:
        """The current tally of a dataset with one name, if that of then differs only in times, source and tags."""
        known = self._now.dataset_tallies.get(name)
        if known is None or not is_mentioned_by_runs_only(known) or target_of(name) in self._unchanged.edited:
            return None
        is_one = self._cut.is_alone_as_then(name)
        return known if is_one and self._are_columns_same(name) and not self._seen.was_declared(name) else None

    def _are_columns_same(self, name: DatasetId) -> bool:
        """Whether the columns and their lineage are the same now as then."""
        now = self._now.graph
        evidence, again = now.datasets[name].evidence, self._cut.again.datasets.get(name)
        is_all_old = all(edge.seen.first_us <= self._until_us for edge in evidence.values())
        has_all_evidence = again is None or again.evidence.keys() <= evidence.keys()
        return is_all_old and has_all_evidence and self._cut.digest_of(name, SCHEMA) == now.digest_of(name, SCHEMA)
