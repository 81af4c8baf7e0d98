"""OpenLineage events that say what was put over the API: a dataset, a job, a run and how it goes.

They are written here, and not by the official client's classes as in `build`: their names are whatever stands in the
graph already, run ids that are no UUIDs too, which those classes refuse.

What no standard facet can hold goes into one of our own, `headwater_declared`, which also tells that the event came so.
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
    """A column of a dataset that is put."""

    name: str
    type: str | None
    description: str | None


@dataclass(frozen=True, slots=True)
class DatasetPut:
    """A dataset as it is put; `source_uri` is where its source is, where that is known."""

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
    """A job as it is put; an empty `location` takes away what it had."""

    name: JobId
    kind: JobKind
    inputs: Sequence[DatasetId]
    outputs: Sequence[DatasetId]
    location: str | None = None
    description: str | None = None
    told_type: Mapping[str, Any] | None = None
    """The `jobType` facet that was told of it: but for the type that is put, it holds on."""


@dataclass(frozen=True, slots=True)
class RunPut:
    """A run as it is created; times as they were sent."""

    run_id: str
    job: JobId
    inputs: Sequence[DatasetId]
    nominal_start: str | None = None
    nominal_end: str | None = None
    arguments: Mapping[str, str] | None = None


def dataset_event(time_us: int, put: DatasetPut) -> bytes:
    """The dataset event that says it."""
    return _written(time_us, "DatasetEvent", {"dataset": _dataset(put.name, dataset_facets(put))})


def job_event(time_us: int, put: JobPut) -> bytes:
    """The job event that says it."""
    job = {"namespace": put.name.namespace, "name": put.name.name, "facets": job_facets(put)}
    return _written(time_us, "JobEvent", {"job": job, **ends(put.inputs, put.outputs)})


def created_run_event(time_us: int, put: RunPut) -> bytes:
    """The run event that says that there is a run, which has not started."""
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
    """The run event that says that a run came into a state; `touched` are its `inputs` and `outputs`."""
    run = {"runId": run_id, **({"facets": facets} if facets else {})}
    body = {
        "eventType": event_type,
        "run": run,
        "job": {"namespace": job.namespace, "name": job.name},
        **(touched or {}),
    }
    return _written(time_us, "RunEvent", body)


def ends(inputs: Iterable[DatasetId], outputs: Iterable[DatasetId]) -> Mapping[str, object]:
    """`inputs` and `outputs` of an event, by name alone."""
    return {"inputs": [_dataset(name) for name in inputs], "outputs": [_dataset(name) for name in outputs]}


def written(put: DatasetPut) -> Mapping[str, object]:
    """`outputs` of an event: a dataset that was put as a run's work."""
    return {"outputs": [_dataset(put.name, dataset_facets(put))]}


def dataset_facets(put: DatasetPut) -> Facets:
    """The facets that hold what was put."""
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
    """The facets that hold what was put, but for its inputs and outputs."""
    return {
        **_documentation(put.description, "Job"),
        **_job_type(put),
        **({} if put.location is None else {"sourceCodeLocation": _location(put.location)}),
        DECLARED: _own(type=put.kind),
    }


def _job_type(put: JobPut) -> Facets:
    """Nothing where a producer told the same: what it told is shown on."""
    told, processing = put.told_type or {}, _PROCESSING[put.kind]
    is_put = str(told.get("_producer")).startswith(API_PRODUCERS)
    if told.get("processingType") == processing and not is_put:
        return {}
    others = {key: value for key, value in told.items() if not key.startswith("_")}
    return {"jobType": {**_facet(_JOB_TYPE), "integration": "", **others, "processingType": processing}}


def _location(url: str) -> dict[str, Any]:
    if url:
        return _facet("1-1-0/SourceCodeLocationJobFacet", type="git", url=url)
    return {"_producer": API_PRODUCER, "_schemaURL": f"{OPENLINEAGE_SCHEMA}#/$defs/JobFacet", "_deleted": True}


def _documentation(text: str | None, of: Literal["Job", "Dataset"]) -> Facets:
    return {} if text is None else {"documentation": _facet(f"1-1-0/Documentation{of}Facet", description=text)}


def _facet(schema: str, **members: object) -> dict[str, Any]:
    said = {key: value for key, value in members.items() if value is not None}
    return {"_producer": API_PRODUCER, "_schemaURL": schema_url(schema), **said}


def _own(**members: object) -> dict[str, Any]:
    said = {key: value for key, value in members.items() if value is not None}
    return {"_producer": API_PRODUCER, "_schemaURL": f"{HEADWATER_FACETS}/{DECLARED}.json", **said}


def _dataset(name: DatasetId, facets: Facets | None = None) -> dict[str, object]:
    return {"namespace": name.namespace, "name": name.name, **({"facets": facets} if facets else {})}


def _written(time_us: int, kind: str, body: Mapping[str, object]) -> bytes:
    time, schema = timestamp(time_at(time_us)), f"{OPENLINEAGE_SCHEMA}#/$defs/{kind}"
    return orjson.dumps({"eventTime": time, "producer": API_PRODUCER, "schemaURL": schema, **body})
