"""What became of events, by the run that they are of: who sends them may be another than who told them."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import orjson

from headwater.agent.states import WentOut
from headwater.emit.transport import Acknowledged, Outcome, Refused


@dataclass(slots=True)
class _OfRun:
    delivered: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    why: str | None = None

    def went_out(self) -> WentOut:
        return WentOut(dict(self.delivered), self.refused, self.why)


class Deliveries:
    """Counts what an emitter's transports say; any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, _OfRun] = defaultdict(_OfRun)
        self.told = 0
        """How many events were put."""

    def put(self) -> None:
        """Count an event that is put, which will wait."""
        with self._lock:
            self.told += 1

    def __call__(self, transport: str, event: bytes, outcome: Outcome) -> None:
        """Count an event, unless it waits on; one without a run is nobody's."""
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

    def of(self, run_id: str) -> WentOut:
        """What became of a run's events so far."""
        with self._lock:
            known = self._runs.get(run_id)
            return WentOut({}) if known is None else known.went_out()

    def take(self, but: str | None = None) -> dict[str, WentOut]:
        """What was counted since the last call, by run; that of one run may be left out, and is kept."""
        with self._lock:
            taken = [run_id for run_id in self._runs if run_id != but]
            return {run_id: self._runs.pop(run_id).went_out() for run_id in taken}
