"""A program's run, which is the parent of the runs of its actions and streams."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from openlineage.client.event_v2 import Job, RunState
from openlineage.client.facet_v2 import RunFacet, job_type_job, processing_engine_run

from headwater.model.build import HeadwaterRunFacet
from headwater.model.producer import VERSION
from headwater.observe.failure import Failure
from headwater.observe.run_facets import failure_facet
from headwater.observe.run_reporter import Content, EventOutput, RunOfJob, RunReporter

ENGINE: Final = "spark"

Kind = Literal["BATCH", "STREAMING"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureContext:
    """The dependencies and settings of a capture.

    Attributes:
        namespace: the jobs' namespace.
        job: the program's name.
        new_run_id: returns a fresh UUID, preferably of version 7, in lower case.
        parent: the run that started the program, an orchestrator's task for example.
    """

    namespace: str
    job: str
    new_run_id: Callable[[], str]
    out: EventOutput
    parent: RunOfJob | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program, or one of its runs, ended: successfully, with a failure, or stopped from outside."""

    failure: Failure | None = None
    stop_reason: str | None = None

    @property
    def state(self) -> RunState:
        """The OpenLineage state."""
        if self.failure is not None:
            return RunState.FAIL
        return RunState.COMPLETE if self.stop_reason is None else RunState.ABORT


WELL: Final = Ending()
"""Without a failure, and not stopped."""


class Application:
    """The parent run: it starts with the capture, and ends with the program."""

    def __init__(self, context: CaptureContext, spark_version: str) -> None:
        self._context = context
        self._started_at = context.out.now()
        self._engine: dict[str, RunFacet] = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version=spark_version, name=ENGINE, openlineageAdapterVersion=VERSION
            )
        }
        parent: dict[str, RunFacet] = {"parent": context.parent.facet()} if context.parent else {}
        self._run = RunReporter(
            self._job(context.job, "BATCH", "APPLICATION"),
            context.new_run_id(),
            self._started_at,
            {**self._engine, **parent},
            context.out,
        )

    @property
    def now(self) -> Callable[[], datetime]:
        """The clock of all runs."""
        return self._context.out.now

    @property
    def over(self) -> bool:
        """Whether the program's terminal event was emitted."""
        return self._run.over

    def begin(self) -> None:
        """Emit START."""
        self._run.emit(RunState.START)

    def end(self, ending: Ending) -> None:
        """Emit the program's terminal event, after those of all its runs."""
        facets: dict[str, RunFacet] = why(ending.failure)
        if ending.stop_reason is not None:
            facets["headwater_run"] = HeadwaterRunFacet(
                recordsIn=None,
                recordsOut=None,
                bytesIn=None,
                bytesOut=None,
                durationMs=round((self.now() - self._started_at).total_seconds() * 1000),
                stopReason=ending.stop_reason,
            )
        self._run.emit(ending.state, Content(facets))

    def child(self, name: str, kind: Kind, started_at: datetime, run_id: str | None = None) -> RunReporter:
        """A child run of the job named by the program's name and `name`; emits nothing yet."""
        job = self._job(f"{self._context.job}.{name}", kind, "QUERY")
        facets = {**self._engine, "parent": self._run.me.facet(self._context.parent)}
        return RunReporter(job, run_id or self._context.new_run_id(), started_at, facets, self._context.out)

    def _job(self, name: str, kind: Kind, job_type: str) -> Job:
        facet = job_type_job.JobTypeJobFacet(processingType=kind, integration="SPARK", jobType=job_type)
        return Job(namespace=self._context.namespace, name=name, facets={"jobType": facet})


def why(failure: Failure | None) -> dict[str, RunFacet]:
    """The facet with the reason of a failure; empty if there is none."""
    return {} if failure is None else {"errorMessage": failure_facet(failure)}
