"""What the agent and its worker say to each other: one JSON object a line, each way over a pipe."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from headwater.agent.states import Health, WentOut
from headwater.model.facts import TerminalState


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline as it was deployed: the file's text, where it stood, and what `--set` replaced."""

    source: str
    path: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Run a pipeline as this run."""

    run_id: str
    pipeline: Pipeline
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Bring a run to its end."""

    run_id: str
    reason: str
    by: str | None = None
    note: str | None = None
    kind: Literal["halt"] = "halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Tell the end of a run that ended without a word.

    Attributes:
        is_told: whether its START is out.
        last_seen: the time of its end, as far as anybody knows.
    """

    run_id: str
    pipeline: Pipeline
    is_told: bool
    started_at: datetime
    last_seen: datetime
    counters: Mapping[str, object] = field(default_factory=dict)
    kind: Literal["close"] = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quit:
    """End; nothing is running any more."""

    kind: Literal["quit"] = "quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A run's START is out."""

    run_id: str
    kind: Literal["began"] = "began"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alive:
    """A run goes on."""

    run_id: str
    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulse:
    """What goes on in the worker."""

    alive: tuple[Alive, ...]
    kind: Literal["pulse"] = "pulse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Over:
    """A run's last event is out."""

    run_id: str
    end: TerminalState
    error: str | None
    counters: Mapping[str, object]
    health: Health
    at: datetime
    kind: Literal["over"] = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRun:
    """The end of a lost run is told, or cannot be: `problem` says why.

    Attributes:
        waiting: how many of the events that tell it wait; `why`.
    """

    run_id: str
    problem: str | None = None
    waiting: int = 0
    why: str | None = None
    kind: Literal["closed"] = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """What executions that are over had left, and an emitter of another one took up, went out."""

    went: Mapping[str, WentOut]
    """By run id."""
    kind: Literal["later"] = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Spark's JVM is gone: this worker ends once its runs have, and can take no more."""

    kind: Literal["unfit"] = "unfit"


Command = Run | Halt | Close | Quit
Report = Began | Pulse | Over | ClosedRun | Later | Unfit

_COMMANDS: Final[TypeAdapter[Command]] = TypeAdapter(Annotated[Command, Field(discriminator="kind")])
_REPORTS: Final[TypeAdapter[Report]] = TypeAdapter(Annotated[Report, Field(discriminator="kind")])


def command_line(command: Command) -> bytes:
    """The command as a line, its end included."""
    return _COMMANDS.dump_json(command) + b"\n"


def read_command(line: bytes) -> Command:
    """The command of a line."""
    return _COMMANDS.validate_json(line)


def report_line(report: Report) -> bytes:
    """The report as a line, its end included."""
    return _REPORTS.dump_json(report) + b"\n"


def read_report(line: bytes) -> Report:
    """The report of a line."""
    return _REPORTS.validate_json(line)
