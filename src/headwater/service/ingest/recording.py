"""Reading and storing events: the `Recorder` interface, and the recorder within this process."""

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
"""Returns why its sender may not post an event, or None if it may."""


class Answer(NamedTuple):
    """The event's index in the log; `is_new` is False if it was stored before."""

    log_index: int
    is_new: bool
    growth: Growth
    """How the tree over the log grew with the last append before this answer."""


Answered = Answer | Exception
Group = Sequence[tuple[Verdict, Outcome]]


class Learner(Protocol):
    """Learns what was stored, before it is acknowledged; called on the event loop's thread."""

    def learn_group(self, group: Group, growth: Growth) -> list[Answered]:
        """Learn the events of one transaction; returns the answer to each, including those that failed."""

    def learn_news(self, news: Sequence[Stored]) -> None:
        """Learn what other services stored in the same database."""


class Recorder(Protocol):
    """Reads, verifies and stores events. For the event loop's thread."""

    @property
    def trust(self) -> Trust:
        """The keys trusted now."""

    @property
    def pid(self) -> int | None:
        """The id of the recorder's process, if it is another one."""

    @property
    def fault(self) -> str | None:
        """Why events cannot be stored now, or None if no fault is known."""

    def open(self) -> None:
        """Prepare; called before anything is read from the store."""

    def start(self, learner: Learner) -> None:
        """Start taking events; called on the event loop's thread, once the graph is loaded."""

    async def stop(self) -> None:
        """Store and answer what is queued, then end."""

    def set_trust(self, trust: Trust) -> None:
        """Trust these keys from the next event on."""

    def record(self, events: Sequence[Posted], why_not: WhyNot | None) -> Awaitable[Sequence[Answered]]:
        """Read and store events independently, in order of the calls; returns an answer for each."""

    def add(self, entry: Entry) -> Awaitable[Sequence[Answered]]:
        """Store an entry that was read already."""


class _Waits(NamedTuple):
    """A pending answer."""

    answer: "asyncio.Future[Answered]"
    verdict: Verdict


@dataclass(slots=True)
class LocalRecorder:
    """Reads events on the event loop's thread, and stores them on a writer thread."""

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
        return self.store.fault if is_alive else "the writer thread has ended"

    def open(self) -> None:
        """As in `Recorder`."""

    def start(self, learner: Learner) -> None:
        """As in `Recorder`."""
        self._loop = asyncio.get_running_loop()
        self._learner = learner
        self._writer = WriterThread(self.store.add, self.store.catch_up, self._hand_over, self.store.follow)
        self.store.watch(self._learn_news, self._writer.wake)

    async def stop(self) -> None:
        """As in `Recorder`."""
        if self._writer is not None:
            await asyncio.to_thread(self._writer.close)

    def set_trust(self, trust: Trust) -> None:
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
            raise AssertionError("an event was submitted before the recorder was started")
        waits = _Waits(self._loop.create_future(), entry.verdict)
        try:
            self._writer.submit(entry, waits)
        except UnavailableError as fault:
            waits.answer.set_result(fault)
        return waits.answer

    def _hand_over(self, outcomes: Sequence[tuple[_Waits, Outcome]]) -> None:
        """Called on the writer's thread, as is `_hear`."""
        self._loop.call_soon_threadsafe(self._settle, outcomes, self.store.growth)

    def _learn_news(self, news: Sequence[Stored]) -> None:
        self._loop.call_soon_threadsafe(self._learner.learn_news, news)

    def _settle(self, outcomes: Sequence[tuple[_Waits, Outcome]], growth: Growth) -> None:
        """Called on the event loop's thread."""
        answers = self._learner.learn_group([(waits.verdict, outcome) for waits, outcome in outcomes], growth)
        for (waits, _), answer in zip(outcomes, answers, strict=True):
            if not waits.answer.done():
                waits.answer.set_result(answer)
