"""A past graph as a lazy view of the current one: each job, dataset and run is computed on first access.

A run whose last event is before then is unchanged, and so is a job or dataset that only such runs reported: the view
returns the current object. Any other is assembled from its runs of that time. Only runs with events both before and
after, and what the log has without a run, are folded again (`Refolded`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Literal, TypeVar

from headwater.graph.lineage import Graph
from headwater.graph.past.cut_facets import Older
from headwater.graph.past.cut_records import CutJob
from headwater.graph.past.lazy import LazyItems, LazyMapping
from headwater.graph.past.recounted import RunsBySide, edges_by, evidence_by, last_event_us
from headwater.graph.past.unchanged import UnchangedSince
from headwater.graph.records import Dataset, Edge, Evidence, EvidenceKey, Job, Reporter, Run
from headwater.graph.state import PossibleKeys
from headwater.model.edits import target_of
from headwater.model.events import Direction
from headwater.model.facts import Fact, Target
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId

KeyT = TypeVar("KeyT")

Side = Literal["before", "across", "after"]
_RUN = "run:"


def side(run: Run, until_us: int) -> Side:
    """Whether the run's events are all before that time (inclusive), all after it, or on both sides."""
    if run.times is None or run.times.seen.last_us <= until_us:
        return "before"
    return "across" if run.times.seen.first_us <= until_us else "after"


class CutGraph(UnchangedSince):
    """The graph as it was at a time.

    It must not change when `now` does: a writer calls `keep` before it adds facts about a run, and afterwards `forget`
    for the jobs and datasets concerned.
    """

    def __init__(self, now: Graph, until_us: int, older: Older) -> None:
        super().__init__(now, until_us, older)
        self.is_in_step = True
        """Whether it has taken in all recent events: no run with events on both sides is missing in `again`."""
        self.quarantined = self.again.quarantined
        self.edits, self.nodes = self.again.edits, self.again.nodes
        self.derivation_candidates = self.again.derivation_candidates
        self.again.has_failed_then = self.has_failed
        self.runs: LazyItems[str, Run] = LazyItems(self._cut_run, lambda: (now.runs, self.again.runs))
        self.jobs: LazyItems[JobId, Job] = LazyItems(self._cut_job, lambda: (now.jobs, self.again.jobs))
        self.datasets: LazyItems[DatasetId, Dataset] = LazyItems(
            self._cut_dataset, lambda: (now.datasets, self.again.datasets)
        )
        self.child_runs = LazyItems(self._cut_children, lambda: (now.child_runs, self.again.child_runs))
        self.named_in_control = LazyItems(
            self._cut_control, lambda: (now.named_in_control, self.again.named_in_control)
        )
        self.named_in_flows = LazyItems(self._cut_flows, lambda: (now.named_in_flows, self.again.named_in_flows))
        self.seen_times: dict[Target, Seen] = {}
        """Cache: when jobs and datasets were reported; dropped with these."""
        named = (self.named_in_control, self.named_in_flows)
        self._cuts = (self.runs, self.jobs, self.datasets, self.child_runs, *named)

    def add(self, fact: Fact) -> None:
        """Add one fact; see `add_all`."""
        self.add_all((fact,))

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add facts reported by then, of runs that are folded again or without a run."""
        self.again.add_all(facts)
        self._forget_all()
        self._shown.clear()

    def hand_over(self) -> None:
        """As in `Graph`."""
        self.again.hand_over()

    def recheck(self, target: DatasetId) -> None:
        """As in `Graph`."""
        self.again.recheck(target)

    def newly_read(self) -> Iterator[DatasetId]:
        """As in `Graph`, for what is folded again."""
        return self.again.newly_read()

    def possible_keys(self) -> PossibleKeys:
        """As in `Graph`; nothing is computed for it."""
        return PossibleKeys(self.runs.possible_keys(), self.jobs.possible_keys(), self.datasets.possible_keys())

    def covered_by_moved(self) -> Iterator[DatasetId]:
        """The datasets that jobs with runs folded again write now: the runs may have been another job's then."""
        for run_id in self.again.runs:
            run = self.now.runs.get(run_id)
            if run is not None and run.of_job is not None:
                yield from self.now.jobs[run.of_job.job].writes

    def keep(self, run_id: str) -> None:
        """Preserve a run's current record, before facts about it are added to `now`."""
        run = self.now.runs.get(run_id)
        if run is not None and run_id not in self.again.runs and side(run, self._until_us) == "before":
            self.again.take(run_id, run.copy())
            self._forget_all()

    def forget(self, jobs: Iterable[JobId], datasets: Iterable[DatasetId]) -> None:
        """Drop cached jobs and datasets that may have changed in `now`."""
        for job in jobs:
            self.jobs.forget(job)
            self.seen_times.pop(target_of(job), None)
        for name in datasets:
            self.datasets.forget(name)
            self.seen_times.pop(target_of(name), None)

    def _forget_all(self) -> None:
        for cut in self._cuts:
            cut.forget_all()
        self.seen_times.clear()

    @property
    def size(self) -> int:
        """Cached jobs and datasets, and copied runs, for cache limits; times count a quarter."""
        return self.jobs.size + self.datasets.size + len(self.again.runs) + len(self.seen_times) // 4

    def _cut_run(self, run_id: str) -> Run | None:
        run = self.again.runs.get(run_id) or self.now.runs.get(run_id)
        return run if run is not None and (run_id in self.again.runs or self.is_run_as_then(run_id)) else None

    def _cut_children(self, run_id: str) -> dict[JobId, set[str]]:
        then = {job: self._run_ids_as_then(runs) for job, runs in self.now.child_runs.get(run_id, {}).items()}
        for job, runs in self.again.child_runs.get(run_id, {}).items():
            then.setdefault(job, set()).update(runs)
        return {job: runs for job, runs in then.items() if runs}

    def _cut_control(self, job: JobId) -> set[str]:
        return self._run_ids_as_then(self.now.named_in_control.get(job, ())) | self.again.named_in_control.get(
            job, set()
        )

    def _cut_flows(self, run_id: str) -> set[Reporter] | None:
        before = {*filter(self._is_reported_before, self.now.named_in_flows.get(run_id, ()))}
        return before | self.again.named_in_flows.get(run_id, set()) or None

    def _cut_job(self, name: JobId) -> Job | None:
        now, again = self.now.jobs.get(name), self.again.jobs.get(name)
        if again is None and (now is None or self._is_job_same(name, now)):
            return now
        job: Job = Job()
        if now is not None:
            job = CutJob(partial(self._run_ids_as_then, now.runs), partial(self._run_ids_as_then, now.children))
        job.facets = self._job_facets(name)
        if again is not None:
            _take_over(job, again)
        if now is not None:
            self._cut_into(name, job, now)
        return job if again is not None or job.named or self.has_run(name) or job.is_known else None

    def _cut_into(self, name: JobId, job: Job, now: Job) -> None:
        """Add what a job's unchanged runs did, and what others reported of it."""
        if now.reads or now.writes:
            self._cut_edges_into(name, job, now)
        if now.uses:
            job.uses = LazyMapping(partial(self._cut_uses, job.uses, now))
        if now.named:
            job.named.update(
                run_id for run_id in now.named if any(map(self.is_run_as_then, self.now.child_runs[run_id][name]))
            )
        for (direction, dataset), reporters in now.reported.items():
            for reporter, seen in reporters.items():
                if self._is_reported_before(reporter):
                    job.reported.setdefault((direction, dataset), {})[reporter] = seen
                    _count(job.reads if direction == "input" else job.writes, dataset, [seen])
        for end, of_any in now.reported_without_run.items():
            if then := {*filter(self._is_reported_before, of_any)}:
                job.reported_without_run.setdefault(end, set()).update(then)
        for mine, theirs in ((job.feeds, now.feeds), (job.fed_by, now.fed_by)):
            for other, reporters in theirs.items():
                then_by = {reporter: seen for reporter, seen in reporters.items() if self._is_reported_before(reporter)}
                if then_by:
                    mine.setdefault(other, {}).update(then_by)

    def _cut_edges_into(self, name: JobId, job: Job, now: Job) -> None:
        """Add what a job's unchanged runs did."""
        is_reported_by_runs = not now.reported and now.declaration is None
        if self.is_in_step and is_reported_by_runs:
            runs = self._by_side({name: now})
            _add_edges(job.reads, edges_by(runs, "input", now.reads))
            _add_edges(job.writes, edges_by(runs, "output", now.writes))
            return
        for run in self._runs_as_then(now):
            for (direction, dataset), seen in run.observed.items():
                _count(job.reads if direction == "input" else job.writes, dataset, [seen])

    def _cut_uses(self, again: Mapping[bytes, Edge], now: Job) -> dict[bytes, Edge]:
        """The uses that a job's runs report: those folded `again`, plus those of unchanged runs."""
        uses = {**again}
        for run in self._runs_as_then(now):
            for facet, seen in run.extras.uses.items() if run.extras is not None else ():
                _count(uses, facet, [seen])
        return uses

    def _by_side(self, jobs: Mapping[JobId, Job]) -> RunsBySide:
        """The runs of these jobs."""
        now, until_us = self.now.runs, self._until_us
        again = [now[run_id] for job in jobs.values() for run_id in self.again.runs.keys() & job.runs]
        in_all = sum(len(job.runs) for job in jobs.values()) - len(again)
        order = self.reporting_runs
        if order is None or not all(job.children <= job.runs for job in jobs.values()):
            before = [run for job in jobs.values() for run in self._runs_as_then(job)]
            since = partial(self._runs_since, jobs)
            backwards = partial(sorted, before, key=last_event_us, reverse=True)
            return RunsBySide(until_us, again, lambda: before, backwards, len(before), since, in_all - len(before))
        count_since = sum(map(order.count_since, jobs)) - sum(last_event_us(run) > until_us for run in again)
        return RunsBySide(
            until_us,
            again,
            before=lambda: [run for job in jobs.values() for run in self._runs_as_then(job)],
            before_backwards=lambda: map(now.__getitem__, order.back_over(jobs)),
            count_before=in_all - count_since,
            since=lambda: [now[run_id] for run_id in order.since(jobs)],
            count_since=count_since,
        )

    def _runs_since(self, jobs: Mapping[JobId, Job]) -> list[Run]:
        """The runs with only later events."""
        run_ids = {run_id for job in jobs.values() for run_id in job.runs}
        return [self.now.runs[each] for each in run_ids - self._run_ids_as_then(run_ids) - self.again.runs.keys()]

    def _runs_as_then(self, now: Job) -> list[Run]:
        return [self.now.runs[run_id] for run_id in self._run_ids_as_then(now.runs)]

    def _cut_dataset(self, name: DatasetId) -> Dataset | None:
        now, again = self.now.datasets.get(name), self.again.datasets.get(name)
        if again is None and (now is None or not self._is_named(name)):
            return None
        # Out of step, the current jobs may include jobs that did not exist then: their run has events on both sides.
        if again is None and now is not None and self.is_in_step and self._is_dataset_same(now):
            return now
        dataset = Dataset(facets=self._dataset_facets(name))
        if again is not None:
            dataset.observed, dataset.declared_over = again.observed, again.declared_over
            dataset.readers, dataset.writers, dataset.declared = {*again.readers}, {*again.writers}, again.declared
        dataset.evidence = LazyMapping(partial(self._cut_evidence, name))
        if now is not None:
            self._cut_into_dataset(name, dataset, now)
        return dataset

    def _cut_into_dataset(self, name: DatasetId, dataset: Dataset, now: Dataset) -> None:
        """Add what unchanged runs did to a dataset."""
        times = [dataset.observed]
        for jobs, side in ((now.readers, dataset.readers), (now.writers, dataset.writers)):
            direction: Direction = "input" if side is dataset.readers else "output"
            for job in jobs:
                then = self.jobs.get(job)
                edge = None if then is None else (then.reads if direction == "input" else then.writes).get(name)
                if then is None or edge is None:
                    continue
                side.add(job)
                if then.declaration is None and not then.reported:
                    times.append(edge.seen)  # which only the job's runs contributed to
                else:
                    times += self._seen_by(then, (direction, name))
        seen = Seen.over(times)
        if now.evidence and not self._covers_column_reports(now.writers, name, seen):
            seen = Seen.over((seen, *(when for evidence in self._column_evidence(name) for _, when in evidence)))
        dataset.observed = seen

    def _covers_column_reports(self, writers: AbstractSet[JobId], name: DatasetId, seen: Seen | None) -> bool:
        """Whether the dataset's column reports cannot widen these times."""
        now, reporting_runs = self.now.datasets[name].observed, self.reporting_runs
        if seen is None or now is None or reporting_runs is None or now.first_us != seen.first_us:
            return False
        lasts = filter(None, map(reporting_runs.last, writers))
        if any(last_event_us(self.now.runs[last]) > seen.last_us for last in lasts):
            return False
        return self._is_reported_by(writers, name)

    def runs_reporting(self, target: DatasetId) -> Iterable[str]:
        """As in `Graph`."""
        return self._run_ids_as_then(self.now.runs_reporting(target)) | {*self.again.runs_reporting(target)}

    def _column_evidence(self, name: DatasetId) -> Iterator[Evidence]:
        """Each unchanged run's evidence for a dataset's columns."""
        return (self.now.runs[run_id].evidence[name] for run_id in self._run_ids_as_then(self.now.runs_reporting(name)))

    def _cut_evidence(self, name: DatasetId) -> dict[EvidenceKey, Edge]:
        """The column evidence for a dataset, counted as of then."""
        now, again = self.now.datasets.get(name), self.again.datasets.get(name)
        evidence = {} if again is None else {key: Edge(edge.seen, edge.runs) for key, edge in again.evidence.items()}
        if now is not None and self.is_in_step and not now.was_declared and self._is_reported_by(now.writers, name):
            runs = self._by_side({job: self.now.jobs[job] for job in now.writers})
            _add_edges(evidence, evidence_by(runs, name, now.evidence))
            return evidence
        strongest: dict[EvidenceKey, list[Seen]] = {}
        for of_run in self._column_evidence(name):
            (strength, _), _ = max(of_run)
            for key, seen in of_run:
                if key[0] == strength:
                    strongest.setdefault(key, []).append(seen)
        for key, times in strongest.items():
            _count(evidence, key, times)
        return evidence

    def _is_reported_by(self, writers: AbstractSet[JobId], name: DatasetId) -> bool:
        """Whether only runs of these jobs report the dataset's columns."""
        runs = [self.now.jobs[job].runs for job in writers]
        writing = runs[0] if len(runs) == 1 else set[str]().union(*runs)
        return writing.issuperset(self.now.runs_reporting(name))

    def _seen_by(self, job: Job, end: tuple[Direction, DatasetId]) -> Iterator[Seen]:
        """When unchanged runs touched the dataset on that side of a job."""
        for run_id in job.runs:
            if run_id not in self.again.runs and (seen := self.now.runs[run_id].observed.get(end)) is not None:
                yield seen
        yield from (seen for reporter, seen in job.reported.get(end, {}).items() if isinstance(reporter, str))

    def quarantined_before(self) -> Iterator[Fact]:
        """The quarantined names from runs with all events before then."""
        for fact in [*self.now.quarantined.values()]:
            run = self.now.runs.get(fact.subject.removeprefix(_RUN)) if fact.subject.startswith(_RUN) else None
            if run is not None and side(run, self._until_us) == "before":
                yield fact


def _take_over(job: Job, again: Job) -> None:
    """Start from what is folded again; edges are copied, since they are counted further."""
    job.runs, job.children, job.named = {*again.runs}, {*again.children}, {*again.named}
    job.declaration, job.declared_over = again.declaration, again.declared_over
    job.reads = {name: Edge(edge.seen, edge.runs) for name, edge in again.reads.items()}
    job.writes = {name: Edge(edge.seen, edge.runs) for name, edge in again.writes.items()}
    job.uses = {facet: Edge(edge.seen, edge.runs) for facet, edge in again.uses.items()}
    job.reported = {end: {**reporters} for end, reporters in again.reported.items()}
    job.reported_without_run = {end: {*reporters} for end, reporters in again.reported_without_run.items()}
    job.feeds = {other: {**reporters} for other, reporters in again.feeds.items()}
    job.fed_by = {other: {**reporters} for other, reporters in again.fed_by.items()}


def _add_edges(edges: dict[KeyT, Edge], others: Iterable[tuple[KeyT, Edge]]) -> None:
    """Add edges to those folded again: both may exist, if a declaration that was replaced since has the same edge."""
    for name, edge in others:
        edges[name] = edge.joined(edges.get(name))


def _count(edges: dict[KeyT, Edge], key: KeyT, times: Sequence[Seen]) -> None:
    """Count one more run for each of the times."""
    edge = edges.get(key)
    seen = Seen.over((*times, None if edge is None else edge.seen))
    if seen is not None:
        edges[key] = Edge(seen, len(times) + (0 if edge is None else edge.runs))
