"""The emitter: accepts a pipeline's events, signs them, and delivers them in the background."""

import atexit
import logging
import math
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from headwater.emit.backlog import Backlog
from headwater.emit.chain import Chain
from headwater.emit.config import EmitConfig, HttpConfig
from headwater.emit.courier import Courier
from headwater.emit.file import FileTransport
from headwater.emit.heartbeats import Heartbeats
from headwater.emit.http import HttpTransport
from headwater.emit.intake import Intake
from headwater.emit.metrics import EmitMetrics, EmitStats
from headwater.emit.observed import Observe, ObservedTransport
from headwater.emit.overflow import Batch
from headwater.emit.receipts import Receipts
from headwater.emit.spool import Outgoing
from headwater.emit.spool_paths import spool_name, spool_path
from headwater.emit.transport import Transport
from headwater.errors import HeadwaterError
from headwater.model.run_ids import RANDOM_BITS, run_id
from headwater.observe.threads import ObserverThread
from headwater.signing.keys import NodeKey

log = logging.getLogger(__name__)

_GRACE_S: Final = 0.5
"""How long `close` waits for a busy thread after its time is up."""

_AFTER_A_FAULT_S: Final = 1.0
_MB: Final = 1 << 20


class Emitter:
    """Sends events to every configured transport, from threads of its own.

    A worker thread signs and spools in the order of the puts; a courier thread per transport delivers from its spool.
    So a service that hangs blocks neither the caller, nor the worker, nor the other transport.

    The constructor starts the threads. They are daemons and never keep a process alive. A process that ends without
    `close` closes its emitters by `atexit`; a killed one leaves its spools to the next emitter for the same targets. If
    a thread cannot be started, each put tries again, and at the latest `close` signs and spools what waits.

    A forked child has none of the threads, but locks that they may hold: there the parent's emitter does nothing.
    """

    def __init__(
        self,
        config: EmitConfig,
        sign: Callable[[bytes], bytes],
        *,
        chain: Chain | None = None,
        metrics: EmitMetrics | None = None,
        clock: Callable[[], float] = time.time,
        observe: Observe | None = None,
    ) -> None:
        """Start the threads; `chain` is the chain that `sign` appends to, if any.

        `observe` is called with the outcome of each delivery, also for events of dead processes.
        """
        self._process = os.getpid()
        self._config = config
        self._sign = sign
        self._chain = chain
        self._clock = clock
        self._metrics = metrics or EmitMetrics()
        self._heartbeats = (
            Heartbeats(chain, config.heartbeat_s, self._metrics) if chain and config.heartbeat_s else None
        )
        transports = self._transports(config)
        if observe is not None:
            transports = [ObservedTransport(each, observe) for each in transports]
        self._intake = self._opened_intake(transports)
        self._couriers = [self._courier(transport) for transport in transports]
        self._is_closing = False
        self._is_closed = False
        self._closing = threading.Lock()
        self._worker = ObserverThread(self._work, "headwater-emit")
        self._worker.start()
        atexit.register(self.close)

    @classmethod
    def of_node(
        cls,
        config: EmitConfig,
        key: NodeKey,
        *,
        clock: Callable[[], float] = time.time,
        observe: Observe | None = None,
    ) -> Self:
        """An emitter that signs with the node's key, in an epoch of its own in the node's chain."""
        metrics = EmitMetrics()
        epoch = run_id(time.time_ns() // 1_000_000, secrets.randbits(RANDOM_BITS))
        directory = spool_path(config.spool, "chain", key.node_id)
        chain = Chain(key, epoch, directory, metrics.failed)
        return cls(config, chain.sign, chain=chain, metrics=metrics, clock=clock, observe=observe)

    @property
    def targets(self) -> tuple[str, ...]:
        """Where events go, without credentials."""
        return tuple(each.target for each in (self._config.http, self._config.file) if each is not None)

    @property
    def is_empty(self) -> bool:
        """Whether no signed event waits, neither here nor in the spool of a dead process."""
        return self._is_a_parents or all(courier.is_empty for courier in self._couriers)

    def put(self, event: bytes) -> None:
        """Queue an unsigned event; never blocks and never raises."""
        if self._is_a_parents:
            return
        try:
            if self._is_closed:
                self._metrics.dropped("closed", 1)
            elif len(event) > self._config.event_max_mb * _MB:
                self._intake.lose("too_large")
            else:
                self._intake.put(Outgoing(self._clock(), event))
                self._worker.start()
        except Exception:
            log.exception("unexpected error while queueing a lineage event")
            self._intake.lose("failed")

    def settle(self, timeout_s: float) -> bool:
        """Wait until everything put before is signed and spooled; False on timeout."""
        if self._is_a_parents or self._is_closed:
            return True
        return self._worker.start() and self._intake.mark().wait(timeout_s)

    def secure(self, timeout_s: float) -> bool:
        """Wait until everything put before would survive a power cut: the events and the chain's head are synced.

        Each call costs several fsyncs. False on timeout, or if the disk fails.
        """
        if self._is_a_parents:
            return True
        if not self.settle(timeout_s):
            return False
        # Spools before transports: an event that moves from a spool to the file meanwhile is synced in one of them.
        synced = [courier.sync() for courier in self._couriers]
        synced += [FileTransport(self._config.file).sync()] if self._config.file else []
        synced += [self._chain.sync()] if self._chain else []
        return all(synced)

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything put before is delivered or refused; False on timeout."""
        if self._is_a_parents:
            return True
        deadline = time.monotonic() + timeout_s
        if not self.settle(timeout_s):
            return False
        for courier in self._couriers:
            courier.hurry()
        return all([courier.wait_until_empty(deadline - time.monotonic()) for courier in self._couriers])

    def close(self, most_s: float = math.inf) -> None:
        """Drain for `drain_timeout_s`, or `most_s` if that is less, and end the threads; the rest stays in the spool.

        If a close is already in progress, in another thread or one interrupted by this signal handler, it only waits
        until everything put before is spooled.
        """
        if self._is_a_parents:
            return
        if not self._closing.acquire(blocking=False):
            self.settle(_GRACE_S)
            return
        atexit.unregister(self.close)
        self._is_closing = True
        self._intake.wake()
        self.drain(min(self._config.drain_timeout_s, most_s))
        self._is_closed = True
        self._intake.stop()
        if not self._worker.start():
            self._work()
        self._worker.join(_GRACE_S)
        if self._chain is not None and not self._worker.is_alive:
            self._chain.close()
        self._intake.close()
        for courier in self._couriers:
            courier.close(_GRACE_S)

    def stats(self) -> EmitStats:
        """The counters so far."""
        if self._is_a_parents:
            return EmitStats(delivered={}, spooled=0, dropped={}, last_error=None)
        return self._metrics.stats()

    def __enter__(self) -> Self:
        """The emitter itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the emitter, whether or not the block failed."""
        self.close()

    @property
    def _is_a_parents(self) -> bool:
        return self._process != os.getpid()

    def _transports(self, config: EmitConfig) -> list[Transport]:
        http = [HttpTransport(config.http, receipts=self._receipts(config, config.http))] if config.http else []
        file = [FileTransport(config.file)] if config.file else []
        return [*http, *file]

    def _receipts(self, config: EmitConfig, http: HttpConfig) -> Receipts | None:
        """The receipts of the service, whose head the chain names; None without a chain, which alone has use for it."""
        if self._chain is None:
            return None
        directory = spool_path(config.spool, "chain", self._chain.key.node_id)
        path = directory / f"{spool_name('receipt', http.target)}.json" if directory else None
        return Receipts(path, self._chain.note, self._metrics.failed, self._metrics.mended, log_key=http.log_key)

    def _opened_intake(self, transports: Sequence[Transport]) -> Intake:
        max_bytes = int(self._config.spool_max_mb * _MB)
        # The overflow is for all targets: only an emitter for the same ones takes it over.
        overflow_dir = spool_path(self._config.spool, "overflow", *(transport.target for transport in transports))
        return Intake(self._config.queue_size, overflow_dir, max_bytes, self._metrics)

    def _courier(self, transport: Transport) -> Courier:
        max_bytes = int(self._config.spool_max_mb * _MB)
        directory = spool_path(self._config.spool, transport.name, transport.target)
        backlog = Backlog(transport.name, directory, max_bytes, self._metrics)
        return Courier(transport, backlog, self._metrics, clock=self._clock)

    def _work(self) -> None:
        while True:
            try:
                for batch in self._intake.batches(self._heartbeats.wait_s if self._heartbeats else lambda: None):
                    self._pass_on(batch)
                    self._send_own_event()
                return
            except Exception as fault:
                self._metrics.failed(f"{type(fault).__name__} in the worker thread")
                log.exception("unexpected error in the lineage worker thread")
                time.sleep(_AFTER_A_FAULT_S)

    def _send_own_event(self) -> None:
        if self._heartbeats is None:
            return
        try:
            now_s = self._clock()
            event = self._heartbeats.due_event(now_s, is_last=self._is_closing)
            if event is not None:
                self._pass_on(Batch([Outgoing(now_s, event)]))
        except Exception as fault:
            self._metrics.failed(f"{type(fault).__name__} in a heartbeat")
            log.exception("unexpected error while sending a lineage heartbeat")

    def _pass_on(self, batch: Batch) -> None:
        signed = batch.events if batch.is_signed else self._all_signed(batch.events)
        if not self._intake.may_pass_on():
            return
        if batch.is_signed:
            self._send(signed)
            return
        self._keep(batch, signed)
        if not signed:
            return
        lost = self._metrics.lost
        if self._chain is not None:
            self._chain.record()
        self._send(signed)
        if self._chain is not None and self._metrics.lost == lost and all(each.is_safe for each in self._couriers):
            self._chain.settle()
        if self._heartbeats is not None:
            self._heartbeats.note_event()

    def _keep(self, batch: Batch, signed: Sequence[Outgoing]) -> None:
        try:
            batch.keep(signed)
        except OSError as failure:  # after a kill they would be signed again, which is better than lost
            self._metrics.failed(f"overflow: {failure.strerror}")

    def _send(self, signed: Sequence[Outgoing]) -> None:
        for courier in self._couriers:
            try:
                courier.accept(signed)
            except Exception:
                self._metrics.dropped("failed", len(signed))
                log.exception("unexpected error while spooling lineage events")

    def _all_signed(self, events: Sequence[Outgoing]) -> list[Outgoing]:
        return [outgoing for event in events if (outgoing := self._signed(event)) is not None]

    def _signed(self, event: Outgoing) -> Outgoing | None:
        try:
            return Outgoing(event.put_at, self._sign(event.body))
        except HeadwaterError as refusal:
            self._metrics.dropped("sign_failed", 1, str(refusal))
        except Exception as fault:
            # Its message may hold a piece of the event.
            self._metrics.dropped("sign_failed", 1, type(fault).__name__)
        return None
