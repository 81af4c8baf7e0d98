"""The emitter's input: a bounded queue in memory that overflows into a file."""

import contextlib
import logging
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final

from headwater.emit.metrics import EmitMetrics
from headwater.emit.overflow import BATCH, Batch, Overflow, left_behind
from headwater.emit.spool import Outgoing

log = logging.getLogger(__name__)


class _Lost(str):
    """The reason why an event was dropped before it was queued."""

    __slots__ = ()


class _Signal:
    """A control message to the worker, queued between events."""


_LOOK_INTO_OVERFLOW: Final = _Signal()
_STOP: Final = _Signal()


class Intake:
    """Accepts events from any thread and passes them to one worker, in order.

    `put` and `lose` never block: the queue is a `SimpleQueue`, whose `put` is reentrant, so that a signal handler may
    put an event while the thread it interrupted is putting one. For the same reason losses are queued and counted by
    the worker.
    """

    def __init__(self, size: int, overflow_dir: Path | None, max_bytes: int, metrics: EmitMetrics) -> None:
        self._size = size
        self._metrics = metrics
        self._overflow_dir = overflow_dir
        self._queue: SimpleQueue[Outgoing | _Lost | _Signal | threading.Event] = SimpleQueue()
        self._overflow = self._opened(max_bytes)
        self._marks: list[threading.Event] = []
        self._is_stopped = False
        self._is_to_end = False
        self._in_hand: Sequence[Outgoing] = ()
        """Queued events that the worker has taken and not passed on."""
        self._read: Generator[Batch] | None = None
        """The overflow of which the worker has taken a batch and not passed it on."""
        self._closing = threading.Lock()
        self._is_closed = False
        self._has_left_some = False

    def put(self, event: Outgoing) -> None:
        """Queue the event: in memory if there is room and the overflow is empty, else in the overflow."""
        if self._overflow is None:
            self._queue.put(event if self._queue.qsize() < self._size else _Lost("queue_full"))
        elif self._queue.qsize() < self._size and not self._overflow.is_active:
            self._queue.put(event)
        else:
            self._overflow.append(event)

    def lose(self, reason: str) -> None:
        """Count an event as dropped."""
        self._queue.put(_Lost(reason))

    def mark(self) -> threading.Event:
        """A flag that is set once everything put before has been passed on."""
        mark = threading.Event()
        self._queue.put(mark)
        return mark

    def wake(self) -> None:
        """Make `batches` yield a batch soon, even an empty one."""
        self._queue.put(_LOOK_INTO_OVERFLOW)

    def stop(self) -> None:
        """Make `batches` end once everything put before has been passed on, except for events in an overflow."""
        self._is_to_end = True
        self._queue.put(_STOP)

    def batches(self, wait_s: Callable[[], float | None] = lambda: None) -> Iterator[Batch]:
        """Events in the order they were put, after those in the overflows of dead processes; ends after `stop`.

        `may_pass_on` is to be asked before a batch is passed on; asking for the next one confirms that it was.
        `wait_s` returns how long to wait for the first event of a batch; if none comes, the batch is empty.
        """
        if self._overflow_dir is not None:
            yield from self._readable(left_behind(self._overflow_dir))
        while not self._has_left_some and not (self._is_stopped and self._queue.empty()):
            self._in_hand = self._taken(wait=True, timeout_s=wait_s())
            yield Batch(self._in_hand)
            # While the overflow is active, nothing is queued in memory: what it has is newer than what the queue had.
            if self._overflow is not None and self._overflow.is_active and self._queue.empty():
                yield from self._readable(self._overflow.take())
            if self._overflow is None or not self._overflow.is_active:
                self._reach_marks()

    def may_pass_on(self) -> bool:
        """Whether the worker may pass on the batch that it has taken; if not, `close` left it to the next process."""
        with self._closing:
            in_hand, self._in_hand = self._in_hand, ()
            self._read = None
            return not self._is_closed or bool(in_hand)

    def close(self) -> None:
        """Leave to the next process what a worker that is stuck or out of time has not passed on."""
        in_hand: Sequence[Outgoing] = ()
        with self._closing:
            self._is_closed = True
            if self._overflow is not None:
                in_hand, self._in_hand = self._in_hand, ()
            if self._read is not None:
                self._read.close()
        queued = [*in_hand, *self._queued()]
        if self._overflow is not None:
            try:
                self._overflow.close(queued)
            except OSError as failure:
                self._metrics.failed(f"overflow: {failure.strerror}")
            queued = self._queued()  # counts those that the disk did not take
        if queued:
            self._metrics.dropped("closed", len(queued))

    def _opened(self, max_bytes: int) -> Overflow | None:
        if self._overflow_dir is None:
            return None
        try:
            return Overflow(
                self._overflow_dir,
                max_bytes,
                wake=lambda: self._queue.put(_LOOK_INTO_OVERFLOW),
                lose=lambda: self.lose("queue_full"),
            )
        except OSError as failure:
            self._metrics.failed(f"overflow: {failure.strerror}")
            details = {"why": failure.strerror, "path": str(self._overflow_dir)}
            log.warning(
                "cannot open an overflow file for the lineage queue in %(path)s: %(why)s", details, extra=details
            )
            return None

    def _taken(self, *, wait: bool, timeout_s: float | None = None) -> list[Outgoing]:
        """The queued events, at most a batch; `wait` makes it wait for the first if the queue is empty."""
        items: list[Outgoing | _Lost | _Signal | threading.Event] = []
        with contextlib.suppress(Empty):
            while len(items) < BATCH:
                items.append(self._queue.get(block=wait and not items, timeout=timeout_s))
        for item in items:
            if isinstance(item, _Lost):
                self._metrics.dropped(str(item), 1)
            elif isinstance(item, threading.Event):
                self._marks.append(item)
            elif item is _STOP:
                self._is_stopped = True
        return [item for item in items if isinstance(item, Outgoing)]

    def _queued(self) -> list[Outgoing]:
        """All queued events, without waiting."""
        events: list[Outgoing] = []
        while not self._queue.empty():
            events += self._taken(wait=False)
        return events

    def _reach_marks(self) -> None:
        marks, self._marks = self._marks, []
        for mark in marks:
            mark.set()

    def _readable(self, batches: Generator[Batch]) -> Iterator[Batch]:
        """The batches, until the disk fails to return them or the time is up.

        Events after an unread overflow are then left behind it: none may overtake.
        """
        with contextlib.closing(batches):
            try:
                for batch in batches:
                    self._has_left_some = self._is_to_end
                    if self._has_left_some:
                        return
                    self._read = batches
                    yield batch
                    self._has_left_some = self._is_closed  # the couriers may not have taken the last batch
                    if self._has_left_some:
                        return
            except OSError as failure:
                self._metrics.failed(f"overflow: {failure.strerror}")
                details = {"why": failure.strerror, "path": str(self._overflow_dir)}
                log.warning("cannot read the lineage overflow file in %(path)s: %(why)s", details, extra=details)
