"""An event in: read, verified, stored, in the graph, and only then acknowledged."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    InvalidEventError,
    MalformedJsonError,
    UnavailableError,
    UntrustedEventError,
)
from headwater.model.edits import EditEntry
from headwater.service.metrics import Metrics
from headwater.service.readers import Readers
from headwater.signing.leaf import SALT_BYTES
from headwater.signing.merkle import Growth
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.store import Store
from headwater.store.writer import GroupCommit, Outcome

log = logging.getLogger(__name__)

_TOGETHER: Final = 16
"""Events of a batch that go their way together."""
_SALTS_TOGETHER: Final = 256


WhyNot = Callable[[Entry], HeadwaterError | None]
"""Why an event may not be brought by its sender, or None if it may."""


class Answer(NamedTuple):
    """Where the event stands in the log; `is_new` False if it was stored before."""

    log_index: int
    is_new: bool
    growth: Growth
    """The tree over the log, when it was last appended to before this was said."""


@dataclass(slots=True)
class _Post:
    """Who waits for what."""

    outcome: "asyncio.Future[Answer | Exception]"
    verdict: str


@dataclass(slots=True)
class Intake:
    """Takes events; lives on the event loop's thread, with a writer's thread behind it.

    `learn` is called once for each new event after it is on disk, and before it is acknowledged; also for those that
    another service stored in the same database.
    """

    store: Store
    readers: Readers
    learn: Callable[[Stored], None]
    metrics: Metrics
    now_us: Callable[[], int]
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _writer: GroupCommit[_Post] = field(init=False)
    _last_failure: str | None = field(init=False, default=None)
    _under_way: int = field(init=False, default=0)
    """Calls that have not got their answers yet."""
    _salts: Iterator[bytes] = field(init=False, default_factory=lambda: _random_salts())

    def start(self) -> None:
        """Start the writer's thread and the readers' processes; called on the event loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._writer = GroupCommit(self._add, self.store.catch_up, self._hand_over, self.store.follow)
        self.store.watch(self._hear, self._writer.wake)
        self.readers.start()

    async def stop(self) -> None:
        """Store and acknowledge what waits, then end the writer's thread."""
        await self.readers.stop()
        await asyncio.to_thread(self._writer.close)

    @property
    def fault(self) -> str | None:
        """Why events cannot be stored now, or None if all is well as far as is known."""
        return self._last_failure or self.store.fault if self._writer.is_alive else "the writer's thread has ended"

    async def take(self, raw: bytes, why_not: WhyNot | None = None) -> Answer:
        """Store an event; when this returns, it is on disk and in every answer.

        `why_not` is asked whether its sender may bring it.

        Raises:
            MalformedJsonError: no JSON.
            InvalidEventError: no event; the message gives the path of the first bad field.
            UntrustedEventError: it lacks the good signature that is required.
            ForbiddenError: its sender may not bring it.
            UnavailableError: it could not be stored now.
        """
        (outcome,) = await self._take_some([raw], why_not)
        if isinstance(outcome, HeadwaterError):
            raise outcome
        return outcome

    async def take_all(self, events: Sequence[bytes], why_not: WhyNot | None = None) -> list[Answer | HeadwaterError]:
        """Store many events, each for itself; gives for each, in order, its answer or why it was not stored."""
        taken: list[asyncio.Task[list[Answer | HeadwaterError]]] = []
        for begin in range(0, len(events), _TOGETHER):
            taken.append(asyncio.create_task(self._take_some(events[begin : begin + _TOGETHER], why_not)))
            await asyncio.sleep(0)  # let the readers and the writer begin, and others have their turn
        return [outcome for some in await asyncio.gather(*taken) for outcome in some]

    async def _take_some(self, events: Sequence[bytes], why_not: WhyNot | None) -> list[Answer | HeadwaterError]:
        self._under_way += 1
        try:
            return await self._taken(events, why_not)
        finally:
            self._under_way -= 1

    async def _taken(self, events: Sequence[bytes], why_not: WhyNot | None) -> list[Answer | HeadwaterError]:
        received_us = self.now_us()
        try:
            posted = [(raw, received_us, next(self._salts)) for raw in events]
            read: Sequence[Entry | HeadwaterError] = await self.readers.read(posted, is_quiet=self._under_way == 1)
        except UnavailableError as fault:
            read = [fault] * len(events)
        if why_not is not None:
            read = [each if isinstance(each, HeadwaterError) else why_not(each) or each for each in read]
        submitted = [each if isinstance(each, HeadwaterError) else self._submitted(each) for each in read]
        outcomes = [each if isinstance(each, HeadwaterError) else await each for each in submitted]
        took_s = (self.now_us() - received_us) / 1_000_000
        return [self._told(outcome, took_s) for outcome in outcomes]

    def _told(self, outcome: Answer | Exception, took_s: float) -> Answer | HeadwaterError:
        if isinstance(outcome, Answer):
            self.metrics.ingest.observe(took_s)
        elif isinstance(outcome, HeadwaterError):
            self.metrics.refuse(_REASONS[type(outcome)])
        else:
            raise outcome
        return outcome

    async def edit(self, entry: EditEntry, *, is_proved: bool = False) -> Answer:
        """Store what somebody said over the API; when this returns, it is on disk and in every answer.

        `is_proved` is for what carries proofs of its own.

        Raises:
            UntrustedEventError: signatures are required, and an edit has none.
            UnavailableError: it could not be stored now.
        """
        if self.readers.trust.is_required and not is_proved:
            raise UntrustedEventError("unsigned: the service takes signed events only, so nothing can be edited here")
        outcome = await self._submitted(entry_of(entry, "unsigned", None, self.now_us(), next(self._salts)))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _submitted(self, entry: Entry) -> "asyncio.Future[Answer | Exception]":
        post = _Post(self._loop.create_future(), entry.verdict)
        try:
            self._writer.submit(entry, post)
        except UnavailableError as fault:
            post.outcome.set_result(fault)
        return post.outcome

    # On the writer's thread

    def _add(self, entries: Sequence[Entry]) -> list[Stored]:
        self.metrics.group.observe(len(entries))
        return self.store.add(entries)

    def _hand_over(self, outcomes: Sequence[tuple[_Post, Outcome]]) -> None:
        self._loop.call_soon_threadsafe(self._settle, outcomes, self.store.growth)

    def _hear(self, news: Sequence[Stored]) -> None:
        self._loop.call_soon_threadsafe(self._learn_all, news)

    # Back on the event loop's thread

    def _learn_all(self, news: Sequence[Stored]) -> None:
        for stored in news:
            self.learn(stored)

    def _settle(self, outcomes: Sequence[tuple[_Post, Outcome]], growth: Growth) -> None:
        for post, outcome in outcomes:
            told = self._learned(post, outcome, growth)
            if not post.outcome.done():
                post.outcome.set_result(told)

    def _learned(self, post: _Post, outcome: Outcome, growth: Growth) -> Answer | Exception:
        if isinstance(outcome, Exception):
            if self._last_failure is None:
                log.error("events cannot be stored", extra={"fault": str(outcome)})
            self._last_failure = str(outcome)
            return outcome
        self._last_failure = None
        try:
            if outcome.is_new:
                self.learn(outcome)
        except Exception as fault:  # every post is answered, whatever happens to its neighbours
            return fault
        self.metrics.events.labels("stored" if outcome.is_new else "known", post.verdict).inc()
        return Answer(outcome.log_index, outcome.is_new, growth)


def _random_salts() -> Iterator[bytes]:
    """Random bytes for one leaf after the other; to ask the system for many at once takes a tenth of the time."""
    while True:
        some = secrets.token_bytes(SALT_BYTES * _SALTS_TOGETHER)
        yield from (some[at : at + SALT_BYTES] for at in range(0, len(some), SALT_BYTES))


_REASONS: Final[Mapping[type[Exception], str]] = {
    MalformedJsonError: "malformed",
    InvalidEventError: "invalid",
    UntrustedEventError: "untrusted",
    ForbiddenError: "forbidden",
    UnavailableError: "unavailable",
}
