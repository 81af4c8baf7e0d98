"""The state machine of an execution: pure, without clock, disk or process.

    pending ──▶ starting ──▶ running ⇄ degraded
       │            ╰────────────┴──────┴──▶ stopping ──▶ stopped
       ▼                                        │
    stopped              completed, failed ◀────┤  (from any state that is under way)
                                                ╰──▶ lost ──▶ failed

An execution is `lost` when its worker died without reporting an end; once its run is closed it is `failed` (`crashed`).
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from headwater.model.facts import TerminalState

State = Literal["pending", "starting", "running", "degraded", "stopping", "completed", "failed", "stopped", "lost"]
Trigger = Literal["deploy", "schedule", "restart", "resume", "rerun"]

UNDER_WAY: Final = frozenset[State]({"starting", "running", "degraded", "stopping"})
"""The states in which a worker has the execution."""
ENDED: Final = frozenset[State]({"completed", "failed", "stopped"})

SUPERSEDED: Final = "superseded"
SHUTDOWN: Final = "shutdown"
CRASHED: Final = "crashed"
BY_PERSON: Final = "stopped"
DELETED: Final = "deleted"

_STATE_OF_END: Final[Mapping[TerminalState, State]] = {"COMPLETE": "completed", "FAIL": "failed", "ABORT": "stopped"}


@dataclass(frozen=True, slots=True)
class DeliveryCounts:
    """Counts of an execution's events that no longer wait, whichever process sent them.

    Attributes:
        delivered: acknowledged events, by transport.
        refused: events that their target rejected for good; `why` for the last.
    """

    delivered: Mapping[str, int]
    refused: int = 0
    why: str | None = None

    @property
    def count(self) -> int:
        """The number of events, each counted once per transport."""
        return sum(self.delivered.values()) + self.refused


@dataclass(frozen=True, slots=True)
class Health:
    """The delivery of the run's events; it never affects the pipeline.

    Attributes:
        delivered: acknowledged events, by transport.
        waiting: events that wait for delivery, each counted once per transport.
        dropped: lost events, by reason.
        last_error: why the last delivery failed; None if none did.
    """

    delivered: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    last_error: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether no event is lost, and none waits because of an error."""
        return not self.dropped and not (self.waiting and self.last_error)

    def after(self, went: DeliveryCounts) -> "Health":
        """The health after these deliveries too."""
        delivered = Counter(self.delivered) + Counter(went.delivered)
        dropped = Counter(self.dropped) + Counter({"refused": went.refused})
        waiting = max(0, self.waiting - went.count)
        last_error = went.why or (self.last_error if waiting or dropped else None)
        return Health(dict(delivered), waiting, dict(dropped), last_error)

    def without_waiting(self) -> "Health":
        """The health once it is known that no event waits any more."""
        return replace(self, waiting=0, last_error=self.last_error if self.dropped else None)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an execution is stopped; `by` and `note` if a person ordered it."""

    reason: str
    by: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One start of a job, which is one run.

    Attributes:
        run_id: the id of its run, and of the execution.
        started_at: when it was dispatched to a worker.
        last_seen: when the worker last reported that it runs.
        is_told: whether its START was emitted.
        counters: the newest values of the run facet `headwater_run`.
    """

    run_id: str
    job_id: int
    version: int
    trigger: Trigger
    created_at: datetime
    state: State = "pending"
    started_at: datetime | None = None
    last_seen: datetime | None = None
    ended_at: datetime | None = None
    is_told: bool = False
    stop: Stop | None = None
    error: str | None = None
    counters: Mapping[str, object] = field(default_factory=dict)
    health: Health = Health()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The agent is about to dispatch the execution to a worker."""


@dataclass(frozen=True, slots=True)
class StartReported:
    """The worker reported that the run's START was emitted: from now on the run needs a terminal event."""


@dataclass(frozen=True, slots=True)
class StatusReported:
    """The worker reported the progress of the execution: its counters and the health of its lineage."""

    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True)
class StopAsked:
    """A person or the agent itself wants the execution to stop."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class Ended:
    """The worker reported that the run has ended and its terminal event was emitted."""

    end: TerminalState
    error: str | None
    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker died without reporting how the execution ended."""


@dataclass(frozen=True, slots=True)
class Closed:
    """After a loss, another worker emitted the run's terminal event.

    Attributes:
        problem: why it could not, so that lineage shows the run as open; None if it did.
        waiting: how many of the closing events wait for delivery; `why`.
    """

    problem: str | None = None
    waiting: int = 0
    why: str | None = None


@dataclass(frozen=True, slots=True)
class HealthChanged:
    """Events of an ended execution were delivered since its worker's last report; others report that themselves."""

    health: Health


StateEvent = Dispatched | StartReported | StatusReported | StopAsked | Ended | Lost | Closed | HealthChanged
"""The inputs of the state machine, see `after`."""


def after(one: Execution, event: StateEvent, at: datetime) -> Execution:
    """The execution after an event; the same object if the event does not apply in its state.

    An ended execution does not change state, so a report that comes late or twice changes nothing.
    """
    match event:
        case Dispatched() if one.state == "pending":
            return replace(one, state="starting", started_at=at, last_seen=at)
        case StopAsked(stop) if one.state == "pending":
            return replace(one, state="stopped", stop=stop, ended_at=at)
        case StopAsked(stop) if one.state in UNDER_WAY - {"stopping"}:
            return replace(one, state="stopping", stop=stop)
        case StartReported() if one.state in UNDER_WAY:
            return replace(one, state="running" if one.state == "starting" else one.state, is_told=True, last_seen=at)
        case StatusReported(counters, health) if one.state in UNDER_WAY:
            seen = replace(one, counters=counters or one.counters, health=health, last_seen=at)
            return replace(seen, state=_health_with(one.state, health))
        case Ended() if one.state in UNDER_WAY | {"lost"}:
            return _ended(one, event, at)
        case Lost() if one.state in UNDER_WAY:
            return replace(one, state="lost", stop=Stop(CRASHED))
        case HealthChanged(health) if one.state in ENDED | {"lost"}:
            return replace(one, health=health)
        case Closed(problem, waiting, why) if one.state == "lost":
            still_open = "" if problem is None else f"; its run stays open in lineage: cannot send its end: {problem}"
            error = one.error or f"{_NO_OUTCOME}{still_open}"
            health = replace(one.health, waiting=one.health.waiting + waiting, last_error=why or one.health.last_error)
            return replace(one, state="failed", ended_at=one.last_seen or at, error=error, health=health)
    return one


_NO_OUTCOME: Final = "it ended without reporting an outcome: its process was killed, or the machine went down"


def _health_with(state: State, health: Health) -> State:
    if state == "running" and not health.is_good:
        return "degraded"
    if state == "degraded" and health.is_good:
        return "running"
    return state


def _ended(one: Execution, event: Ended, at: datetime) -> Execution:
    """The execution after its end; a run that completed before the stop reached it counts as completed, not stopped."""
    state = _STATE_OF_END[event.end]
    return replace(
        one,
        state=state,
        ended_at=at,
        last_seen=at,
        is_told=True,
        stop=(one.stop or Stop("stopped")) if state == "stopped" else None,
        error=event.error,
        counters=event.counters or one.counters,
        health=event.health,
    )
