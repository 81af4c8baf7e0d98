"""OpenLineage events for what was put over the API: a dataset, a job, a run and its states.

Not built with the official client's classes as in `build`: names and run ids may be anything that the graph already
has, and those classes refuse run ids that are no UUIDs.

What no standard facet can hold goes into our own `headwater_declared`, which also marks the event's origin.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import orjson

from headwater.model.names import DatasetId, JobId
from headwater.model.producer import API_PRODUCER, API_PRODUCERS, HEADWATER_FACETS, OPENLINEAGE_SCHEMA
from headwater.model.slim import schema_url
from headwater.model.times import time_at, timestamp
from headwater.model.wire import EventType

DECLARED: Final = "headwater_declared"

Facets = Mapping[str, Mapping[str, Any]]
JobKind = Literal["BATCH", "STREAM", "SERVICE"]
_JOB_TYPE: Final = "2-0-4/JobTypeJobFacet"
_PROCESSING: Final[Mapping[JobKind, str]] = {"BATCH": "BATCH", "STREAM": "STREAMING", "SERVICE": "SERVICE"}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a dataset to be put."""

    name: str
    type: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class DatasetPut:
    """A dataset to be put; `source_uri` is its source's address, if known."""

    name: DatasetId
    is_stream: bool
    physical_name: str
    source_name: str
    source_uri: str | None
    columns: Sequence[Column]
    description: str | None = None
    schema_location: str | None = None


@dataclass(frozen=True, slots=True)
class JobPut:
    """A job to be put; an empty `location` removes the current one."""

    name: JobId
    kind: JobKind
    inputs: Sequence[DatasetId]
    outputs: Sequence[DatasetId]
    location: str | None = None
    description: str | None = None
    current_type: Mapping[str, Any] | None = None
    """The job's current `jobType` facet: its members remain, except for the type that is put."""


@dataclass(frozen=True, slots=True)
class RunPut:
    """A run to be created; times as they were sent."""

    run_id: str
    job: JobId
    inputs: Sequence[DatasetId]
    nominal_start: str | None = None
    nominal_end: str | None = None
    arguments: Mapping[str, str] | None = None


def dataset_event(time_us: int, put: DatasetPut) -> bytes:
    """The dataset event that declares it."""
    return _written(time_us, "DatasetEvent", {"dataset": _dataset(put.name, dataset_facets(put))})


def job_event(time_us: int, put: JobPut) -> bytes:
    """The job event that declares it."""
    job = {"namespace": put.name.namespace, "name": put.name.name, "facets": job_facets(put)}
    return _written(time_us, "JobEvent", {"job": job, **ends(put.inputs, put.outputs)})


def created_run_event(time_us: int, put: RunPut) -> bytes:
    """The run event that creates a run which has not started."""
    facets: dict[str, Mapping[str, Any]] = {DECLARED: _own()}
    if put.nominal_start is not None:
        times = {"nominalStartTime": put.nominal_start, "nominalEndTime": put.nominal_end}
        facets["nominalTime"] = _facet("1-0-1/NominalTimeRunFacet", **times)
    if put.arguments:
        parameters = [{"key": key, "value": value} for key, value in put.arguments.items()]
        facets["executionParameters"] = _facet("1-0-0/ExecutionParametersRunFacet", parameters=parameters)
    return run_event(time_us, "OTHER", put.run_id, put.job, facets=facets, touched=ends(put.inputs, ()))


def run_event(
    time_us: int,
    event_type: EventType,
    run_id: str,
    job: JobId,
    *,
    facets: Facets | None = None,
    touched: Mapping[str, object] | None = None,
) -> bytes:
    """The run event for a change of state; `touched` are its `inputs` and `outputs`."""
    run = {"runId": run_id, **({"facets": facets} if facets else {})}
    body = {
        "eventType": event_type,
        "run": run,
        "job": {"namespace": job.namespace, "name": job.name},
        **(touched or {}),
    }
    return _written(time_us, "RunEvent", body)


def ends(inputs: Iterable[DatasetId], outputs: Iterable[DatasetId]) -> Mapping[str, object]:
    """The `inputs` and `outputs` of an event, by name only."""
    return {"inputs": [_dataset(name) for name in inputs], "outputs": [_dataset(name) for name in outputs]}


def written(put: DatasetPut) -> Mapping[str, object]:
    """The `outputs` of an event, for a dataset that was put as a run's output."""
    return {"outputs": [_dataset(put.name, dataset_facets(put))]}


def dataset_facets(put: DatasetPut) -> Facets:
    """The facets for a dataset put."""
    columns = [
        {"name": column.name}
        | ({} if column.type is None else {"type": column.type})
        | ({} if column.description is None else {"description": column.description})
        for column in put.columns
    ]
    own = {"physicalName": put.physical_name, "schemaLocation": put.schema_location}
    return {
        "schema": _facet("1-2-0/SchemaDatasetFacet", fields=columns),
        "dataSource": _facet("1-0-1/DatasourceDatasetFacet", name=put.source_name, uri=put.source_uri),
        "datasetType": _facet("1-0-0/DatasetTypeDatasetFacet", datasetType="STREAM" if put.is_stream else "TABLE"),
        **_documentation(put.description, "Dataset"),
        DECLARED: _own(**own),
    }


def job_facets(put: JobPut) -> Facets:
    """The facets for a job put, apart from its inputs and outputs."""
    return {
        **_documentation(put.description, "Job"),
        **_job_type(put),
        **({} if put.location is None else {"sourceCodeLocation": _location(put.location)}),
        DECLARED: _own(type=put.kind),
    }


def _job_type(put: JobPut) -> Facets:
    """Empty where a producer reported the same type: that report stays in force."""
    current, processing = put.current_type or {}, _PROCESSING[put.kind]
    is_put = str(current.get("_producer")).startswith(API_PRODUCERS)
    if current.get("processingType") == processing and not is_put:
        return {}
    others = {key: value for key, value in current.items() if not key.startswith("_")}
    return {"jobType": {**_facet(_JOB_TYPE), "integration": "", **others, "processingType": processing}}


def _location(url: str) -> dict[str, Any]:
    if url:
        return _facet("1-1-0/SourceCodeLocationJobFacet", type="git", url=url)
    return {"_producer": API_PRODUCER, "_schemaURL": f"{OPENLINEAGE_SCHEMA}#/$defs/JobFacet", "_deleted": True}


def _documentation(text: str | None, of: Literal["Job", "Dataset"]) -> Facets:
    return {} if text is None else {"documentation": _facet(f"1-1-0/Documentation{of}Facet", description=text)}


def _facet(schema: str, **members: object) -> dict[str, Any]:
    present = {key: value for key, value in members.items() if value is not None}
    return {"_producer": API_PRODUCER, "_schemaURL": schema_url(schema), **present}


def _own(**members: object) -> dict[str, Any]:
    present = {key: value for key, value in members.items() if value is not None}
    return {"_producer": API_PRODUCER, "_schemaURL": f"{HEADWATER_FACETS}/{DECLARED}.json", **present}


def _dataset(name: DatasetId, facets: Facets | None = None) -> dict[str, object]:
    return {"namespace": name.namespace, "name": name.name, **({"facets": facets} if facets else {})}


def _written(time_us: int, kind: str, body: Mapping[str, object]) -> bytes:
    time, schema = timestamp(time_at(time_us)), f"{OPENLINEAGE_SCHEMA}#/$defs/{kind}"
    return orjson.dumps({"eventTime": time, "producer": API_PRODUCER, "schemaURL": schema, **body})
