"""Reference evaluation of uses, by every run of a job for every question; the package's must equal it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwater.graph.impact.run_groups import EvidenceRef
from headwater.graph.impact.uses import Since
from headwater.graph.lineage import Graph
from headwater.graph.records import Edge, Run
from headwater.model.facts import STRENGTH, TERMINAL_STATES
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId


class _Later(NamedTuple):
    """When a use was last reported, and the later runs that do not use it, or do not report whether they do."""

    last_us: int
    runs: frozenset[str]
    is_superseded: bool


class SlowUse:
    """As `headwater.graph.impact.uses.ReportedUse`, for a graph that does not change."""

    def __init__(
        self, graph: Graph, is_stream: Callable[[JobId], bool], source: DatasetId, target: DatasetId | None
    ) -> None:
        self._graph = graph
        self._is_stream = is_stream
        self._source = source
        self._names = graph.members(source)
        self._target = target

    def since(
        self, jobs: Sequence[JobId], keys: Sequence[EvidenceRef], job: JobId | None, *, is_whole: bool
    ) -> Since | None:
        later = _combined(self._later(jobs, keys, job, is_whole=is_whole))
        return None if later is None else Since(later.last_us, len(later.runs), later.is_superseded)

    def _later(
        self, jobs: Sequence[JobId], keys: Sequence[EvidenceRef], job: JobId | None, *, is_whole: bool
    ) -> Iterator[_Later | None]:
        if self._target is None:
            yield from (self._since_read_by(each) for each in jobs)
            return
        if keys and not (is_whole and job):
            yield self._since_reported(keys, job)
        if is_whole or not keys:
            yield from (self._since_read_for(each, self._target) for each in ([job] if job else jobs))

    def _since_reported(self, keys: Sequence[EvidenceRef], job: JobId | None) -> _Later | None:
        assert self._target is not None
        graph, members = self._graph, self._graph.members(self._target)
        known = [(member, graph.datasets[member]) for member in members if member in graph.datasets]
        if any((name, reported.evidence) in keys for name, each in known for reported in each.declared.values()):
            return None
        reporters = {
            reporter
            for reporter in graph.jobs
            for run in self._runs_producing(reporter, members)
            if not {*keys}.isdisjoint(self._strongest(run, members))
            if reporter in graph.writers(self._target) or self._may_be_by_others()
        }
        return _combined(
            self._since_reported_by(reporter, members, keys)
            for reporter in ([job] if job in reporters and job else reporters)
        )

    def _may_be_by_others(self) -> bool:
        assert self._target is not None
        return any(strength == STRENGTH["lineage"] for _, (strength, _), _ in self._graph.evidence_into(self._target))

    def _since_reported_by(
        self, job: JobId, members: Sequence[DatasetId], keys: Sequence[EvidenceRef]
    ) -> _Later | None:
        runs = self._runs_producing(job, members)
        reported = {
            run_id: max(last_us for key, last_us in self._strongest((run_id, run), members).items() if key in keys)
            for run_id, run in runs
            if not {*keys}.isdisjoint(self._strongest((run_id, run), members))
        }
        if any(self._is_running(job, self._graph.runs[run_id]) for run_id in reported):
            return None
        return self._since(job, runs, max(reported.values()), lambda run: bool(self._strongest(run, members)))

    def _since_read_by(self, job: JobId) -> _Later | None:
        if self._is_read_always(job):
            return None
        targets = {
            self._graph.shown(name) if direction == "output" else None
            for run in map(self._graph.runs.__getitem__, self._graph.jobs[job].runs)
            if self._reads(run)
            for direction, name in run.observed
        }
        return _combined(self._since_read(job, target) for target in targets - {None} or {None})

    def _since_read_for(self, job: JobId, target: DatasetId) -> _Later | None:
        written = self._seen(job, "writes", self._graph.members(target))
        read = self._seen(job, "reads", self._names)
        if written is None or read is None or read.last_us >= written.last_us or self._is_read_always(job):
            return None
        if not any(self._reads(run) for _, run in self._runs_producing(job, self._graph.members(target))):
            return self._since_read_by(job)
        return self._since_read(job, target)

    def _seen(self, job: JobId, way: str, names: Iterable[DatasetId]) -> Seen | None:
        edges: Mapping[DatasetId, Edge] = getattr(self._graph.jobs[job], way)
        return Seen.over(edges[name].seen for name in names if name in edges)

    def _is_read_always(self, job: JobId) -> bool:
        known = self._graph.jobs[job]
        if any(("input", name) in known.reported for name in self._names):
            return True
        if self._graph.is_declared_to_read(job, self._names):
            return True
        edges = [known.reads[name] for name in self._names if name in known.reads]
        return len(edges) == 1 and edges[0].runs == len(known.runs)

    def _since_read(self, job: JobId, target: DatasetId | None) -> _Later | None:
        runs = self._runs_producing(job, () if target is None else self._graph.members(target))
        reading = [run for _, run in runs if self._reads(run)]
        if not reading or any(self._is_running(job, run) for run in reading):
            return None
        ends = [run.observed.get(("input", name)) for run in reading for name in self._names]
        return self._since(job, runs, max(seen.last_us for seen in ends if seen is not None), lambda _: False)

    def _since(
        self,
        job: JobId,
        runs: Sequence[tuple[str, Run]],
        last_us: int,
        reports_target: Callable[[tuple[str, Run]], bool],
    ) -> _Later | None:
        later = [each for each in runs if each[1].times is not None and each[1].times.seen.first_us > last_us]
        going_on = [each for each in later if self._is_running(job, each[1])]
        completed = [each for each in later if each not in going_on and self._state(each[1]) == "COMPLETE"]
        without = [each for each in (*completed, *going_on) if reports_target(each) or self._reads_others(each[1])]
        counted = without or completed
        return _Later(last_us, frozenset(run_id for run_id, _ in counted), bool(without)) if counted else None

    def _runs_producing(self, job: JobId, members: Collection[DatasetId]) -> list[tuple[str, Run]]:
        runs = ((run_id, self._graph.runs[run_id]) for run_id in self._graph.jobs[job].runs)
        return [
            (run_id, run) for run_id, run in runs if run.times is not None and self._produces((run_id, run), members)
        ]

    def _produces(self, run: tuple[str, Run], members: Collection[DatasetId]) -> bool:
        observed = run[1].observed
        if members:
            return bool(self._strongest(run, members)) or any(("output", name) in observed for name in members)
        return bool(observed) and all(direction == "input" for direction, _ in observed)

    def _strongest(self, run: tuple[str, Run], members: Iterable[DatasetId]) -> dict[EvidenceRef, int]:
        reported = [((name, key), seen.last_us) for name in members for key, seen in run[1].evidence.get(name, ())]
        strongest = max((strength for (_, (strength, _)), _ in reported), default=0)
        return {key: last_us for key, last_us in reported if key[1][0] == strongest}

    def _state(self, run: Run) -> str | None:
        end = self._graph.end_of(run)
        return None if end is None else end.event_type

    def _is_running(self, job: JobId, run: Run) -> bool:
        return self._is_stream(job) and self._state(run) not in TERMINAL_STATES

    def _reads(self, run: Run) -> bool:
        return any(("input", name) in run.observed for name in self._names)

    def _reads_others(self, run: Run) -> bool:
        return any(direction == "input" for direction, _ in run.observed) and not self._reads(run)


def _combined(reported: Iterable[_Later | None]) -> _Later | None:
    known = []
    for later in reported:
        if later is None:
            return None
        known.append(later)
    if not known:
        return None
    runs = frozenset[str]().union(*(later.runs for later in known))
    return _Later(max(later.last_us for later in known), runs, all(later.is_superseded for later in known))
