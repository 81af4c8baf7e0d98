"""The events that an emitter sends about itself: heartbeats while idle, and a record of each gap of dropped events.

A heartbeat is an event of the node's own job, whose run is the epoch. Its place in the chain says "nothing happened
since, the head is still this". Each heartbeat announces the next: a node that sent one and goes silent is noticed.
"""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from headwater.emit.chain import MAX_UNSIGNED, Chain
from headwater.emit.metrics import EmitMetrics, Gap
from headwater.model.heartbeat import HEARTBEAT, HEARTBEAT_SCHEMA, NODES
from headwater.model.producer import OPENLINEAGE_SCHEMA, PRODUCER
from headwater.model.times import timestamp

_GATHER_S: Final = 1.0
"""How long drops are collected into one gap record."""


class Heartbeats:
    """Decides when a heartbeat or gap record is due, and builds it. For one thread.

    A gap is recorded a second after its first drop, and then at most once per interval: if the spool is full, the
    record itself may be dropped next.
    """

    def __init__(
        self, chain: Chain, interval_s: float, metrics: EmitMetrics, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._chain = chain
        self._interval_s = interval_s
        self._metrics = metrics
        self._monotonic = monotonic
        self._began_at = self._last_event_at = monotonic()
        self._gap_due_at: float | None = None
        self._gap_recorded_at: float | None = None
        self._has_sent = False
        self._is_over = False

    def note_event(self) -> None:
        """Note that an event was just added to the chain."""
        self._last_event_at = self._monotonic()

    def wait_s(self) -> float:
        """Seconds until the next event of our own is due, if nothing else happens."""
        now = self._monotonic()
        return max(0.0, self._due_at(now) - now)

    def due_event(self, now_s: float, *, is_last: bool) -> bytes | None:
        """The unsigned event that is due, or None; `now_s` is the time in seconds since 1970.

        The last one (`is_last`) is due only if an earlier heartbeat announced it, or drops are not yet recorded.
        """
        now = self._monotonic()
        if self._is_over or not (self._is_last_due() if is_last else now >= self._due_at(now)):
            return None
        self._is_over = is_last
        self._has_sent = True
        gap = self._metrics.take_gap()
        if gap is not None:
            self._gap_due_at, self._gap_recorded_at = None, now
        return _heartbeat(self._chain, now_s, self._interval_s, gap, is_last=is_last)

    def _is_last_due(self) -> bool:
        return self._has_sent or self._metrics.has_gap or self._chain.unsigned > 0

    def _due_at(self, now: float) -> float:
        if self._chain.unsigned >= MAX_UNSIGNED:
            return now
        due_at = self._last_event_at if self._has_sent else self._began_at
        return min(due_at + self._interval_s, self._gap_due(now))

    def _gap_due(self, now: float) -> float:
        if not self._metrics.has_gap:
            return float("inf")
        if self._gap_due_at is None:
            self._gap_due_at = now + _GATHER_S
            if self._gap_recorded_at is not None:
                self._gap_due_at = max(self._gap_due_at, self._gap_recorded_at + self._interval_s)
        return self._gap_due_at


def _heartbeat(chain: Chain, now_s: float, interval_s: float, gap: Gap | None, *, is_last: bool) -> bytes:
    facet: dict[str, Any] = {
        "_producer": PRODUCER,
        "_schemaURL": HEARTBEAT_SCHEMA,
        "intervalSeconds": interval_s,
        "gap": None if gap is None else _gap_members(gap),
    }
    return orjson.dumps(
        {
            "eventType": "COMPLETE" if is_last else "RUNNING",
            "eventTime": _timestamp(now_s),
            "producer": PRODUCER,
            "schemaURL": f"{OPENLINEAGE_SCHEMA}#/$defs/RunEvent",
            "job": {"namespace": NODES, "name": chain.key.node_id},
            "run": {"runId": chain.epoch, "facets": {HEARTBEAT: facet}},
        }
    )


def _gap_members(gap: Gap) -> Mapping[str, Any]:
    return {
        "events": sum(gap.reasons.values()),
        "reasons": dict(gap.reasons),
        "firstAt": _timestamp(gap.first_s),
        "lastAt": _timestamp(gap.last_s),
        "eventsSoFar": gap.events_so_far,
    }


def _timestamp(time_s: float) -> str:
    return timestamp(datetime.fromtimestamp(time_s, UTC))
