"""The protocol between the agent and its worker: one JSON object per line, over a pipe each way."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, TypeAdapter
from pydantic.dataclasses import dataclass

from headwater.agent.states import DeliveryCounts, Health
from headwater.model.facts import TerminalState


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """A pipeline as it was deployed: the file's text and path, and the settings of `--set`."""

    source: str
    path: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Command: execute a pipeline with this run id."""

    run_id: str
    pipeline: Pipeline
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Command: stop a run."""

    run_id: str
    reason: str
    by: str | None = None
    note: str | None = None
    kind: Literal["halt"] = "halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Command: emit the terminal event of a run whose worker died without sending one.

    Attributes:
        is_told: whether its START was emitted.
        last_seen: when it was last known to run, which becomes the time of its end.
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
    """Command: exit; nothing is running any more."""

    kind: Literal["quit"] = "quit"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """Report: a run's START was emitted."""

    run_id: str
    kind: Literal["began"] = "began"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """The status of a run in progress."""

    run_id: str
    counters: Mapping[str, object]
    health: Health


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReport:
    """Report: the worker's runs in progress, every second."""

    alive: tuple[RunStatus, ...]
    kind: Literal["pulse"] = "pulse"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """Report: a run ended and its terminal event was emitted."""

    run_id: str
    end: TerminalState
    error: str | None
    counters: Mapping[str, object]
    health: Health
    at: datetime
    kind: Literal["over"] = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedRun:
    """Report: the terminal event of a lost run was emitted, or could not be: `problem` says why.

    Attributes:
        waiting: how many of its closing events wait for delivery; `why`.
    """

    run_id: str
    problem: str | None = None
    waiting: int = 0
    why: str | None = None
    kind: Literal["closed"] = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class LateDeliveries:
    """Report: an emitter delivered leftover events of other, ended executions."""

    went: Mapping[str, DeliveryCounts]
    """By run id."""
    kind: Literal["later"] = "later"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """Report: Spark's JVM is gone; the worker accepts no more runs, and ends after its last one."""

    kind: Literal["unfit"] = "unfit"


Command = Run | Halt | Close | Quit
Report = RunStarted | StatusReport | RunEnded | ClosedRun | LateDeliveries | Unfit

_COMMANDS: Final[TypeAdapter[Command]] = TypeAdapter(Annotated[Command, Field(discriminator="kind")])
_REPORTS: Final[TypeAdapter[Report]] = TypeAdapter(Annotated[Report, Field(discriminator="kind")])


def command_line(command: Command) -> bytes:
    """The command as a line, with its line break."""
    return _COMMANDS.dump_json(command) + b"\n"


def read_command(line: bytes) -> Command:
    """Parse a command."""
    return _COMMANDS.validate_json(line)


def report_line(report: Report) -> bytes:
    """The report as a line, with its line break."""
    return _REPORTS.dump_json(report) + b"\n"


def read_report(line: bytes) -> Report:
    """Parse a report."""
    return _REPORTS.validate_json(line)
