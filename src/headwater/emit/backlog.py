"""The backlog of one target: all events that wait for delivery, oldest first."""

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from itertools import accumulate, islice
from pathlib import Path
from typing import Final, NamedTuple

from headwater.emit.claim import Claim, orphans
from headwater.emit.metrics import EmitMetrics
from headwater.emit.spool import FILE, DamagedSpoolError, Outgoing, Spool, Spooled, readable
from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

MAX_ADOPTED: Final = 16
"""How many adopted spools are open at once: each takes four of the process's file descriptors."""

MEMORY_MAX_BYTES: Final = 16 << 20
"""The limit of the in-memory backlog of a target, used while the disk refuses writes."""


TOGETHER_MAX: Final = 64
"""The most events in one delivery."""

TOGETHER_MAX_BYTES: Final = 1 << 20
"""The most bytes in one delivery, unless the first event alone is larger."""


class Waiting(NamedTuple):
    """The oldest events of a backlog, at least one, and the spool that holds them."""

    spool: Spool
    events: Sequence[Spooled]


class _Damaged(NamedTuple):
    """A spool in which damage was found; `is_adopted` unless it is our own."""

    spool: Spool
    damage: DamagedSpoolError
    is_adopted: bool


class Backlog:
    """The spools of dead processes, then our own, then memory for events that the disk refuses.

    While the disk fails, no event is lost as long as the target accepts events or the backlog fits into memory. Beyond
    that, events are dropped and counted. Of a damaged spool all events that can be read are delivered; its file is kept
    for a person to inspect. Any thread may call any method; none raises.
    """

    def __init__(self, transport: str, directory: Path | None, max_bytes: int, metrics: EmitMetrics) -> None:
        self._transport = transport
        self._directory = directory
        self._max_bytes = max_bytes
        self._metrics = metrics
        self._lock = threading.RLock()
        self._adopted: list[Spool] = []
        self._own: Spool | None = None
        self._damaged: list[_Damaged] = []
        """Until `peek` has saved what can be read."""
        self._memory = Spool(None)
        self._bytes_of_others = 0
        self._disk_fails = False
        self._has_adopted_all = directory is None
        self._is_closed = False

    def __len__(self) -> int:
        """The number of waiting events, on disk and in memory."""
        with self._lock:
            return sum(spool.event_count for spool in self._spools())

    def add(self, events: Sequence[Outgoing]) -> None:
        """Append events; they are delivered in this order, after all earlier ones."""
        with self._lock:
            if self._is_closed:
                self._metrics.dropped("closed", len(events))
                return
            self._flush_memory()
            rest = events if self._memory.event_count else self._to_disk(events)
            self._drop(self._to_memory(rest))
            self._metrics.spooled(self._transport, len(self))

    @property
    def is_empty(self) -> bool:
        """Whether no event waits, neither here nor in the spool of a dead process."""
        return self._has_adopted_all and not self._damaged and len(self) == 0

    @property
    def is_safe(self) -> bool:
        """Whether every waiting event is on disk, so that a kill of this process would lose none."""
        with self._lock:
            return self._memory.event_count == 0

    def adopt(self) -> None:
        """Take over the target's spools of dead processes, at most `MAX_ADOPTED` at a time."""
        if self._directory is None:
            return
        try:
            for claim in orphans(self._directory):
                if len(self._adopted) == MAX_ADOPTED:
                    claim.release()
                    self._has_adopted_all = False
                    return
                self._adopt(claim)
        except OSError as failure:
            self._metrics.failed(f"spool: {failure.strerror}")
        self._has_adopted_all = True

    def peek(self) -> Waiting | None:
        """The oldest events; None if there is none that can be read."""
        self._close_delivered()
        if not self._has_adopted_all and not self._adopted:
            self.adopt()
        waiting = self._oldest()
        while self._damaged:
            self._save_readable()
            waiting = self._oldest()  # what was saved may be older
        return waiting

    def remove(self, waiting: Waiting) -> None:
        """Remove events that `peek` returned, from the first of them on."""
        with self._lock:
            if self._is_closed or waiting.spool not in self._spools():
                return  # the events were moved to disk meanwhile: they are delivered twice
            try:
                waiting.spool.remove(waiting.events)
            except UnavailableError as failure:
                self._metrics.failed(str(failure))
            self._metrics.spooled(self._transport, len(self))

    def flush_memory(self) -> None:
        """Move events from memory to disk, as many as fit there."""
        with self._lock:
            self._flush_memory()

    def sync(self) -> bool:
        """Sync our own spool to disk. True if that worked and no event is left in memory only."""
        with self._lock:
            self._flush_memory()
            try:
                if self._own is not None and not self._is_closed:
                    self._own.sync()
            except UnavailableError as failure:
                self._note(failure)
                return False
            return self.is_safe

    def close(self) -> None:
        """Move what fits to disk, for the next process; drop the rest."""
        with self._lock:
            if self._is_closed:
                return
            self._flush_memory()
            self._is_closed = True
            self._drop(self._memory.all())
            for spool in [*self._spools(), *(damaged.spool for damaged in self._damaged)]:
                self._close(spool)
            self._metrics.spooled(self._transport, len(self) - self._memory.event_count)

    def _spools(self) -> list[Spool]:
        return [*self._adopted, *([self._own] if self._own else []), self._memory]

    def _oldest(self) -> Waiting | None:
        """The oldest events; None if there is none, or once damage is found: no later event may overtake."""
        with self._lock:
            for spool in self._spools():
                if events := self._first_of(spool):
                    return Waiting(spool, events)
                if self._damaged:
                    return None
            return None

    def _close_delivered(self) -> None:
        with self._lock:
            for spool in [spool for spool in self._adopted if spool.event_count == 0]:
                self._adopted.remove(spool)
                self._close(spool)

    def _adopt(self, claim: Claim) -> None:
        try:
            spool = Spool(claim, check=True)
        except DamagedSpoolError as damage:
            saved = self._saved(claim.path / FILE, after_seq=0)
            self._move_aside(claim.set_aside, damage, saved)
            return
        except UnavailableError as failure:
            self._metrics.failed(str(failure))
            claim.release()
            return
        if spool.event_count:
            log.info(
                "adopted the lineage spool of an ended process",
                extra={"transport": self._transport, "events": spool.event_count},
            )
        self._deliver(spool)

    def _deliver(self, spool: Spool, *, is_first: bool = False) -> None:
        """Deliver a spool before our own one, or before all; one that is empty, or comes too late, is closed."""
        with self._lock:
            if self._is_closed or spool.event_count == 0:
                self._close(spool)
            else:
                self._adopted.insert(0 if is_first else len(self._adopted), spool)
                self._metrics.spooled(self._transport, len(self))

    def _to_disk(self, events: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """Add as many events as fit to our own spool; returns the rest."""
        fitting = 0 if self._own is None else _fitting(events, self._room())
        if fitting < len(events):
            self._bytes_of_others = self._measured()
            fitting = _fitting(events, self._room())
        if self._directory is None or not fitting:
            return events
        try:
            self._own = self._own or _made(self._directory)
            self._own.add(events[:fitting])
        except UnavailableError as failure:
            self._note(failure)
            return events
        self._disk_fails = False
        return events[fitting:]

    def _room(self) -> int:
        ours = sum(spool.event_bytes for spool in self._spools() if spool is not self._memory)
        return self._max_bytes - self._bytes_of_others - ours

    def _measured(self) -> int:
        """Bytes in the target's spools of other processes, dead or alive; they share our limit."""
        ours = {spool.path for spool in self._spools()}
        sizes = 0
        for file in self._directory.glob(f"[0-9]*/{FILE}") if self._directory else ():
            with contextlib.suppress(FileNotFoundError):
                sizes += 0 if file in ours else file.stat().st_size
        return sizes

    def _to_memory(self, events: Sequence[Outgoing]) -> Sequence[Outgoing]:
        """Add as many events as fit to memory; returns the rest."""
        fitting = _fitting(events, MEMORY_MAX_BYTES - self._memory.event_bytes)
        if fitting:
            self._memory.add(events[:fitting])
        return events[fitting:]

    def _flush_memory(self) -> None:
        if not self._memory.event_count:
            return
        held = self._memory.all()
        rest = self._to_disk(held)
        if len(rest) < len(held):
            self._memory.close()
            self._memory = Spool(None)
            self._to_memory(rest)

    def _first_of(self, spool: Spool) -> Sequence[Spooled]:
        try:
            return spool.peek(TOGETHER_MAX, TOGETHER_MAX_BYTES)
        except DamagedSpoolError as damage:
            self._set_aside(spool, damage)
        except UnavailableError as failure:
            self._metrics.failed(str(failure))
        return ()

    def _note(self, failure: UnavailableError) -> None:
        """Record a failure of our own spool; only the first of a series is logged."""
        if isinstance(failure, DamagedSpoolError) and self._own is not None:
            self._set_aside(self._own, failure)
            return
        self._metrics.failed(str(failure))
        if not self._disk_fails:
            details = {"why": str(failure)}
            log.warning(
                "cannot write events to the lineage spool: %(why)s",
                details,
                extra={**details, "transport": self._transport},
            )
        self._disk_fails = True

    def _set_aside(self, spool: Spool, damage: DamagedSpoolError) -> None:
        """Use the spool no longer; the next `peek` saves what can be read, which may take long on a failing disk."""
        is_adopted = spool in self._adopted
        if is_adopted:
            self._adopted.remove(spool)
        elif spool is self._own:
            self._own = None
        self._damaged.append(_Damaged(spool, damage, is_adopted))

    def _save_readable(self) -> None:
        for damaged in [*self._damaged]:
            spool, damage, is_adopted = damaged
            saved = self._saved(spool.path, spool.delivered_seq, is_first=is_adopted)
            self._move_aside(spool.set_aside, damage, saved)
            if spool.event_count > saved:
                self._metrics.dropped("spool_damaged", spool.event_count - saved, str(damage))
            with self._lock:
                self._damaged.remove(damaged)

    def _saved(self, file: Path | None, after_seq: int, *, is_first: bool = False) -> int:
        """Copy what can be read of a damaged file into a new spool, to be delivered; returns the number of events."""
        if self._directory is None or file is None:
            return 0
        try:
            saved = _made(self._directory)
        except UnavailableError as failure:
            self._metrics.failed(str(failure))
            return 0
        try:
            events = readable(file, after_seq)
            while together := [*islice(events, TOGETHER_MAX)]:
                saved.add(together)
        except UnavailableError as failure:
            self._metrics.failed(str(failure))
        count = saved.event_count
        self._deliver(saved, is_first=is_first)
        return count

    def _move_aside(self, move: Callable[[], Path | None], damage: DamagedSpoolError, saved: int) -> None:
        try:
            aside = move()
        except OSError:
            aside = None  # it stays in place, claimed by us, until this process ends
        self._metrics.set_aside()
        self._metrics.failed(str(damage))
        details = {"path": str(aside), "why": str(damage), "saved": saved}
        log.error(
            "moved a damaged lineage spool aside to %(path)s: %(why)s; %(saved)d events in it can be read and are sent",
            details,
            extra=details,
        )

    def _drop(self, events: Sequence[Outgoing]) -> None:
        if events:
            self._metrics.dropped("spool_failed" if self._disk_fails else "spool_full", len(events))

    def _close(self, spool: Spool) -> None:
        try:
            spool.close()
        except OSError as failure:
            self._metrics.failed(f"spool: {failure.strerror}")


def _made(directory: Path) -> Spool:
    """A new spool; if it cannot be created, nothing is left in the directory."""
    try:
        claim = Claim.create(directory)
        try:
            return Spool(claim)
        except UnavailableError:
            claim.remove()
            raise
    except OSError as failure:
        raise UnavailableError(f"spool: {failure.strerror}") from failure


def _fitting(events: Sequence[Outgoing], room_bytes: int) -> int:
    """How many of the events, from the first on, fit into `room_bytes`."""
    sizes = accumulate(len(event.body) for event in events)
    return sum(1 for size in sizes if size <= room_bytes)
