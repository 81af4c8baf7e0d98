"""Updates of a Flink job's run as OpenLineage events."""

from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

import attrs
from openlineage.client.event_v2 import Job, Run, RunState
from openlineage.client.facet_v2 import RunFacet, error_message_run, job_type_job, processing_engine_run

from headwater.capture.flink.jobs import Checkpoints, Figures
from headwater.capture.flink.lifecycle import RunUpdate
from headwater.capture.traces import kinds, without_values
from headwater.model.build import HeadwaterRunFacet, run_event
from headwater.model.producer import HEADWATER_FACETS, VERSION

EXCEPTIONS: Final = kinds(
    r"java\.lang\.OutOfMemoryError",
    r"java\.util\.concurrent\.TimeoutException",
    r"org\.apache\.flink\.configuration\.",
    r"org\.apache\.flink\.runtime\.(?:JobException|checkpoint\.|client\.|execution\.|executiongraph\.|io\.network\.)",
    r"org\.apache\.flink\.runtime\.(?:jobmanager\.|jobmaster\.|resourcemanager\.|rpc\.|taskexecutor\.|taskmanager\.)",
)
"""Flink's exceptions whose messages are reported; those of formats and operators quote records."""


@attrs.define(kw_only=True)
class HeadwaterFlinkFacet(RunFacet):
    """The run facet `headwater_flink`: a Flink job as its cluster shows it.

    `state` is Flink's own. `restarts` counts how often some or all of its tasks were restarted. `streamCheckpoints`
    has `completed`, `failed`, `inProgress`, `restored`, `restoredFrom` and of the `last` one `id`, `completedAt`,
    `durationMs`, `stateBytes`, `path`. `vertices` has `name`, `parallelism`, `state` and `backPressuredMsPerSecond` of
    the busiest task. `savepoint` is the path of the savepoint that the job was stopped with. `lastFailure` has
    `message`, `at` and `task`. For an inferred end, `lastSeen` is when the cluster last listed the job.
    """

    jobId: str
    cluster: str
    state: str
    restarts: int | None = None
    streamCheckpoints: dict[str, object] | None = None
    vertices: list[dict[str, object]] | None = None
    savepoint: str | None = None
    lastFailure: dict[str, object] | None = None
    lastSeen: str | None = None

    @staticmethod
    def _get_schema() -> str:
        return f"{HEADWATER_FACETS}/headwater_flink.json"


@attrs.define(kw_only=True)
class RetractedErrorFacet(error_message_run.ErrorMessageRunFacet):
    """Retracts an earlier error message."""

    _deleted: bool = True


class ClusterContext(NamedTuple):
    """Properties that all events of a cluster's jobs share."""

    namespace: str
    """The namespace of the jobs."""
    cluster: str
    """The cluster's URL, without credentials."""
    heartbeat_s: int
    version: str | None
    """The version of Flink."""


def event_of(update: RunUpdate, context: ClusterContext) -> bytes:
    """The unsigned event; the same update gives the same bytes."""
    return run_event(
        RunState[update.state],
        _utc(update.time_ms),
        Run(runId=update.run.id, facets=_run_facets(update, context)),
        Job(
            namespace=context.namespace,
            name=update.run.job,
            facets={"jobType": _job_type(context.heartbeat_s, is_stream=update.run.is_stream)},
        ),
    )


def _job_type(heartbeat_s: int, *, is_stream: bool) -> job_type_job.JobTypeJobFacet:
    return job_type_job.JobTypeJobFacet(
        processingType="STREAMING" if is_stream else "BATCH",
        integration="FLINK",
        jobType="JOB",
        emissionPattern=job_type_job.EmissionPattern(
            eventTrigger="PERIODIC", eventContentMode="ACCUMULATIVE", windowDuration=heartbeat_s
        ),
    )


def _run_facets(update: RunUpdate, context: ClusterContext) -> dict[str, RunFacet]:
    run, figures = update.run, update.run.figures
    facets: dict[str, RunFacet] = {
        "headwater_flink": HeadwaterFlinkFacet(
            jobId=run.job_id,
            cluster=context.cluster,
            state=run.state,
            restarts=figures.restarts,
            streamCheckpoints=_checkpoints(figures.checkpoints),
            vertices=_vertices(figures),
            savepoint=update.savepoint,
            lastFailure=_last_failure(update),
            lastSeen=None if update.silence is None else _utc(run.seen_ms).isoformat(),
        ),
        "headwater_run": HeadwaterRunFacet(
            recordsIn=figures.records_in,
            recordsOut=figures.records_out,
            bytesIn=None,
            bytesOut=None,
            errorCount=(figures.restarts or 0) + (run.state == "FAILED"),
            durationMs=max(0, (update.ended_ms or update.time_ms) - run.started_ms),
            stopReason=update.stop_reason,
            isInferred=update.silence is not None or None,
        ),
    }
    if context.version is not None:
        facets["processing_engine"] = processing_engine_run.ProcessingEngineRunFacet(
            version=context.version, name="flink", openlineageAdapterVersion=VERSION
        )
    if (error := _error(update)) is not None:
        facets["errorMessage"] = error
    return facets


def _error(update: RunUpdate) -> RunFacet | None:
    if update.silence is not None:
        return error_message_run.ErrorMessageRunFacet(message=update.silence, programmingLanguage="JAVA")
    if update.state == "FAIL" or (update.ended_ms is not None and update.run.state == "FAILED"):
        trace = without_values(update.failure.trace if update.failure else "", EXCEPTIONS)
        return error_message_run.ErrorMessageRunFacet(
            message=trace.root, programmingLanguage="JAVA", stackTrace=trace.text or None
        )
    if update.is_retraction:
        return RetractedErrorFacet(message="withdrawn: the cluster lists the job again", programmingLanguage="JAVA")
    return None


def _checkpoints(checkpoints: Checkpoints | None) -> dict[str, object] | None:
    if checkpoints is None:
        return None
    last = checkpoints.last and {
        "id": checkpoints.last.id,
        "completedAt": _utc(checkpoints.last.ended_ms).isoformat(),
        "durationMs": checkpoints.last.duration_ms,
        "stateBytes": checkpoints.last.state_bytes,
        "path": checkpoints.last.path,
    }
    members = {
        "completed": checkpoints.completed,
        "failed": checkpoints.failed,
        "inProgress": checkpoints.in_progress,
        "restored": checkpoints.restored,
        "restoredFrom": checkpoints.restored_from,
        "last": last and _without_nones(last),
    }
    return _without_nones(members)


def _vertices(figures: Figures) -> list[dict[str, object]]:
    return [
        _without_nones(
            {
                "name": vertex.name,
                "parallelism": vertex.parallelism,
                "state": vertex.state,
                "backPressuredMsPerSecond": vertex.back_pressured_ms_per_second,
            }
        )
        for vertex in figures.vertices
    ]


def _last_failure(update: RunUpdate) -> dict[str, object] | None:
    failure = update.failure
    if failure is None:
        return None
    message = without_values(failure.trace, EXCEPTIONS).root
    return _without_nones({"message": message, "at": _utc(failure.at_ms).isoformat(), "task": failure.task})


def _without_nones(members: dict[str, Any]) -> dict[str, object]:
    return {name: value for name, value in members.items() if value is not None}


def _utc(unix_ms: int) -> datetime:
    return datetime.fromtimestamp(unix_ms / 1000, UTC)
