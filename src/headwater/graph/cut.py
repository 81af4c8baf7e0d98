"""A past cut out of the graph of now: what is known of a run that spoke for the last time before then is the same.

Only of runs that spoke both before and after it must events be read again. What many runs tell of one thing, the last
one holding (the facets of jobs and datasets), is read when it is first looked at.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Literal, Protocol, TypeVar

from headwater.graph.growth import between
from headwater.graph.lineage import Graph
from headwater.graph.records import Dataset, Job, Run, ToldOfRun
from headwater.model.events import Stamp
from headwater.model.facts import Fact, JobFacet, RunOfJob
from headwater.model.names import DatasetId, JobId

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")

Side = Literal["before", "across", "after"]
_RUN = "run:"


class Older(Protocol):
    """What was told until then, and told anew since."""

    def job_facets(self, job: JobId, names: set[str]) -> Mapping[str, JobFacet]:
        """The newest of those of a job's facets with these names; what nobody told by then is left out."""

    def dataset_facets(self, name: DatasetId, names: set[str]) -> Mapping[str, tuple[Stamp, bytes]]:
        """The newest of those of a dataset's facets that runs told under this very name."""


def side(run: Run, until_us: int) -> Side:
    """Whether the run spoke before that time, that time included, after it, or both."""
    if run.times is None or run.times.seen.last_us <= until_us:
        return "before"
    return "across" if run.times.seen.first_us <= until_us else "after"


class CutGraph(Graph):
    """The graph as it was at a time, once it was given what is the same, and what events across that time told."""

    def __init__(self, now: Graph, until_us: int, older: Older) -> None:
        super().__init__(now._content, now.column_edges)
        self._now = now
        self._until_us = until_us
        self._older = older

    def same(self, run_id: str, run: Run) -> None:
        """Take over a run that spoke before only; it stays the same object, until `keep`."""
        self.runs[run_id] = run
        if run.of_job is not None:
            self._belongs(run_id, run.of_job)
        for (direction, dataset), seen in run.observed.items():
            self._observe(dataset, seen)
            if run.of_job is not None:
                self._count_edge(run.of_job.job, direction, dataset, seen, is_new_run=True)
        for target, evidence in run.evidence.items():
            strongest = max(strength for strength, _ in evidence)
            for key, seen in evidence.items():
                self._observe(target, seen)
                if key[0] == strongest:
                    self._count_evidence(target, key, seen, is_new_run=True)
        if run.told is not None:
            self._flows_of(run_id, run.told, run.of_job)

    def keep(self, run_id: str) -> None:
        """Keep what is known of a run as it is now: somebody is about to add to it."""
        run = self.runs.get(run_id)
        if run is not None and run is self._now.runs.get(run_id):
            self.runs[run_id] = run.copy()

    def _flows_of(self, run_id: str, told: ToldOfRun, of_job: RunOfJob | None) -> None:
        for _, job, _ in told.control:
            self.named_in_control[job].add(run_id)
        for flow, seen in told.flows.items():
            if None not in flow:
                self._tell_flow(run_id, flow, seen)
            elif of_job is not None:
                self._tell_flow(run_id, between(flow, of_job.job), seen)

    def quarantined_before(self) -> Iterator[Fact]:
        """The quarantined names that runs gave which spoke before only."""
        for fact in [*self._now.quarantined.values()]:
            run = self._now.runs.get(fact.subject.removeprefix(_RUN)) if fact.subject.startswith(_RUN) else None
            if run is not None and side(run, self._until_us) == "before":
                yield fact

    def _new_job(self, name: JobId) -> Job:
        return Job(facets=_Later(lambda: self._job_facets(name)))

    def _new_dataset(self, name: DatasetId) -> Dataset:
        return Dataset(facets=_Later(lambda: self._dataset_facets(name)))

    def _job_facets(self, name: JobId) -> dict[str, JobFacet]:
        known = self._now.jobs[name].facets if name in self._now.jobs else {}
        then = {facet: told for facet, told in known.items() if told.stamp.time_us <= self._until_us}
        return {**then, **self._older.job_facets(name, known.keys() - then)} if len(then) < len(known) else then

    def _dataset_facets(self, name: DatasetId) -> dict[str, tuple[Stamp, bytes]]:
        known = self._now.datasets[name].facets if name in self._now.datasets else {}
        then = {facet: told for facet, told in known.items() if told[0].time_us <= self._until_us}
        return {**then, **self._older.dataset_facets(name, known.keys() - then)} if len(then) < len(known) else then


class _Later(MutableMapping[KeyT, ValueT]):
    """A mapping that is read when somebody first looks into it."""

    def __init__(self, read: Callable[[], dict[KeyT, ValueT]]) -> None:
        self._read = read
        self._known: dict[KeyT, ValueT] | None = None

    def _all(self) -> dict[KeyT, ValueT]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def __getitem__(self, key: KeyT) -> ValueT:
        return self._all()[key]

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        self._all()[key] = value

    def __delitem__(self, key: KeyT) -> None:
        del self._all()[key]

    def __iter__(self) -> Iterator[KeyT]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())
