"""Events are read and stored in another process, which leaves the service's thread free for everything else.

Reading, verifying and storing an event takes longer than all its other steps, and Python runs one thread at a time: in
one process, storing and answering waited for each other.
"""

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, cast

from headwater.errors import HeadwaterError, UnavailableError
from headwater.service.ingest.process_handle import PATIENCE_S, SILENT, ProcessHandle
from headwater.service.ingest.reading import Posted, Trust, read
from headwater.service.ingest.recording import Answered, Learner, WhyNot
from headwater.service.ingest.recording_messages import (
    EmptyRows,
    End,
    OpenStore,
    ReadAndStore,
    Recorded,
    SetTrust,
    StoreFacts,
    StoreOrForget,
    StoreRead,
    Ticket,
)
from headwater.service.ingest.tickets import Tickets
from headwater.store.entries import Entry
from headwater.store.opened import FACTS_WITHIN_S
from headwater.store.read_side import ReadSideStore
from headwater.store.store import Store
from headwater.store.writer import MAX_WAITING, too_many_wait

log = logging.getLogger(__name__)

_MUCH: Final = 48
"""With so many events pending at the process (some 20 ms of work), every other one is read here."""
_PAUSE_S: Final = 1.0
"""Back-off before a process that ended is started again; doubles each time that it ends soon."""
_LONGEST_PAUSE_S: Final = 15.0
_LOOK_EVERY_S: Final = 1.0
_SLOW_S: Final = 5.0
"""How long the process may be silent while something waits for it, before that is reported as a fault."""
_STUCK_S: Final = 30.0
"""How long before it is killed: longer than it waits for a database, and shorter than a client's time-out."""
_ENDED: Final = "the process that stores events ended and is being restarted; try again in a second"


class RemoteRecorder:
    """A `Recorder` in another process, which is restarted if it ends; also the store's `WriterProcess`."""

    def __init__(self, store: Store, trust: Trust, stuck_s: float = _STUCK_S) -> None:
        """Hand the write side of an open store over to the process; the caller closes the store.

        A process that is silent for `stuck_s` seconds while something waits for it is killed.
        """
        self.trust = trust
        self._stuck_s = stuck_s
        self._silent_s = 0.0
        """How long it has been silent while something waits, as far as this event loop could run."""
        self._handover = store.hand_over_writing()
        self.store = ReadSideStore(store, self)
        """The store to read from instead."""
        self._process: ProcessHandle | None = None
        self._listening: ProcessHandle | None = None
        """The process, once it can take events."""
        self._work: asyncio.Task[None] | None = None
        self._asking = threading.Lock()
        self._fault: str | None = None
        self._is_over = False
        self._tickets = Tickets()
        self._unsent: list[object] = []
        self._is_called = False
        self._is_my_turn = False

    @property
    def fault(self) -> str | None:
        """As in `Recorder`."""
        if self._listening is None:
            return self._fault or _ENDED
        return SILENT if self._silent_s >= min(_SLOW_S, self._stuck_s) else self._fault or self.store.fault

    @property
    def pid(self) -> int | None:
        """As in `Recorder`; None while no process runs."""
        return None if self._process is None else self._process.pid

    def open(self) -> None:
        """As in `Recorder`: starts the process, which opens the store while this one already reads it."""
        self._process = ProcessHandle(OpenStore(self._handover, None))

    def start(self, learner: Learner) -> None:
        """As in `Recorder`.

        Raises:
            SetupError: the process cannot open the store.
            UnavailableError: it does not answer.
        """
        if self._process is None:
            raise AssertionError("the recorder was started before it was opened")
        self.store.begin(self._process.begun())
        self._loop = asyncio.get_running_loop()
        self._learner = learner
        self._work = asyncio.create_task(self._keep_going(self._process))

    async def stop(self) -> None:
        """As in `Recorder`."""
        self._is_over = True
        if self._work is not None:
            await self._end(self._work)
        elif self._process is not None:
            self._process.close()
            await asyncio.to_thread(self._process.reap)
        self.store.close()

    async def _end(self, work: "asyncio.Task[None]") -> None:
        if self._listening is None:
            work.cancel()
        else:
            self._send_soon(End())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(work, return_exceptions=True)
        except TimeoutError:
            log.error("the process that stores events does not end; the next start rebuilds facts that are not stored")

    def set_trust(self, trust: Trust) -> None:
        """As in `Recorder`."""
        self.trust = trust
        if self._listening is not None:  # else `_run` sends it at the start
            self._send_soon(SetTrust.of(trust))

    def record(self, events: Sequence[Posted], why_not: WhyNot | None) -> "asyncio.Future[Sequence[Answered]]":
        """As in `Recorder`."""
        is_much, answered = len(self._tickets) >= _MUCH, self._expected(len(events))
        if answered.done():
            return answered
        first = self._tickets.hand_out(len(events), why_not, answered)
        self._is_my_turn = is_much and not self._is_my_turn
        if self._is_my_turn and why_not is None:
            self._read_here(first, events)
        else:
            self._send_soon(ReadAndStore(first, events, is_held=why_not is not None))
        return answered

    def _read_here(self, first: Ticket, events: Sequence[Posted]) -> None:
        """Read events here, since the process is busy."""
        good: list[tuple[Ticket, Entry]] = []
        for ticket, posted in enumerate(events, first):
            entry = read(posted, self.trust)
            if isinstance(entry, Entry):
                self._tickets.was_read(ticket, entry.facts)
                good.append((ticket, entry))
            else:
                self._tickets.answer(ticket, entry)
        if good:
            self._send_soon(StoreRead(good))

    def add(self, entry: Entry) -> "asyncio.Future[Sequence[Answered]]":
        """As in `Recorder`."""
        answered = self._expected(1)
        if not answered.done():
            self._send_soon(StoreRead([(self._tickets.hand_out(1, None, answered), entry)]))
        return answered

    def _expected(self, count: int) -> "asyncio.Future[Sequence[Answered]]":
        """A future for the answers to so many events; already done, with errors, if nothing can be taken now."""
        answered: asyncio.Future[Sequence[Answered]] = self._loop.create_future()
        if self._listening is None:
            answered.set_result([UnavailableError(_ENDED)] * count)
        elif len(self._tickets) >= MAX_WAITING:
            answered.set_result([too_many_wait()] * count)
        return answered

    def _send_soon(self, message: object) -> None:
        """Send the message together with others of this turn of the event loop, in order."""
        self._unsent.append(message)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._is_called = False
        unsent, self._unsent = self._unsent, []
        if self._listening is not None:
            self._listening.send(unsent)

    def on_recorded(self, recorded: Recorded) -> None:
        """Learn the events that were stored, then answer all tickets."""
        self._silent_s = 0.0
        self._fault = recorded.fault
        for stored in recorded.news:
            self.store.note_stored(stored)
        if recorded.news:
            self._learner.learn_news(recorded.news)
        self._settle(recorded)
        self.store.note_head(recorded.head)
        self.store.note_folded(recorded.folded)
        for ticket, entry in recorded.held:
            self._decide(ticket, entry)

    def _settle(self, recorded: Recorded) -> None:
        group = self._tickets.group(recorded.outcomes)
        for _, outcome in group:
            if not isinstance(outcome, Exception):
                self.store.note_stored(outcome)
        self._tickets.settle(recorded.outcomes, self._learner.learn_group(group, recorded.growth) if group else ())

    def _decide(self, ticket: Ticket, entry: Entry) -> None:
        """Have a held event stored if its sender may post it, else dropped."""
        fault = self._tickets.why_not(ticket, entry)
        self._send_soon(StoreOrForget(ticket, is_stored=fault is None))
        if fault is not None:
            self._tickets.answer(ticket, fault)

    async def _keep_going(self, first: ProcessHandle) -> None:
        process: ProcessHandle | None = first
        pause_s, logged = _PAUSE_S, ""
        while True:
            begin_s = self._loop.time()
            try:
                await self._run(process or await self._another())
                logged = ""
            except (HeadwaterError, OSError) as fault:
                self._fault = str(fault)
            if self._is_over:
                return
            if self._fault is None or self._fault != logged:
                log.error("the process that stores events ended and is being restarted", extra={"fault": self._fault})
            logged, process = self._fault or "", None
            pause_s = _PAUSE_S if self._loop.time() - begin_s > 2 * _LONGEST_PAUSE_S else pause_s
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    async def _another(self) -> ProcessHandle:
        process = ProcessHandle(OpenStore(self._handover, self.store.known))
        try:
            await asyncio.to_thread(process.begun)
        except asyncio.CancelledError:
            process.kill()
            raise
        return process

    async def _run(self, process: ProcessHandle) -> None:
        """Exchange messages until the process ends."""
        self._process = process
        try:
            await process.attach(self.on_recorded)
            process.send([SetTrust.of(self.trust)])
            self._listening, self._fault, self._silent_s = process, None, 0.0
            while not (process.ended.done() or self._killed_as_stuck(process)):
                await asyncio.wait([process.ended], timeout=_LOOK_EVERY_S)
            await process.ended
        finally:
            with self._asking:
                self._process = self._listening = None
            process.close()
            self._tickets.give_up(_ENDED)
            await asyncio.to_thread(process.reap)

    def _killed_as_stuck(self, process: ProcessHandle) -> bool:
        """Kill the process if it is stopped, or blocked on a disk, while something waits for it."""
        is_waited_for = len(self._tickets) > 0 or self._owes_answer(process)
        self._silent_s = self._silent_s + _LOOK_EVERY_S if is_waited_for else 0.0
        if self._silent_s < self._stuck_s:
            return False
        log.error("the process that stores events does not answer; killing it", extra={"after_s": self._silent_s})
        process.kill()
        return True

    def _owes_answer(self, process: ProcessHandle) -> bool:
        if process.owes_answer and self._asking.acquire(blocking=False):
            try:
                process.look_for_answer()
            except UnavailableError:
                return True
            finally:
                self._asking.release()
        return False

    def store_facts(self) -> int:
        """As in `WriterProcess`; on any thread, as `empty`."""
        return cast(int, self._answer(StoreFacts()))

    def empty(self, indexes: range) -> None:
        """As in `WriterProcess`."""
        self._answer(EmptyRows(indexes))

    def _answer(self, request: object) -> object:
        with self._own_turn():
            if self._process is None:
                raise UnavailableError(_ENDED)
            return self._process.answer(request)

    @contextmanager
    def _own_turn(self) -> Iterator[None]:
        """Take the lock for requests, with a time-out."""
        if not self._asking.acquire(timeout=FACTS_WITHIN_S):
            raise UnavailableError(SILENT)
        try:
            yield
        finally:
            self._asking.release()
