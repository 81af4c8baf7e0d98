"""Delivery counts by run: a run's events may be delivered by the emitter of another run."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import orjson

from headwater.agent.states import DeliveryCounts
from headwater.emit.transport import Acknowledged, Outcome, Refused


@dataclass(slots=True)
class _RunCounts:
    delivered: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    why: str | None = None

    def counts(self) -> DeliveryCounts:
        return DeliveryCounts(dict(self.delivered), self.refused, self.why)


class Deliveries:
    """Counts the delivery outcomes of an emitter; any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _RunCounts] = defaultdict(_RunCounts)
        self.put_count = 0
        """The number of events put."""

    def put(self) -> None:
        """Count an event that is put into the emitter."""
        with self._lock:
            self.put_count += 1

    def __call__(self, transport: str, event: bytes, outcome: Outcome) -> None:
        """Count an event that was delivered or refused; events without a run are ignored."""
        if not isinstance(outcome, Acknowledged | Refused):
            return
        run = orjson.loads(event).get("run")
        if run is None:
            return
        with self._lock:
            of_run = self._runs[run["runId"]]
            if isinstance(outcome, Refused):
                of_run.refused, of_run.why = of_run.refused + 1, outcome.why
            else:
                of_run.delivered[transport] += 1

    def of(self, run_id: str) -> DeliveryCounts:
        """The counts of a run so far."""
        with self._lock:
            known = self._runs.get(run_id)
            return DeliveryCounts({}) if known is None else known.counts()

    def take(self, but: str | None = None) -> dict[str, DeliveryCounts]:
        """The counts since the last call, by run; those of the run `but` are left out, and kept."""
        with self._lock:
            taken = [run_id for run_id in self._runs if run_id != but]
            return {run_id: self._runs.pop(run_id).counts() for run_id in taken}
