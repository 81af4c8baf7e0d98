"""The records of Kafka Connect's config and status topics, as types.

    connect-configs   connector-NAME      {"properties": {…}}            a tombstone: deleted
                      commit-NAME         {"tasks": N}
                      target-state-NAME   {"state": …, "state.v2": …}
    connect-status    status-connector-NAME, status-task-NAME-N   {"state", "trace", "worker_id", "generation"}
                      status-topic-TOPIC:connector-NAME           {"topic": {…}}    a tombstone: reset

All other keys (sessions, restarts, loggers, the tasks' own properties) are irrelevant to a connector's lifecycle.

Source: `KafkaConfigBackingStore` and `KafkaStatusBackingStore` of Kafka 4.3.1, as observed
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from headwater.capture.traces import kinds, without_values

Properties = Mapping[str, str]

CONNECTORS: Final = kinds(
    r"java\.io\.IOException",
    r"org\.apache\.kafka\.connect\.errors\.(?:Connect|NotFound|AlreadyExists)Exception",
    r"io\.apicurio\.registry\.rest\.client\.exception\.RuleViolationException",  # quotes types of two schemas
)
"""Exceptions of connectors whose messages are reported."""

_EXPRESSION: Final = re.compile(r"[\\*+?()\[\]{}|^$]")
_REFERENCE: Final = re.compile(r"\$\{[^{}:]+:[^{}]*\}")


def listed(text: str | None) -> list[str]:
    """The items of a comma-separated property; empty if it is not set."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def literals_of(text: str | None) -> list[str]:
    r"""The items of a list of regular expressions that match one name only; dots may be escaped.

    >>> literals_of(r"shop.orders, shop\.bids, shop.*")
    ['shop.orders', 'shop.bids']
    """
    return [name for each in listed(text) if not _EXPRESSION.search(name := each.replace("\\.", "."))]


def is_left_open(text: str | None) -> bool:
    """Whether a config provider of the workers fills in a part of a property, which is unknown here.

    >>> is_left_open("${env:STAGE}/raw"), is_left_open("kafka_${topic}")
    (True, False)

    Source: `ConfigTransformer` of Kafka, `${PROVIDER:[PATH:]KEY}`
    """
    return _REFERENCE.search(text or "") is not None


class Configured(NamedTuple):
    """A connector's new properties; None if it was deleted."""

    connector: str
    time_ms: int
    properties: Properties | None


class TaskCount(NamedTuple):
    """The number of tasks that the connector should have."""

    connector: str
    time_ms: int
    tasks: int


class TargetState(NamedTuple):
    """The connector's target state: STARTED, PAUSED or STOPPED."""

    connector: str
    time_ms: int
    state: str


class Status(NamedTuple):
    """The status of a connector or one of its tasks; `state` is None if it was removed, `trace` has no values."""

    connector: str
    time_ms: int
    task: int | None
    state: str | None
    trace: str | None
    worker: str | None


class TopicActive(NamedTuple):
    """The connector has used a topic for the first time."""

    connector: str
    time_ms: int
    topic: str


class TopicReset(NamedTuple):
    """A topic was removed from the connector's active topics: they were reset."""

    connector: str
    time_ms: int
    topic: str


class Delivered(NamedTuple):
    """A task of an Iceberg sink has written the records before these offsets, for the next commit."""

    connector: str
    time_ms: int
    offsets: Mapping[str, int]
    """The next offset, by `TOPIC/PARTITION`."""


class Committed(NamedTuple):
    """An Iceberg sink has committed its tasks' files to a table, as a snapshot."""

    connector: str
    time_ms: int
    commit: str
    table: str
    snapshot: str


Record = Configured | TaskCount | TargetState | Status | TopicActive | TopicReset | Delivered | Committed

_NAMED: Final = ("connector-", "commit-", "target-state-", "status-connector-")


def parse_record(key: bytes | None, value: bytes | None, time_ms: int) -> Record | None:
    """Parse a record of either topic; None if it is irrelevant to a connector's lifecycle, or cannot be read.

    What another program may have written there never gets into the watcher's state: it could not be saved any more.
    """
    try:
        return _parsed((key or b"").decode(), None if value is None else orjson.loads(value), time_ms)
    except (UnicodeDecodeError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _parsed(key: str, body: Any, time_ms: int) -> Record | None:  # noqa: ANN401  any JSON
    if key.startswith("status-topic-"):
        topic, _, connector = key.removeprefix("status-topic-").partition(":connector-")
        return (TopicActive if body else TopicReset)(connector, time_ms, topic) if connector else None
    if key.startswith("status-task-"):
        connector, _, number = key.removeprefix("status-task-").rpartition("-")
        return _status(connector, time_ms, _int32(int(number)), body)
    kind = next((prefix for prefix in _NAMED if key.startswith(prefix)), None)
    connector = key.removeprefix(kind or "")
    match kind:
        case "status-connector-":
            return _status(connector, time_ms, None, body)
        case "connector-":
            properties = None if body is None else {str(name): str(value) for name, value in body["properties"].items()}
            return Configured(connector, time_ms, properties)
        case "commit-" if body is not None:
            return TaskCount(connector, time_ms, _int32(body["tasks"]))
        case "target-state-" if body is not None:
            target = _text(body.get("state.v2") or body["state"])
            return None if target is None else TargetState(connector, time_ms, target)
    return None


def _status(connector: str, time_ms: int, task: int | None, body: Any) -> Status:  # noqa: ANN401  any JSON
    status = body or {}
    state, trace, worker = (_text(status.get(name)) for name in ("state", "trace", "worker_id"))
    without = None if trace is None else without_values(trace, CONNECTORS).text
    return Status(connector, time_ms, task, state, without, worker)


def _int32(number: Any) -> int:  # noqa: ANN401  any JSON
    if not isinstance(number, int) or not 0 <= number < 1 << 31:
        raise ValueError("not a number of tasks")
    return number


def _text(value: Any) -> str | None:  # noqa: ANN401  any JSON
    if not isinstance(value, str | None):
        raise TypeError("not text")
    return value
