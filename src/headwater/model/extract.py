"""Extract facts from an event: pure, and equal events give equal facts."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from headwater.model.events import (
    DatasetEvent,
    DatasetRef,
    Direction,
    Event,
    Facets,
    JobEvent,
    RunEvent,
    Stamp,
    undeleted,
)
from headwater.model.expectations import with_assertions
from headwater.model.facet_texts import FacetTexts, sorted_json
from headwater.model.facets.own import ChainFacet, HeadwaterRunFacet
from headwater.model.facts import (
    INFERRED_RANK,
    RETAINED_FACETS,
    RETAINED_RUN_FACETS,
    SHAPE_PARTS,
    STATE_RANK,
    STRENGTH,
    TERMINAL_STATES,
    UNDER_WAY,
    Alias,
    ChainLink,
    ColumnEvidence,
    Content,
    Declaration,
    DeclaredShape,
    DeclaredTimes,
    Ending,
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
    Slot,
    UseEvidence,
)
from headwater.model.flow_facts import control_flow, explicit_flows, explicit_makers, explicit_targets, reports_uses
from headwater.model.folders import with_folders
from headwater.model.iceberg import without_metadata_columns
from headwater.model.identity_facts import identity_facts
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.nodes import Arrival, chain_link, is_of_node
from headwater.model.sources import nameless_in, names_sources
from headwater.model.trino import mended_trino

_OLDER_PARENT: Final = "parentRun"
"""The former name of the facet `parent` in OpenLineage's own integrations for Airflow and Great Expectations."""
_NO_RUN: Final = "dataset event"
_WITHOUT_NAMESPACE: Final = b'"namespace":""'

FacetContent = tuple[str, Content, bool]
"""A facet's name, its content, and whether it is a lineage facet that names sources."""


def content_of(value: object) -> Content:
    """The JSON value as content: keys sorted, so that equal values have one digest."""
    body = sorted_json(value)
    return Content(hashlib.sha256(body).digest(), body)


def contents_of(facets: Facets) -> Iterator[FacetContent]:
    """Each facet in order; computes missing digests."""
    if isinstance(facets, FacetTexts):
        for name, facet in facets.texts.items():
            yield name, Content(facet.digest, facet.body), facet.names_sources
    else:
        for name, value in facets.items():
            yield name, content_of(value), names_sources(value)


def facts(event: Event, arrival: Arrival | None = None) -> tuple[Fact, ...]:
    """The event's facts; equal events give equal facts.

    A link of its node's chain is included only if `arrival` is known.
    """
    match event:
        case RunEvent():
            link = None if arrival is None else chain_link(event, arrival)
            if link is None:
                return tuple(_run_facts(mended(event)))
            return (link,) if is_of_node(event, link) else (*_run_facts(mended(event), link), link)
        case JobEvent():
            return tuple(_job_facts(event))
        case DatasetEvent():
            return tuple(_dataset_facts(event))


def mended(event: RunEvent) -> RunEvent:
    """The event after all corrections, as `facts` reads it: for code that reads more than facts."""
    return with_folders(with_assertions(without_metadata_columns(mended_trino(event))))


def job_facets(event: RunEvent) -> Iterator[JobFacet]:
    """The job facets among the event's facts, without computing the rest."""
    meant = mended_trino(event)
    found = _job_facets(meant.job, meant.job_facets, meant.stamp)
    return (fact for fact in found if isinstance(fact, JobFacet))


def _run_facts(event: RunEvent, link: ChainLink | None = None) -> Iterator[Fact]:
    stamp, run_id = event.stamp, event.run_id
    seen = Seen(stamp.time_us, stamp.time_us)
    is_inferred = _is_inferred(event)
    rank = INFERRED_RANK if is_inferred else STATE_RANK[event.event_type]
    started_us = stamp.time_us if event.event_type in UNDER_WAY else None
    yield RunTimes(run_id, seen, (rank, stamp, event.event_type), started_us)
    if event.event_type in TERMINAL_STATES and not is_inferred:
        yield Ending(run_id, event.event_type, seen)
    yield RunOfJob(run_id, event.job, *_part_of(event), stamp)
    for name, content, _ in contents_of(event.run_facets):
        if link is not None and name == ChainFacet.key:
            continue  # covered by the link; it says nothing about the run
        yield content
        yield RunFacet(run_id, name, content.digest, stamp)
        if name in RETAINED_RUN_FACETS:
            yield RunFacetReport(run_id, name, content.digest, stamp)
    if (dependencies := undeleted(event.run_facets, "jobDependencies")) is not None:
        yield from control_flow(run_id, dependencies, seen)
    yield from _job_facets(event.job, event.job_facets, stamp)
    yield from _explicit(event, seen)
    for dataset in event.inputs:
        yield from _observed(event, "input", dataset, seen)
    for dataset in event.outputs:
        yield from _observed(event, "output", dataset, seen)


def _is_inferred(event: RunEvent) -> bool:
    """Whether its end was inferred by an observer from the run's silence."""
    if event.event_type not in TERMINAL_STATES:
        return False
    return event.run_facets.get(HeadwaterRunFacet.key, {}).get("isInferred") is True


def _job_facets(job: JobId, facets: Facets, stamp: Stamp) -> Iterator[Fact]:
    for name, content, _ in contents_of(facets):
        yield content
        yield JobFacet(job, name, content.digest, stamp.time_us, stamp)


def _observed(event: RunEvent, direction: Direction, dataset: DatasetRef, seen: Seen) -> Iterator[Fact]:
    if not dataset.id.is_complete:
        yield Quarantined(f"run:{event.run_id}", direction, *dataset.id, seen)
        if not dataset.id.name:
            return
    yield Observation(event.run_id, direction, dataset.id, seen)
    slots: tuple[tuple[Slot, Facets], ...] = (
        ("facets", dataset.facets),
        ("direction_facets", dataset.direction_facets),
    )
    for slot, facets_of_slot in slots:
        for name, content, with_sources in contents_of(facets_of_slot):
            yield content
            observed = ObservedFacet(event.run_id, direction, dataset.id, slot, name, content.digest, event.stamp)
            yield observed
            if name in RETAINED_FACETS and (observed.is_of_dataset or name not in SHAPE_PARTS):
                times = event.stamp, event.stamp
                yield FacetReport(event.run_id, direction, dataset.id, name, content.digest, *times)
            if slot == "facets" and name in STRENGTH and with_sources:
                yield ColumnEvidence(event.run_id, dataset.id, STRENGTH[name], content.digest, seen)
                yield from _nameless(f"run:{event.run_id}", content, seen)
    for fact in identity_facts(dataset, seen):
        if isinstance(fact, Alias) and fact.evidence == "rename":
            yield Renaming(event.run_id, fact.name, fact.alias, seen)
        else:
            yield fact


def _explicit(event: RunEvent, seen: Seen) -> Iterator[Fact]:
    """The facts of the job's own `lineage` facet; its content was yielded with the job facets.

    A flow between a dataset and the run's own job is an ordinary input or output.
    """
    explicit = undeleted(event.job_facets, "lineage")
    if explicit is None:
        return
    content, subject = content_of(explicit), f"run:{event.run_id}"
    yield from _nameless(subject, content, seen)
    for described in explicit_targets(explicit):
        if not described.is_complete:
            yield Quarantined(subject, "output", *described, seen)
        yield ColumnEvidence(event.run_id, described, STRENGTH["lineage"], content.digest, seen)
    if reports_uses(explicit):
        yield UseEvidence(event.run_id, content.digest, seen)
    for source, target, *runs in explicit_flows(explicit, event.job, event.run_id):
        if target is None and isinstance(source, DatasetId):
            yield Observation(event.run_id, "input", source, seen)
        elif source is None and isinstance(target, DatasetId):
            yield Observation(event.run_id, "output", target, seen)
        else:
            yield JobFlow(event.run_id, source, target, seen, *runs)


def _nameless(subject: str, facet: Content, seen: Seen) -> Iterator[Quarantined]:
    """The sources without a namespace in a lineage facet."""
    if _WITHOUT_NAMESPACE in facet.body:
        for name in nameless_in(orjson.loads(facet.body)):
            yield Quarantined(subject, "input", "", name, seen)


def _nameless_among(subject: str, facets: Iterable[FacetContent], seen: Seen) -> Iterator[Quarantined]:
    for name, content, with_sources in facets:
        if name in STRENGTH and with_sources:
            yield from _nameless(subject, content, seen)


def _part_of(event: RunEvent) -> tuple[ParentRun | None, ParentRun | None]:
    """The parent and the root that the event names."""
    facets = event.run_facets
    facet = undeleted(facets, "parent") or undeleted(facets, _OLDER_PARENT) or {}
    parent = _parent(facet)
    root = None if parent is None else _parent(facet.get("root"))
    if parent is not None and root is not None and root.run_id == parent.run_id:
        root = parent  # share one object, the common case; Spark's agent spells the application in two ways
    return parent, root


def _parent(named: object) -> ParentRun | None:
    if not isinstance(named, Mapping):
        return None
    run, job = named.get("run"), named.get("job")
    if not isinstance(run, dict) or not isinstance(job, dict):
        return None
    run_id, namespace, name = run.get("runId"), job.get("namespace"), job.get("name")
    match run_id, namespace, name:
        case str(), str(), str() if run_id and namespace and name:
            return ParentRun(run_id_of(run_id), JobId(namespace, name))
    return None


def _job_facts(event: JobEvent) -> Iterator[Fact]:
    seen = Seen(event.stamp.time_us, event.stamp.time_us)
    yield from _job_facets(event.job, event.job_facets, event.stamp)
    declared: dict[str, Any] = {"inputs": [], "outputs": []}
    sides: tuple[tuple[Direction, tuple[DatasetRef, ...]], ...] = (("input", event.inputs), ("output", event.outputs))
    for direction, datasets in sides:
        for dataset in datasets:
            if not dataset.id.is_complete:
                yield Quarantined(event.job.node_id, direction, *dataset.id, seen)
                if not dataset.id.name:
                    continue
            facets = [*_facets_of_end(direction, dataset)]
            declared[f"{direction}s"].append(_declared(dataset.id, facets))
            yield DeclaredTimes(dataset.id, seen)
            yield from (content for _, content, _ in facets)
            yield from _nameless_among(event.job.node_id, facets, seen)
            yield from identity_facts(dataset, seen)
    if (explicit := undeleted(event.job_facets, "lineage")) is not None:
        yield from _nameless(event.job.node_id, content_of(explicit), seen)
        if targets := _attach_explicit(declared["outputs"], explicit):
            declared["targets"] = targets
        if flows := [[*map(_declared_end, flow[:2], flow[2:])] for flow in explicit_flows(explicit, event.job)]:
            declared["flows"] = flows
        if reports_uses(explicit):
            declared["uses"] = content_of(explicit).digest.hex()
    content = content_of(declared)
    yield content
    yield Declaration(event.job, content.digest, event.stamp)
    yield DeclaredTimes(event.job, seen)


def _facets_of_end(direction: Direction, dataset: DatasetRef) -> Iterator[FacetContent]:
    """The facets of a dataset in a job event: for an input also those `inputFacets` that `facets` lacks."""
    yield from contents_of(dataset.facets)
    if direction == "input":
        of_reading = contents_of(dataset.direction_facets)
        yield from (each for each in of_reading if each[0] not in STRENGTH and each[0] not in dataset.facets)


def _declared_end(end: JobId | DatasetId | None, run_id: str | None) -> list[str] | None:
    of_run = () if run_id is None else (run_id,)
    return None if end is None else ["job" if isinstance(end, JobId) else "dataset", *end, *of_run]


def _attach_explicit(outputs: Sequence[dict[str, Any]], explicit: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give each target of the job's own `lineage` facet that facet's digest, as if the dataset had carried it.

    Returns the targets that are not among the outputs: an entry alone does not put the job in the path.

    Source: OpenLineage, proposals/explicit_lineage_facet/ExplicitLineageGuide.md, "Precedence rules": the event's own
    job is read from inputs and outputs
    """
    digest = content_of(explicit).digest.hex()
    written = {DatasetId(output["namespace"], output["name"]): output for output in outputs}
    others: dict[DatasetId, dict[str, Any]] = {}
    for target in explicit_targets(explicit):
        reference = written.get(target)
        if reference is None:
            reference = others.setdefault(target, {"namespace": target.namespace, "name": target.name, "facets": {}})
        if "lineage" in (silent := reference.get("silent", [])):
            silent.remove("lineage")
            del reference["facets"]["lineage"]
        reference["facets"].setdefault("lineage", digest)
    return [*others.values()]


def _dataset_facts(event: DatasetEvent) -> Iterator[Fact]:
    seen = Seen(event.stamp.time_us, event.stamp.time_us)
    dataset = event.dataset
    if not dataset.id.is_complete:
        yield Quarantined(_NO_RUN, "output", *dataset.id, seen)
        if not dataset.id.name:
            return
    facets = [*contents_of(dataset.facets)]
    yield from _nameless_among(_NO_RUN, facets, seen)
    reference = _declared(dataset.id, facets)
    if makers := {*explicit_makers(undeleted(dataset.facets, "lineage") or {})}:
        reference["jobs"] = sorted([*job, *(() if run_id is None else (run_id,))] for job, run_id in makers)
    yield from (content for _, content, _ in facets)
    yield from identity_facts(dataset, seen)
    content = content_of(reference)
    yield content
    yield Declaration(dataset.id, content.digest, event.stamp)
    yield DeclaredTimes(dataset.id, seen)
    schema, version = (reference["facets"].get(facet) for facet in ("schema", "version"))
    yield DeclaredShape(dataset.id, event.stamp, *(each and bytes.fromhex(each) for each in (schema, version)))


def _declared(dataset: DatasetId, facets: Sequence[FacetContent]) -> dict[str, Any]:
    reference: dict[str, Any] = {
        "namespace": dataset.namespace,
        "name": dataset.name,
        "facets": {name: content.digest.hex() for name, content, _ in facets},
    }
    if silent := [name for name, _, with_sources in facets if name in STRENGTH and not with_sources]:
        reference["silent"] = sorted(silent)
    return reference
