"""Emits the events of one run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from openlineage.client.event_v2 import Job, Run, RunState
from openlineage.client.facet_v2 import RunFacet, parent_run

from headwater.model.build import run_event
from headwater.model.names import JobId
from headwater.observe.described import Described
from headwater.observe.lifecycle import Lifecycle


@dataclass(frozen=True, slots=True)
class RunOfJob:
    """A run and its job, as named by the `parent` facet."""

    run_id: str
    job: JobId

    def facet(self, root: "RunOfJob | None" = None) -> parent_run.ParentRunFacet:
        """The run facet `parent` for a run that this one contains."""
        return parent_run.ParentRunFacet(
            run=parent_run.Run(runId=self.run_id),
            job=parent_run.Job(namespace=self.job.namespace, name=self.job.name),
            root=parent_run.Root(
                run=parent_run.RootRun(runId=(root or self).run_id),
                job=parent_run.RootJob(namespace=(root or self).job.namespace, name=(root or self).job.name),
            ),
        )


@dataclass(frozen=True, slots=True)
class EventOutput:
    """The clock, and the function that takes events; `put` must neither block nor raise."""

    now: Callable[[], datetime]
    put: Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Content:
    """An event's content besides its run and its time."""

    facets: Mapping[str, RunFacet] = field(default_factory=dict)
    inputs: Iterable[Described] = ()
    outputs: Iterable[Described] = ()


class RunReporter:
    """Emits one run's events: START once and first, at most one terminal event and last, times in order."""

    def __init__(
        self, job: Job, run_id: str, started_at: datetime, facets: Mapping[str, RunFacet], out: EventOutput
    ) -> None:
        """Emits nothing yet; `facets` are in every event."""
        self._job = job
        self._run_id = run_id
        self._facets = facets
        self._lifecycle = Lifecycle(started_at, out.now, out.put)

    @property
    def me(self) -> RunOfJob:
        """This run, as the parent of runs that it contains."""
        return RunOfJob(self._run_id, JobId(self._job.namespace, self._job.name))

    @property
    def over(self) -> bool:
        """Whether the terminal event was emitted."""
        return self._lifecycle.over

    def emit(self, state: RunState, content: Content | None = None, at: datetime | None = None) -> None:
        """Emit an event, unless its state is not valid now; a missing START is emitted before it."""
        if state != RunState.START and not self._lifecycle.begun:
            self.emit(RunState.START)
        sent = content or Content()

        def body(state: RunState, time: datetime) -> bytes:
            return run_event(
                state,
                time,
                Run(runId=self._run_id, facets={**self._facets, **sent.facets}),
                self._job,
                inputs=[one.as_input() for one in sent.inputs],
                outputs=[one.as_output() for one in sent.outputs],
            )

        self._lifecycle.emit(state, body, at)
