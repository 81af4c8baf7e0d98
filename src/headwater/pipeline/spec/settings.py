"""A pipeline file's settings besides its data flow: lineage, catalogs, stream, agent, lint."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headwater.pipeline.terms import (
    CatalogUri,
    Cron,
    EnvName,
    HttpUrl,
    Location,
    LogKey,
    PositiveInt,
    RuleId,
    Seconds,
    TimeZone,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageAuth:
    """The authentication of the HTTP transport: a bearer token, by the name of its environment variable."""

    type: Literal["bearer"]
    token_env: EnvName


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageHttp:
    """Where events are posted.

    Attributes:
        log_key: the key that signs the heads of the service's log, as its `/api/v1/log/key` shows it; None: the one in
            the environment, or the one kept when this node's key was enrolled, if any.
    """

    endpoint: HttpUrl = "http://localhost:5000/api/v1/lineage"
    timeout: Seconds = 3.0
    auth: LineageAuth | None = None
    log_key: LogKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageFile:
    """The file that events are appended to, one per line, and the size at which it is rotated."""

    path: Location = "events.jsonl"
    rotation_size_mb: PositiveInt = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageSpec:
    """The settings of a run's lineage events.

    Attributes:
        transport: which of `http` and `file` are used.
        drain_timeout: how long the end of a run waits for deliveries; undelivered events stay in the spool.
        running_interval: time between a run's RUNNING events.
        heartbeat: the node sends a heartbeat after so long without an event; 0 disables it.
    """

    enabled: bool = True
    transport: Literal["http", "file", "both"] = "http"
    queue_size: PositiveInt = 1024
    drain_timeout: Seconds = 5.0
    running_interval: Seconds = 10.0
    heartbeat: Seconds = 300.0
    http: LineageHttp = LineageHttp()
    file: LineageFile = LineageFile()


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSpec:
    """An Iceberg catalog. `lake` is the embedded one (JDBC on SQLite in HEADWATER_HOME), unless the file declares it.

    Attributes:
        uri: the URI of a `jdbc` or `rest` catalog.
        warehouse: the location of the tables.
        options: further catalog properties by Iceberg's names (`io-impl`, `s3.endpoint`, …).
        options_env: secret properties, by their environment variable (`credential: ICEBERG_CREDENTIAL`).
    """

    type: Literal["jdbc", "rest", "glue", "hadoop"]
    uri: CatalogUri | None = None
    warehouse: Location | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    options_env: Mapping[str, EnvName] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSpec:
    """How a stream runs.

    Attributes:
        checkpoint: the stream checkpoint; None: a directory of HEADWATER_HOME, by namespace and name.
        interval: time from one micro-batch's start to the next; None: at once.
        available_now: process all available data in micro-batches, then end. Not with `interval`.
    """

    checkpoint: Location | None = None
    interval: Seconds | None = None
    available_now: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When the agent starts a batch pipeline: exactly one of `every` and `cron`.

    Attributes:
        every: from one start to the next; the first start is at once.
        cron: at these times of the wall clock in `timezone`.
    """

    every: Seconds | None = None
    cron: Cron | None = None
    timezone: TimeZone = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """How long the agent waits before a restart: `first`, then twice as long each time, up to `most`.

    An execution that ran for longer than `most` counts as healthy: after it, the wait is `first` again.
    """

    first: Seconds = 1.0
    most: Seconds = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """How an agent runs the pipeline; ignored by `headwater run`, which runs it once.

    Attributes:
        schedule: None: it is started once it is deployed.
        restart: `always` also restarts after a clean end, `never` leaves restarts to the schedule, or to a person.
    """

    schedule: Schedule | None = None
    restart: Literal["on-failure", "always", "never"] = "on-failure"
    backoff: Backoff = Backoff()


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSpec:
    """Rules of `headwater lint` that this file ignores, by id."""

    ignore: tuple[RuleId, ...] = ()
