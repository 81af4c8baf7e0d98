"""The deployed jobs, with their pipelines as validated against the current environment and agent configuration."""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from headwater.agent.deploying import checked
from headwater.agent.endpoints import Endpoint
from headwater.agent.planning import Start, as_known_by, next_start
from headwater.agent.states import Execution
from headwater.agent.store import AgentStore, Job
from headwater.errors import InvalidPipelineError, NotFoundError
from headwater.pipeline.s3 import bucket_reached_otherwise
from headwater.pipeline.spec import PipelineSpec

log = logging.getLogger(__name__)

_HISTORY: Final = 32
"""How many past executions are read to count a job's failures in a row."""
_SET_BACK: Final = timedelta(minutes=1)
"""A record this far in the future was made before the clock was set back; less is a normal clock correction."""
_ONE_WAY: Final = "all pipelines share one Spark; use the same credentials, endpoint and region for a bucket"


class Deployed:
    """The store's jobs with their validated pipelines; caches the current version of each."""

    def __init__(self, store: AgentStore, allowed: Sequence[Endpoint] | None) -> None:
        """`allowed` are the only endpoints that a pipeline may use; None: any."""
        self._store = store
        self._allowed = allowed
        self._specs: dict[int, tuple[int, PipelineSpec | InvalidPipelineError]] = {}
        self._set_back: dict[int, datetime] = {}

    def find(self, job_id: int) -> Job:
        """The job.

        Raises:
            NotFoundError: it does not exist, or is being deleted.
        """
        job = self._store.job(job_id)
        if job.wanted == "deleted":
            raise NotFoundError(f"the job {job.name} is being deleted")
        return job

    def spec_of(self, job: Job) -> PipelineSpec | InvalidPipelineError:
        """The current version's spec, validated against the current environment; or the error why it is refused."""
        version, spec = self._specs.get(job.id, (None, None))
        if spec is None or version != job.version:
            spec = self._checked(job)
            self._specs[job.id] = job.version, spec
        return spec

    def next_start(self, job: Job, now: datetime) -> Start | None:
        """When the job is to start next; None while it runs or waits for a person."""
        spec = self.spec_of(job)
        if isinstance(spec, InvalidPipelineError) or self.unfinished(job):
            return None
        deployed_at = self._store.version(job.id, job.version).deployed_at
        history = self._store.executions(job.id, job.version, _HISTORY)
        newest = max((history[0].created_at, history[0].ended_at or now)) if history else deployed_at
        if newest > now + _SET_BACK:
            believed = self._set_back[job.id] = min(self._set_back.get(job.id, now), now)
            deployed_at = min(deployed_at, believed)
            history = [*(as_known_by(one, believed) for one in history[:1]), *history[1:]]
        else:
            self._set_back.pop(job.id, None)
        return next_start(spec.agent, job.wanted, deployed_at, history)

    def forget(self, job: Job) -> None:
        """Drop a deleted job from the cache: a new job may get its id."""
        self._specs.pop(job.id, None)
        self._set_back.pop(job.id, None)

    def refuse_other_access(self, spec: PipelineSpec) -> None:
        """Refuse conflicting settings for a bucket: all pipelines share one Spark, which has one configuration each.

        Raises:
            InvalidPipelineError: the pipeline accesses a bucket in two ways, or in another way than another job.
        """
        if (bucket := bucket_reached_otherwise(spec, spec)) is not None:
            raise InvalidPipelineError(f"job {spec.name!r} configures the bucket {bucket!r} in two ways: {_ONE_WAY}")
        for job in self._store.jobs():
            is_other = job.wanted != "deleted" and (job.namespace, job.name) != (spec.namespace, spec.name)
            other = self.spec_of(job) if is_other else None
            if isinstance(other, PipelineSpec) and (bucket := bucket_reached_otherwise(spec, other)) is not None:
                raise InvalidPipelineError(
                    f"job {spec.name!r} configures the bucket {bucket!r} differently from job {job.name!r} of "
                    f"{job.namespace!r}: {_ONE_WAY}, or run one of them under another agent"
                )

    def unfinished(self, job: Job) -> list[Execution]:
        """The job's executions that have not ended."""
        return [one for one in self._store.unfinished() if one.job_id == job.id]

    def _checked(self, job: Job) -> PipelineSpec | InvalidPipelineError:
        try:
            return checked(self._store.version(job.id, job.version).pipeline, self._allowed)
        except InvalidPipelineError as refused:
            log.error("the pipeline of a deployed job is invalid", extra={"job": job.name, "version": job.version})
            return refused
