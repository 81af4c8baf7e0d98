"""Runs: state, times, datasets, and whether their events can be trusted."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Final, NamedTuple, cast

import orjson

from headwater.graph.mending import Mended, StateChange, counted_in_text, placed, started_late
from headwater.model.digest import as_text
from headwater.model.events import Direction
from headwater.model.facets.about import TagsFacet
from headwater.model.facets.counts import COUNTED, counts_as_text
from headwater.model.facets.own import DeclaredFacet, counters
from headwater.model.facets.run import (
    ExecutionParametersFacet,
    ExtractionErrorFacet,
    NominalTimeFacet,
    moment,
)
from headwater.model.facts import ParentRun, ShapePart, Stamped
from headwater.model.names import DatasetId
from headwater.model.times import microseconds
from headwater.service.background import collect_in_slices
from headwater.service.http.answers import iso, writable
from headwater.service.knowledge.activity import KnownRun
from headwater.service.knowledge.knowledge import Knowledge
from headwater.service.knowledge.versions import shape_at, shape_uuid, version_given_by
from headwater.service.past.older_facets import newest_job_facets
from headwater.service.shapes import marquez as shapes
from headwater.service.views.names import facets_of, mended_shape, name_of
from headwater.service.views.silence import stale_after_us
from headwater.signing.verify import Verdict
from headwater.store.entries import LoggedEvent
from headwater.store.facet_reader import ObservedFacetRow, RunFacetRow

_WORST_FIRST: Final[tuple[Verdict, ...]] = ("tampered", "malformed", "unknown-key", "unsigned", "ok")
_READ_FACETS: Final[tuple[str, ...]] = (
    "nominalTime",
    "headwater_run",
    "expanso_run",
    "extractionError",
    DeclaredFacet.key,
    ExecutionParametersFacet.key,
    TagsFacet.key,
)

Verdicts = Sequence[tuple[str, str | None, int]]


class _Stored(NamedTuple):
    """What the store holds of one run."""

    facets: Sequence[RunFacetRow]
    observed: Sequence[ObservedFacetRow]
    verdicts: Verdicts


_NOTHING_STORED: Final = _Stored((), (), ())


def run_shapes(knowledge: Knowledge, runs: Iterable[KnownRun]) -> list[shapes.Run]:
    """The runs, in order, by three queries for all that have events of their own."""
    known = list(runs)
    ids = [run.run_id for run in known if run.has_events]
    stored: dict[str, _Stored] = {}
    if ids:
        facets = knowledge.store.run_facets(ids)
        observed = knowledge.store.observed_facets(ids)
        verdicts = knowledge.store.run_verdicts(ids)
        stored = {run_id: _Stored(facets[run_id], observed[run_id], verdicts[run_id]) for run_id in ids}
    return [_run(knowledge, run, stored.get(run.run_id, _NOTHING_STORED)) for run in known]


def run_texts(knowledge: Knowledge, runs: Iterable[KnownRun]) -> list[shapes.Run]:
    """The runs, in order, as finished JSON; one that has ended is cached until it has further events."""
    known = list(runs)
    cached = knowledge.rendered.runs
    texts = {run.run_id: text for run in known if (text := cached.get(run.run_id)) is not None}
    missing = [run for run in known if run.run_id not in texts]
    for run, shape in zip(missing, run_shapes(knowledge, missing), strict=True):
        text = texts[run.run_id] = orjson.dumps(shape)
        if run.ended_us is not None:
            cached.keep(run.job, run.run_id, text)
    return cast("list[shapes.Run]", [orjson.Fragment(texts[run.run_id]) for run in known])


def _run(knowledge: Knowledge, run: KnownRun, stored: _Stored) -> shapes.Run:
    bodies = {facet.name: facet.body for facet in stored.facets}
    read = {name: json.loads(bodies[name]) for name in _READ_FACETS if name in bodies}
    nominal = NominalTimeFacet.readable(read)
    return shapes.Run(
        id=run.run_id,
        createdAt=iso(run.seen.first_us),
        updatedAt=iso(run.seen.last_us),
        nominalStartTime=_nominal(nominal.nominal_start_time if nominal else None),
        nominalEndTime=_nominal(nominal.nominal_end_time if nominal else None),
        state=run.state,
        startedAt=None if run.started_us is None else iso(run.started_us),
        endedAt=None if run.ended_us is None else iso(run.ended_us),
        durationMs=_duration_ms(run),
        args=_arguments(read) if DeclaredFacet.key in read else _args(run, nominal),
        jobVersion=_job_version(knowledge, run),
        inputDatasetVersions=_versions(knowledge, run, "input", stored.observed),
        outputDatasetVersions=_versions(knowledge, run, "output", stored.observed),
        facets=facets_of(bodies),
        job=name_of(run.job),
        signature=_signature(stored.verdicts) if run.has_events else None,
        counters=_counters(read),
        parent=_part_of(run.parent),
        root=_part_of(run.root),
        staleAfter=None if (stale_us := stale_after_us(knowledge, run)) is None else iso(stale_us),
        gap=_gap(read),
        tags=_tags(read),
        mended=[mended_shape(each) for each in _mended(knowledge, run, stored.observed)],
    )


def _part_of(parent: ParentRun | None) -> shapes.RunOfParent | None:
    return None if parent is None else shapes.RunOfParent(runId=parent.run_id, job=name_of(parent.job))


def _gap(read: Mapping[str, object]) -> shapes.Gap | None:
    facet = ExtractionErrorFacet.readable(read)
    if facet is None or not facet.reports_a_gap:
        return None
    return shapes.Gap(
        failedTasks=writable(facet.failed_tasks) or 0,
        totalTasks=writable(facet.total_tasks) or 0,
        messages=[each.error_message for each in facet.errors if each.error_message is not None],
    )


def _tags(read: Mapping[str, object]) -> list[str]:
    facet = TagsFacet.readable(read)
    return [] if facet is None else list(dict.fromkeys(word for _, word in facet.words))


def _mended(knowledge: Knowledge, run: KnownRun, observed: Sequence[ObservedFacetRow]) -> Iterator[Mended]:
    if not run.has_events:
        return
    known = knowledge.graph.runs[run.run_id]
    end = knowledge.graph.end_of(known)
    if end is not None and end.mended is not None:
        yield end.mended
    for name in sorted({name for _, name in known.observed if not name.is_complete}):
        if (found := placed(name, knowledge.graph.identities)) is not None:
            yield found
    for row in observed:
        if row.name in COUNTED and row.body is not None and (counts := [*counts_as_text(json.loads(row.body))]):
            yield counted_in_text(row.name, row.dataset, counts)


def run_shape(knowledge: Knowledge, run: KnownRun) -> shapes.Run:
    """One run, also with what only the log holds: whether its START came after its end."""
    (shape,) = run_shapes(knowledge, [run])
    late = None if run.ended_us is None else _started_late(knowledge, run.run_id)
    return shape if late is None else {**shape, "mended": [*shape["mended"], mended_shape(late)]}


def _started_late(knowledge: Knowledge, run_id: str) -> Mended | None:
    known = knowledge.graph.runs[run_id]
    end = knowledge.graph.end_of(known)
    if end is None or known.times is None:
        return None
    changes = [
        StateChange(kind, at_us, digest.hex()) for kind, at_us, digest in knowledge.store.changes_of_state(run_id)
    ]
    return started_late(end, known.times.started_us, changes)


def _nominal(text: str | None) -> str | None:
    return None if text is None else iso(microseconds(moment(text)))


def _duration_ms(run: KnownRun) -> int | None:
    if run.ended_us is None or run.started_us is None:
        return None
    return max(0, (run.ended_us - run.started_us) // 1000)


def _args(run: KnownRun, nominal: NominalTimeFacet | None) -> dict[str, str]:
    """The arguments of a run, as Marquez calls them: nominal times, and the parent."""
    args: dict[str, str] = {}
    if nominal is not None:
        if nominal.start is not None:
            args["nominal_start_time"] = _as_java_writes(nominal.start)
        if nominal.end is not None:
            args["nominal_end_time"] = _as_java_writes(nominal.end)
    if run.parent is not None:
        args |= {"run_id": run.parent.run_id, "name": run.parent.job.name, "namespace": run.parent.job.namespace}
    return args


def _as_java_writes(time: datetime) -> str:
    """A time without trailing zeros, as in Marquez's arguments.

    >>> _as_java_writes(moment("2026-05-22T00:00:00.000Z"))
    '2026-05-22T00:00Z'

    Source: Java's `ZonedDateTime.toString`
    """
    if time.microsecond % 1000:
        least = "microseconds"
    elif time.microsecond:
        least = "milliseconds"
    else:
        least = "seconds" if time.second else "minutes"
    return time.isoformat(timespec=least).replace("+00:00", "Z")


def _arguments(read: Mapping[str, object]) -> dict[str, str]:
    """The arguments of a run that was created over the API."""
    facet = ExecutionParametersFacet.readable(read)
    parameters = None if facet is None else facet.parameters
    return {parameter.key: parameter.value or "" for parameter in parameters or ()}


def _job_version(knowledge: Knowledge, run: KnownRun) -> shapes.Versioned | None:
    version = version_given_by(knowledge, run.run_id, run.job)
    if version is None:
        return None
    return shapes.Versioned(namespace=run.job.namespace, name=run.job.name, version=str(version))


@dataclass(slots=True)
class _End:
    """What a run reported of one input or output."""

    last_us: int
    own_shape: dict[ShapePart, Stamped] = field(default_factory=dict)
    newest: dict[str, ObservedFacetRow] = field(default_factory=dict)
    """The newest report of each facet, under any of the dataset's names."""

    @property
    def facets(self) -> dict[str, bytes]:
        """The newest body of each facet."""
        return {name: row.body for name, row in self.newest.items() if row.body is not None}


def _versions(
    knowledge: Knowledge, run: KnownRun, direction: Direction, stored: Sequence[ObservedFacetRow]
) -> list[shapes.DatasetVersionOfRun]:
    """The inputs or outputs of the run, each once, by shown name."""
    versions: list[shapes.DatasetVersionOfRun] = []
    for name, end in sorted(_ends(knowledge, run, direction, stored).items(), key=lambda item: item[0]):
        versioned = version_at(knowledge, name, end.last_us, end.own_shape)
        versions.append(shapes.DatasetVersionOfRun(datasetVersionId=versioned, facets=facets_of(end.facets)))
    return versions


def version_at(
    knowledge: Knowledge, name: DatasetId, time_us: int, own: Mapping[ShapePart, Stamped] | None = None
) -> shapes.Versioned:
    """The version of a dataset that a run met; `own` are the parts of its shape that the run reported itself."""
    version = str(shape_uuid(knowledge.graph, name, shape_at(knowledge, name, time_us, own or {})))
    return shapes.Versioned(namespace=name.namespace, name=name.name, version=version)


def last_observed_us(knowledge: Knowledge, run: KnownRun, direction: Direction) -> Mapping[DatasetId, int]:
    """When the run last reported reading or writing each dataset, by shown names."""
    last_us: dict[DatasetId, int] = {}
    observed = knowledge.graph.runs[run.run_id].observed if run.has_events else {}
    for (end_direction, name), seen in observed.items():
        if end_direction == direction and (shown := knowledge.graph.shown(name)).is_complete:
            last_us[shown] = max(last_us.get(shown, seen.last_us), seen.last_us)
    return last_us


def _ends(
    knowledge: Knowledge, run: KnownRun, direction: Direction, stored: Sequence[ObservedFacetRow]
) -> dict[DatasetId, _End]:
    ends = {name: _End(last_us) for name, last_us in last_observed_us(knowledge, run, direction).items()}
    for row in stored:
        end = ends.get(knowledge.graph.shown(row.dataset)) if row.direction == direction else None
        if end is not None:  # else an event that is stored, and will be learned in a moment
            if row.body is None:
                part: ShapePart = "schema" if row.name == "schema" else "version"
                report = Stamped(row.stamp, row.direction == "output", row.content)
                end.own_shape[part] = max(end.own_shape.get(part, report), report)
            else:
                end.newest[row.name] = max(end.newest.get(row.name, row), row, key=attrgetter("stamp", "content"))
    return ends


def _signature(verdicts: Verdicts) -> shapes.Signature:
    counts: dict[str, int] = defaultdict(int)
    for verdict, _, count in verdicts:
        counts[verdict] += count
    worst: Verdict = next((verdict for verdict in _WORST_FIRST if verdict in counts), "unsigned")
    keys = {key_id for verdict, key_id, _ in verdicts if verdict == worst and key_id is not None}
    return shapes.Signature(
        verdict=worst,
        keyId=min(keys, default=None),
        events=sum(counts.values()),
        verified=counts.get("ok", 0),
    )


def _counters(read: Mapping[str, object]) -> shapes.Counters | None:
    counted = counters(read)
    if counted is None:
        return None
    return shapes.Counters(
        recordsIn=writable(counted.records_in),
        recordsOut=writable(counted.records_out),
        bytesIn=writable(counted.bytes_in),
        bytesOut=writable(counted.bytes_out),
        errorCount=writable(counted.error_count),
        durationMs=writable(counted.duration_ms),
        stopReason=counted.stop_reason,
    )


def run_facets(knowledge: Knowledge, run: KnownRun) -> shapes.RunFacets:
    """The facets of the run itself."""
    rows = knowledge.store.run_facets([run.run_id])[run.run_id]
    return shapes.RunFacets(runId=run.run_id, facets=facets_of({row.name: row.body for row in rows}))


async def job_facets_of_run(knowledge: Knowledge, run: KnownRun) -> shapes.RunFacets:
    """The facets of its job as this run reported them, newest of each; works in time slices."""
    found: dict[str, Stamped] = {}
    if run.has_events:
        names = {*knowledge.graph.job_digests(run.job)}
        await collect_in_slices(newest_job_facets(knowledge.store.newest_first(run.run_id), run.job, names, found))
    bodies = knowledge.store.bodies([facet.content for facet in found.values()])
    facets = {name: bodies[facet.content] for name, facet in sorted(found.items())}
    return shapes.RunFacets(runId=run.run_id, facets=facets_of(facets))


def run_events(knowledge: Knowledge, run: KnownRun, limit: int, offset: int) -> shapes.RunEvents:
    """A page of the events of a run, by event time."""
    verdicts = knowledge.store.run_verdicts([run.run_id])[run.run_id]
    return shapes.RunEvents(
        events=[event_shape(logged) for logged in knowledge.store.run_events(run.run_id, limit, offset)],
        totalCount=sum(count for _, _, count in verdicts),
    )


def event_shape(logged: LoggedEvent) -> shapes.RunEvent:
    """An event as the log has it, without its bytes."""
    return shapes.RunEvent(
        index=logged.log_index,
        eventType=logged.event_type,
        eventTime=iso(logged.event_us),
        receivedAt=iso(logged.received_us),
        digest=as_text(logged.digest),
        verdict=logged.verdict,
        keyId=logged.key_id,
    )
