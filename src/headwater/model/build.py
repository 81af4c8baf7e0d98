"""Events of our own, built from the official client's classes and written as UTF-8 JSON.

The caller fills `Run`, `Job`, `InputDataset`, `OutputDataset` and the facets of `openlineage.client.facet_v2`; what is
written here is the envelope: the time, the schema, and us as the producer of the event and of every facet in it.

Importing this module imports the official client, which takes 0.3 to 0.5 s: code that may run with lineage off imports
it only once it is on, and programs that must stay small write their events by `slim`.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from typing import Any, Final

import attrs
from openlineage.client.event_v2 import (
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    StaticDataset,
)
from openlineage.client.facet_v2 import RunFacet

from headwater.model.producer import HEADWATER_FACETS, PRODUCER
from headwater.model.slim import ascii_json
from headwater.model.times import timestamp

_FACET_MAPS: Final = frozenset({"facets", "inputFacets", "outputFacets"})


@attrs.define(kw_only=True)
class HeadwaterRunFacet(RunFacet):
    """The progress of a run so far: the run facet `headwater_run`.

    A counter is None where the engine does not report it; zero is a reported zero. `stoppedBy` and `stopNote` are who
    stopped the run, and why, if a person did. `isInferred` marks an end that an observer inferred from the run's
    silence, and that may be wrong.
    """

    recordsIn: int | None = 0
    recordsOut: int | None = 0
    bytesIn: int | None = 0
    bytesOut: int | None = 0
    errorCount: int = 0
    durationMs: int = 0
    stopReason: str | None = None
    stoppedBy: str | None = None
    stopNote: str | None = None
    isInferred: bool | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_run.json"


@attrs.define(kw_only=True)
class HeadwaterPipelineFacet(RunFacet):
    """Which pipeline file a run executes, and on what: the run facet `headwater_pipeline`."""

    name: str
    file: str | None = None
    schemaVersion: int | None = None
    mode: str | None = None
    engine: str | None = None
    engineVersion: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_pipeline.json"


def run_event(  # the spec's own parts of a run event; a dataclass around them would be RunEvent again
    state: RunState,
    time: datetime,
    run: Run,
    job: Job,
    *,
    inputs: Sequence[InputDataset] = (),
    outputs: Sequence[OutputDataset] = (),
) -> bytes:
    """A run event, as UTF-8 JSON.

    Raises:
        InvalidEventError: `time` has no zone, or a facet holds what JSON cannot carry.

    Source: OpenLineage 2.0.2 `RunEvent`, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """
    return _written(
        RunEvent(
            eventType=state,
            eventTime=timestamp(time),
            run=run,
            job=job,
            inputs=list(inputs),
            outputs=list(outputs),
            producer=PRODUCER,
        )
    )


def job_event(
    time: datetime, job: Job, *, inputs: Sequence[InputDataset] = (), outputs: Sequence[OutputDataset] = ()
) -> bytes:
    """A job event, as UTF-8 JSON.

    Raises:
        InvalidEventError: `time` has no zone, or a facet holds what JSON cannot carry.

    Source: OpenLineage 2.0.2 `JobEvent`, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """
    return _written(
        JobEvent(eventTime=timestamp(time), job=job, inputs=list(inputs), outputs=list(outputs), producer=PRODUCER)
    )


def dataset_event(time: datetime, dataset: StaticDataset) -> bytes:
    """A dataset event, as UTF-8 JSON.

    Raises:
        InvalidEventError: `time` has no zone, or a facet holds what JSON cannot carry.

    Source: OpenLineage 2.0.2 `DatasetEvent`, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """
    return _written(DatasetEvent(eventTime=timestamp(time), dataset=dataset, producer=PRODUCER))


def _written(event: RunEvent | JobEvent | DatasetEvent) -> bytes:
    """The event's JSON.

    The client's own `Serde` would write the empty lists and maps that stand for "not said", and put a placeholder
    where a value cannot be written.
    """
    body = attrs.asdict(event, filter=_is_present, value_serializer=_plain)
    _stamp(body)
    return ascii_json(body)


def _is_present(field: "attrs.Attribute[Any]", value: object) -> bool:
    """False for None and for the empty default of an optional list or map; a required field stays, though empty."""
    is_optional = field.default is not attrs.NOTHING
    return value is not None and not (is_optional and isinstance(value, dict | list) and not value)


def _plain(_owner: object, _field: object, value: object) -> object:
    """An enum as the text the spec knows it by; anything else as it is."""
    return value.value if isinstance(value, Enum) else value


def _stamp(part: object) -> None:
    """Name us as the producer of every facet: the client's classes fall back to a global of their own."""
    if isinstance(part, list):
        for item in part:
            _stamp(item)
    elif isinstance(part, dict):
        for key, value in part.items():
            if key in _FACET_MAPS:
                for facet in value.values():
                    facet["_producer"] = PRODUCER
            else:
                _stamp(value)
