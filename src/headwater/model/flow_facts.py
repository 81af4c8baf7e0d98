"""What an event says about flow beyond inputs and outputs: explicit lineage entries, and dependencies of jobs."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from headwater.model.facts import ControlFlow, Way
from headwater.model.merging import Seen
from headwater.model.names import DatasetId, JobId
from headwater.model.objects import objects
from headwater.model.sources import tells_sources

Flow = tuple[JobId | DatasetId | None, JobId | DatasetId | None]
"""Source and target; None stands for the job that carries the facet."""

_NOBODY: Final = JobId("", "")
_WAYS: Final[tuple[Way, ...]] = ("upstream", "downstream")


def explicit_targets(explicit: Mapping[str, Any]) -> Iterator[DatasetId]:
    """The datasets of which a job's `lineage` facet says where they come from; what cannot be read is passed over."""
    for entry in objects(explicit.get("entries")):
        if entry.get("type") == "DATASET" and (target := _dataset(entry)) is not None and tells_sources(entry):
            yield target


def explicit_flows(explicit: Mapping[str, Any], own: JobId) -> Iterator[Flow]:
    """The flows that a job's `lineage` facet tells of and in which a job takes part, each once.

    Flows between datasets are not among them: they are read as column edges are, from the facet itself.

    Source: OpenLineage LineageFacet 1-0-0 `LineageJobEntry`, `LineageJobInput`
    """
    flows: dict[tuple[object, ...], Flow] = {}
    for entry in objects(explicit.get("entries")):
        for target in _ends(entry, own):
            for source in _sources(entry, own):
                ends = type(source), source, type(target), target
                if not (isinstance(source, DatasetId) and isinstance(target, DatasetId)) and ends[:2] != ends[2:]:
                    flows[ends] = (source, target)
    return iter(flows.values())


def explicit_makers(explicit: Mapping[str, Any]) -> Iterator[JobId]:
    """The jobs that a dataset's own `lineage` facet says make it; one without a name is nobody's there."""
    for source in _sources(explicit, _NOBODY):
        if isinstance(source, JobId):
            yield source


def control_flow(run_id: str, facet: Mapping[str, Any], seen: Seen) -> Iterator[ControlFlow]:
    """The jobs that a run's `jobDependencies` facet names."""
    for way in _WAYS:
        for dependency in objects(facet.get(way)):
            job = dependency.get("job")
            if isinstance(job, dict) and (pair := _pair(job)) is not None:
                kind = dependency.get("dependency_type")
                yield ControlFlow(run_id, way, JobId(*pair), kind if isinstance(kind, str) else "", seen)


def _sources(entry: Mapping[str, Any], own: JobId) -> Iterator[JobId | DatasetId | None]:
    fields = entry.get("fields")
    holders = (entry, *(fields.values() if isinstance(fields, dict) else ()))
    for holder in holders:
        for source in objects(holder.get("inputs") if isinstance(holder, dict) else None):
            yield from _ends(source, own)


def _ends(entity: Mapping[str, Any], own: JobId) -> Iterator[JobId | DatasetId | None]:
    """The dataset or job that is meant; none where it cannot be read."""
    match entity.get("type"):
        case "DATASET" if (dataset := _dataset(entity)) is not None:
            yield dataset
        case "JOB" if (pair := _pair(entity)) is not None:
            yield None if pair == own else JobId(*pair)
        case "JOB" if "namespace" not in entity and "name" not in entity:
            yield None


def _dataset(entity: Mapping[str, Any]) -> DatasetId | None:
    """The dataset that is meant, which may lack a namespace."""
    namespace, name = entity.get("namespace"), entity.get("name")
    return DatasetId(namespace, name) if isinstance(namespace, str) and isinstance(name, str) and name else None


def _pair(entity: Mapping[str, Any]) -> tuple[str, str] | None:
    namespace, name = entity.get("namespace"), entity.get("name")
    return (namespace, name) if isinstance(namespace, str) and isinstance(name, str) and namespace and name else None
