"""How facts become a graph: each adds to what is known of a run, a job or a dataset, in any order.

Where a fact takes back what another said (a run turns out to be another job's, a declaration is replaced, stronger
evidence comes), what was counted from it is counted anew.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from headwater.graph.column_edges import ColumnEdges, ContentReader
from headwater.graph.edits import Edits
from headwater.graph.fold import FactKey
from headwater.graph.identity import Identities
from headwater.graph.nodes import Nodes
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
from headwater.model.edits import APART
from headwater.model.events import Direction, Stamp
from headwater.model.facts import (
    STRENGTH,
    TROUBLE,
    Alias,
    CatalogEntry,
    ChainLink,
    ColumnEvidence,
    Content,
    ControlFlow,
    Declaration,
    DeclaredShape,
    DeclaredTimes,
    Edit,
    Ending,
    EngineCatalog,
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
    widened,
)
from headwater.model.names import DatasetId, JobId


class Growth:
    """What is known of jobs, runs and datasets, by name, and how facts add to it."""

    def __init__(self, content: ContentReader, column_edges: ColumnEdges | None = None) -> None:
        """An empty graph.

        `column_edges` are those of another graph: what a facet tells is the same in both. This graph may then be filled
        in another thread, and `hand_over` tells them of the facets that it heard of.
        """
        self.runs: MutableMapping[str, Run] = {}
        self.jobs: MutableMapping[JobId, Job] = {}
        self.datasets: MutableMapping[DatasetId, Dataset] = {}
        self.quarantined: dict[tuple[object, ...], Quarantined] = {}
        self.child_runs: MutableMapping[str, dict[JobId, set[str]]] = defaultdict(dict)
        """By the id of a run, which may be silent itself: the runs whose parent facets name it, also as root, by the
        job that it has there."""
        self.identities = Identities()
        self.edits = Edits()
        self.nodes = Nodes()
        self.named_in_control: MutableMapping[JobId, set[str]] = defaultdict(set)
        """By job: the runs whose `jobDependencies` facets name it."""
        self._content = content
        self.column_edges = ColumnEdges(content) if column_edges is None else column_edges
        self._heard_of: list[tuple[DatasetId, bytes]] | None = None if column_edges is None else []
        self.told_directly: set[DatasetId] = set()
        """Datasets of which a facet may tell what they are made from where no job does (`derived.py` looks)."""
        self._tellers: dict[DatasetId, dict[str, None]] | None = None
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
            DeclaredTimes: self._add_declared_times,
            Alias: self._add_alias,
            Quarantined: self._add_quarantined,
            Edit: self._add_edit,
            CatalogEntry: self._add_catalog_entry,
            EngineCatalog: self._add_engine_catalog,
            Ending: self._add_ending,
            ControlFlow: self._add_control_flow,
            JobFlow: self._add_job_flow,
            RunFacet: self._add_run_facet,
            ChainLink: self.nodes.add,
            Content: _pass_over,
            DeclaredShape: _pass_over,
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

    def newly_read(self) -> Iterator[DatasetId]:
        """Take out the datasets of which facets about columns were read since; another graph takes out its own."""
        newly_read = self.column_edges.newly_read if self._heard_of is None else {}
        while newly_read:
            yield newly_read.popitem()[0]

    def _choose_again(self, name: DatasetId) -> None:
        """Forget which name of the dataset is shown."""
        if not self.identities.is_alone(name):
            for member in self.identities.members(name):
                self._shown.pop(member, None)

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
        job = self._job(fact.job)
        known = job.facets.get(fact.name)
        if known is not None:
            _tell_again(job.alike_since, fact.name, (known.stamp, known.content), (fact.stamp, fact.content))
        job.facets[fact.name] = fact if known is None else known.merge(fact)

    def _add_alias(self, fact: Alias) -> None:
        self.identities.add_alias(fact)

    def _add_catalog_entry(self, fact: CatalogEntry) -> None:
        self.identities.add_catalog_entry(fact)

    def _add_engine_catalog(self, fact: EngineCatalog) -> None:
        self.identities.add_engine_catalog(fact)

    def _add_ending(self, fact: Ending) -> None:
        endings = self._told(fact.run_id).endings
        endings[fact.state] = widened(endings.get(fact.state), fact.seen)

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
        for whole in before.parts_of if before is not None else ():
            self._drop_child(whole, fact.run_id)
        self._belongs(fact.run_id, now)
        if before is not None and before.job == now.job:
            return
        flows = run.told.flows if run.told else {}
        for flow in flows:
            if None in flow and before is not None:
                self._retract_flow(fact.run_id, between(flow, before.job))
        for flow, seen in flows.items():  # all, for one that names the job may be the same as one that was taken back
            self._tell_flow(fact.run_id, between(flow, now.job), seen)
        for (direction, dataset), seen in run.observed.items():
            self._count_edge(now.job, direction, dataset, seen, is_new_run=True)
        if before is not None:
            self._job(before.job).runs.discard(fact.run_id)
            self._rebuild_edges(before.job)

    def _belongs(self, run_id: str, of_job: RunOfJob) -> None:
        """Note a run with its job, and with those of the runs that it is a part of."""
        self._job(of_job.job).runs.add(run_id)
        for whole in of_job.parts_of:
            job = self._job(whole.job)
            job.children.add(run_id)
            job.named.add(whole.run_id)
            self.child_runs[whole.run_id].setdefault(whole.job, set()).add(run_id)

    def _drop_child(self, whole: ParentRun, run_id: str) -> None:
        job, claims = self._job(whole.job), self.child_runs[whole.run_id]
        job.children.discard(run_id)
        claims[whole.job].discard(run_id)
        if not claims[whole.job]:
            del claims[whole.job]
            job.named.discard(whole.run_id)

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
        control[named] = widened(control.get(named), fact.seen)
        self.named_in_control[fact.job].add(fact.run_id)

    def _add_job_flow(self, fact: JobFlow) -> None:
        flow, flows = Flow(fact.source, fact.target), self._told(fact.run_id).flows
        flows[flow] = widened(flows.get(flow), fact.seen)
        of_job = self.runs[fact.run_id].of_job
        if None not in flow:
            self._tell_flow(fact.run_id, flow, fact.seen)
        elif of_job is not None:
            self._tell_flow(fact.run_id, between(flow, of_job.job), fact.seen)

    def _tell_flow(self, teller: Teller, flow: Flow, seen: Seen) -> None:
        match flow:
            case Flow(JobId() as source, JobId() as target):
                for tellers in self._feeding(source, target):
                    tellers[teller] = widened(tellers.get(teller), seen)
            case Flow(DatasetId() as dataset, JobId() as job):
                self._tell_edge(teller, job, ("input", dataset), seen)
            case Flow(JobId() as job, DatasetId() as dataset):
                self._tell_edge(teller, job, ("output", dataset), seen)

    def _feeding(self, source: JobId, target: JobId) -> tuple[dict[Teller, Seen], dict[Teller, Seen]]:
        return self._job(source).feeds.setdefault(target, {}), self._job(target).fed_by.setdefault(source, {})

    def _tell_edge(self, teller: Teller, job: JobId, end: tuple[Direction, DatasetId], seen: Seen) -> None:
        tellers = self._job(job).told.setdefault(end, {})
        known = tellers.get(teller)
        tellers[teller] = widened(known, seen)
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
        dataset = self._dataset(fact.dataset)
        known = dataset.facets.get(fact.name)
        if known is not None:
            _tell_again(dataset.alike_since, fact.name, known, stamped)
        dataset.facets[fact.name] = stamped if known is None else max(known, stamped)

    def _add_evidence(self, fact: ColumnEvidence) -> None:
        mine = self._run(fact.run_id).evidence.setdefault(fact.target, {})
        if self._tellers is not None:
            self._tellers[fact.target][fact.run_id] = None
        self._observe(fact.target, fact.seen)
        key = (fact.strength, fact.content)
        strongest = max((strength for strength, _ in mine), default=0)
        known = mine.get(key)
        mine[key] = fact.seen if known is None else known.union(fact.seen)
        if fact.strength > strongest > 0:
            self._rebuild_evidence(fact.target)
        elif fact.strength >= strongest:
            self._count_evidence(fact.target, key, fact.seen, is_new_run=known is None)

    def runs_telling_of(self, target: DatasetId) -> Iterable[str]:
        """The runs that gave evidence for the target; only where somebody ever asks, an index of them is kept."""
        if self._tellers is None:
            self._tellers = defaultdict(dict)
            for run_id, run in self.runs.items():
                for told_of in run.evidence:
                    self._tellers[told_of][run_id] = None
        return self._tellers.get(target, ())

    def _count_evidence(self, target: DatasetId, key: EvidenceKey, seen: Seen, *, is_new_run: bool) -> None:
        dataset = self._dataset(target)
        evidence, edge = dataset.evidence, dataset.evidence.get(key)
        if edge is None:
            if key[0] == STRENGTH["lineage"] or not dataset.writers:
                self.told_directly.add(target)
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
        for run_id in self.runs_telling_of(target):
            mine = self.runs[run_id].evidence[target]
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
            for flow in declared_flows(former, fact.node):
                self._retract_flow(fact.key, flow)
                for name in _datasets_of(flow):
                    self._retract_facets(name, fact.key)
            self._rebuild_edges(fact.node)
        else:
            self._declare_edges(fact.node, fact)
        content = self._content(fact.content)
        for _, reference in _references(content):
            self._declare_facets(_name_of(reference), fact.key, DeclaredFacets(fact.stamp, _digests(reference)))
        for flow in declared_flows(content, fact.node):
            self._tell_flow(fact.key, flow, Seen(fact.stamp.time_us, fact.stamp.time_us))
            for name in _datasets_of(flow):
                self._declare_facets(name, fact.key, DeclaredFacets(fact.stamp, {}))

    def _add_declared_times(self, fact: DeclaredTimes) -> None:
        known = self._job(fact.node) if isinstance(fact.node, JobId) else self._dataset(fact.node)
        known.declared_over = widened(known.declared_over, fact.seen)

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
            self.told_directly.add(name)
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


def declared_flows(declared: Mapping[str, Any], own: JobId) -> Iterator[Flow]:
    """The flows that the declaration of a job, `own`, tells of."""
    for source, target in declared.get("flows", ()):
        yield between(Flow(_end_of(source), _end_of(target)), own)


def _datasets_of(flow: Flow) -> Iterator[DatasetId]:
    return (end for end in flow if isinstance(end, DatasetId))


def _end_of(end: list[str] | None) -> JobId | DatasetId | None:
    if end is None:
        return None
    kind, namespace, name = end
    return (JobId if kind == "job" else DatasetId)(namespace, name)


def between(flow: Flow, own: JobId) -> Flow:
    """The flow with the teller's own job in its place."""
    return Flow(*(own if end is None else end for end in flow))


def _tell_again(
    alike_since: dict[str, int], facet: str, newest: tuple[Stamp, bytes], told: tuple[Stamp, bytes]
) -> None:
    """Note that a facet was told again, later than the newest that is known of it or earlier.

    Whatever the order, nothing else was told of it from the time that is noted until its newest stamp.
    """
    since_us = alike_since.get(facet, newest[0].time_us)
    if told[1] == newest[1]:
        if told > newest:
            alike_since[facet] = since_us
    elif told > newest or told[0].time_us >= since_us:
        alike_since.pop(facet, None)


def _name_of(reference: Mapping[str, Any]) -> DatasetId:
    return DatasetId(reference["namespace"], reference["name"])


def _digests(reference: Mapping[str, Any]) -> dict[str, bytes]:
    return {facet: bytes.fromhex(digest) for facet, digest in reference["facets"].items()}
