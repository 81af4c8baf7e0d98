"""The read model that routes query: the graph, its store, and state derived from both. For the event loop's thread."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from typing import Final

from headwater.errors import NotFoundError
from headwater.graph.derived import Derivations
from headwater.graph.diff.compare import Among
from headwater.graph.impact.run_groups import RunGroups
from headwater.graph.lineage import Graph
from headwater.graph.past.last_changes import dataset_last_change_us, job_last_change_us
from headwater.graph.records import Dataset
from headwater.graph.walk import Neighbourhood, neighbourhood
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.facets.dataset import DataSourceFacet
from headwater.model.facts import Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.times import AFTER_ALL_US
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.activity import Activity, KnownRun, parent_in
from headwater.service.knowledge.derived_state import CurrentRenderCache, DerivedState
from headwater.service.knowledge.facet_views import FacetViews
from headwater.service.knowledge.gaps import KnownGaps
from headwater.service.knowledge.listing import NameIndex
from headwater.service.knowledge.render_cache import RenderCache, ReusableNodes
from headwater.service.knowledge.run_intervals import RunIntervals
from headwater.service.knowledge.run_records import RunRecords
from headwater.service.knowledge.runs_by_last_event import RunsByLastEvent
from headwater.service.knowledge.touched import Touched
from headwater.service.knowledge.verdicts import Verdicts
from headwater.service.tallies.tally import DEFAULT_SOURCE, DatasetTally, JobTally, Source
from headwater.service.tallies.totals import DatasetTallies, JobTallies
from headwater.store.reader import Reader

SCHEMA: Final = "schema"
_IN_JOB_TALLY: Final = (TagsFacet.key,)
_IN_DATASET_TALLY: Final = (SCHEMA, DataSourceFacet.key, DatasetTagsFacet.key)
"""The facets that tallies depend on."""
_SLICE: Final = 8
"""Facets parsed ahead per step: about a millisecond's work."""
_FEW: Final = 32
"""Facets parsed within a request: only right after a start are more unread."""


class Knowledge:
    """A graph, the store it was folded from, and the caches and indexes over both."""

    reusable_nodes: ReusableNodes | None = None
    """For a past: nodes rendered for now that can be reused."""

    def __init__(self, store: Reader, graph: Graph) -> None:
        self.store = store
        self.graph = graph
        self.facets = FacetViews(store.content)
        self.name_index = NameIndex(lambda: graph.jobs, lambda: graph.identities.names)
        self._create_caches()

    def _create_caches(self) -> None:
        graph = self.graph
        self.activities = Activities(graph)
        """The runs of each job, cached."""
        self.derivations = Derivations(graph)
        self.gaps = KnownGaps(graph, self.store.content)
        self.verdicts = Verdicts(graph)
        self.run_intervals = RunIntervals(graph.runs)
        self.runs_by_last_event = RunsByLastEvent(graph)
        self._run_groups = self._look_at_runs()
        self._render_cache = CurrentRenderCache(graph, self._empty_render_cache)

    @cached_property
    def job_tallies(self) -> JobTallies:
        """Each job's contribution to the totals."""
        return JobTallies(self._job_tally)

    @cached_property
    def dataset_tallies(self) -> DatasetTallies:
        """Each dataset's contribution to the totals."""
        return DatasetTallies(self._dataset_tally)

    @cached_property
    def run_records(self) -> RunRecords:
        """Cached records of runs, for the root-cause walk."""
        return RunRecords()

    def load(self) -> None:
        """Fold everything that the store holds into the graph."""
        self.graph.add_all(self.store.graph_facts())
        self.recount_all()

    def reset(self) -> None:
        """Drop all derived state: the graph learned an event only partly at first, so the change was not tracked."""
        for attribute in ("job_tallies", "dataset_tallies", "run_records", "_derived_state"):
            vars(self).pop(attribute, None)
        self._create_caches()
        self.recount_all()

    def recount_all(self) -> None:
        """Mark every node to be counted again, when the totals are next asked for."""
        self.job_tallies.touch(self.graph.jobs)
        self.dataset_tallies.touch(map(self.graph.shown, self.graph.datasets))
        self.derivations.invalidate_all()

    def read_ahead(self) -> Iterator[None]:
        """Parse column lineage facets ahead of requests, some with each step."""
        is_more = True
        while is_more:
            is_more = self.graph.column_edges.read_some(_SLICE)
            yield from self.derivations.find_candidates()
            yield

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """Add the facts of a stored event to the graph; returns the nodes it touched, including former ones."""
        return self._derived_state.learn(facts)

    @cached_property
    def _derived_state(self) -> DerivedState:
        return DerivedState(
            graph=self.graph,
            activities=self.activities,
            run_intervals=self.run_intervals,
            runs_by_last_event=self.runs_by_last_event,
            run_groups=self._run_groups,
            derivations=self.derivations,
            gaps=self.gaps,
            verdicts=self.verdicts,
            run_records=self.run_records,
            job_tallies=self.job_tallies,
            dataset_tallies=self.dataset_tallies,
            render_cache=self._render_cache,
        )

    def catch_up(self) -> Iterator[None]:
        """Count the jobs and datasets touched since the totals were last asked for, some with each step."""
        yield from self.job_tallies.catch_up()
        yield from self.dataset_tallies.catch_up()

    def catch_up_times(self) -> Iterator[None]:
        """Catch up, and for a past also find each node's last event by then, some with each step."""
        yield from self.job_tallies.catch_up_times()
        yield from self.dataset_tallies.catch_up_times()

    @property
    def rendered(self) -> RenderCache:
        """The rendered parts of answers that are still valid."""
        return self._render_cache.valid

    def _empty_render_cache(self) -> RenderCache:
        return RenderCache.empty()

    def neighbourhood(self, node: DatasetId | JobId, max_hops: int) -> Neighbourhood:
        """The neighbourhood of a job or dataset, up to `max_hops` jobs away."""
        self.catch_up_derivations()
        return neighbourhood(self.graph, self.derivations, node, max_hops)

    def is_dataset(self, name: DatasetId) -> bool:
        """Whether this is a name of a known dataset that is not deleted."""
        shown = self.graph.shown(name)
        return shown.is_complete and self.graph.is_known(shown) and not self.graph.hides(name)

    def is_job(self, name: JobId) -> bool:
        """Whether this is the name of a known job that is not deleted."""
        return self.graph.has_job(name) and not self.graph.hides(name)

    def job_names(self) -> Iterable[JobId]:
        """The names of all jobs; a past may include later ones."""
        return self.graph.jobs

    def dataset(self, name: DatasetId) -> DatasetId:
        """The same name, checked.

        Raises:
            NotFoundError: no dataset has this name.
        """
        if not self.is_dataset(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def named(self, name: DatasetId) -> DatasetId:
        """The same name, checked to be used by an event, even one without a namespace.

        Raises:
            NotFoundError: no event uses it.
        """
        if not self.graph.identities.knows(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def knows_when_linked(self, name: DatasetId) -> bool:
        """Whether the last times at which events linked the dataset's names are known; not always so in a past."""
        return True

    def job(self, name: JobId) -> JobId:
        """The same name, checked.

        Raises:
            NotFoundError: no job has this name.
        """
        if not self.is_job(name):
            raise NotFoundError(f"Job '{name.name}' not found.")
        return name

    def run(self, run_id: str) -> KnownRun:
        """The run; its id may be in upper or lower case.

        Raises:
            NotFoundError: no event names it.
        """
        run = self.activities.run(run_id_of(run_id))
        if run is None:
            raise NotFoundError(f"Run '{run_id}' not found.")
        return run

    def seen_as_source(self, name: DatasetId) -> Seen | None:
        """When another dataset was reported to be made from this one; for a dataset that has no events of its own."""
        self.catch_up_derivations()
        return None if self.graph.hides(name) else self.derivations.reported(self.graph.shown(name))

    def catch_up_derivations(self) -> None:
        """Update the dataset-to-dataset derivations (those without a job), including facets not yet parsed."""
        for _ in self.derive_ahead():
            pass

    def derive_ahead(self) -> Iterator[None]:
        """The same ahead of a request, some with each step."""
        self.graph.column_edges.read_some(_FEW)
        yield from self.derivations.catch_up()

    def names(self, name: DatasetId) -> list[Dataset]:
        """The graph's record for each of the dataset's names."""
        members = (self.graph.datasets.get(member) for member in self.graph.members(name))
        return [dataset for dataset in members if dataset is not None and dataset.is_known]

    def seen(self, name: DatasetId) -> Seen:
        """The first and last event of a known dataset, under any of its names, or else as a source of another."""
        known = [dataset.seen for dataset in self.names(name)]
        if not known and (as_source := self.seen_as_source(name)) is not None:
            return as_source
        return reduce(Seen.union, known)

    def seen_of(self, node: DatasetId | JobId) -> Seen:
        """The first and last event of a known job or dataset."""
        return self.activity(node).seen if isinstance(node, JobId) else self.seen(node)

    def count_runs(self) -> int:
        """How many runs are known."""
        return len(self.graph.runs)

    def activity(self, job: JobId) -> Activity:
        """The runs of a known job, newest first."""
        return self.activities.of(job)

    def run_groups(self) -> RunGroups:
        """Runs grouped by equal inputs and outputs, for the jobs asked about so far; cached."""
        return self._run_groups

    def _look_at_runs(self, now: RunGroups | None = None) -> RunGroups:
        return RunGroups(self.graph, lambda job: self.activity(job).runs if self.graph.has_job(job) else (), now)

    def parent_of(self, job: JobId) -> JobId | None:
        """The parent job, as named by the newest run that names one."""
        return parent_in(self.graph, self.activity(job))

    def _job_tally(self, name: JobId) -> JobTally | None:
        if not self.graph.has_job(name):
            return None
        edges = len(self.graph.reads(name)) + len(self.graph.writes(name))
        tags = tuple(dict.fromkeys(self.reported_job_tags(name)))
        seen, is_shown = self.activity(name).seen, not self.graph.hides(name)
        return JobTally(seen, is_shown, edges, tags, self._last_new_us(name))

    def _dataset_tally(self, name: DatasetId) -> DatasetTally | None:
        if self.graph.shown(name) != name or not self.names(name):
            return None
        namespaces = {member.namespace for member in self.graph.identities.members(name) if member.is_complete}
        is_shown = self.graph.shows(name)
        columns, edges = self._column_counts(name) if is_shown else (0, 0)
        source = self._source(name) if is_shown else None
        tags = tuple(dict.fromkeys(word for _, word in self.reported_tags(name)))
        seen, in_order = self.seen(name), tuple(sorted(namespaces))
        return DatasetTally(seen, is_shown, in_order, columns, edges, source, tags, self._last_new_us(name))

    def _source(self, name: DatasetId) -> Source:
        digest = self.graph.digest_of(name, DataSourceFacet.key)
        facet = self.facets.read(DataSourceFacet, digest)
        return Source(DEFAULT_SOURCE, "") if facet is None or not facet.name else Source(facet.name, facet.uri or "")

    def _last_new_us(self, node: JobId | DatasetId) -> int:
        """The time of the last change to what the node's tally depends on; pasts reuse tallies that are older."""
        if isinstance(node, JobId):
            new_us = job_last_change_us(self.graph, node, self.activity(node).seen.first_us, _IN_JOB_TALLY)
        else:
            new_us = dataset_last_change_us(self.graph, node, _IN_DATASET_TALLY)
        return AFTER_ALL_US if new_us is None else new_us

    async def read_nodes(self) -> None:
        """Load the chain records of the nodes (edge machines) into the graph; now always has them."""

    def may_have_changed(self) -> Generator[None, None, Among | None]:
        """The jobs and datasets that may differ between this past and now, found in steps; None if unknown."""
        yield from ()
        return Among(frozenset(), frozenset())

    def reported_job_tags(self, job: JobId) -> Iterator[str]:
        """The tags that producers reported for a known job, in their order."""
        facet = self.facets.read(TagsFacet, self.graph.job_digest(job, TagsFacet.key))
        yield from () if facet is None else (word for _, word in facet.words)

    def reported_tags(self, name: DatasetId) -> Iterator[tuple[str | None, str]]:
        """The tags that producers reported for a dataset, in their order, each with its column, if any."""
        facet = self.facets.read(DatasetTagsFacet, self.graph.digest_of(name, DatasetTagsFacet.key))
        yield from () if facet is None else facet.words

    def columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns of a dataset: those of its newest schema, then other targets of column edges, by name."""
        fields = self.facets.fields(self.graph.digest_of(name, SCHEMA))
        fed = {edge.target_column for edge in self.graph.column_edges_into(name) if edge.target_column is not None}
        return tuple(dict.fromkeys((*(field["name"] for field in fields), *sorted(fed))))

    def all_columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns as in `columns`, then other sources of column edges and columns that jobs are reported to use.

        The dataset may be one that is known only as a source of columns.
        """
        shown = self.graph.shown(name)
        read = {
            edge.source_column
            for target in self.graph.fed_by(shown)
            for edge in self.graph.column_edges_into(target)
            if edge.source == shown and edge.source_column is not None
        }
        used = self.graph.columns_named_by_readers(shown)
        return tuple(dict.fromkeys((*self.columns(name), *sorted(read | used))))

    def _column_counts(self, name: DatasetId) -> tuple[int, int]:
        """The number of a dataset's columns, and of column edges into it."""
        fields = self.facets.fields(self.graph.digest_of(name, SCHEMA))
        fed, edges = self.graph.count_column_edges_into(name)
        return len(fed.union(field["name"] for field in fields)), edges
