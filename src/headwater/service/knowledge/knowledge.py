"""What the service knows: graph and store, as the reading routes use them. Lives on the event loop's thread."""

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
from headwater.graph.walk import Around, around
from headwater.model.facets.about import DatasetTagsFacet, TagsFacet
from headwater.model.facets.dataset import DataSourceFacet
from headwater.model.facts import Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.times import AFTER_ALL_US
from headwater.service.knowledge.activities import Activities
from headwater.service.knowledge.activity import Activity, KnownRun, parent_in
from headwater.service.knowledge.facet_views import FacetViews
from headwater.service.knowledge.gaps import KnownGaps
from headwater.service.knowledge.in_step import KeptInStep, RenderedInStep
from headwater.service.knowledge.listing import NameIndex
from headwater.service.knowledge.rendered import Rendered, RenderedElsewhere
from headwater.service.knowledge.run_records import RunRecords
from headwater.service.knowledge.spoken import Spoken
from headwater.service.knowledge.tellers import Tellers
from headwater.service.knowledge.touched import Touched
from headwater.service.knowledge.verdicts import Verdicts
from headwater.service.tallies.tally import DEFAULT_SOURCE, DatasetTally, JobTally, Source
from headwater.service.tallies.totals import DatasetTallies, JobTallies
from headwater.store.reader import Reader

SCHEMA: Final = "schema"
_IN_JOB_TALLY: Final = (TagsFacet.key,)
_IN_DATASET_TALLY: Final = (SCHEMA, DataSourceFacet.key, DatasetTagsFacet.key)
"""The facets that tallies hang on."""
_SLICE: Final = 8
"""Facets that are read ahead in one go: about a millisecond's work."""
_FEW: Final = 32
"""Facets that are read for whoever asks for jobs and datasets: as many are unread but right after a start."""


class Knowledge:
    """The graph and the store it was folded from."""

    rendered_elsewhere: RenderedElsewhere | None = None
    """What holds here of what is rendered of another time, if anything."""

    def __init__(self, store: Reader, graph: Graph) -> None:
        self.store = store
        self.graph = graph
        self.facets = FacetViews(store.content)
        self.name_index = NameIndex(lambda: graph.jobs, lambda: graph.identities.names)
        self._keep_nothing()

    def _keep_nothing(self) -> None:
        graph = self.graph
        self.activities = Activities(graph)
        """What each job did, kept from answer to answer."""
        self.derivations = Derivations(graph)
        self.gaps = KnownGaps(graph, self.store.content)
        self.verdicts = Verdicts(graph)
        self.spoken = Spoken(graph.runs)
        self.tellers = Tellers(graph)
        self._run_groups = self._look_at_runs()
        self._rendered = RenderedInStep(graph, self._nothing_rendered)

    @cached_property
    def job_tallies(self) -> JobTallies:
        """What each job adds to the numbers of all."""
        return JobTallies(self._job_tally)

    @cached_property
    def dataset_tallies(self) -> DatasetTallies:
        """What each dataset adds to them."""
        return DatasetTallies(self._dataset_tally)

    @cached_property
    def run_records(self) -> RunRecords:
        """What runs told, as the walk to a root cause reads it."""
        return RunRecords()

    def load(self) -> None:
        """Fold everything that the store holds into the graph."""
        self.graph.add_all(self.store.graph_facts())
        self.count_anew()

    def begin_again(self) -> None:
        """Forget what is kept beside the graph, which learned an event in parts: what they changed was not noted."""
        for kept in ("job_tallies", "dataset_tallies", "run_records", "_in_step"):
            vars(self).pop(kept, None)
        self._keep_nothing()
        self.count_anew()

    def count_anew(self) -> None:
        """Count whoever is in the graph, when somebody asks about all of them."""
        self.job_tallies.touch(self.graph.jobs)
        self.dataset_tallies.touch(map(self.graph.shown, self.graph.datasets))
        self.derivations.invalidate_all()

    def read_ahead(self) -> Iterator[None]:
        """Read what facets tell of columns, some with each step."""
        is_more = True
        while is_more:
            is_more = self.graph.column_edges.read_some(_SLICE)
            yield from self.derivations.find_candidates()
            yield

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """Add what a stored event says; says what it touched, also what it moved away from."""
        return self._in_step.learn(facts)

    @cached_property
    def _in_step(self) -> KeptInStep:
        return KeptInStep(
            graph=self.graph,
            activities=self.activities,
            spoken=self.spoken,
            tellers=self.tellers,
            run_groups=self._run_groups,
            derivations=self.derivations,
            gaps=self.gaps,
            verdicts=self.verdicts,
            run_records=self.run_records,
            job_tallies=self.job_tallies,
            dataset_tallies=self.dataset_tallies,
            rendered=self._rendered,
        )

    def count_up(self) -> Iterator[None]:
        """Look at jobs and datasets that were touched since somebody asked about all of them, some with each step."""
        yield from self.job_tallies.count_up()
        yield from self.dataset_tallies.count_up()

    def look_back(self) -> Iterator[None]:
        """Count up, and of a past find until when jobs and datasets were heard of by then, some with each step."""
        yield from self.job_tallies.look_back()
        yield from self.dataset_tallies.look_back()

    @property
    def rendered(self) -> Rendered:
        """Parts of answers that still hold."""
        return self._rendered.valid

    def _nothing_rendered(self) -> Rendered:
        return Rendered.nothing()

    def around(self, node: DatasetId | JobId, max_hops: int) -> Around:
        """What lies within so many jobs of a job or dataset."""
        self.catch_up_derivations()
        return around(self.graph, self.derivations, node, max_hops)

    def is_dataset(self, name: DatasetId) -> bool:
        """Whether a dataset goes by this name."""
        shown = self.graph.shown(name)
        dataset = self.graph.datasets.get(shown)
        return dataset is not None and dataset.is_known and shown.is_complete and not self.graph.hides(name)

    def is_job(self, name: JobId) -> bool:
        """Whether a job goes by this name."""
        return self.graph.has_job(name) and not self.graph.hides(name)

    def job_names(self) -> Iterable[JobId]:
        """The names of all jobs, and perhaps of others."""
        return self.graph.jobs

    def dataset(self, name: DatasetId) -> DatasetId:
        """The same name, once a dataset is known to go by it.

        Raises:
            NotFoundError: none does.
        """
        if not self.is_dataset(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def named(self, name: DatasetId) -> DatasetId:
        """The same name, once an event was heard to use it, be it without a namespace.

        Raises:
            NotFoundError: none was.
        """
        if not self.graph.identities.knows(name):
            raise NotFoundError(f"Dataset '{name.name}' not found.")
        return name

    def knows_when_called(self, name: DatasetId) -> bool:
        """Whether it knows of a dataset's names when they were last called one."""
        return True

    def job(self, name: JobId) -> JobId:
        """The same name, once a job is known to go by it.

        Raises:
            NotFoundError: none does.
        """
        if not self.is_job(name):
            raise NotFoundError(f"Job '{name.name}' not found.")
        return name

    def run(self, run_id: str) -> KnownRun:
        """The run, under its id in either case.

        Raises:
            NotFoundError: nobody ever named it.
        """
        run = self.activities.run(run_id_of(run_id))
        if run is None:
            raise NotFoundError(f"Run '{run_id}' not found.")
        return run

    def told_of(self, name: DatasetId) -> Seen | None:
        """When another dataset was said to be made from this one, of which nobody told anything itself."""
        self.catch_up_derivations()
        return None if self.graph.hides(name) else self.derivations.told_of(self.graph.shown(name))

    def catch_up_derivations(self) -> None:
        """Look at all datasets that may be made from others without a job, also by facets that came a moment ago."""
        self.graph.column_edges.read_some(_FEW)
        for _ in self.derivations.catch_up():
            pass

    def names(self, name: DatasetId) -> list[Dataset]:
        """What is known under each of the dataset's names."""
        members = (self.graph.datasets.get(member) for member in self.graph.members(name))
        return [dataset for dataset in members if dataset is not None and dataset.is_known]

    def seen(self, name: DatasetId) -> Seen:
        """When a known dataset was touched or declared, under any of its names, or else told to be a source."""
        known = [dataset.seen for dataset in self.names(name)]
        if not known and (told := self.told_of(name)) is not None:
            return told
        return reduce(Seen.union, known)

    def heard_of(self, node: DatasetId | JobId) -> Seen:
        """When a known job or dataset was heard of, as its activity or `seen` tells."""
        return self.activity(node).seen if isinstance(node, JobId) else self.seen(node)

    def count_runs(self) -> int:
        """How many runs are known."""
        return len(self.graph.runs)

    def activity(self, job: JobId) -> Activity:
        """The runs of a known job, newest first."""
        return self.activities.of(job)

    def run_groups(self) -> RunGroups:
        """The runs of the jobs that somebody asked about, those together that did alike; kept for the next question."""
        return self._run_groups

    def _look_at_runs(self, now: RunGroups | None = None) -> RunGroups:
        return RunGroups(self.graph, lambda job: self.activity(job).runs if self.graph.has_job(job) else (), now)

    def whole_of(self, job: JobId) -> JobId | None:
        """The job that a known job is a part of, as the newest of its runs says that names a parent."""
        return parent_in(self.graph, self.activity(job))

    def _job_tally(self, name: JobId) -> JobTally | None:
        if not self.graph.has_job(name):
            return None
        edges = len(self.graph.reads(name)) + len(self.graph.writes(name))
        tags = tuple(dict.fromkeys(self.told_job_tags(name)))
        seen, is_shown = self.activity(name).seen, not self.graph.hides(name)
        return JobTally(seen, is_shown, edges, tags, self._last_new_us(name))

    def _dataset_tally(self, name: DatasetId) -> DatasetTally | None:
        if self.graph.shown(name) != name or not self.names(name):
            return None
        namespaces = {member.namespace for member in self.graph.identities.members(name) if member.is_complete}
        dataset = self.graph.datasets.get(name)
        is_shown = dataset is not None and dataset.is_known and self.graph.shows(name)
        columns, edges = self._column_counts(name) if is_shown else (0, 0)
        source = self._source(name) if is_shown else None
        tags = tuple(dict.fromkeys(word for _, word in self.told_tags(name)))
        seen, places = self.seen(name), tuple(sorted(namespaces))
        return DatasetTally(seen, is_shown, places, columns, edges, source, tags, self._last_new_us(name))

    def _source(self, name: DatasetId) -> Source:
        told = self.graph.digest_of(name, DataSourceFacet.key)
        facet = self.facets.read(DataSourceFacet, told)
        return Source(DEFAULT_SOURCE, "") if facet is None or not facet.name else Source(facet.name, facet.uri or "")

    def _last_new_us(self, node: JobId | DatasetId) -> int:
        """Until when anybody told news that its tally hangs on: for pasts, which take over the tallies of now."""
        if isinstance(node, JobId):
            new_us = job_last_change_us(self.graph, node, self.activity(node).seen.first_us, _IN_JOB_TALLY)
        else:
            new_us = dataset_last_change_us(self.graph, node, _IN_DATASET_TALLY)
        return AFTER_ALL_US if new_us is None else new_us

    async def read_nodes(self) -> None:
        """See to it that the graph has the records of the nodes."""

    def otherwise_now(self) -> Generator[None, None, Among | None]:
        """The jobs and datasets that may be otherwise now, found step by step; None where that cannot be told."""
        yield from ()
        return Among(frozenset(), frozenset())

    def told_job_tags(self, job: JobId) -> Iterator[str]:
        """The tags that producers told of a known job, in their order."""
        facet = self.facets.read(TagsFacet, self.graph.job_digest(job, TagsFacet.key))
        yield from () if facet is None else (word for _, word in facet.words)

    def told_tags(self, name: DatasetId) -> Iterator[tuple[str | None, str]]:
        """The tags that producers told of a dataset, in their order, each with the column that it is on, if any."""
        facet = self.facets.read(DatasetTagsFacet, self.graph.digest_of(name, DatasetTagsFacet.key))
        yield from () if facet is None else facet.words

    def columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns of a dataset by its newest schema, then others that column edges end at, by name."""
        fields = self.facets.fields(self.graph.digest_of(name, SCHEMA))
        fed = {edge.target_column for edge in self.graph.column_edges_into(name) if edge.target_column is not None}
        return tuple(dict.fromkeys((*(field["name"] for field in fields), *sorted(fed))))

    def all_columns(self, name: DatasetId) -> tuple[str, ...]:
        """The columns of a dataset, then others that column edges start at or jobs are told to use, by name.

        The dataset may be one that is known only as where columns come from.
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
        """How many columns a dataset has, and how many column edges end at it."""
        fields = self.facets.fields(self.graph.digest_of(name, SCHEMA))
        fed, edges = self.graph.count_column_edges_into(name)
        return len(fed.union(field["name"] for field in fields)), edges
