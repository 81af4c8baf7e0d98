"""Reuses the current rendered JSON of jobs and datasets for a past, if only times and counts changed since."""

from collections.abc import Set as AbstractSet

from headwater.graph.past.cut import CutGraph
from headwater.model.edits import target_of
from headwater.model.facets.dataset import LifecycleStateChangeFacet
from headwater.model.names import DatasetId, JobId
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.activity import parent_in
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.render_cache import JobNode
from headwater.service.past.unchanged import Unchanged


class NodesFromNow:
    """Implements `ReusableNodes`; `activities` are those of the past."""

    def __init__(self, cut: CutGraph, now: Knowledge, activities: Activities, unchanged: Unchanged) -> None:
        self._cut = cut
        self._now = now
        self._activities = activities
        self._unchanged = unchanged

    def job_node(self, job: JobId, facets: AbstractSet[str]) -> JobNode | None:
        """As in `ReusableNodes`."""
        rendered = self._now.rendered.job_nodes.get(job)
        if (
            rendered is None
            or target_of(job) in self._unchanged.edited
            or not self._cut.are_job_facets_alike(job, facets)
        ):
            return None
        known, now = self._cut.jobs[job], self._now.graph.jobs[job]
        ends = (*known.reads, *known.writes)
        if known.reads.keys() != now.reads.keys() or known.writes.keys() != now.writes.keys():
            return None
        if not self._cut.are_alone_as_then(ends) or self._unchanged.edited_any(ends):
            return None
        return rendered if parent_in(self._cut, self._activities.of(job)) == self._now.parent_of(job) else None

    def dataset_node(self, name: DatasetId, facets: AbstractSet[str]) -> bytes | None:
        """As in `ReusableNodes`."""
        is_one = self._cut.is_alone_as_then(name) and not self._unchanged.edited_any((name,))
        if not is_one or not self._cut.are_facets_alike(name, facets):
            return None
        if LifecycleStateChangeFacet.key in self._now.graph.datasets[name].facets:
            return None  # whether a dropped dataset exists again depends on later writes
        return self._now.rendered.dataset_nodes.get(name)
