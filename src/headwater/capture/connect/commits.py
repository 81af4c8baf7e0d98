"""The commit records of Iceberg's sink in its control topic: which offsets went into which snapshot.

For each commit there are, in this order: from each task, the offsets up to which it has written (DATA_COMPLETE); from
the committing task, the resulting snapshot of each table (COMMIT_TO_TABLE). The snapshot's own summary has the same
commit id (`kafka.connect.commit-id`), so that the two can be compared.

Source: `Event`, `AvroUtil` of iceberg-kafka-connect-events 1.12.0; https://iceberg.apache.org/docs/latest/kafka-connect/
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

from headwater.capture.connect.avro import decoded
from headwater.capture.connect.records import Committed, Delivered, Properties

ICEBERG_SINKS: Final = (
    "org.apache.iceberg.connect.IcebergSinkConnector",
    "io.tabular.iceberg.connect.IcebergSinkConnector",
)
_CONTROL_TOPIC: Final = "control-iceberg"
_MAGIC: Final = b"\xc2\x01"
_HEADER_BYTES: Final = 4
_TOLD: Final = (b'"DataComplete"', b'"CommitToTable"')
"""Only these kinds of records are decoded, since those with file statistics are large."""


def control_topic(properties: Properties) -> str | None:
    """The topic in which a connector reports its commits; None for connectors of other classes."""
    is_iceberg = properties.get("connector.class") in ICEBERG_SINKS
    return properties.get("iceberg.control.topic", _CONTROL_TOPIC) if is_iceberg else None


def parse_commit(value: bytes | None, time_ms: int) -> Delivered | Committed | None:
    """Parse a record of a control topic; None if it has neither offsets nor a snapshot, or cannot be read."""
    if value is None or not value.startswith(_MAGIC) or not any(kind in value for kind in _TOLD):
        return None
    end = _HEADER_BYTES + int.from_bytes(value[len(_MAGIC) : _HEADER_BYTES])
    try:
        event = decoded(value[end:], json.loads(value[_HEADER_BYTES:end]))
        return _parsed(event["group_id"].removeprefix("connect-"), time_ms, event["payload"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _parsed(connector: str, time_ms: int, payload: Mapping[str, Any]) -> Delivered | Committed | None:
    if "assignments" in payload:
        return Delivered(connector, time_ms, _offsets(payload["assignments"] or ()))
    if payload["snapshot_id"] is None:
        return None
    table = payload["table_reference"]
    name = ".".join((*table["namespace"], table["name"]))
    return Committed(connector, time_ms, str(UUID(bytes=payload["commit_id"])), name, str(payload["snapshot_id"]))


def _offsets(assignments: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return {
        f"{each['topic']}/{each['partition']}": each["offset"] for each in assignments if each["offset"] is not None
    }
