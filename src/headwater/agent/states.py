"""An execution, and what may happen to it: a state machine without clock, disk or process.

    pending ──▶ starting ──▶ running ⇄ degraded
       │            ╰────────────┴──────┴──▶ stopping ──▶ stopped
       ▼                                        │
    stopped              completed, failed ◀────┤  (from any state that is under way)
                                                ╰──▶ lost ──▶ failed

`lost` is an execution whose worker went away without a word; once its run is closed, it has `failed`, `crashed`.
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
"""A worker has it."""
ENDED: Final = frozenset[State]({"completed", "failed", "stopped"})

SUPERSEDED: Final = "superseded"
SHUTDOWN: Final = "shutdown"
CRASHED: Final = "crashed"
BY_PERSON: Final = "stopped"
DELETED: Final = "deleted"

_STATE_OF_END: Final[Mapping[TerminalState, State]] = {"COMPLETE": "completed", "FAIL": "failed", "ABORT": "stopped"}


@dataclass(frozen=True, slots=True)
class WentOut:
    """Events of an execution that wait no more, whoever sent them.

    Attributes:
        delivered: acknowledged ones, by transport.
        refused: those that their target will never take; `why` for the last.
    """

    delivered: Mapping[str, int]
    refused: int = 0
    why: str | None = None

    @property
    def count(self) -> int:
        """How many they are, each counted once a transport."""
        return sum(self.delivered.values()) + self.refused


@dataclass(frozen=True, slots=True)
class Health:
    """What became of the run's events; the pipeline feels none of it.

    Attributes:
        delivered: acknowledged events, by transport.
        waiting: events that wait for a transport, each counted once a transport.
        dropped: lost events, by reason.
        last_error: why the last delivery failed, if one did.
    """

    delivered: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    last_error: str | None = None

    @property
    def is_good(self) -> bool:
        """Whether no event is lost, and none waits behind an error."""
        return not self.dropped and not (self.waiting and self.last_error)

    def after(self, went: WentOut) -> "Health":
        """Once these went out too."""
        delivered = Counter(self.delivered) + Counter(went.delivered)
        dropped = Counter(self.dropped) + Counter({"refused": went.refused})
        waiting = max(0, self.waiting - went.count)
        last_error = went.why or (self.last_error if waiting or dropped else None)
        return Health(dict(delivered), waiting, dict(dropped), last_error)

    def without_waiting(self) -> "Health":
        """Once it is known that nothing waits any more."""
        return replace(self, waiting=0, last_error=self.last_error if self.dropped else None)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why an execution was told to stop; `by` and `note` where a person did."""

    reason: str
    by: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One start of a job, which is one run.

    Attributes:
        run_id: of its run; also names the execution.
        started_at: when a worker was told to run it.
        last_seen: when the worker last said that it lives.
        is_told: whether its START is out.
        counters: of the run facet `headwater_run`, the newest.
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
        """Whether it has come to its end."""
        return self.state in ENDED


@dataclass(frozen=True, slots=True)
class Sent:
    """The agent is about to hand the execution to a worker."""


@dataclass(frozen=True, slots=True)
class Told:
    """The worker said that the START event of the execution's run is out: from now on it needs a last event."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The worker said that it is at work on the execution, with these counters and this lineage health."""

    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody, or the agent itself, wants the execution to end."""

    stop: Stop


@dataclass(frozen=True, slots=True)
class Ended:
    """The worker said that the run is over and its last event is out."""

    end: TerminalState
    error: str | None
    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker went away without a word about how the execution ended."""


@dataclass(frozen=True, slots=True)
class Closed:
    """After a loss, the run's last event was told in the lost worker's stead.

    Attributes:
        problem: why that could not be, and lineage shows the run as open; None where it was told.
        waiting: how many of the events that told it wait; `why`.
    """

    problem: str | None = None
    waiting: int = 0
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Felt:
    """What became of the execution's events since the worker said it last; what is under way says that itself."""

    health: Health


Happening = Sent | Told | Seen | StopAsked | Ended | Lost | Closed | Felt
"""What may happen to an execution, as `after` takes it."""


def after(one: Execution, what: Happening, at: datetime) -> Execution:
    """The execution once this has happened; the very same where it cannot happen in its state.

    What has ended stays as it is, so a report that comes late, or twice, changes nothing.
    """
    match what:
        case Sent() if one.state == "pending":
            return replace(one, state="starting", started_at=at, last_seen=at)
        case StopAsked(stop) if one.state == "pending":
            return replace(one, state="stopped", stop=stop, ended_at=at)
        case StopAsked(stop) if one.state in UNDER_WAY - {"stopping"}:
            return replace(one, state="stopping", stop=stop)
        case Told() if one.state in UNDER_WAY:
            return replace(one, state="running" if one.state == "starting" else one.state, is_told=True, last_seen=at)
        case Seen(counters, health) if one.state in UNDER_WAY:
            seen = replace(one, counters=counters or one.counters, health=health, last_seen=at)
            return replace(seen, state=_felt(one.state, health))
        case Ended() if one.state in UNDER_WAY | {"lost"}:
            return _ended(one, what, at)
        case Lost() if one.state in UNDER_WAY:
            return replace(one, state="lost", stop=Stop(CRASHED))
        case Felt(health) if one.state in ENDED | {"lost"}:
            return replace(one, health=health)
        case Closed(problem, waiting, why) if one.state == "lost":
            still_open = "" if problem is None else f"; its run stays open in lineage, for it cannot be told: {problem}"
            error = one.error or f"{_WITHOUT_A_WORD}{still_open}"
            health = replace(one.health, waiting=one.health.waiting + waiting, last_error=why or one.health.last_error)
            return replace(one, state="failed", ended_at=one.last_seen or at, error=error, health=health)
    return one


_WITHOUT_A_WORD: Final = "it ended without a word: its process was killed, or the machine went down"


def _felt(state: State, health: Health) -> State:
    if state == "running" and not health.is_good:
        return "degraded"
    if state == "degraded" and health.is_good:
        return "running"
    return state


def _ended(one: Execution, what: Ended, at: datetime) -> Execution:
    """A run that was done before the stop reached it is complete, and nobody stopped it."""
    state = _STATE_OF_END[what.end]
    return replace(
        one,
        state=state,
        ended_at=at,
        last_seen=at,
        is_told=True,
        stop=(one.stop or Stop("stopped")) if state == "stopped" else None,
        error=what.error,
        counters=what.counters or one.counters,
        health=what.health,
    )
