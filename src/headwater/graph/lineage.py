"""The graph that merged facts make: jobs, runs, datasets, columns, and the edges between them.

Facts may be added one by one as they arrive or merged in bulk; the graph comes out the same. Bodies of facets stay
outside: the graph holds their digests and asks `content` when it must read column edges or a declaration.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from headwater.graph.column_edges import ColumnEdges, ContentReader
from headwater.graph.columns import ColumnEdge
from headwater.graph.edits import Edits
from headwater.graph.fold import FactKey
from headwater.graph.identity import Identities
from headwater.graph.mending import End, end_of
from headwater.graph.records import (
    Dataset,
    DeclaredFacets,
    Edge,
    EvidenceKey,
    Flow,
    Job,
    Run,
    Teller,
    ToldOfRun,
)
from headwater.model.edits import APART, target_of
from headwater.model.events import Direction, Stamp
from headwater.model.facts import (
    TROUBLE,
    Alias,
    CatalogEntry,
    ColumnEvidence,
    Content,
    ControlFlow,
    Declaration,
    Edit,
    Ending,
    Fact,
    JobFacet,
    JobFlow,
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

    def __init__(self, content: ContentReader, column_edges: ColumnEdges | None = None) -> None:
        """An empty graph.

        `column_edges` are those of another graph: what a facet tells is the same in both. This graph may then be filled
        in another thread, and `hand_over` tells them of the facets that it heard of.
        """
        self.runs: dict[str, Run] = {}
        self.jobs: dict[JobId, Job] = {}
        self.datasets: dict[DatasetId, Dataset] = {}
        self.quarantined: dict[tuple[object, ...], Quarantined] = {}
        self.child_runs: dict[str, dict[JobId, set[str]]] = defaultdict(dict)
        """By the id of a run, which may be silent itself: the runs whose parent facets name it, by its job there."""
        self.identities = Identities()
        self.edits = Edits()
        self.named_in_control: dict[JobId, set[str]] = defaultdict(set)
        """By job: the runs whose `jobDependencies` facets name it."""
        self._content = content
        self.column_edges = ColumnEdges(content) if column_edges is None else column_edges
        self._heard_of: list[tuple[DatasetId, bytes]] | None = None if column_edges is None else []
        self._shown: dict[DatasetId, DatasetId] = {}
        """The shown names of datasets that have several names, until one of these changes its standing."""
        self._shown_as_of = 0
        """How often classes of names had changed when these were chosen."""
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
            Edit: self._add_edit,
            CatalogEntry: self._add_catalog_entry,
            Ending: self._add_ending,
            ControlFlow: self._add_control_flow,
            JobFlow: self._add_job_flow,
            RunFacet: self._add_run_facet,
            Content: _pass_over,
        }

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add each fact; contents must be readable through `content` by now."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add one fact; adding it again changes nothing."""
        self._add[type(fact)](fact)

    def hand_over(self) -> None:
        """Tell the column edges that are another graph's of the facets that were heard of; in that graph's thread."""
        for target, digest in self._heard_of or ():
            self.column_edges.note(target, digest)
        if self._heard_of is not None:
            self._heard_of.clear()

    # Identity

    def members(self, name: DatasetId) -> tuple[DatasetId, ...]:
        """Every name of the dataset, the shown one first."""
        return tuple(sorted(self.identities.members(name), key=self._showing_order))

    def shown(self, name: DatasetId) -> DatasetId:
        """The one name under which the dataset is shown: names that runs use before mere aliases, then by spelling."""
        if self.identities.is_alone(name):
            return name
        if self._shown_as_of != self.identities.changes:
            self._shown.clear()
            self._shown_as_of = self.identities.changes
        shown = self._shown.get(name)
        if shown is None:
            shown = self._shown[name] = min(self.identities.members(name), key=self._showing_order)
        return shown

    def _choose_again(self, name: DatasetId) -> None:
        """Forget which name of the dataset is shown."""
        if not self.identities.is_alone(name):
            for member in self.identities.members(name):
                self._shown.pop(member, None)

    def _showing_order(self, name: DatasetId) -> tuple[bool, bool, DatasetId]:
        dataset = self.datasets.get(name)
        return (not name.is_complete, dataset is None or not dataset.is_known, name)

    def shown_datasets(self) -> Iterator[DatasetId]:
        """Each dataset that is not deleted once, by its shown name.

        Those that nobody can name in full are in quarantine instead.
        """
        return filter(self.is_shown, self.datasets)

    def is_shown(self, name: DatasetId) -> bool:
        """Whether this is the shown name of a dataset that is not deleted."""
        dataset = self.datasets.get(name)
        is_named = dataset is not None and dataset.is_known and name.is_complete
        return is_named and self.shown(name) == name and not self.hides(name)

    def hides(self, node: DatasetId | JobId) -> bool:
        """Whether it is deleted, a dataset under all its names, and no event brought it back since."""
        if not self.edits.deleted:
            return False
        if isinstance(node, JobId):
            return target_of(node) in self.edits.deleted
        names = [
            name for name in self.identities.members(node) if name in self.datasets and self.datasets[name].is_known
        ]
        return bool(names) and all(target_of(name) in self.edits.deleted for name in names)

    def facets_of(self, name: DatasetId) -> dict[str, tuple[Stamp, bytes]]:
        """The newest facets over all names of the dataset, by facet name: stamp and digest."""
        newest: dict[str, tuple[Stamp, bytes]] = {}
        for member in self.identities.members(name):
            if member in self.datasets:
                for facet, stamped in self.datasets[member].current_facets().items():
                    if facet not in newest or newest[facet] < stamped:
                        newest[facet] = stamped
        return newest

    # Runs

    def end_of(self, run: Run) -> End | None:
        """The state that the run is taken to be in; None for one that was never heard of itself."""
        return end_of(run, self.is_deleted)

    def is_deleted(self, digest: bytes) -> bool:
        """Whether the facet with this digest stands there only to say that it is gone."""
        return self._content(digest).get("_deleted") is True

    def runs_naming(self, name: DatasetId) -> list[str]:
        """The runs that read or wrote the dataset under this very name; no order."""
        dataset = self.datasets.get(name)
        jobs = dataset.readers | dataset.writers if dataset else ()
        runs = (run_id for job in jobs for run_id in self.jobs[job].runs)
        ends: tuple[Direction, ...] = ("input", "output")
        return [run_id for run_id in runs if any((way, name) in self.runs[run_id].observed for way in ends)]

    # Edges between jobs and datasets, by shown names

    def reads(self, job: JobId) -> dict[DatasetId, Edge]:
        """What the job reads."""
        return self._by_shown_name(self.jobs[job].reads)

    def writes(self, job: JobId) -> dict[DatasetId, Edge]:
        """What the job writes."""
        return self._by_shown_name(self.jobs[job].writes)

    def readers(self, name: DatasetId) -> AbstractSet[JobId]:
        """The jobs that read the dataset, under any of its names."""
        if self.identities.is_alone(name):
            return self.datasets[name].readers if name in self.datasets else frozenset()
        return {job for dataset in self._known_under(name) for job in dataset.readers}

    def writers(self, name: DatasetId) -> AbstractSet[JobId]:
        """The jobs that write the dataset, under any of its names."""
        if self.identities.is_alone(name):
            return self.datasets[name].writers if name in self.datasets else frozenset()
        return {job for dataset in self._known_under(name) for job in dataset.writers}

    def _known_under(self, name: DatasetId) -> Iterator[Dataset]:
        return (self.datasets[member] for member in self.identities.members(name) if member in self.datasets)

    def _by_shown_name(self, edges: Mapping[DatasetId, Edge]) -> dict[DatasetId, Edge]:
        shown: dict[DatasetId, Edge] = {}
        for name, edge in edges.items():
            main = self.shown(name)
            if not main.is_complete:
                continue
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
                    source = self.shown(column_edge.source)
                    shown = column_edge if source is column_edge.source else column_edge._replace(source=source)
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

    def _told(self, run_id: str) -> ToldOfRun:
        run = self._run(run_id)
        if run.told is None:
            run.told = ToldOfRun()
        return run.told

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
        self.identities.add_alias(fact)

    def _add_catalog_entry(self, fact: CatalogEntry) -> None:
        self.identities.add_catalog_entry(fact)

    def _add_ending(self, fact: Ending) -> None:
        endings = self._told(fact.run_id).endings
        endings[fact.state] = _widened(endings.get(fact.state), fact.seen)

    def _add_run_facet(self, fact: RunFacet) -> None:
        if fact.name in TROUBLE:  # all others are read from the store where a run is shown
            troubles = self._told(fact.run_id).facets
            troubles[fact.name] = troubles[fact.name].merge(fact) if fact.name in troubles else fact

    def _add_edit(self, fact: Edit) -> None:
        self.edits.add(fact)
        if fact.what == APART:
            self.identities.keep_apart(self.edits.apart)

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
        for flow, seen in run.told.flows.items() if run.told else ():
            if None in flow:
                if before is not None:
                    self._retract_flow(fact.run_id, _between(flow, before.job))
                self._tell_flow(fact.run_id, _between(flow, now.job), seen)
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
        for (direction, dataset), tellers in job.told.items():
            for teller, seen in tellers.items():
                self._count_edge(job_id, direction, dataset, seen, is_new_run=isinstance(teller, str))
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
        self.identities.note(name)
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

    # Flow that is told of, and order of jobs

    def _add_control_flow(self, fact: ControlFlow) -> None:
        control = self._told(fact.run_id).control
        named = (fact.way, fact.job, fact.dependency)
        control[named] = _widened(control.get(named), fact.seen)
        self.named_in_control[fact.job].add(fact.run_id)

    def _add_job_flow(self, fact: JobFlow) -> None:
        flow, flows = Flow(fact.source, fact.target), self._told(fact.run_id).flows
        flows[flow] = _widened(flows.get(flow), fact.seen)
        of_job = self.runs[fact.run_id].of_job
        if None not in flow:
            self._tell_flow(fact.run_id, flow, fact.seen)
        elif of_job is not None:
            self._tell_flow(fact.run_id, _between(flow, of_job.job), fact.seen)

    def _tell_flow(self, teller: Teller, flow: Flow, seen: Seen) -> None:
        match flow:
            case Flow(JobId() as source, JobId() as target):
                for tellers in self._feeding(source, target):
                    tellers[teller] = _widened(tellers.get(teller), seen)
            case Flow(DatasetId() as dataset, JobId() as job):
                self._tell_edge(teller, job, ("input", dataset), seen)
            case Flow(JobId() as job, DatasetId() as dataset):
                self._tell_edge(teller, job, ("output", dataset), seen)

    def _feeding(self, source: JobId, target: JobId) -> tuple[dict[Teller, Seen], dict[Teller, Seen]]:
        return self._job(source).feeds.setdefault(target, {}), self._job(target).fed_by.setdefault(source, {})

    def _tell_edge(self, teller: Teller, job: JobId, end: tuple[Direction, DatasetId], seen: Seen) -> None:
        tellers = self._job(job).told.setdefault(end, {})
        known = tellers.get(teller)
        tellers[teller] = _widened(known, seen)
        is_run = isinstance(teller, str)
        if is_run:
            self._observe(end[1], seen)
        self._count_edge(job, *end, seen, is_new_run=known is None and is_run)

    def _retract_flow(self, teller: Teller, flow: Flow) -> None:
        match flow:
            case Flow(JobId() as source, JobId() as target):
                for tellers in self._feeding(source, target):
                    tellers.pop(teller, None)
                if not self.jobs[source].feeds[target]:
                    del self.jobs[source].feeds[target], self.jobs[target].fed_by[source]
            case Flow(DatasetId() as dataset, JobId() as job):
                self._retract_edge(teller, job, ("input", dataset))
            case Flow(JobId() as job, DatasetId() as dataset):
                self._retract_edge(teller, job, ("output", dataset))

    def _retract_edge(self, teller: Teller, job: JobId, end: tuple[Direction, DatasetId]) -> None:
        told = self.jobs[job].told
        told[end].pop(teller, None)
        if not told[end]:
            del told[end]
        self._rebuild_edges(job)

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
            if self._heard_of is None:
                self.column_edges.note(target, key[1])
            else:
                self._heard_of.append((target, key[1]))
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
            former = self._content(before.content)
            for _, reference in _references(former):
                self._retract_facets(_name_of(reference), fact.key)
            for flow in _flows(former, fact.node):
                self._retract_flow(fact.key, flow)
                for name in _datasets_of(flow):
                    self._retract_facets(name, fact.key)
            self._rebuild_edges(fact.node)
        else:
            self._declare_edges(fact.node, fact)
        content = self._content(fact.content)
        for _, reference in _references(content):
            self._declare_facets(_name_of(reference), fact.key, DeclaredFacets(fact.stamp, _digests(reference)))
        for flow in _flows(content, fact.node):
            self._tell_flow(fact.key, flow, Seen(fact.stamp.time_us, fact.stamp.time_us))
            for name in _datasets_of(flow):
                self._declare_facets(name, fact.key, DeclaredFacets(fact.stamp, {}))

    def declared_ends(self, job: JobId) -> Iterator[JobId | DatasetId]:
        """The jobs and datasets between which the job's declaration tells of data flowing."""
        known = self.jobs.get(job)
        if known is not None and known.declaration is not None:
            for flow in _flows(self._content(known.declaration.content), job):
                yield from (end for end in flow if end is not None)

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
        self.identities.note(name)
        self._choose_again(name)
        if declared.evidence or (before and before.evidence):
            self._rebuild_evidence(name)

    def _retract_facets(self, name: DatasetId, by: FactKey) -> None:
        dataset = self.datasets[name]
        former = dataset.declared.pop(by, None)
        if not dataset.is_known:
            self.identities.forget(name)
        self._choose_again(name)
        if former and former.evidence:
            self._rebuild_evidence(name)


def _pass_over(_: Fact) -> None:
    """Nothing of it is in the graph."""


def _references(declared: Mapping[str, Any]) -> Iterator[tuple[Direction, Mapping[str, Any]]]:
    yield from (("input", reference) for reference in declared["inputs"])
    yield from (("output", reference) for reference in declared["outputs"])


def _flows(declared: Mapping[str, Any], own: JobId) -> Iterator[Flow]:
    for source, target in declared.get("flows", ()):
        yield _between(Flow(_end_of(source), _end_of(target)), own)


def _datasets_of(flow: Flow) -> Iterator[DatasetId]:
    return (end for end in flow if isinstance(end, DatasetId))


def _end_of(end: list[str] | None) -> JobId | DatasetId | None:
    if end is None:
        return None
    kind, namespace, name = end
    return (JobId if kind == "job" else DatasetId)(namespace, name)


def _between(flow: Flow, own: JobId) -> Flow:
    """The flow with the teller's own job in its place."""
    return Flow(*(own if end is None else end for end in flow))


def _widened(known: Seen | None, seen: Seen) -> Seen:
    return seen if known is None else known.union(seen)


def _name_of(reference: Mapping[str, Any]) -> DatasetId:
    return DatasetId(reference["namespace"], reference["name"])


def _digests(reference: Mapping[str, Any]) -> dict[str, bytes]:
    return {facet: bytes.fromhex(digest) for facet, digest in reference["facets"].items()}
