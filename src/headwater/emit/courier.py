"""The delivery thread of one transport: sends the head of the backlog until it is acknowledged or refused."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from headwater.emit.backlog import Backlog, Waiting
from headwater.emit.metrics import EmitMetrics
from headwater.emit.retry import backoff_s
from headwater.emit.spool import Outgoing
from headwater.emit.transport import Acknowledged, Outcome, Refused, Transport, Unavailable
from headwater.observe.threads import ObserverThread

log = logging.getLogger(__name__)

ADOPT_EVERY_S: Final = 15.0
"""How often an idle courier looks for spools of dead processes, so that a stream running for weeks adopts them too."""

_AFTER_A_FAULT_S: Final = 1.0
MEND_THE_EVENT: Final = "it is lost, and so are others like it, until what the answer names is fixed"
_WAIT: Final = "they are sent once it accepts events again"


class Courier:
    """Delivers a backlog in order, each event at least once.

    An event that the target cannot take now holds up those behind it; one that it refuses for good does not.
    """

    def __init__(
        self,
        transport: Transport,
        backlog: Backlog,
        metrics: EmitMetrics,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
        adopt_every_s: float = ADOPT_EVERY_S,
    ) -> None:
        self._transport = transport
        self._backlog = backlog
        self._metrics = metrics
        self._clock = clock
        self._rng = rng or Random()  # noqa: S311 - jitter, not a secret
        self._adopt_every_s = adopt_every_s
        self._failures = 0
        self._why = ""
        self._adopt_at = 0.0
        self._arrived = threading.Event()
        self._hurried = threading.Event()
        self._stopped = threading.Event()
        self._emptied = threading.Condition()
        self._thread = ObserverThread(self._run, f"headwater-emit-{transport.name}")
        self._thread.start()

    def accept(self, events: Sequence[Outgoing]) -> None:
        """Queue signed events, to be delivered in this order."""
        self._backlog.add(events)
        self._arrived.set()
        self._thread.start()

    @property
    def is_empty(self) -> bool:
        """Whether no event waits for the transport, neither here nor in the spool of a dead process."""
        return self._backlog.is_empty

    @property
    def is_safe(self) -> bool:
        """Whether all waiting events would survive a kill of this process."""
        return self._backlog.is_safe

    def sync(self) -> bool:
        """Sync the waiting events to disk; False if that fails or some are in memory only."""
        return self._backlog.sync()

    def hurry(self) -> None:
        """Retry now instead of after the backoff; a `Retry-After` of the service is still respected."""
        self._hurried.set()

    def wait_until_empty(self, timeout_s: float) -> bool:
        """Wait until the whole backlog, adopted events included, is delivered or refused; False if it takes longer.

        If the delivery thread could not be started, it does not wait.
        """
        if not self._thread.start():
            return self._backlog.is_empty
        with self._emptied:
            return self._emptied.wait_for(lambda: self._backlog.is_empty, max(timeout_s, 0.0))

    def close(self, grace_s: float) -> None:
        """Stop delivering and move everything to disk.

        Waits up to `grace_s` for a delivery in progress; one that takes longer finishes by itself later.
        """
        self._stopped.set()
        self._arrived.set()
        self._hurried.set()
        self._backlog.flush_memory()
        if not self._thread.start():
            self._backlog.close()
        self._thread.join(grace_s)

    def _run(self) -> None:
        self._guarded(self._adopt)
        while not self._stopped.is_set():
            self._guarded(self._step)
        self._guarded(self._transport.close)
        self._backlog.close()

    def _guarded(self, act: Callable[[], None]) -> None:
        """Call `act`; log an exception, so that the thread goes on."""
        try:
            act()
        except Exception as fault:
            self._metrics.failed(f"{type(fault).__name__} in the delivery thread ({self._transport.name})")
            log.exception("unexpected error in the lineage delivery thread", extra={"transport": self._transport.name})
            self._stopped.wait(_AFTER_A_FAULT_S)

    def _step(self) -> None:
        self._arrived.clear()
        waiting = self._backlog.peek()
        if waiting is None:
            self._idle()
        else:
            self._settle(waiting, self._transport.send_batch([event.body for event in waiting.events]))

    def _idle(self) -> None:
        with self._emptied:
            self._emptied.notify_all()
        if not self._arrived.wait(self._adopt_at - time.monotonic()):
            self._adopt()

    def _adopt(self) -> None:
        self._backlog.adopt()
        self._adopt_at = time.monotonic() + self._adopt_every_s

    def _settle(self, waiting: Waiting, outcomes: Sequence[Outcome]) -> None:
        settled = 0
        for event, outcome in zip(waiting.events, outcomes, strict=False):
            match outcome:
                case Acknowledged():
                    self._metrics.delivered(self._transport.name, self._clock() - event.put_at)
                case Refused(why, advice):
                    details = {"target": self._transport.target, "why": why, "advice": advice or MEND_THE_EVENT}
                    log.warning("lineage event rejected by %(target)s: %(why)s; %(advice)s", details, extra=details)
                    self._metrics.dropped("refused", 1, why)
                case Unavailable():
                    break
            settled += 1
        if settled:
            self._recovered()
            self._backlog.remove(waiting._replace(events=waiting.events[:settled]))
        if settled < len(outcomes) and isinstance(failure := outcomes[settled], Unavailable):
            self._fail(failure)
            self._pause(failure.after_s)

    def _recovered(self) -> None:
        if self._failures:
            log.info(
                "the lineage target accepts events again",
                extra={"target": self._transport.target, "failures": self._failures},
            )
            self._metrics.mended(self._why)
        self._failures = 0

    def _fail(self, failure: Unavailable) -> None:
        target, why = self._transport.target, failure.why
        if not self._failures:
            details = {"target": target, "why": why, "advice": failure.advice or _WAIT}
            log.warning("cannot deliver lineage events yet to %(target)s: %(why)s; %(advice)s", details, extra=details)
        self._failures += 1
        self._why = why if target in why else f"{target}: {why}"
        self._metrics.failed(self._why)

    def _pause(self, after_s: float | None) -> None:
        if after_s:  # else a service that asks for no delay, or by another clock, would get the same at once again
            self._stopped.wait(after_s)
        elif self._hurried.wait(backoff_s(self._failures, self._rng)):
            self._hurried.clear()
            self._failures = 1  # the next backoffs are short again
