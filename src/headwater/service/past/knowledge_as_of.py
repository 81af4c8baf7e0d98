"""The read model as of a time: for nodes without changes since, the answers of the current one are used."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain

from headwater.graph.diff.compare import Among
from headwater.graph.impact.run_groups import RunGroups
from headwater.graph.past.cut import CutGraph, side
from headwater.graph.past.last_changes import datasets_reported_by, jobs_reported_by
from headwater.graph.past.walk_by import past_neighbourhood
from headwater.graph.walk import Neighbourhood
from headwater.model.edits import target_of
from headwater.model.facts import Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.listing import NameIndexAsOf
from headwater.service.knowledge.render_cache import RenderCache
from headwater.service.knowledge.run_records import RunRecords, RunRecordsAsOf
from headwater.service.knowledge.runs_by_last_event import RunsByLastEventAsOf
from headwater.service.knowledge.touched import Touched
from headwater.service.past.activities_as_of import ActivitiesAsOf
from headwater.service.past.change_candidates import changed_since, parted_or_joined
from headwater.service.past.indirect_changes import IndirectChanges
from headwater.service.past.nodes_from_now import NodesFromNow
from headwater.service.past.seen_as_of import SeenAsOf
from headwater.service.past.tallies_as_of import TalliesAsOf
from headwater.service.past.unchanged import Unchanged
from headwater.service.tallies.tallied import FromNow
from headwater.service.tallies.tally import DatasetTally, JobTally
from headwater.service.tallies.totals import DatasetTallies, JobTallies
from headwater.store.until import ReaderUntil


class KnowledgeAsOf(Knowledge):
    """The read model over a cut graph, with access to the current one (`now`)."""

    def __init__(
        self, store: ReaderUntil, graph: CutGraph, now: Knowledge, read_nodes: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(store, graph)
        self._cut = graph
        self._read_nodes = read_nodes
        self._now = now
        self.facets = now.facets
        self.name_index = NameIndexAsOf(now.name_index, lambda: graph.again.jobs, lambda: graph.identities.names_so_far)
        self._derivations_as_of: int | None = None
        until_us = self._until_us = store.until_us
        reporting_runs = graph.reporting_runs = RunsByLastEventAsOf(now.runs_by_last_event, until_us, graph.again.runs)
        self._unchanged = Unchanged(graph, now)
        self._seen = SeenAsOf(graph, now, until_us, reporting_runs)
        self._tallies = TalliesAsOf(graph, now, until_us, self._unchanged, self._seen)
        self._indirect_changes = IndirectChanges(graph, now, self._unchanged)
        self.activities = ActivitiesAsOf(graph, now.activities, until_us, self._seen.job_from_runs)
        self.reusable_nodes = NodesFromNow(graph, now, self.activities, self._unchanged)

    @cached_property
    def job_tallies(self) -> JobTallies:
        """As in `Knowledge`; starts from the current tallies."""
        tallies, runs_backwards = super().job_tallies, partial(self._seen.runs_backwards, jobs_reported_by)
        then = FromNow(self._until_us, self._unchanged.is_job, self._indirect_changes.jobs, runs_backwards)
        tallies.begin_with(self._now.job_tallies, then)
        return tallies

    @cached_property
    def dataset_tallies(self) -> DatasetTallies:
        """As in `Knowledge`; starts from the current tallies."""
        tallies, runs_backwards = super().dataset_tallies, partial(self._seen.runs_backwards, datasets_reported_by)
        then = FromNow(
            self._until_us, self._unchanged.is_dataset_with_sources, self._indirect_changes.datasets, runs_backwards
        )
        tallies.begin_with(self._now.dataset_tallies, then)
        return tallies

    @cached_property
    def run_records(self) -> RunRecords:
        """As in `Knowledge`; uses the current records of runs without events since."""
        now, same = self._now, self._unchanged
        return RunRecordsAsOf(
            now.run_records, same.is_record, same.has_same_names, lambda: now.graph.identities.changes
        )

    async def read_nodes(self) -> None:
        """As in `Knowledge`; done once, on demand, as the records grow with the log."""
        await self._read_nodes()

    def derive_ahead(self) -> Iterator[None]:
        """As in `Knowledge`; also checks datasets that were derived without a job then, but may no longer be."""
        self._now.catch_up_derivations()
        if self._derivations_as_of != self._now.derivations.candidate_changes:
            self._derivations_as_of = self._now.derivations.candidate_changes
            self.derivations.add_candidates(
                chain(self._now.derivations.candidates_at(self._until_us), self._cut.covered_by_moved())
            )
        yield from super().derive_ahead()

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """As in `Knowledge`."""
        self._seen.invalidate()
        self._derivations_as_of = None
        return super().learn(facts)

    def on_learned(self, facts: Sequence[Fact]) -> None:
        """Called after `now` learned these facts: invalidate cached results, and note what was edited."""
        self._seen.invalidate()
        self._derivations_as_of = None
        self._unchanged.note_edits(facts)

    def run_groups(self) -> RunGroups:
        """As in `Knowledge`, but not cached: changes of current runs would not invalidate it."""
        return self._look_at_runs(self._now.run_groups())

    def is_dataset(self, name: DatasetId) -> bool:
        """As in `Knowledge`; for a dataset with one name it suffices that a run used it by then."""
        return (self._cut.is_used_alone(name) and not self.graph.hides(name)) or super().is_dataset(name)

    def is_job(self, name: JobId) -> bool:
        """As in `Knowledge`; one unchanged run of the job suffices."""
        is_known = target_of(name) in self._cut.seen_times or self._cut.has_run(name)
        return (is_known and not self.graph.hides(name)) or super().is_job(name)

    def job_names(self) -> Iterable[JobId]:
        """As in `Knowledge`; may include jobs that were not known by then."""
        tallies, until_us = self._now.job_tallies, self._until_us
        now = (
            job
            for job in self._now.graph.jobs
            if (known := tallies.get(job)) is None or known.seen.first_us <= until_us
        )
        return dict.fromkeys(chain(now, self._cut.again.jobs))

    def knows_when_linked(self, name: DatasetId) -> bool:
        """Whether the names were not linked again since: only the last time of a link is known."""
        links = self.graph.identities.links(name)
        return all(link.seen is None or link.seen.last_us <= self._until_us for link in links)

    def count_runs(self) -> int:
        """As in `Knowledge`, without examining each run."""
        again, now = self._cut.again.runs, self._now.graph.runs
        twice = sum(run_id in now and side(now[run_id], self._until_us) == "before" for run_id in again)
        return self._now.run_intervals.silent_after(self._until_us) + len(again) - twice

    def neighbourhood(self, node: DatasetId | JobId, max_hops: int) -> Neighbourhood:
        """As in `Knowledge`; walks the current graph if its edges tell which of them existed then."""
        self.catch_up_derivations()
        if not self.derivations and self._has_only_edges_of_now and self._is_start_of_now(node):
            found = past_neighbourhood(self._now.graph, self._until_us, self._cut.is_alone_as_then, node, max_hops)
            if found is not None:
                return found
        return super().neighbourhood(node, max_hops)

    def _is_start_of_now(self, node: DatasetId | JobId) -> bool:
        """Whether the node exists now, under the same name."""
        return node in self._now.graph.jobs if isinstance(node, JobId) else self._cut.is_alone_as_then(node)

    @property
    def _has_only_edges_of_now(self) -> bool:
        """Whether every edge of then still exists now."""
        again = self._cut.again.jobs.values()
        is_any_reported = any(job.is_reported_by_others for job in again)
        return self._cut.is_in_step and not is_any_reported and self._seen.have_runs_same_jobs()

    def seen(self, name: DatasetId) -> Seen:
        """As in `Knowledge`."""
        from_runs = self._seen.from_runs(name) if self._cut.is_alone_as_then(name) else None
        return super().seen(name) if from_runs is None else from_runs

    def seen_of(self, node: DatasetId | JobId) -> Seen:
        """As in `Knowledge`; derived from the current runs if only runs mention the node."""
        target = target_of(node)
        known = self._cut.seen_times.get(target)
        if known is None and (known := self._seen.from_runs(node)) is not None:
            self._cut.seen_times[target] = known
        return super().seen_of(node) if known is None else known

    def _job_tally(self, name: JobId) -> JobTally | None:
        """As in `Knowledge`; derived from the current tally if only the job's own runs mention it."""
        known = self._tallies.job_now(name)
        return super()._job_tally(name) if known is None else self._tallies.job(name, known, self.reported_job_tags)

    def _dataset_tally(self, name: DatasetId) -> DatasetTally | None:
        """As in `Knowledge`; derived from the current tally if only runs mention the dataset, under one name."""
        known = self._tallies.dataset_now(name)
        if known is None:
            return super()._dataset_tally(name)
        seen = self._seen.dataset(name, known)
        if seen is None:
            return None
        tags = tuple(dict.fromkeys(word for _, word in self.reported_tags(name)))
        return known._replace(seen=seen, source=self._source(name), tags=tags)

    def _last_new_us(self, node: JobId | DatasetId) -> int:
        """Unknown: nothing derives from the tallies of a past."""
        return AFTER_ALL_US

    def may_have_changed(self) -> Generator[None, None, Among | None]:
        """As in `Knowledge`."""
        changed = yield from changed_since(self._now, self._until_us)
        named = yield from parted_or_joined(self._cut)
        jobs, datasets = {*self._indirect_changes.jobs()}, {*self._indirect_changes.datasets_but_joined()}
        return Among(jobs.union(changed.jobs, named.jobs), datasets.union(changed.datasets, named.datasets))

    def _empty_render_cache(self) -> RenderCache:
        return RenderCache.with_fallback(
            lambda jobs: self._now.rendered.job_nodes.found(
                filter(self._unchanged.have_parents_same_names, self._unchanged.jobs(jobs))
            ),
            lambda names: self._now.rendered.dataset_nodes.found(filter(self._unchanged.is_dataset, names)),
            lambda run_id: self._now.rendered.runs if self._unchanged.is_run(run_id) else None,
        )
