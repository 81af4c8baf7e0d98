"""Events read and stored in a process beside the service, which has the service's own thread for everything else.

To read, verify and store an event takes longer than all the rest of its way, and Python does one thing at a time in a
process: with the store in the service's process, each waited for the other.
"""

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from headwater.errors import HeadwaterError, UnavailableError
from headwater.model.facts import Fact
from headwater.service.ingest.process_beside import PATIENCE_S, Process
from headwater.service.ingest.reading import Posted, Trust, read
from headwater.service.ingest.recording import Answered, Learner, WhyNot
from headwater.service.ingest.recording_messages import (
    Add,
    Begin,
    Decide,
    Empty,
    End,
    Heed,
    Recorded,
    StoreFacts,
    Take,
    Ticket,
)
from headwater.store.entries import Entry
from headwater.store.lent import LentStore
from headwater.store.store import Store
from headwater.store.writer import MAX_WAITING, Outcome, too_many_wait

log = logging.getLogger(__name__)

_MUCH: Final = 48
"""Events before the process, from which on others are read here: it is busy with so many for some 20 ms."""
_PAUSE_S: Final = 1.0
"""How long to wait before a process that ended is started again."""
_ENDED: Final = "the process that stores events ended, another is started; try again in a second"


@dataclass(slots=True)
class _Asked:
    """Who waits for answers about some events."""

    answered: "asyncio.Future[Sequence[Answered]]"
    answers: list[Answered | None]
    left: int
    why_not: WhyNot | None

    def answer(self, number: int, answer: Answered) -> None:
        """Note one answer; they are given once all are there."""
        self.answers[number] = answer
        self.left -= 1
        if not self.left and not self.answered.done():
            self.answered.set_result(cast(list[Answered], self.answers))


class RecorderBeside:
    """Has a process read and store events, starts it again if it ends, and is its store's `Borrower`."""

    def __init__(self, store: Store, trust: Trust) -> None:
        """Take over an open store, which is lent to the process until its owner closes it."""
        self.trust = trust
        self._loan = store.lend()
        self.store = LentStore(store, self)
        """What is to be read from, instead."""
        self._process: Process | None = None
        self._listening: Process | None = None
        """The process, once it can be told of events."""
        self._work: asyncio.Task[None] | None = None
        self._asking = threading.Lock()
        self._fault: str | None = None
        self._is_over = False
        self._first_free: Ticket = 0
        self._asked: dict[Ticket, tuple[_Asked, int, tuple[Fact, ...]]] = {}
        """Who waits for which of its events, and what that says as far as it was read here."""
        self._unsent: list[object] = []
        self._is_called = False
        self._is_my_turn = False

    @property
    def fault(self) -> str | None:
        """As in `Recorder`."""
        return self._fault if self._listening is not None else self._fault or _ENDED

    @property
    def pid(self) -> int | None:
        """As in `Recorder`, while it is there."""
        return None if self._process is None else self._process.pid

    def open(self) -> None:
        """As in `Recorder`: the process begins, and opens the store while others read it already."""
        self._process = Process(Begin(self._loan, None))

    def start(self, learner: Learner) -> None:
        """As in `Recorder`.

        Raises:
            SetupError: the process cannot open the store.
            UnavailableError: it does not answer.
        """
        if self._process is None:
            raise AssertionError("started before it was opened")
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
            self._say(End())
        try:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(work, return_exceptions=True)
        except TimeoutError:
            log.error("the process that stores events does not end; what it has not stored is folded at the next start")

    def rely_on(self, trust: Trust) -> None:
        """As in `Recorder`."""
        self.trust = trust
        if self._listening is not None:  # one that is not there yet is told then
            self._say(Heed.of(trust))

    def record(self, events: Sequence[Posted], why_not: WhyNot | None) -> "asyncio.Future[Sequence[Answered]]":
        """As in `Recorder`."""
        is_much, (first, answered) = len(self._asked) >= _MUCH, self._expect(len(events), why_not)
        if answered.done():
            return answered
        self._is_my_turn = is_much and not self._is_my_turn
        if self._is_my_turn and why_not is None:
            self._read_here(first, events)
        else:
            self._say(Take(first, events, is_held=why_not is not None))
        return answered

    def _read_here(self, first: Ticket, events: Sequence[Posted]) -> None:
        """Read events that the process would not come to for long enough."""
        good: list[tuple[Ticket, Entry]] = []
        for ticket, posted in enumerate(events, first):
            entry = read(posted, self.trust)
            asked, number, _ = self._asked[ticket]
            if isinstance(entry, Entry):
                self._asked[ticket] = asked, number, entry.facts
                good.append((ticket, entry))
            else:
                del self._asked[ticket]
                asked.answer(number, entry)
        if good:
            self._say(Add(good))

    def add(self, entry: Entry) -> "asyncio.Future[Sequence[Answered]]":
        """As in `Recorder`."""
        ticket, answered = self._expect(1, None)
        if not answered.done():
            self._say(Add([(ticket, entry)]))
        return answered

    def _expect(self, count: int, why_not: WhyNot | None) -> "tuple[Ticket, asyncio.Future[Sequence[Answered]]]":
        """Tickets that follow on the first, and where the answers will be."""
        first, answered = self._first_free, self._loop.create_future()
        if self._listening is None:
            answered.set_result([UnavailableError(_ENDED)] * count)
        elif len(self._asked) >= MAX_WAITING:
            answered.set_result([too_many_wait()] * count)
        else:
            asked = _Asked(answered, [None] * count, count, why_not)
            self._asked.update((first + number, (asked, number, ())) for number in range(count))
            self._first_free += count
        return first, answered

    def _say(self, message: object) -> None:
        """Say it with what else is said in this turn of the loop, in its order."""
        self._unsent.append(message)
        if not self._is_called:
            self._is_called = True
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        self._is_called = False
        if self._listening is not None:
            self._listening.send(self._unsent)
        self._unsent.clear()

    # What the process says

    def hear(self, recorded: Recorded) -> None:
        """Learn what became of events, then answer for them."""
        self._fault = recorded.fault
        for stored in recorded.news:
            self.store.heard(stored)
        if recorded.news:
            self._learner.heard(recorded.news)
        self._settle(recorded)
        self.store.stored_until(recorded.folded)
        for ticket, entry in recorded.held:
            self._decide(ticket, entry)

    def _settle(self, recorded: Recorded) -> None:
        group = [
            (verdict, self._whole(ticket, outcome))
            for ticket, verdict, outcome in recorded.outcomes
            if verdict is not None
        ]
        for _, outcome in group:
            if not isinstance(outcome, Exception):
                self.store.heard(outcome)
        answers = iter(self._learner.settled(group, recorded.growth) if group else ())
        for ticket, verdict, outcome in recorded.outcomes:
            asked, number, _ = self._asked.pop(ticket)
            if verdict is not None:
                asked.answer(number, next(answers))
            elif isinstance(outcome, Exception):
                asked.answer(number, outcome)

    def _whole(self, ticket: Ticket, outcome: Outcome) -> Outcome:
        """The outcome with what the event says that was read here; the process tells only what it found beside it."""
        _, _, said = self._asked[ticket]
        if not said or isinstance(outcome, Exception) or not outcome.is_new:
            return outcome
        return outcome._replace(facts=said + outcome.facts)

    def _decide(self, ticket: Ticket, entry: Entry) -> None:
        """Have an event stored that is held, if its sender may bring it."""
        asked, number, _ = self._asked[ticket]
        try:
            fault: Exception | None = None if asked.why_not is None else asked.why_not(entry)
        except Exception as unexpected:  # its neighbours are not to suffer from it
            fault = unexpected
        self._say(Decide(ticket, is_stored=fault is None))
        if fault is not None:
            del self._asked[ticket]
            asked.answer(number, fault)

    # The process

    async def _keep_going(self, first: Process) -> None:
        process: Process | None = first
        while True:
            try:
                await self._run(process or await self._another())
            except (HeadwaterError, OSError) as fault:
                self._fault = str(fault)
            if self._is_over:
                return
            log.error("the process that stores events ended; another is started", extra={"fault": self._fault})
            process = None
            await asyncio.sleep(_PAUSE_S)

    async def _another(self) -> Process:
        process = Process(Begin(self._loan, self.store.known))
        try:
            await asyncio.to_thread(process.begun)
        except asyncio.CancelledError:
            process.kill()
            raise
        return process

    async def _run(self, process: Process) -> None:
        """Say and hear until it ends."""
        self._process = process
        try:
            await process.attach(self.hear)
            process.send([Heed.of(self.trust)])
            self._listening, self._fault = process, None
            await process.ended
        finally:
            with self._asking:
                self._process = self._listening = None
            process.close()
            for asked, number, _ in self._asked.values():
                asked.answer(number, UnavailableError(_ENDED))
            self._asked.clear()
            await asyncio.to_thread(process.reap)

    # As a borrower, on any thread

    def store_facts(self) -> int:
        """As in `Borrower`."""
        return cast(int, self._answer(StoreFacts()))

    def empty(self, places: range) -> None:
        """As in `Borrower`."""
        self._answer(Empty(places))

    def _answer(self, question: object) -> object:
        with self._asking:
            if self._process is None:
                raise UnavailableError(_ENDED)
            return self._process.answer(question)
