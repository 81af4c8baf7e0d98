"""Extract facts from an event: pure, and equal events give equal facts."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from headwater.model.events import DatasetEvent, DatasetRef, Direction, Event, JobEvent, RunEvent, Stamp
from headwater.model.facts import (
    STATE_RANK,
    STRENGTH,
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
    Slot,
)
from headwater.model.names import DatasetId, JobId, run_id_of


def content_of(value: object) -> Content:
    """The JSON value as content: keys sorted, so that equal values have one digest."""
    try:
        body = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # integers beyond 64 bits, which JSON allows and orjson does not write
        body = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return Content(hashlib.sha256(body).digest(), body)


def facts(event: Event) -> tuple[Fact, ...]:
    """What the event says; equal events give equal facts."""
    match event:
        case RunEvent():
            return tuple(_run_facts(event))
        case JobEvent():
            return tuple(_job_facts(event))
        case DatasetEvent():
            return tuple(_dataset_facts(event))


def _run_facts(event: RunEvent) -> Iterator[Fact]:
    stamp, run_id = event.stamp, event.run_id
    seen = Seen(stamp.time_us, stamp.time_us)
    yield RunTimes(run_id, seen, (STATE_RANK[event.event_type], stamp, event.event_type))
    yield RunOfJob(run_id, event.job, _parent(event.run_facets.get("parent")), stamp)
    for name, value in event.run_facets.items():
        content = content_of(value)
        yield content
        yield RunFacet(run_id, name, content.digest, stamp)
    yield from _job_facets(event.job, event.job_facets, stamp)
    yield from _explicit_entries(event, seen)
    for dataset in event.inputs:
        yield from _observed(event, "input", dataset, seen)
    for dataset in event.outputs:
        yield from _observed(event, "output", dataset, seen)


def _job_facets(job: JobId, facets: Mapping[str, Mapping[str, Any]], stamp: Stamp) -> Iterator[Fact]:
    for name, value in facets.items():
        content = content_of(value)
        yield content
        yield JobFacet(job, name, content.digest, stamp)


def _observed(event: RunEvent, direction: Direction, dataset: DatasetRef, seen: Seen) -> Iterator[Fact]:
    if not all(dataset.id):
        yield Quarantined(f"run:{event.run_id}", direction, *dataset.id, seen)
        return
    yield Observation(event.run_id, direction, dataset.id, seen)
    slots: tuple[tuple[Slot, Mapping[str, Mapping[str, Any]]], ...] = (
        ("facets", dataset.facets),
        ("direction_facets", dataset.direction_facets),
    )
    for slot, facets_of_slot in slots:
        for name, value in facets_of_slot.items():
            content = content_of(value)
            yield content
            yield ObservedFacet(event.run_id, direction, dataset.id, slot, name, content.digest, event.stamp)
            if slot == "facets" and name in STRENGTH:
                yield ColumnEvidence(event.run_id, dataset.id, STRENGTH[name], content.digest, seen)
    yield from _aliases(dataset, seen)


def _explicit_entries(event: RunEvent, seen: Seen) -> Iterator[Fact]:
    """The targets that the job's own `lineage` facet speaks about; its content was yielded with the job facets."""
    explicit = event.job_facets.get("lineage")
    if explicit is None:
        return
    content = content_of(explicit)
    for target in explicit_targets(explicit):
        yield ColumnEvidence(event.run_id, target, STRENGTH["lineage"], content.digest, seen)


def explicit_targets(explicit: Mapping[str, Any]) -> Iterator[DatasetId]:
    """The datasets that a job's `lineage` facet has entries for; entries that cannot be read are passed over."""
    entries = explicit.get("entries")
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("type") == "DATASET":
            namespace, name = entry.get("namespace"), entry.get("name")
            if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
                yield DatasetId(namespace, name)


def _aliases(dataset: DatasetRef, seen: Seen) -> Iterator[Fact]:
    identifiers = dataset.facets.get("symlinks", {}).get("identifiers")
    for identifier in identifiers if isinstance(identifiers, list) else ():
        if isinstance(identifier, dict):
            namespace, name = identifier.get("namespace"), identifier.get("name")
            if isinstance(namespace, str) and isinstance(name, str) and namespace and name:
                alias = DatasetId(namespace, name)
                if alias != dataset.id:
                    yield Alias(dataset.id, alias, "symlinks", seen)


def _parent(facet: Mapping[str, Any] | None) -> ParentRun | None:
    if facet is None:
        return None
    run, job = facet.get("run"), facet.get("job")
    if not isinstance(run, dict) or not isinstance(job, dict):
        return None
    run_id, namespace, name = run.get("runId"), job.get("namespace"), job.get("name")
    if isinstance(run_id, str) and isinstance(namespace, str) and isinstance(name, str) and namespace and name:
        return ParentRun(run_id_of(run_id), JobId(namespace, name))
    return None


def _job_facts(event: JobEvent) -> Iterator[Fact]:
    seen = Seen(event.stamp.time_us, event.stamp.time_us)
    yield from _job_facets(event.job, event.job_facets, event.stamp)
    declared: dict[str, list[dict[str, Any]]] = {"inputs": [], "outputs": []}
    sides: tuple[tuple[Direction, tuple[DatasetRef, ...]], ...] = (("input", event.inputs), ("output", event.outputs))
    for direction, datasets in sides:
        for dataset in datasets:
            if not all(dataset.id):
                yield Quarantined(event.job.node_id, direction, *dataset.id, seen)
                continue
            reference, contents = _declared(dataset)
            declared[f"{direction}s"].append(reference)
            yield from contents
            yield from _aliases(dataset, seen)
    _attach_explicit(declared["outputs"], event.job_facets.get("lineage"))
    content = content_of(declared)
    yield content
    yield Declaration(event.job, content.digest, event.stamp)


def _attach_explicit(outputs: list[dict[str, Any]], explicit: Mapping[str, Any] | None) -> None:
    """Give each target of the job's own `lineage` facet that facet's digest, as if the dataset had carried it."""
    if explicit is None:
        return
    digest = content_of(explicit).digest.hex()
    by_name = {DatasetId(output["namespace"], output["name"]): output for output in outputs}
    for target in explicit_targets(explicit):
        if target not in by_name:
            by_name[target] = {"namespace": target.namespace, "name": target.name, "facets": {}}
            outputs.append(by_name[target])
        by_name[target]["facets"].setdefault("lineage", digest)


def _dataset_facts(event: DatasetEvent) -> Iterator[Fact]:
    seen = Seen(event.stamp.time_us, event.stamp.time_us)
    dataset = event.dataset
    if not all(dataset.id):
        yield Quarantined("dataset event", "output", *dataset.id, seen)
        return
    reference, contents = _declared(dataset)
    yield from contents
    yield from _aliases(dataset, seen)
    content = content_of(reference)
    yield content
    yield Declaration(dataset.id, content.digest, event.stamp)


def _declared(dataset: DatasetRef) -> tuple[dict[str, Any], list[Content]]:
    contents = {name: content_of(value) for name, value in dataset.facets.items()}
    digests = {name: content.digest.hex() for name, content in contents.items()}
    return {"namespace": dataset.id.namespace, "name": dataset.id.name, "facets": digests}, list(contents.values())
