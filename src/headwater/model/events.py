"""The three OpenLineage events, parsed from the received bytes, which they retain.

Strict where identity depends on it (times, run ids, names, the shape of `inputs` and `outputs`), open everywhere else:
facets keep their content in `facets`, and unknown members stay in `raw`. Only passwords in addresses are stripped from
what is parsed, in names and facets alike; they stay in `raw`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, cast

from headwater.errors import InvalidEventError
from headwater.model import strict_json
from headwater.model.credentials import may_hold_secrets, without_secrets_in
from headwater.model.facet_texts import FacetTexts
from headwater.model.names import DatasetId, JobId, run_id_of
from headwater.model.outline import FacetSpan, Path, outline
from headwater.model.plain import PlainName, plain_run_event
from headwater.model.times import microseconds
from headwater.model.value import value
from headwater.model.wire import EventType, WireDatasetEvent, WireJobEvent, WireRunEvent, event_time

Direction = Literal["input", "output"]
Facets = Mapping[str, Mapping[str, Any]]
_Side = Literal["inputs", "outputs"]

NO_FACETS: Facets = {}

_SLOTS: Final[Mapping[_Side, tuple[str, str]]] = {
    "inputs": ("inputFacets", "outputFacets"),
    "outputs": ("outputFacets", "inputFacets"),
}
"""The facets of one read or one write, where a producer may put them: the second counts if the first has none."""

_WIRES: Final[Mapping[str, type[WireRunEvent | WireJobEvent | WireDatasetEvent]]] = {
    "RunEvent": WireRunEvent,
    "JobEvent": WireJobEvent,
    "DatasetEvent": WireDatasetEvent,
}
"""By the end of `schemaURL`."""


def undeleted(facets: Facets, name: str) -> Mapping[str, Any] | None:
    """A facet's content; None where it is absent or a tombstone (`_deleted`)."""
    facet = facets.get(name)
    return None if facet is None or facet.get("_deleted") is True else facet


class Stamp(NamedTuple):
    """The order of last-writer merges: event time, then digest.

    `time_us` is the event time in microseconds since 1970, UTC; `digest` breaks ties, so that the winner does not
    depend on the order of arrival.
    """

    time_us: int
    digest: bytes


@value
class DatasetRef:
    """A dataset in an event; `id` may have an empty namespace or name, and is then quarantined."""

    id: DatasetId
    facets: Facets = field(default_factory=dict)
    direction_facets: Facets = field(default_factory=dict)
    """`inputFacets` of an input, `outputFacets` of an output."""


@value
class RunEvent:
    """A run changed state, or reported more about itself."""

    raw: bytes
    stamp: Stamp
    producer: str
    event_type: EventType
    run_id: str
    """As it was sent; a UUID in lower case."""
    job: JobId
    run_facets: Facets
    job_facets: Facets
    inputs: tuple[DatasetRef, ...]
    outputs: tuple[DatasetRef, ...]
    facet_spans: tuple[FacetSpan, ...] | None = None
    """The positions of its facets, if found while parsing."""


@value
class JobEvent:
    """A job was declared, without a run."""

    raw: bytes
    stamp: Stamp
    job: JobId
    job_facets: Facets
    inputs: tuple[DatasetRef, ...]
    outputs: tuple[DatasetRef, ...]
    lacking: tuple[str, ...] = ()
    """The members it lacks to be a run event, if its `schemaURL` or a state claims that it is one."""


@value
class DatasetEvent:
    """A dataset was declared, without a run."""

    raw: bytes
    stamp: Stamp
    dataset: DatasetRef
    lacking: tuple[str, ...] = ()
    """As in `JobEvent`."""


Event = RunEvent | JobEvent | DatasetEvent


def parse_event(raw: bytes) -> Event:
    """Parse an event from UTF-8 JSON.

    An event with a run is a run event, else one with a job is a job event, else it is a dataset event; one with a job
    and a dataset is what its `schemaURL` says. `null` for an optional member counts as absent.

    Raises:
        MalformedJsonError: the bytes are not a JSON document.
        InvalidEventError: the message gives the path of the first bad field.

    Source: OpenLineage 2.0.2, https://openlineage.io/spec/2-0-2/OpenLineage.json
    """
    return _plain(raw) or _any(raw)


def _plain(raw: bytes) -> RunEvent | None:
    """The fast path: the event, if it is an ordinary run event."""
    found = outline(raw)
    event = None if found is None else plain_run_event(found.shell)
    time = None if event is None else event.time
    if found is None or event is None or time is None:
        return None
    return RunEvent(
        raw=raw,
        stamp=_stamp(time, raw),
        producer=event.producer,
        event_type=event.eventType or "OTHER",
        run_id=run_id_of(event.run.runId),
        job=JobId.sanitized(event.job.namespace, event.job.name),
        run_facets=found.facets.get(("run", "facets"), NO_FACETS),
        job_facets=found.facets.get(("job", "facets"), NO_FACETS),
        inputs=_plain_refs("inputs", event.inputs, found.facets),
        outputs=_plain_refs("outputs", event.outputs, found.facets),
        facet_spans=found.spans,
    )


def _plain_refs(
    side: _Side, names: Sequence[PlainName] | None, facets: Mapping[Path, FacetTexts]
) -> tuple[DatasetRef, ...]:
    refs = []
    own, other = _SLOTS[side]
    for number, name in enumerate(names or ()):
        path = (side, str(number))
        of_direction = facets.get((*path, own)) or facets.get((*path, other)) or NO_FACETS
        refs.append(
            DatasetRef(
                DatasetId.sanitized(name.namespace, name.name), facets.get((*path, "facets"), NO_FACETS), of_direction
            )
        )
    return tuple(refs)


def _any(raw: bytes) -> Event:
    body = strict_json.parse(raw)
    if not isinstance(body, dict):
        raise InvalidEventError("event: expected an object", ("body",) if body is None else ())
    if may_hold_secrets(raw):
        body = without_secrets_in(body)
    claimed = _claimed_type(body)
    if body.get("run") is not None:
        return _run_event(raw, _stamp(event_time(WireRunEvent, body), raw), body)
    if body.get("dataset") is not None and (claimed == "DatasetEvent" or body.get("job") is None):
        stamp = _stamp(event_time(WireDatasetEvent, body), raw)
        dataset = cast(Mapping[str, Any], body["dataset"])
        return DatasetEvent(raw, stamp, _ref(dataset, "inputs"), _lacking(body, claimed))
    if body.get("job") is not None:
        return _job_event(raw, _stamp(event_time(WireJobEvent, body), raw), body, _lacking(body, claimed))
    wire = _WIRES.get(claimed or "", WireRunEvent)
    try:
        event_time(wire, body)
    except InvalidEventError as fault:
        message = "event: expected one of run (with job), job or dataset"
        raise InvalidEventError(message, fault.missing) from None
    raise AssertionError(f"an event without a run, a job and a dataset passed as {wire.__name__}")


def _claimed_type(body: Mapping[str, Any]) -> str | None:
    """The event type that `schemaURL` claims; None if it claims none."""
    url = body.get("schemaURL")
    claimed = url.rpartition("/")[2] if isinstance(url, str) else None
    return claimed if claimed in _WIRES else None


def _lacking(body: Mapping[str, Any], claimed: str | None) -> tuple[str, ...]:
    """The members missing from an event without a run, if its `schemaURL` or a state claims that it is a run event."""
    is_of_run = claimed == "RunEvent" or (body.get("eventType") is not None and body.get("dataset") is None)
    return tuple(name for name in ("run", "job") if body.get(name) is None) if is_of_run else ()


def _run_event(raw: bytes, stamp: Stamp, body: Mapping[str, Any]) -> RunEvent:
    """The event; the body has been validated."""
    run, job = body["run"], body["job"]
    return RunEvent(
        raw=raw,
        stamp=stamp,
        producer=body["producer"],
        event_type=cast(EventType, (body.get("eventType") or "OTHER").upper()),
        run_id=run_id_of(run["runId"]),
        job=JobId.sanitized(job["namespace"], job["name"]),
        run_facets=run.get("facets") or NO_FACETS,
        job_facets=job.get("facets") or NO_FACETS,
        inputs=_refs("inputs", body),
        outputs=_refs("outputs", body),
    )


def _job_event(raw: bytes, stamp: Stamp, body: Mapping[str, Any], lacking: tuple[str, ...]) -> JobEvent:
    job = body["job"]
    return JobEvent(
        raw=raw,
        stamp=stamp,
        job=JobId.sanitized(job["namespace"], job["name"]),
        job_facets=job.get("facets") or NO_FACETS,
        inputs=_refs("inputs", body),
        outputs=_refs("outputs", body),
        lacking=lacking,
    )


def _refs(side: _Side, body: Mapping[str, Any]) -> tuple[DatasetRef, ...]:
    return tuple([_ref(dataset, side) for dataset in body.get(side) or ()])


def _ref(dataset: Mapping[str, Any], side: _Side) -> DatasetRef:
    own, other = _SLOTS[side]
    of_direction = dataset.get(own) or dataset.get(other) or NO_FACETS
    name = DatasetId.sanitized(dataset["namespace"], dataset["name"])
    return DatasetRef(name, dataset.get("facets") or NO_FACETS, of_direction)


def _stamp(time: datetime, raw: bytes) -> Stamp:
    return Stamp(microseconds(time), hashlib.sha256(raw).digest())
