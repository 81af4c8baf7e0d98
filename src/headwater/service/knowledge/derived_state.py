"""The state derived from a graph: caches and indexes, updated or invalidated for each event that the graph learns."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from headwater.graph.derived import Derivations
from headwater.graph.impact.run_groups import RunGroups
from headwater.graph.lineage import Graph
from headwater.model.facts import Fact
from headwater.model.names import JobId
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.changes import Changes, StateBefore, changes_since, state_before
from headwater.service.knowledge.gaps import KnownGaps
from headwater.service.knowledge.mentions import mentions
from headwater.service.knowledge.render_cache import RenderCache
from headwater.service.knowledge.run_intervals import RunIntervals
from headwater.service.knowledge.run_records import RunRecords
from headwater.service.knowledge.runs_by_last_event import RunsByLastEvent
from headwater.service.knowledge.touched import Touched, jobs_of
from headwater.service.knowledge.verdicts import Verdicts
from headwater.service.tallies.totals import DatasetTallies, JobTallies


class CurrentRenderCache:
    """The render cache of a graph; `create` returns an empty one."""

    def __init__(self, graph: Graph, create: Callable[[], RenderCache]) -> None:
        self._graph = graph
        self._create = create
        self._cache = create()
        self._identity_changes = 0
        """`graph.identities.changes` for which the cache holds."""

    @property
    def valid(self) -> RenderCache:
        """The cache; emptied first if names were joined or split and the affected datasets are not known."""
        if self._identity_changes != self._graph.identities.changes:
            self._identity_changes = self._graph.identities.changes
            self._cache = self._create()
        return self._cache

    def invalidate(self, before: StateBefore, changes: Changes, runs: Iterable[str]) -> None:
        """Drop what was touched, and all runs of the jobs whose runs may have met other dataset versions."""
        if changes.joins and changes.only_joined and self._identity_changes == before.identity_changes:
            self._identity_changes = self._graph.identities.changes  # the joined names are among those touched
        touched = changes.touched
        neighbours = [
            self._graph.readers(name) | self._graph.writers(name) for name in self._graph.each_once(changes.reshaped)
        ]
        members = self._graph.members_of_all(touched.datasets)
        self._cache.drop(touched.jobs.union(*neighbours), touched.datasets.union(members))
        self._cache.runs.drop(runs)
        self._cache.runs.drop_all_of(frozenset[JobId]().union(*neighbours))
        if changes.parts:
            self._cache.drop(jobs_of(self._graph, changes.parts), ())
            self._cache.runs.drop(changes.parts)
        if changes.is_edit:  # edits are rare, and may concern anything
            self._cache = self._create()


@dataclass(frozen=True, slots=True)
class DerivedState:
    """A graph with the state derived from it; `learn` updates all of it for one event."""

    graph: Graph
    activities: Activities
    run_intervals: RunIntervals
    runs_by_last_event: RunsByLastEvent
    run_groups: RunGroups
    derivations: Derivations
    gaps: KnownGaps
    verdicts: Verdicts
    run_records: RunRecords
    job_tallies: JobTallies
    dataset_tallies: DatasetTallies
    render_cache: CurrentRenderCache

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """Add the facts of a stored event to the graph; returns the nodes it touched, including former ones."""
        mentioned = mentions(facts)
        before = state_before(self.graph, self.activities, self.run_intervals, facts, mentioned)
        self.graph.add_all(facts)
        self._update_run_indexes(before)
        changes = changes_since(before, self.graph, mentioned)
        self._touch_counts(before, changes)
        self.render_cache.invalidate(before, changes, mentioned.runs)
        self._touch_gaps(changes, facts, mentioned.runs)
        self._invalidate_runs(changes, mentioned.runs)
        return changes.touched

    def _update_run_indexes(self, before: StateBefore) -> None:
        """Move the event's runs to their new places in the indexes."""
        for run_id, seen in before.intervals.items():
            self.run_intervals.change(run_id, seen, self.run_intervals.seen(run_id))
        self.runs_by_last_event.change(before.runs)
        self.run_groups.change({run_id: run.of_job for run_id, run in before.runs.items()})

    def _touch_counts(self, before: StateBefore, changes: Changes) -> None:
        """Mark the jobs and datasets that must be counted again."""
        jobs, datasets, _ = changes.touched
        self.activities.touch(jobs, before.runs)
        self.job_tallies.touch(jobs)
        # A dataset's shown name may change once an event is the first to use a name, or a use of one is withdrawn.
        self.dataset_tallies.touch(self.graph.members_of_all(changes.reshown))
        self.dataset_tallies.touch(datasets)
        self.derivations.invalidate(datasets, jobs)
        for name in changes.respelled:
            fed = [*map(self.graph.shown, self.graph.column_edges.known_to_be_fed_by(name))]
            self.dataset_tallies.touch(fed)
            self.derivations.invalidate(fed, ())
        if changes.joins or changes.is_moved:
            self.derivations.invalidate_all()
        if changes.is_moved:
            known = (self.graph.jobs.get(job) for job in jobs)
            self.derivations.recheck(name for job in known if job is not None for name in job.writes)
        if changes.joins:
            self._touch_counts_of_joined(changes.touched, only_joined=changes.only_joined)

    def _touch_counts_of_joined(self, touched: Touched, *, only_joined: bool) -> None:
        """Mark what must be counted again because names were joined or split.

        Where names were only joined, that is all names joined with a touched one, the jobs that read and write them,
        and the datasets that their columns feed: two edges may have become one.
        """
        if not only_joined:
            self.derivations.recheck(self.graph.datasets)
            self.job_tallies.touch_all()
            self.dataset_tallies.touch_all()
            self.dataset_tallies.touch(self.graph.identities.joined())  # a name that was split off may now be shown
            self.gaps.touch_all()
            return
        for name in self.graph.each_once(touched.datasets):
            members = tuple(self.graph.identities.members(name))
            self.dataset_tallies.touch(members)
            self.job_tallies.touch(self.graph.readers(name) | self.graph.writers(name))
            for member in members:
                self.dataset_tallies.touch(map(self.graph.shown, self.graph.column_edges.known_to_be_fed_by(member)))

    def _touch_gaps(self, changes: Changes, facts: Sequence[Fact], runs: Iterable[str]) -> None:
        """Mark what must be searched for gaps again."""
        if changes.is_edit:
            self.gaps.touch_all()
        self.gaps.touch_facts(facts, runs)
        touched, is_moved = changes.touched, changes.joins or changes.is_moved
        self.gaps.touch(touched.jobs, touched.datasets, is_renamed=changes.is_renamed, is_moved=is_moved)

    def _invalidate_runs(self, changes: Changes, runs: AbstractSet[str]) -> None:
        """Drop the records of the runs, and count their signature verdicts under their jobs' namespaces."""
        self.verdicts.place_runs(runs)
        self.run_records.forget(runs)
        if changes.is_moved:
            self.verdicts.reset()
