"""An emitter's counters, for Prometheus and for `Emitter.stats`."""

import logging
import threading
import time
from collections import Counter as Tally
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

log = logging.getLogger(__name__)

_ACK_BUCKETS_S: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)


@dataclass(frozen=True, slots=True)
class EmitStats:
    """An emitter's counts of events.

    Attributes:
        delivered: acknowledged events, by transport.
        spooled: events that still wait, counted once for each transport.
        dropped: lost events, by reason.
        last_error: why the last delivery or spooling failed; None if none did.
    """

    delivered: Mapping[str, int]
    spooled: int
    dropped: Mapping[str, int]
    last_error: str | None


class Gap(NamedTuple):
    """Events dropped since the previous gap; times in seconds since 1970."""

    reasons: Mapping[str, int]
    first_s: float
    last_s: float
    events_so_far: int
    """Dropped events in total, earlier gaps included."""


class EmitMetrics:
    """The counters of one or more emitters.

    The reasons for a drop:

    - `refused`: the target answered that it will never take the event;
    - `sign_failed`: it could not be signed;
    - `too_large`: it is larger than `event_max_mb`;
    - `queue_full`: the queue was full, and the overflow was missing or failed;
    - `spool_full`: the target's backlog reached its limit on disk;
    - `spool_failed`: the disk refused it, and memory was full;
    - `spool_damaged`: it was in a spool file that is no longer readable;
    - `closed`: it was put after the emitter was closed;
    - `failed`: a bug of ours, described in the log.
    """

    def __init__(self, registry: CollectorRegistry | None = None, *, clock: Callable[[], float] = time.time) -> None:
        """Register the counters, in a new registry unless one is given."""
        self._clock = clock
        self._unrecorded: Tally[str] = Tally()
        self._unrecorded_s: list[float] = []
        """When the first and the last event of the current gap were dropped."""
        self.registry = registry or CollectorRegistry()
        self._dropped = Counter("lineage_events_dropped", "Events lost, by reason", ["reason"], registry=self.registry)
        self._delivered = Counter(
            "lineage_events_delivered", "Events acknowledged by the target", ["transport"], registry=self.registry
        )
        self._spooled = Gauge(
            "lineage_events_spooled",
            "Events waiting to be delivered to the target",
            ["transport"],
            registry=self.registry,
        )
        self._ack_seconds = Histogram(
            "lineage_event_ack_seconds",
            "Time from an event's put to its acknowledgement, including time in a spool",
            ["transport"],
            buckets=_ACK_BUCKETS_S,
            registry=self.registry,
        )
        self._set_aside = Counter("lineage_spools_set_aside", "Damaged spool files moved aside", registry=self.registry)
        self._lock = threading.Lock()
        self._waiting: Tally[str] = Tally()
        self._tallies: dict[str, Tally[str]] = {"dropped": Tally(), "delivered": Tally()}
        self._last_error: str | None = None

    def dropped(self, reason: str, events: int, why: str | None = None) -> None:
        """Count lost events; logs the first of each reason, and then at each power of ten."""
        with self._lock:
            before = self._tallies["dropped"][reason]
            self._tallies["dropped"][reason] = total = before + events
            self._unrecorded[reason] += events
            self._unrecorded_s = [*self._unrecorded_s[:1], self._clock()]
            self._last_error = why or self._last_error
        self._dropped.labels(reason).inc(events)
        if before == 0 or len(str(total)) > len(str(before)):
            details = {"reason": reason, "total": total}
            log.warning("lineage events dropped (%(reason)s): %(total)d so far", details, extra={**details, "why": why})

    @property
    def lost(self) -> int:
        """The number of events lost so far."""
        with self._lock:
            return self._tallies["dropped"].total()

    @property
    def has_gap(self) -> bool:
        """Whether events were dropped since `take_gap` was last called."""
        return bool(self._unrecorded_s)

    def take_gap(self) -> Gap | None:
        """The events dropped since the last call; None if there were none."""
        with self._lock:
            if not self._unrecorded_s:
                return None
            gap = Gap(
                dict(self._unrecorded), self._unrecorded_s[0], self._unrecorded_s[-1], self._tallies["dropped"].total()
            )
            self._unrecorded.clear()
            self._unrecorded_s = []
            return gap

    def delivered(self, transport: str, waited_s: float) -> None:
        """Count an acknowledged event."""
        with self._lock:
            self._tallies["delivered"][transport] += 1
        self._delivered.labels(transport).inc()
        self._ack_seconds.labels(transport).observe(max(waited_s, 0.0))

    def spooled(self, transport: str, events: int) -> None:
        """Set how many events wait for a transport now."""
        with self._lock:
            self._waiting[transport] = events
        self._spooled.labels(transport).set(events)

    def set_aside(self) -> None:
        """Count a damaged spool file."""
        self._set_aside.inc()

    def failed(self, why: str) -> None:
        """Record the reason of a failure that lost no event."""
        with self._lock:
            self._last_error = why

    def mended(self, why: str) -> None:
        """Clear a failure that is over, unless another came since."""
        with self._lock:
            if self._last_error == why:
                self._last_error = None

    def stats(self) -> EmitStats:
        """A consistent copy of the counts."""
        with self._lock:
            return EmitStats(
                delivered=dict(self._tallies["delivered"]),
                spooled=self._waiting.total(),
                dropped=dict(self._tallies["dropped"]),
                last_error=self._last_error,
            )
