"""What was known then, beside what is known now: where nothing was said since, the answers of now hold."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from itertools import chain, islice
from typing import Final, TypeVar

from headwater.graph.cut import CutGraph, side
from headwater.graph.diff import Among
from headwater.graph.edits import node_of
from headwater.graph.impact.alike import RunsAlike
from headwater.graph.last_told import (
    dataset_last_told_us,
    dataset_seen_until,
    datasets_told_of,
    job_seen_until,
    jobs_told_of,
)
from headwater.graph.records import Run
from headwater.graph.recounted import last_told_us
from headwater.graph.walk import Around
from headwater.graph.walk_by import around_by
from headwater.model.edits import target_of
from headwater.model.facets.dataset import LifecycleStateChangeFacet
from headwater.model.facts import Edit, Fact
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.times import AFTER_ALL_US, BEFORE_ALL_US
from headwater.service.knowledge.knowledge import SCHEMA, Knowledge
from headwater.service.knowledge.listing import NameIndexThen
from headwater.service.knowledge.rendered import JobNode, Rendered
from headwater.service.knowledge.run_records import RunRecords, RunRecordsThen
from headwater.service.knowledge.tellers import TellersThen
from headwater.service.knowledge.touched import Touched
from headwater.service.past.activities_then import ActivitiesThen
from headwater.service.past.otherwise import parted_or_joined, told_since
from headwater.service.tallies.tallied import Then
from headwater.service.tallies.tally import DatasetTally, JobTally
from headwater.service.tallies.totals import DatasetTallies, JobTallies
from headwater.store.until import ReaderUntil

ToldT = TypeVar("ToldT")

_LATELY: Final = 64
"""Runs that spoke last by a time: of a dataset that as many jobs touch, one of them told."""


class KnowledgeThen(Knowledge):
    """The graph as it was, its store, and what is known now."""

    def __init__(
        self, store: ReaderUntil, graph: CutGraph, now: Knowledge, read_nodes: Callable[[], Awaitable[None]]
    ) -> None:
        super().__init__(store, graph)
        self._cut = graph
        self._read_nodes = read_nodes
        self._now = now
        self.facets = now.facets
        self.name_index = NameIndexThen(now.name_index, lambda: graph.again.jobs, lambda: graph.identities.noted)
        self._edited = graph.edited_since()
        self._jobs_told_anew: AbstractSet[JobId] | None = None
        self._derivations_as_of: int | None = None
        until_us = self._until_us = store.until_us
        self._tellers = graph.tellers = TellersThen(now.tellers, until_us, graph.again.runs)
        self.activities = ActivitiesThen(graph, now.activities, until_us, self._told_by_runs)

    @cached_property
    def job_tallies(self) -> JobTallies:
        """As in `Knowledge`; they begin with those of now."""
        tallies, told_back = super().job_tallies, lambda: self._told_back(jobs_told_of)
        then = Then(self._until_us, self.is_job_same, self._doubtful_jobs, told_back)
        tallies.begin_with(self._now.job_tallies, then)
        return tallies

    @cached_property
    def dataset_tallies(self) -> DatasetTallies:
        """As in `Knowledge`; they begin with those of now."""
        tallies, told_back = super().dataset_tallies, lambda: self._told_back(datasets_told_of)
        then = Then(self._until_us, self._is_tally_same, self._doubtful_datasets, told_back)
        tallies.begin_with(self._now.dataset_tallies, then)
        return tallies

    @cached_property
    def run_records(self) -> RunRecords:
        """As in `Knowledge`; those of now hold for runs that have told nothing since."""
        now = self._now
        return RunRecordsThen(now.run_records, self._is_record_same, lambda: now.graph.identities.changes)

    async def read_nodes(self) -> None:
        """Read them, if that was not done before: their records are as long as the log."""
        await self._read_nodes()

    def catch_up_derivations(self) -> None:
        """As in `Knowledge`; datasets that were made from others without a job then need not be so now."""
        self._now.catch_up_derivations()
        if self._derivations_as_of != self._now.derivations.heard:
            self._derivations_as_of = self._now.derivations.heard
            self.derivations.touch_also(
                chain(self._now.derivations.told_directly_by(self._until_us), self._cut.covered_by_moved())
            )
        super().catch_up_derivations()

    def learn(self, facts: Sequence[Fact]) -> Touched:
        """As in `Knowledge`."""
        self._jobs_told_anew = self._derivations_as_of = None
        return super().learn(facts)

    def hear(self, facts: Sequence[Fact]) -> None:
        """Note that `now` has just learned these, and of whom something was said over the API."""
        self._jobs_told_anew = self._derivations_as_of = None
        nodes = (node_of(fact.target) for fact in facts if isinstance(fact, Edit))
        self._edited |= {node for node in nodes if node is not None}

    def runs_alike(self) -> RunsAlike:
        """As in `Knowledge`, but for one question: what is heard of runs of now is no news of these."""
        return self._look_at_runs(self._now.runs_alike())

    def is_dataset(self, name: DatasetId) -> bool:
        """As in `Knowledge`; of one name alone it is enough that a run used it by then."""
        return (self._cut.is_used_alone(name) and not self.graph.hides(name)) or super().is_dataset(name)

    def is_job(self, name: JobId) -> bool:
        """As in `Knowledge`; of one of whose runs any is as it was then that is enough."""
        is_known = target_of(name) in self._cut.heard_of or self._cut.has_run(name)
        return (is_known and not self.graph.hides(name)) or super().is_job(name)

    def job_names(self) -> Iterable[JobId]:
        """As in `Knowledge`; among them some of whom nobody had told by then."""
        tallies, until_us = self._now.job_tallies, self._until_us
        now = (
            job
            for job in self._now.graph.jobs
            if (known := tallies.get(job)) is None or known.seen.first_us <= until_us
        )
        return dict.fromkeys(chain(now, self._cut.again.jobs))

    def knows_when_called(self, name: DatasetId) -> bool:
        """Whether nobody has called them one since, which would be all that is known of the last time."""
        links = self.graph.identities.links(name)
        return all(link.seen is None or link.seen.last_us <= self._until_us for link in links)

    def count_runs(self) -> int:
        """As in `Knowledge`, but without a look at each of them."""
        again, now = self._cut.again.runs, self._now.graph.runs
        twice = sum(run_id in now and side(now[run_id], self._until_us) == "before" for run_id in again)
        return self._now.spoken.silent_after(self._until_us) + len(again) - twice

    def around(self, node: DatasetId | JobId, max_hops: int) -> Around:
        """As in `Knowledge`; walked in the graph of now where its edges tell which of them were there then."""
        self.catch_up_derivations()
        if not self.derivations and self._has_only_edges_of_now and self._is_start_of_now(node):
            found = around_by(self._now.graph, self._until_us, self._cut.are_alone_as_then, node, max_hops)
            if found is not None:
                return found
        return super().around(node, max_hops)

    def _is_start_of_now(self, node: DatasetId | JobId) -> bool:
        """Whether a node can be asked about now, and by the same name."""
        return node in self._now.graph.jobs if isinstance(node, JobId) else self._cut.are_alone_as_then((node,))

    @property
    def _has_only_edges_of_now(self) -> bool:
        """Whether no job then had an edge that it has not got now."""
        again = self._cut.again.jobs.values()
        is_any_told = any(job.is_told_by_others for job in again)
        return self._cut.is_in_step and not is_any_told and all(map(self._is_where_it_was, self._cut.again.runs))

    def seen(self, name: DatasetId) -> Seen:
        """As in `Knowledge`."""
        told = self._told_by_runs(name) if self._cut.are_alone_as_then((name,)) else None
        return super().seen(name) if told is None else told

    def heard_of(self, node: DatasetId | JobId) -> Seen:
        """As in `Knowledge`; where nothing is folded again of a node that its runs alone tell of, these tell when."""
        target = target_of(node)
        known = self._cut.heard_of.get(target)
        if known is None and (known := self._told_by_runs(node)) is not None:
            self._cut.heard_of[target] = known
        return super().heard_of(node) if known is None else known

    def _told_by_runs(self, node: DatasetId | JobId) -> Seen | None:
        if isinstance(node, JobId):
            job = self._now.job_tallies.get(node)
            is_again = node in self._cut.again.jobs or self._cut.has_silent_run_again(node)
            return None if job is None or is_again or not _is_plain(job) else self._job_seen(node, job)
        dataset = self._now.dataset_tallies.get(node)
        is_one = self._cut.are_alone_as_then((node,)) and not self._was_declared(node)
        return self._dataset_seen(node, dataset) if dataset is not None and is_one and _is_plain(dataset) else None

    def _was_declared(self, name: DatasetId) -> bool:
        """Whether a dataset was declared by then, perhaps by a declaration that another has replaced since."""
        again = self._cut.again.datasets.get(name)
        return again is not None and again.was_declared

    def _job_seen(self, name: JobId, now: JobTally) -> Seen | None:
        """When a job was heard of by then of which its own runs alone tell, at least by those not folded again."""
        if now.seen.first_us > self._until_us:
            return None
        if name in self._told_anew:
            return job_seen_until(self._now.graph, name, self._until_us)
        last = self._tellers.last(name)
        return None if last is None else Seen(now.seen.first_us, last_told_us(self._now.graph.runs[last]))

    @property
    def _told_anew(self) -> AbstractSet[JobId]:
        """The jobs that runs tell of now which told of others then."""
        if self._jobs_told_anew is None:
            moved = (run_id for run_id in self._cut.again.runs if not self._is_where_it_was(run_id))
            runs = (self._now.graph.runs.get(run_id) for run_id in moved)
            self._jobs_told_anew = frozenset(job for run in runs if run is not None for job, _ in jobs_told_of(run))
        return self._jobs_told_anew

    def _dataset_seen(self, name: DatasetId, now: DatasetTally) -> Seen | None:
        """When a dataset of one name that runs alone tell of was heard of by then."""
        again = self._cut.again.datasets.get(name)
        return Seen.over((self._dataset_seen_whole(name, now), None if again is None else again.observed))

    def _dataset_seen_whole(self, name: DatasetId, now: DatasetTally) -> Seen | None:
        """When such a dataset was heard of by then, by the runs that are not folded again; None: by none of them."""
        if now.seen.first_us > self._until_us:
            return None
        if now.seen.last_us <= self._until_us:
            return now.seen
        last_us = self._last_told_lately_us(name)
        if last_us is None:
            last_us = dataset_last_told_us(self._now.graph, name, self._until_us, self._tellers.last)
        if last_us is None:
            return dataset_seen_until(self._now.graph, name, self._until_us)
        return Seen(now.seen.first_us, last_us)

    def _last_told_lately_us(self, name: DatasetId) -> int | None:
        """When runs told last by then of a dataset that many jobs touch, if those did that spoke last."""
        dataset, told_us = self._now.graph.datasets[name], BEFORE_ALL_US
        if len(dataset.readers) + len(dataset.writers) < _LATELY:
            return None  # to look at its own jobs takes less
        for last_us, told in islice(self._told_back(datasets_told_of), _LATELY):
            if told_us >= last_us:
                return told_us
            told_us = max((told_us, *(us for each, us in told if each == name)))
        return None

    def is_job_same(self, job: JobId) -> bool:
        """Whether what is known of a job, and of what its runs met, is the same now."""
        return job in self._same_jobs((job,))

    def _same_jobs(self, jobs: Iterable[JobId]) -> list[JobId]:
        """Those of the jobs that are."""
        cut, edited = self._cut, self._edited
        is_shape_as_then = cache(cut.is_shape_as_then)  # asked of a hub by each of its readers
        return [
            job
            for job in jobs
            if cut.is_job_as_then(job)
            and not (edited and target_of(job) in edited)
            and self._are_ends_same((*(known := cut.jobs[job]).reads, *known.writes), is_shape_as_then)
        ]

    def _told_by_then(self, run_id: str) -> Run | None:
        """The run, if it had told all by then that it has told."""
        run = self._now.graph.runs.get(run_id)
        return run if run is not None and self._cut.is_run_as_then(run_id) and self._cut.is_in_step else None

    def _is_record_same(self, run_id: str) -> bool:
        """Whether a run had told all by then that it has told, and its datasets were shown by the same names."""
        run, shown, shown_now = self._told_by_then(run_id), self._cut.shown, self._now.graph.shown
        return run is not None and all(shown(name) == shown_now(name) for _, name in run.observed)

    def _is_run_same(self, run_id: str) -> bool:
        """Whether a run had told all by then that it has told, of datasets that went by the same names."""
        run = self._told_by_then(run_id)
        if run is None:
            return False
        parts_of = run.of_job.parts_of if run.of_job is not None else ()
        if any(self._cut.meant(whole) != self._now.graph.meant(whole) for whole in parts_of):
            return False
        return self._are_ends_same([name for _, name in run.observed], self._cut.is_shape_as_then)

    def rendered_job_alike(self, job: JobId, facets: AbstractSet[str]) -> JobNode | None:
        """As in `Knowledge`: as it is rendered of now."""
        rendered = self._now.rendered.job_nodes.get(job)
        if rendered is None or target_of(job) in self._edited or not self._cut.are_job_facets_alike(job, facets):
            return None
        known, now = self._cut.jobs[job], self._now.graph.jobs[job]
        ends = (*known.reads, *known.writes)
        if known.reads.keys() != now.reads.keys() or known.writes.keys() != now.writes.keys():
            return None
        if not self._cut.are_alone_as_then(ends) or self._edited_any(ends):
            return None
        return rendered if self.whole_of(job) == self._now.whole_of(job) else None

    def rendered_alike(self, name: DatasetId, facets: AbstractSet[str]) -> bytes | None:
        """As in `Knowledge`: as it is rendered of now."""
        is_one = self._cut.are_alone_as_then((name,)) and not self._edited_any((name,))
        if not is_one or not self._cut.are_facets_alike(name, facets):
            return None
        if LifecycleStateChangeFacet.key in self._now.graph.datasets[name].facets:
            return None  # whether one that was dropped is there again hangs on who wrote it since
        return self._now.rendered.dataset_nodes.get(name)

    def is_dataset_same(self, name: DatasetId) -> bool:
        """Whether what is known of a dataset itself, by its shown name, is the same now."""
        if self._cut.are_alone_as_then((name,)):  # as nearly all are
            return self._cut.is_dataset_as_then(name) and not self._edited_any((name,))
        return self._is_end_same(name) and all(map(self._cut.is_dataset_as_then, self._cut.members(name)))

    def _are_ends_same(self, names: Sequence[DatasetId], is_shape_as_then: Callable[[DatasetId], bool]) -> bool:
        """Whether each of the datasets is: found out faster where all go by one name, as nearly all do."""
        if self._cut.are_alone_as_then(names):
            again = self._cut.again.datasets
            return all(is_shape_as_then(name) for name in names if name in again) and not self._edited_any(names)
        return all(map(self._is_end_same, names))

    def _edited_any(self, names: Sequence[DatasetId]) -> bool:
        """Whether somebody said anything over the API since of any of the datasets, under these names."""
        return bool(self._edited) and not self._edited.isdisjoint(map(target_of, names))

    def _is_end_same(self, name: DatasetId) -> bool:
        """Whether a dataset goes by the same names, and nobody deleted it or brought it back since."""
        if not self._cut.is_named_as_then(name):
            return False
        return not self._edited or self._edited.isdisjoint(map(target_of, self._cut.members(name)))

    def _is_tally_same(self, name: DatasetId) -> bool:
        return self.is_dataset_same(name) and all(
            self._cut.is_named_as_then(source)
            for member in self._cut.members(name)
            if (dataset := self._cut.datasets.get(member)) is not None
            for _, digest in dataset.evidence
            for source in self._cut.column_edges.sources(member, digest)
        )

    def _told_back(self, told_of: Callable[[Run], Iterator[ToldT]]) -> Iterator[tuple[int, Iterator[ToldT]]]:
        """When runs spoke last by then that are not folded again, the last one first; and of whom each told."""
        runs = self._now.graph.runs
        for last_us, run_id in self._now.spoken.back_from(self._until_us):
            yield last_us, told_of(runs[run_id])

    def _job_tally(self, name: JobId) -> JobTally | None:
        """As in `Knowledge`; told from that of now where only the job's own runs tell of it."""
        known, now = self._now.job_tallies.get(name), self._now.graph
        is_plain = known is not None and _is_plain(known) and target_of(name) not in self._edited
        if known is None or not is_plain or not self._is_job_told_alike(name):
            return super()._job_tally(name)
        seen, again = self._job_seen(name, known), self._cut.again
        if seen is not None and known.last_new_us <= self._until_us and name not in again.jobs:
            return known._replace(seen=seen)
        seen = Seen.over((seen, job_seen_until(again, name, self._until_us) if name in again.jobs else None))
        if seen is None:
            return None
        ends = chain(now.jobs[name].reads.values(), now.jobs[name].writes.values())
        edges = sum(edge.seen.first_us <= self._until_us for edge in ends)
        return known._replace(seen=seen, edges=edges, tags=tuple(dict.fromkeys(self.told_job_tags(name))))

    def _is_job_told_alike(self, name: JobId) -> bool:
        """Whether nothing is folded again of a job, or only of runs that all belong where they belonged then."""
        again = self._cut.again.jobs.get(name)
        if again is None:
            return name not in self._told_anew and not self._cut.has_silent_run_again(name)
        is_told = again.told or again.feeds or again.fed_by
        return not is_told and all(map(self._is_where_it_was, self._cut.again.runs))

    def _is_where_it_was(self, run_id: str) -> bool:
        now, then = self._now.graph.runs.get(run_id), self._cut.again.runs[run_id]
        if now is None or now.of_job is None or then.of_job is None:
            return False
        return now.of_job.job == then.of_job.job and now.of_job.parts_of == then.of_job.parts_of

    def _dataset_tally(self, name: DatasetId) -> DatasetTally | None:
        """As in `Knowledge`; told from that of now where only runs tell of the dataset, by one name."""
        known = self._now.dataset_tallies.get(name)
        is_plain = known is not None and _is_plain(known) and target_of(name) not in self._edited
        is_one = self._cut.are_alone_as_then((name,))
        if known is None or not (is_plain and is_one and self._are_columns_same(name)):
            return super()._dataset_tally(name)
        if self._was_declared(name):
            return super()._dataset_tally(name)
        seen = self._dataset_seen(name, known)
        if seen is None:
            return None
        tags = tuple(dict.fromkeys(word for _, word in self.told_tags(name)))
        return known._replace(seen=seen, source=self._source(name), tags=tags)

    def _are_columns_same(self, name: DatasetId) -> bool:
        """Whether what was told of the columns then is told now, and nothing else."""
        now = self._now.graph
        evidence, again = now.datasets[name].evidence, self._cut.again.datasets.get(name)
        is_all_old = all(edge.seen.first_us <= self._until_us for edge in evidence.values())
        is_all_told = again is None or again.evidence.keys() <= evidence.keys()
        return is_all_old and is_all_told and self._cut.digest_of(name, SCHEMA) == now.digest_of(name, SCHEMA)

    def _last_new_us(self, node: JobId | DatasetId) -> int:
        """Nothing takes over the tallies of a past."""
        return AFTER_ALL_US

    def _doubtful_jobs(self) -> Iterator[JobId]:
        """The jobs that may not have been what they are although nothing was told of them since.

        Of those whose datasets have several names, or whose runs are told of by others, the tallies themselves know.
        """
        yield from self._cut.again.jobs
        runs = (self._now.graph.runs.get(run_id) for run_id in self._cut.again.runs)  # may have become another's since
        yield from (job for run in runs if run is not None for job, _ in jobs_told_of(run))
        wholes = (self._cut.again.child_runs, self._cut.again.runs, self._now.graph.misnamed)
        yield from (job for run_id in chain(*wholes) for job in self._now.graph.child_runs.get(run_id, ()))
        yield from (JobId(*names) for kind, *names in self._edited if kind == "job")
        for name in self._doubtful_names():
            if (dataset := self._now.graph.datasets.get(name)) is not None:
                yield from dataset.readers | dataset.writers

    def _doubtful_datasets(self) -> Iterator[DatasetId]:
        """The datasets that may have been otherwise, or shown by other names, though nothing was told of them since."""
        yield from self._cut.identities.joined()
        yield from self._now.graph.identities.joined()
        yield from self._perhaps_otherwise()

    def _perhaps_otherwise(self) -> Iterator[DatasetId]:
        """Those of the doubtful datasets that are not doubtful only because they have, or had, several names."""
        yield from self._cut.again.datasets
        yield from map(self._cut.shown, self._cut.identities.loose)  # others may have claimed them since
        for name in self._doubtful_names():
            yield name
            yield self._cut.shown(name)
            yield self._now.graph.shown(name)
            yield from map(self._now.graph.shown, self._cut.column_edges.known_to_be_fed_by(name))

    def _doubtful_names(self) -> Iterator[DatasetId]:
        """Names of datasets that had others, of which something is folded again, or said over the API since."""
        yield from (name for name in self._cut.again.datasets if not self._cut.are_alone_as_then((name,)))
        yield from (DatasetId(*names) for kind, *names in self._edited if kind == "dataset")

    def otherwise_now(self) -> Generator[None, None, Among | None]:
        """As in `Knowledge`."""
        told = yield from told_since(self._now, self._until_us)
        named = yield from parted_or_joined(self._cut)
        jobs, datasets = {*self._doubtful_jobs()}, {*self._perhaps_otherwise()}
        return Among(jobs.union(told.jobs, named.jobs), datasets.union(told.datasets, named.datasets))

    def _are_wholes_same(self, job: JobId) -> bool:
        """Whether what a job that is the same, and its newest run, are parts of goes by the same names now."""
        done, meant, meant_now = self._now.activity(job), self._cut.meant, self._now.graph.meant
        newest = self._now.activities.told_run(done.runs[0]) if done.runs else None
        wholes = (done.parent, None if newest is None else newest.parent, None if newest is None else newest.root)
        return all(meant(whole) == meant_now(whole) for whole in wholes if whole is not None)

    def _nothing_rendered(self) -> Rendered:
        return Rendered.beside(
            lambda jobs: self._now.rendered.job_nodes.found(filter(self._are_wholes_same, self._same_jobs(jobs))),
            lambda names: self._now.rendered.dataset_nodes.found(filter(self.is_dataset_same, names)),
            lambda run_id: self._now.rendered.runs if self._is_run_same(run_id) else None,
        )


def _is_plain(now: JobTally | DatasetTally) -> bool:
    """Whether of a node that now adds this nobody tells but its own runs."""
    return now.last_new_us != AFTER_ALL_US
