"""Builds the graph from facts: each updates the record of a run, job or dataset, in any order.

Where a fact revokes an earlier one (a run turns out to belong to another job, a declaration is replaced, stronger
evidence arrives), the affected counts are rebuilt.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any, Final

from headwater.graph.column_edges import ColumnEdges, ContentReader
from headwater.graph.declared import dataset_of, digests, flows, makers, references, silent, targets
from headwater.graph.evidence import ColumnEvidences
from headwater.graph.fold import FactKey
from headwater.graph.job_edges import JobEdges
from headwater.graph.mending import End, end_of
from headwater.graph.records import DeclaredFacets, Run
from headwater.model.edits import APART
from headwater.model.events import Direction
from headwater.model.facts import (
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
    Deletion,
    Edit,
    Ending,
    EngineCatalog,
    FacetReport,
    Fact,
    JobFacet,
    JobFlow,
    Observation,
    ObservedFacet,
    ParentRun,
    Quarantined,
    Renaming,
    RunFacet,
    RunFacetReport,
    RunOfJob,
    RunTimes,
    Stamped,
    UseEvidence,
)
from headwater.model.flow_facts import Flow
from headwater.model.merging import Seen, widened
from headwater.model.names import DatasetId, JobId

_SIDES: Final[Mapping[Direction | None, frozenset[Direction]]] = {
    "input": frozenset({"input"}),
    "output": frozenset({"output"}),
    None: frozenset(),
}
"""Shared objects: there are many declarations."""


class Growth(JobEdges, ColumnEvidences):
    """Applies each kind of fact to the records."""

    def __init__(self, content: ContentReader, column_edges: ColumnEdges | None = None) -> None:
        super().__init__(content, column_edges)
        self._add: Mapping[type[Fact], Callable[[Any], None]] = {
            RunTimes: self._add_run_times,
            RunOfJob: self._add_run_of_job,
            Observation: self._add_observation,
            ObservedFacet: self._add_observed_facet,
            ColumnEvidence: self._add_evidence,
            UseEvidence: self._add_use_evidence,
            JobFacet: self._add_job_facet,
            Declaration: self._add_declaration,
            DeclaredTimes: self._add_declared_times,
            Alias: self._add_alias,
            Renaming: self._add_renaming,
            Quarantined: self._add_quarantined,
            Edit: self._add_edit,
            Deletion: self.edits.add_deletion,
            CatalogEntry: self._add_catalog_entry,
            EngineCatalog: self._add_engine_catalog,
            Ending: self._add_ending,
            ControlFlow: self._add_control_flow,
            JobFlow: self._add_job_flow,
            RunFacet: self._add_run_facet,
            ChainLink: self.nodes.add,
            Content: _ignore,
            DeclaredShape: _ignore,
            FacetReport: _ignore,
            RunFacetReport: self._add_run_facet_report,
        }

    def add_all(self, facts: Iterable[Fact]) -> None:
        """Add each fact; the contents they refer to must be readable through `content`."""
        for fact in facts:
            self.add(fact)

    def add(self, fact: Fact) -> None:
        """Add one fact; idempotent."""
        self._add[type(fact)](fact)

    def _add_run_times(self, fact: RunTimes) -> None:
        self._run(fact.run_id).merge_times(fact)
        self._recheck_renames(fact.run_id)

    def _add_job_facet(self, fact: JobFacet) -> None:
        job = self._job(fact.job)
        _record_report(job.facets, job.unchanged_since, fact.name, fact.stamped, fact.first_us)

    def _add_alias(self, fact: Alias) -> None:
        self.identities.add_alias(fact)
        if fact.evidence == "rename":
            self.renamed_anyway.add(frozenset((fact.name, fact.alias)))
            self._recheck_rename(fact.name, fact.alias)

    def _add_renaming(self, fact: Renaming) -> None:
        renames = self._extras(fact.run_id).renames
        renamed = fact.name, fact.former
        renames[renamed] = widened(renames.get(renamed), fact.seen)
        self._note_rename(fact)

    def _note_rename(self, fact: Renaming) -> None:
        self.identities.add_alias(fact.alias)
        self.renaming_runs[frozenset((fact.name, fact.former))].add(fact.run_id)
        self._recheck_rename(fact.name, fact.former)

    def _recheck_renames(self, run_id: str) -> None:
        """Recheck a run's renames after its state changed: a failed rename joins nothing."""
        for renamed in self.renamed_by(run_id):
            self._recheck_rename(*renamed)

    def _recheck_rename(self, name: DatasetId, former: DatasetId) -> None:
        pair = frozenset((name, former))
        has_failed = pair not in self.renamed_anyway and all(map(self.has_failed, self.renaming_runs[pair]))
        self.identities.fail_rename(name, former, has_failed=has_failed)

    def renamed_by(self, run_id: str) -> Iterable[tuple[DatasetId, DatasetId]]:
        """The (new, former) names of the datasets that a run renamed."""
        run = self.runs.get(run_id)
        return () if run is None or run.extras is None else run.extras.renames

    def has_failed(self, run_id: str) -> bool:
        """Whether the run ended in FAIL or ABORT."""
        run = self.runs.get(run_id)
        end = None if run is None else self.end_of(run)
        return end is not None and end.event_type in ("FAIL", "ABORT")

    def end_of(self, run: Run) -> End | None:
        """The run's effective state; None for a run without events of its own."""
        return end_of(run, self.is_deleted)

    def is_deleted(self, digest: bytes) -> bool:
        """Whether the facet with this digest is a tombstone (`_deleted`)."""
        return self.content(digest).get("_deleted") is True

    def _add_catalog_entry(self, fact: CatalogEntry) -> None:
        self.identities.add_catalog_entry(fact)

    def _add_engine_catalog(self, fact: EngineCatalog) -> None:
        self.identities.add_engine_catalog(fact)

    def _add_ending(self, fact: Ending) -> None:
        if fact.state == "FAIL":
            extras = self._extras(fact.run_id)
            extras.failed = widened(extras.failed, fact.seen)
            self._recheck_renames(fact.run_id)

    def _add_run_facet(self, fact: RunFacet) -> None:
        if fact.name in TROUBLE:  # all others are read from the store on demand
            troubles = self._extras(fact.run_id).facets
            troubles[fact.name] = troubles[fact.name].merge(fact) if fact.name in troubles else fact
            self._recheck_renames(fact.run_id)

    def _add_run_facet_report(self, fact: RunFacetReport) -> None:
        self._extras(fact.run_id).has_tested = True

    def _add_edit(self, fact: Edit) -> None:
        self.edits.add(fact)
        if fact.what == APART:
            self.identities.keep_apart(self.edits.splits)

    def _add_quarantined(self, fact: Quarantined) -> None:
        known = self.quarantined.get(fact.key)
        self.quarantined[fact.key] = fact if known is None else known.merge(fact)
        if fact.name and not fact.namespace:
            self.identities.note_for_good(DatasetId(fact.namespace, fact.name))

    def _add_run_of_job(self, fact: RunOfJob) -> None:
        run = self._run(fact.run_id)
        before = run.of_job
        now = fact if before is None else before.merge(fact)
        if now is before:
            return
        if before is not None and before.job != now.job:
            self._read_declared([before.job])
        now = run.of_job = self._with_interned_parts(run, now)
        for parent in before.parts_of if before is not None else ():
            self._drop_child(parent, fact.run_id)
        self._belongs(fact.run_id, now)
        if before is not None and before.job == now.job:
            return
        flows = run.extras.flows if run.extras else {}
        for flow in flows:
            if flow.is_of_own and before is not None:
                self._retract_flow(fact.run_id, flow.between(before.job))
        for flow, seen in flows.items():  # all, for one that names the job may be the same as one that was taken back
            self._report_flow(fact.run_id, flow.between(now.job), seen)
        for (direction, dataset), seen in run.observed.items():
            self._count_edge(now.job, direction, dataset, seen, is_new_run=True)
        self._count_uses(now.job, run)
        if before is not None:
            self._job(before.job).runs.discard(fact.run_id)
            self._rebuild_edges(before.job)

    def _with_interned_parts(self, run: Run, fact: RunOfJob) -> RunOfJob:
        """The fact with its parts interned: it stays in memory, so it shares objects that are held elsewhere."""
        parent = self._interned_parent(fact.parent)
        root = parent if fact.root is fact.parent else self._interned_parent(fact.root)
        run_id = fact.run_id if run.times is None else run.times.run_id
        return RunOfJob(run_id, self._interned_job(fact.job), parent, root, run.interned_stamp(fact.stamp))

    def _interned_parent(self, parent: ParentRun | None) -> ParentRun | None:
        """The object that another child run holds for this parent, if any: a run may have thousands of children."""
        if parent is None:
            return None
        parts = self.child_runs.get(parent.run_id, {}).get(parent.job, ())
        other = self._reported_job(next(iter(parts), ""))
        known = () if other is None else other.parts_of
        return next(
            (each for each in known if each == parent), ParentRun(parent.run_id, self._interned_job(parent.job))
        )

    def _add_observation(self, fact: Observation) -> None:
        run = self._run(fact.run_id)
        end = self._interned_end((fact.direction, fact.dataset))
        known = run.observed.get(end)
        run.observed[end] = run.interned_times(widened(known, fact.seen))
        self._observe(fact.dataset, fact.seen)
        if run.of_job is not None:
            self._count_edge(run.of_job.job, *end, fact.seen, is_new_run=known is None)

    def _add_control_flow(self, fact: ControlFlow) -> None:
        control = self._extras(fact.run_id).control
        named = (fact.direction, fact.job, fact.dependency)
        control[named] = widened(control.get(named), fact.seen)
        self.named_in_control[fact.job].add(fact.run_id)

    def _add_job_flow(self, fact: JobFlow) -> None:
        flow = Flow(fact.source, fact.target, fact.source_run, fact.target_run)
        flows = self._extras(fact.run_id).flows
        flows[flow] = widened(flows.get(flow), fact.seen)
        of_job = self.runs[fact.run_id].of_job
        if not flow.is_of_own:
            self._report_flow(fact.run_id, flow, fact.seen)
        elif of_job is not None:
            self._report_flow(fact.run_id, flow.between(of_job.job), fact.seen)

    def _add_use_evidence(self, fact: UseEvidence) -> None:
        run, uses = self._run(fact.run_id), self._extras(fact.run_id).uses
        facet = self._interned_uses.setdefault(fact.content, fact.content)
        known = uses.get(facet)
        uses[facet] = run.interned_times(widened(known, fact.seen))
        if run.of_job is not None:
            self._count_use(run.of_job.job, facet, fact.seen, is_new_run=known is None)

    def _add_observed_facet(self, fact: ObservedFacet) -> None:
        if not fact.is_of_dataset:
            return  # statistics of one run: read from the store on demand
        dataset = self._dataset(fact.dataset)
        _record_report(dataset.facets, dataset.unchanged_since, fact.name, fact.stamped, fact.stamp.time_us)

    def _add_declaration(self, fact: Declaration) -> None:
        if isinstance(fact.node, DatasetId):
            self._declare_facets(fact.node, fact.node, _declared_by(fact, None, self.content(fact.content)))
            return
        job = self._job(fact.node)
        before = job.declaration
        now = fact if before is None else before.merge(fact)
        if now is before:
            return
        content, former = self.content(fact.content), {} if before is None else self.content(before.content)
        self._read_declared(
            each for flow in flows(former) for each in flow.between(fact.node) if isinstance(each, JobId)
        )
        job.declaration = now
        if before is not None:
            for _, reference in _declared_datasets(former):
                self._retract_facets(dataset_of(reference), fact.key)
            for flow in flows(former):
                self._retract_flow(fact.key, flow.between(fact.node))
                for name in _datasets_of(flow):
                    self._retract_facets(name, fact.key)
            self._rebuild_edges(fact.node)
        else:
            self._declare_edges(fact.node, fact)
        for direction, reference in _declared_datasets(content):
            self._declare_facets(dataset_of(reference), fact.key, _declared_by(fact, direction, reference))
        for flow in flows(content):
            self._report_flow(fact.key, flow.between(fact.node), Seen(fact.stamp.time_us, fact.stamp.time_us))
            for name in _datasets_of(flow):
                self._declare_facets(name, fact.key, DeclaredFacets(fact.stamp, {}))

    def _add_declared_times(self, fact: DeclaredTimes) -> None:
        known = self._job(fact.node) if isinstance(fact.node, JobId) else self._dataset(fact.node)
        known.declared_over = widened(known.declared_over, fact.seen)

    def _declare_facets(self, name: DatasetId, by: FactKey, declared: DeclaredFacets) -> None:
        dataset = self._dataset(name)
        before = dataset.declared.get(by)
        now = declared if before is None else before.merge(declared)
        if now == before:
            return
        self._read_declared(job for job, _ in (before.makers if before else ()))
        dataset.declared[by] = now
        for job, run_id in before.makers if before else ():
            self._retract_flow(by, Flow(job, name, run_id))
        for job, run_id in now.makers:
            self._report_flow(by, Flow(job, name, run_id), Seen(now.stamp.time_us, now.stamp.time_us))
        self.identities.note(name)
        self._choose_again(name)
        if now.evidence or (before and before.evidence):
            self.derivation_candidates.add(name)
            self._rebuild_evidence(name)

    def _retract_facets(self, name: DatasetId, by: FactKey) -> None:
        dataset = self.datasets[name]
        former = dataset.declared.pop(by, None)
        if not dataset.is_known:
            self.identities.forget(name)
        self._choose_again(name)
        if former and former.evidence:
            self._rebuild_evidence(name)


def _declared_datasets(declared: Mapping[str, Any]) -> Iterator[tuple[Direction | None, Mapping[str, Any]]]:
    """The datasets that a job's declaration reads and writes, and those on neither side whose sources it reports."""
    yield from references(declared)
    yield from ((None, reference) for reference in targets(declared))


def _declared_by(fact: Declaration, direction: Direction | None, reference: Mapping[str, Any]) -> DeclaredFacets:
    is_of_target = direction != "input"
    facets = {facet: Stamped(fact.stamp, is_of_target, digest) for facet, digest in digests(reference).items()}
    return DeclaredFacets(fact.stamp, facets, silent(reference), makers(reference), _SIDES[direction])


def _ignore(_: Fact) -> None:
    """Facts that the graph does not hold."""


def _record_report(
    facets: MutableMapping[str, Stamped],
    unchanged_since: dict[str, int],
    facet: str,
    reported: Stamped,
    first_us: int,
) -> None:
    """Record a facet report whose content was the same from `first_us` to its stamp; reports may arrive in any order.

    Nothing else was reported from the time in `unchanged_since` until the newest stamp.
    """
    newest = facets.get(facet)
    since_us = unchanged_since.get(facet, first_us if newest is None else newest.stamp.time_us)
    if newest is not None and reported.content != newest.content:
        if reported > newest:
            since_us = first_us if first_us > newest.stamp.time_us else reported.stamp.time_us
        elif reported.stamp.time_us >= since_us:
            since_us = newest.stamp.time_us
    newest = facets[facet] = reported if newest is None else max(newest, reported)
    if since_us < newest.stamp.time_us:
        unchanged_since[facet] = since_us
    else:
        unchanged_since.pop(facet, None)


def _datasets_of(flow: Flow) -> Iterator[DatasetId]:
    return (end for end in flow if isinstance(end, DatasetId))
