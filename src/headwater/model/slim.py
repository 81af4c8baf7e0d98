"""Events and facets as plain JSON, for programs with a small footprint.

`build` uses the official client's classes, but importing one of these imports the whole client, with its transports and
their HTTP libraries: 10 MB, and a third of a second. Long-running programs that need few facets use these functions
instead. Both write the same events.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from headwater.errors import InvalidEventError
from headwater.model.names import DatasetId, JobId
from headwater.model.producer import HEADWATER_FACETS, OPENLINEAGE_SCHEMA, PRODUCER
from headwater.model.times import timestamp

_SPEC: Final = "https://openlineage.io/spec/facets"

Facet = dict[str, Any]
Facets = Mapping[str, Facet]


class Described(NamedTuple):
    """A dataset with its facets."""

    id: DatasetId
    facets: dict[str, Facet]


def facet(schema: str, **members: object) -> Facet:
    """A facet of the standard; members that are None are left out.

    >>> facet("1-0-1/DatasetTypeDatasetFacet", datasetType="TOPIC", subType=None)["datasetType"]
    'TOPIC'
    """
    return _stamped(schema_url(schema), members)


def schema_url(schema: str) -> str:
    """The schema URL of a facet of the standard.

    >>> schema_url("1-0-1/DatasetTypeDatasetFacet")
    'https://openlineage.io/spec/facets/1-0-1/DatasetTypeDatasetFacet.json#/$defs/DatasetTypeDatasetFacet'
    """
    return f"{_SPEC}/{schema}.json#/$defs/{schema.rpartition('/')[2]}"


def dataset_type(kind: str) -> Facet:
    """The facet `datasetType` of a dataset of this kind, such as `TOPIC`."""
    return facet("1-0-1/DatasetTypeDatasetFacet", datasetType=kind)


def dataset_version(version: str) -> Facet:
    """The facet `version` of a dataset: the version read, or the one that a write created."""
    return facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion=version)


def own_facet(name: str, **members: object) -> Facet:
    """A facet of our own, by its name; members that are None are omitted."""
    return _stamped(f"{HEADWATER_FACETS}/{name}.json", members)


def without_empty(**members: object) -> dict[str, Any]:
    """An object within a facet: members that are None or empty are omitted."""
    return {key: value for key, value in members.items() if value is not None and value != []}


def run_event(
    state: str,
    time: datetime,
    run_id: str,
    job: JobId,
    *,
    run_facets: Facets,
    job_facets: Facets,
    inputs: Iterable[Described],
    outputs: Iterable[Described],
) -> bytes:
    """A run event, as UTF-8 JSON.

    Raises:
        InvalidEventError: `time` has no zone, or a facet holds what JSON cannot carry.

    Source: OpenLineage 2.0.2 `RunEvent`
    """
    body = {
        "eventType": state,
        "run": {"runId": run_id, "facets": run_facets},
        "job": {"namespace": job.namespace, "name": job.name, "facets": job_facets},
        **without_empty(inputs=_datasets(inputs), outputs=_datasets(outputs)),
    }
    return _written("RunEvent", time, body)


def dataset_event(time: datetime, dataset: Described) -> bytes:
    """A dataset event, as UTF-8 JSON.

    Raises:
        InvalidEventError: `time` has no zone, or a facet holds what JSON cannot carry.

    Source: OpenLineage 2.0.2 `DatasetEvent`
    """
    return _written("DatasetEvent", time, {"dataset": _datasets([dataset])[0]})


def ascii_json(body: Mapping[str, object]) -> bytes:
    """The JSON of an event, in ASCII: so a lone surrogate, as in a file name that is not UTF-8, is still valid JSON.

    Raises:
        InvalidEventError: it contains what JSON cannot represent.
    """
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as unwritable:
        # The library's message may hold the value, so only its kind is passed on.
        raise InvalidEventError(f"event: cannot be written as JSON ({type(unwritable).__name__})") from None


def _written(kind: str, time: datetime, body: Mapping[str, object]) -> bytes:
    schema = f"{OPENLINEAGE_SCHEMA}#/$defs/{kind}"
    return ascii_json({"eventTime": timestamp(time), "producer": PRODUCER, "schemaURL": schema, **body})


def _datasets(described: Iterable[Described]) -> list[dict[str, Any]]:
    return [{"namespace": each.id.namespace, "name": each.id.name, "facets": each.facets} for each in described]


def _stamped(schema: str, members: Mapping[str, object]) -> Facet:
    present = {key: value for key, value in members.items() if value is not None}
    return {"_producer": PRODUCER, "_schemaURL": schema, **present}
