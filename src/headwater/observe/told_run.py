"""A run that is told event by event, whoever does the work."""

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
    """Which run of which job, as a parent is named."""

    run_id: str
    job: JobId

    def facet(self, root: "RunOfJob | None" = None) -> parent_run.ParentRunFacet:
        """The run facet `parent` of a run that this one contains."""
        return parent_run.ParentRunFacet(
            run=parent_run.Run(runId=self.run_id),
            job=parent_run.Job(namespace=self.job.namespace, name=self.job.name),
            root=parent_run.Root(
                run=parent_run.RootRun(runId=(root or self).run_id),
                job=parent_run.RootJob(namespace=(root or self).job.namespace, name=(root or self).job.name),
            ),
        )


@dataclass(frozen=True, slots=True)
class Outward:
    """The clock, and where events go; `put` must neither block nor raise."""

    now: Callable[[], datetime]
    put: Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Content:
    """What an event says besides which run it is of, and when."""

    facets: Mapping[str, RunFacet] = field(default_factory=dict)
    inputs: Iterable[Described] = ()
    outputs: Iterable[Described] = ()


class ToldRun:
    """One run: START once and first, one terminal event at most and last, times that never go back."""

    def __init__(
        self, job: Job, run_id: str, started_at: datetime, facets: Mapping[str, RunFacet], out: Outward
    ) -> None:
        """Nothing is told yet; `facets` are in every event."""
        self._job = job
        self._run_id = run_id
        self._facets = facets
        self._lifecycle = Lifecycle(started_at, out.now, out.put)

    @property
    def me(self) -> RunOfJob:
        """This run, for those that it contains."""
        return RunOfJob(self._run_id, JobId(self._job.namespace, self._job.name))

    @property
    def over(self) -> bool:
        """Whether the terminal event is out."""
        return self._lifecycle.over

    def tell(self, state: RunState, content: Content | None = None, at: datetime | None = None) -> None:
        """Emit an event, or nothing where none of this state may stand; START comes by itself where it is missing."""
        if state != RunState.START and not self._lifecycle.begun:
            self.tell(RunState.START)
        said = content or Content()

        def body(state: RunState, time: datetime) -> bytes:
            return run_event(
                state,
                time,
                Run(runId=self._run_id, facets={**self._facets, **said.facets}),
                self._job,
                inputs=[one.as_input() for one in said.inputs],
                outputs=[one.as_output() for one in said.outputs],
            )

        self._lifecycle.tell(state, body, at)
