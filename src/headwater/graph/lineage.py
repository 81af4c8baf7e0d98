"""The graph that merged facts make: jobs, runs, datasets, columns, and the edges between them.

Facts may be added one by one as they arrive or merged in bulk; the graph comes out the same. Bodies of facets stay
outside: the graph holds their digests and asks `content` when it must read column edges or a declaration.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from headwater.graph.column_edges import ColumnEdges, ContentReader
from headwater.graph.columns import ColumnEdge
from headwater.graph.fold import FactKey
from headwater.graph.identity import Identities
from headwater.graph.records import Dataset, DeclaredFacets, Edge, EvidenceKey, Job, Run
from headwater.model.events import Direction, Stamp
from headwater.model.facts import (
    Alias,
    ColumnEvidence,
    Content,
    Declaration,
    Fact,
    JobFacet,
    Observation,
    ObservedFacet,
    ParentRun,
    Quarantined,
    RunFacet,
    RunOfJob,
    RunTimes,
    Seen,
)
from headwater.model.names import DatasetId, JobId


class Graph:
    """Jobs, runs and datasets by name, and the edges between them."""

    def __init__(self, content: ContentReader) -> None:
        self.runs: dict[str, Run] = {}
        self.jobs: dict[JobId, Job] = {}
        self.datasets: dict[DatasetId, Dataset] = {}
        self.quarantined: dict[tuple[object, ...], Quarantined] = {}
        self.child_runs: dict[str, dict[JobId, set[str]]] = defaultdict(dict)
        """By the id of a run, which may be silent itself: the runs whose parent facets name it, by its job there."""
        self.identities = Identities()
        self._content = content
        self.column_edges = ColumnEdges(content)
        self._shown: dict[DatasetId, DatasetId] = {}
        """The shown names of datasets that have several names, until one of these changes its standing."""
        self._add: Mapping[type[Fact], Callable[[Any], None]] = {
            RunTimes: self._add_run_times,
            RunOfJob: self._add_run_of_job,
            Observation: self._add_observation,
            ObservedFacet: self._add_observed_facet,
            ColumnEvidence: self._add_evidence,
            JobFacet: self._add_job_facet,
            Declaration: self._add_declaration,
            Alias: self._add_alias,
            Quarantined: self._add_quarantined,
            RunFacet: _pass_over,  # read from the store where a run is shown
            Content: _pass_over,
        }

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add each fact; contents must be readable through `content` by now."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add one fact; adding it again changes nothing."""
        self._add[type(fact)](fact)

    # Identity

    def members(self, name: DatasetId) -> tuple[DatasetId, ...]:
        """Every name of the dataset, the shown one first."""
        return tuple(sorted(self.identities.members(name), key=self._showing_order))

    def shown(self, name: DatasetId) -> DatasetId:
        """The one name under which the dataset is shown: names that runs use before mere aliases, then by spelling."""
        if self.identities.is_alone(name):
            return name
        shown = self._shown.get(name)
        if shown is None:
            shown = self._shown[name] = min(self.identities.members(name), key=self._showing_order)
        return shown

    def _choose_again(self, name: DatasetId) -> None:
        """Forget which name of the dataset is shown."""
        if not self.identities.is_alone(name):
            for member in self.identities.members(name):
                self._shown.pop(member, None)

    def _showing_order(self, name: DatasetId) -> tuple[bool, DatasetId]:
        dataset = self.datasets.get(name)
        return (dataset is None or not dataset.is_known, name)

    def shown_datasets(self) -> Iterator[DatasetId]:
        """Each dataset once, by its shown name."""
        return (name for name, dataset in self.datasets.items() if dataset.is_known and self.shown(name) == name)

    def facets_of(self, name: DatasetId) -> dict[str, tuple[Stamp, bytes]]:
        """The newest facets over all names of the dataset, by facet name: stamp and digest."""
        newest: dict[str, tuple[Stamp, bytes]] = {}
        for member in self.identities.members(name):
            if member in self.datasets:
                for facet, stamped in self.datasets[member].current_facets().items():
                    if facet not in newest or newest[facet] < stamped:
                        newest[facet] = stamped
        return newest

    # Edges between jobs and datasets, by shown names

    def reads(self, job: JobId) -> dict[DatasetId, Edge]:
        """What the job reads."""
        return self._by_shown_name(self.jobs[job].reads)

    def writes(self, job: JobId) -> dict[DatasetId, Edge]:
        """What the job writes."""
        return self._by_shown_name(self.jobs[job].writes)

    def readers(self, name: DatasetId) -> set[JobId]:
        """The jobs that read the dataset, under any of its names."""
        return self._touching(name, "readers")

    def writers(self, name: DatasetId) -> set[JobId]:
        """The jobs that write the dataset, under any of its names."""
        return self._touching(name, "writers")

    def _touching(self, name: DatasetId, side: Literal["readers", "writers"]) -> set[JobId]:
        members = (self.datasets[member] for member in self.identities.members(name) if member in self.datasets)
        return {job for member in members for job in getattr(member, side)}

    def _by_shown_name(self, edges: Mapping[DatasetId, Edge]) -> dict[DatasetId, Edge]:
        shown: dict[DatasetId, Edge] = {}
        for name, edge in edges.items():
            main = self.shown(name)
            known = shown.get(main)
            joined = edge if known is None else Edge(known.seen.union(edge.seen), known.runs + edge.runs)
            shown[main] = joined
        return shown

    # Edges between columns, by shown names

    def column_edges_into(self, name: DatasetId) -> dict[ColumnEdge, Seen]:
        """The column edges into the dataset, each with the times it was seen; sources by their shown names."""
        edges: dict[ColumnEdge, Seen] = {}
        for member in self.identities.members(name):
            dataset = self.datasets.get(member)
            for (_, digest), edge in dataset.evidence.items() if dataset else ():
                for column_edge in self.column_edges.edges(member, digest):
                    shown = column_edge._replace(source=self.shown(column_edge.source))
                    edges[shown] = edges[shown].union(edge.seen) if shown in edges else edge.seen
        return edges

    def fed_by(self, name: DatasetId) -> set[DatasetId]:
        """The datasets, by shown name, into which column edges from this dataset lead."""
        targets = (target for member in self.identities.members(name) for target in self.column_edges.fed_by(member))
        return {self.shown(target) for target in targets}

    # Adding

    def _run(self, run_id: str) -> Run:
        run = self.runs.get(run_id)
        if run is None:
            run = self.runs[run_id] = Run()
        return run

    def _job(self, job: JobId) -> Job:
        known = self.jobs.get(job)
        if known is None:
            known = self.jobs[job] = Job()
        return known

    def _dataset(self, name: DatasetId) -> Dataset:
        dataset = self.datasets.get(name)
        if dataset is None:
            dataset = self.datasets[name] = Dataset()
        return dataset

    def _add_run_times(self, fact: RunTimes) -> None:
        run = self._run(fact.run_id)
        run.times = fact if run.times is None else run.times.merge(fact)

    def _add_job_facet(self, fact: JobFacet) -> None:
        facets = self._job(fact.job).facets
        facets[fact.name] = facets[fact.name].merge(fact) if fact.name in facets else fact

    def _add_alias(self, fact: Alias) -> None:
        self.identities.join(fact.name, fact.alias)
        self._choose_again(fact.name)

    def _add_quarantined(self, fact: Quarantined) -> None:
        known = self.quarantined.get(fact.key)
        self.quarantined[fact.key] = fact if known is None else known.merge(fact)

    def _add_run_of_job(self, fact: RunOfJob) -> None:
        run = self._run(fact.run_id)
        before = run.of_job
        now = run.of_job = fact if before is None else before.merge(fact)
        if now is before:
            return
        if before is not None and before.parent is not None:
            self._drop_child(before.parent, fact.run_id)
        if now.parent is not None:
            self._job(now.parent.job).children.add(fact.run_id)
            self.child_runs[now.parent.run_id].setdefault(now.parent.job, set()).add(fact.run_id)
        if before is not None and before.job == now.job:
            return
        self._job(now.job).runs.add(fact.run_id)
        for (direction, dataset), seen in run.observed.items():
            self._count_edge(now.job, direction, dataset, seen, is_new_run=True)
        if before is not None:
            self._job(before.job).runs.discard(fact.run_id)
            self._rebuild_edges(before.job)

    def _drop_child(self, parent: ParentRun, run_id: str) -> None:
        self._job(parent.job).children.discard(run_id)
        claims = self.child_runs[parent.run_id]
        claims[parent.job].discard(run_id)
        if not claims[parent.job]:
            del claims[parent.job]

    def _rebuild_edges(self, job_id: JobId) -> None:
        """Count a job's edges anew, after a run turned out to belong elsewhere or a declaration was replaced."""
        job = self.jobs[job_id]
        for name in {*job.reads, *job.writes}:
            self.datasets[name].readers.discard(job_id)
            self.datasets[name].writers.discard(job_id)
        job.reads, job.writes = {}, {}
        for run_id in job.runs:
            for (direction, dataset), seen in self.runs[run_id].observed.items():
                self._count_edge(job_id, direction, dataset, seen, is_new_run=True)
        if job.declaration is not None:
            self._declare_edges(job_id, job.declaration)

    def _add_observation(self, fact: Observation) -> None:
        run = self._run(fact.run_id)
        side = (fact.direction, fact.dataset)
        known = run.observed.get(side)
        run.observed[side] = fact.seen if known is None else known.union(fact.seen)
        self._observe(fact.dataset, fact.seen)
        if run.of_job is not None:
            self._count_edge(run.of_job.job, *side, fact.seen, is_new_run=known is None)

    def _observe(self, name: DatasetId, seen: Seen) -> None:
        dataset = self._dataset(name)
        is_new = not dataset.is_known
        dataset.observe(seen)
        if is_new:
            self._choose_again(name)

    def _count_edge(
        self, job_id: JobId, direction: Direction, dataset: DatasetId, seen: Seen, *, is_new_run: bool
    ) -> None:
        job = self._job(job_id)
        edges = job.reads if direction == "input" else job.writes
        edge = edges.get(dataset)
        if edge is None:
            edges[dataset] = Edge(seen, int(is_new_run))
        else:
            edge.count(seen, is_new_run=is_new_run)
        touched = self._dataset(dataset)
        (touched.readers if direction == "input" else touched.writers).add(job_id)

    def _add_observed_facet(self, fact: ObservedFacet) -> None:
        if fact.slot != "facets":
            return  # statistics of one run: read from the store where the run is shown
        stamped = (fact.stamp, fact.content)
        facets = self._dataset(fact.dataset).facets
        facets[fact.name] = max(facets.get(fact.name, stamped), stamped)

    def _add_evidence(self, fact: ColumnEvidence) -> None:
        mine = self._run(fact.run_id).evidence.setdefault(fact.target, {})
        self._observe(fact.target, fact.seen)
        key = (fact.strength, fact.content)
        strongest = max((strength for strength, _ in mine), default=0)
        known = mine.get(key)
        mine[key] = fact.seen if known is None else known.union(fact.seen)
        if fact.strength > strongest > 0:
            self._rebuild_evidence(fact.target)
        elif fact.strength >= strongest:
            self._count_evidence(fact.target, key, fact.seen, is_new_run=known is None)

    def _count_evidence(self, target: DatasetId, key: EvidenceKey, seen: Seen, *, is_new_run: bool) -> None:
        evidence = self._dataset(target).evidence
        edge = evidence.get(key)
        if edge is None:
            evidence[key] = Edge(seen, int(is_new_run))
            self.column_edges.note(target, key[1])
        else:
            edge.count(seen, is_new_run=is_new_run)

    def _rebuild_evidence(self, target: DatasetId) -> None:
        """Count the target's evidence anew, after a run gave stronger evidence than it had given before."""
        self.datasets[target].evidence.clear()
        for run in self.runs.values():
            mine = run.evidence.get(target, {})
            strongest = max((strength for strength, _ in mine), default=0)
            for key, seen in mine.items():
                if key[0] == strongest:
                    self._count_evidence(target, key, seen, is_new_run=True)
        for declared in self.datasets[target].declared.values():
            if declared.evidence is not None:
                seen = Seen(declared.stamp.time_us, declared.stamp.time_us)
                self._count_evidence(target, declared.evidence, seen, is_new_run=False)

    # Declarations

    def _add_declaration(self, fact: Declaration) -> None:
        if isinstance(fact.node, DatasetId):
            self._declare_facets(
                fact.node, fact.node, DeclaredFacets(fact.stamp, _digests(self._content(fact.content)))
            )
            return
        job = self._job(fact.node)
        before = job.declaration
        job.declaration = fact if before is None else before.merge(fact)
        if job.declaration is before:
            return
        if before is not None:
            for _, reference in _references(self._content(before.content)):
                self._retract_facets(_name_of(reference), fact.key)
            self._rebuild_edges(fact.node)
        else:
            self._declare_edges(fact.node, fact)
        for _, reference in _references(self._content(fact.content)):
            self._declare_facets(_name_of(reference), fact.key, DeclaredFacets(fact.stamp, _digests(reference)))

    def _declare_edges(self, job_id: JobId, declaration: Declaration) -> None:
        seen = Seen(declaration.stamp.time_us, declaration.stamp.time_us)
        for direction, reference in _references(self._content(declaration.content)):
            self._count_edge(job_id, direction, _name_of(reference), seen, is_new_run=False)

    def _declare_facets(self, name: DatasetId, by: FactKey, declared: DeclaredFacets) -> None:
        dataset = self._dataset(name)
        before = dataset.declared.get(by)
        if before is not None and before.stamp >= declared.stamp:
            return
        dataset.declared[by] = declared
        self._choose_again(name)
        if declared.evidence or (before and before.evidence):
            self._rebuild_evidence(name)

    def _retract_facets(self, name: DatasetId, by: FactKey) -> None:
        former = self.datasets[name].declared.pop(by, None)
        self._choose_again(name)
        if former and former.evidence:
            self._rebuild_evidence(name)


def _pass_over(_: Fact) -> None:
    """Nothing of it is in the graph."""


def _references(declared: Mapping[str, Any]) -> Iterator[tuple[Direction, Mapping[str, Any]]]:
    yield from (("input", reference) for reference in declared["inputs"])
    yield from (("output", reference) for reference in declared["outputs"])


def _name_of(reference: Mapping[str, Any]) -> DatasetId:
    return DatasetId(reference["namespace"], reference["name"])


def _digests(reference: Mapping[str, Any]) -> dict[str, bytes]:
    return {facet: bytes.fromhex(digest) for facet, digest in reference["facets"].items()}
