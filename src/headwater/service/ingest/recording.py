"""Events read and stored: what is asked of whoever does it, and how it is done in this very process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from headwater.errors import HeadwaterError, UnavailableError
from headwater.service.ingest.reading import Posted, Refusal, Trust, read
from headwater.signing.merkle import Growth
from headwater.signing.verify import Verdict
from headwater.store.entries import Entry, Stored
from headwater.store.store import Store
from headwater.store.writer import Outcome, WriterThread

WhyNot = Callable[[Entry], HeadwaterError | None]
"""Why an event may not be brought by its sender, or None if it may."""


class Answer(NamedTuple):
    """Where the event stands in the log; `is_new` False if it was stored before."""

    log_index: int
    is_new: bool
    growth: Growth
    """The tree over the log, when it was last appended to before this was said."""


Answered = Answer | Exception
Group = Sequence[tuple[Verdict, Outcome]]


class Learner(Protocol):
    """Who learns what was stored, before anybody is told, on the event loop's thread."""

    def learn_group(self, group: Group, growth: Growth) -> list[Answered]:
        """Learn what was stored together, or could not be; gives what is answered to each."""

    def learn_news(self, news: Sequence[Stored]) -> None:
        """Learn what others stored in the same database."""


class Recorder(Protocol):
    """Reads, verifies and stores events. Lives on the event loop's thread."""

    @property
    def trust(self) -> Trust:
        """Who is trusted."""

    @property
    def pid(self) -> int | None:
        """The number of the process that does it, where there is one beside this one."""

    @property
    def fault(self) -> str | None:
        """Why events cannot be stored now, or None if all is well as far as is known."""

    def open(self) -> None:
        """Get ready, before anything is read from the store."""

    def start(self, learner: Learner) -> None:
        """Begin, once all is known that was stored before; called on the event loop's thread."""

    async def stop(self) -> None:
        """Store and answer what waits, then end."""

    def rely_on(self, trust: Trust) -> None:
        """Trust these from the next event on."""

    def record(self, events: Sequence[Posted], why_not: WhyNot | None) -> Awaitable[Sequence[Answered]]:
        """Read and store events, each for itself, in the order in which this is called; gives an answer for each."""

    def add(self, entry: Entry) -> Awaitable[Sequence[Answered]]:
        """Store one that was read already."""


class _Waits(NamedTuple):
    """Who waits for what."""

    answer: "asyncio.Future[Answered]"
    verdict: Verdict


@dataclass(slots=True)
class LocalRecorder:
    """Reads on the event loop's thread, and stores on one of its own."""

    store: Store
    trust: Trust
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _writer: WriterThread[_Waits] | None = field(init=False, default=None)
    _learner: Learner = field(init=False)

    @property
    def pid(self) -> None:
        """As in `Recorder`."""

    @property
    def fault(self) -> str | None:
        """As in `Recorder`."""
        is_alive = self._writer is not None and self._writer.is_alive
        return self.store.fault if is_alive else "the writer's thread has ended"

    def open(self) -> None:
        """As in `Recorder`."""

    def start(self, learner: Learner) -> None:
        """As in `Recorder`."""
        self._loop = asyncio.get_running_loop()
        self._learner = learner
        self._writer = WriterThread(self.store.add, self.store.catch_up, self._hand_over, self.store.follow)
        self.store.watch(self._hear, self._writer.wake)

    async def stop(self) -> None:
        """As in `Recorder`."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)

    def rely_on(self, trust: Trust) -> None:
        """As in `Recorder`."""
        self.trust = trust

    async def record(self, events: Sequence[Posted], why_not: WhyNot | None) -> list[Answered]:
        """As in `Recorder`."""
        entries = [
            read(posted, self.trust) for posted in events
        ]  # before any is stored: they are to be stored together
        submitted = [self._submitted(entry, why_not) for entry in entries]
        return [each if isinstance(each, Exception) else await each for each in submitted]

    async def add(self, entry: Entry) -> list[Answered]:
        """As in `Recorder`."""
        return [await self._stored(entry)]

    def _submitted(self, entry: Entry | Refusal, why_not: WhyNot | None) -> "asyncio.Future[Answered] | HeadwaterError":
        if isinstance(entry, Exception):
            return entry
        fault = None if why_not is None else why_not(entry)
        return self._stored(entry) if fault is None else fault

    def _stored(self, entry: Entry) -> "asyncio.Future[Answered]":
        if self._writer is None:
            raise AssertionError("an event came before anything was started")
        waits = _Waits(self._loop.create_future(), entry.verdict)
        try:
            self._writer.submit(entry, waits)
        except UnavailableError as fault:
            waits.answer.set_result(fault)
        return waits.answer

    def _hand_over(self, outcomes: Sequence[tuple[_Waits, Outcome]]) -> None:
        """On the writer's thread, as `_hear`."""
        self._loop.call_soon_threadsafe(self._settle, outcomes, self.store.growth)

    def _hear(self, news: Sequence[Stored]) -> None:
        self._loop.call_soon_threadsafe(self._learner.learn_news, news)

    def _settle(self, outcomes: Sequence[tuple[_Waits, Outcome]], growth: Growth) -> None:
        """Back on the event loop's thread."""
        answers = self._learner.learn_group([(waits.verdict, outcome) for waits, outcome in outcomes], growth)
        for (waits, _), answer in zip(outcomes, answers, strict=True):
            if not waits.answer.done():
                waits.answer.set_result(answer)
