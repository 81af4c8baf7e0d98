"""An event in: read, verified, stored, in the graph, and only then acknowledged."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from headwater.errors import (
    HeadwaterError,
    InvalidEventError,
    MalformedJsonError,
    UnavailableError,
    UntrustedEventError,
)
from headwater.model.edits import EditEntry
from headwater.model.events import Event, RunEvent, parse_event
from headwater.service.metrics import Metrics
from headwater.signing.facet import SIGNATURE
from headwater.signing.verify import Verification, verify_event
from headwater.store.entries import Entry, Stored, entry_of
from headwater.store.sqlite import SqliteStore
from headwater.store.writer import GroupCommit, Outcome

log = logging.getLogger(__name__)

_TOGETHER: Final = 16
"""Events of a batch that are read at a stretch."""

_UNSIGNED: Final = Verification("unsigned", None, "run.facets.signature: missing")


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose signatures are accepted, and whether there must be one."""

    keys: Mapping[str, Ed25519PublicKey]
    is_required: bool


class Answer(NamedTuple):
    """Where the event stands in the log; `is_new` False if it was stored before."""

    log_index: int
    is_new: bool


@dataclass(slots=True)
class _Post:
    """Who waits for what."""

    answer: "asyncio.Future[Answer]"
    verdict: str
    received_us: int


@dataclass(slots=True)
class Intake:
    """Takes events; lives on the event loop's thread, with a writer's thread behind it.

    `learn` is called once for each new event after it is on disk, and before it is acknowledged.
    """

    store: SqliteStore
    learn: Callable[[Stored], None]
    trust: Trust
    metrics: Metrics
    now_us: Callable[[], int]
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _writer: GroupCommit[_Post] = field(init=False)
    _last_failure: str | None = field(init=False, default=None)

    def start(self) -> None:
        """Start the writer's thread; called on the event loop's thread."""
        self._loop = asyncio.get_running_loop()
        self._writer = GroupCommit(self._add, self.store.catch_up, self._hand_over)

    async def stop(self) -> None:
        """Store and acknowledge what waits, then end the writer's thread."""
        await asyncio.to_thread(self._writer.close)

    @property
    def fault(self) -> str | None:
        """Why events cannot be stored now, or None if all is well as far as is known."""
        return self._last_failure if self._writer.is_alive else "the writer's thread has ended"

    async def take(self, raw: bytes) -> Answer:
        """Store an event; when this returns, it is on disk and in every answer.

        Raises:
            MalformedJsonError: no JSON.
            InvalidEventError: no event; the message gives the path of the first bad field.
            UntrustedEventError: it lacks the good signature that is required.
            UnavailableError: it could not be stored now.
        """
        received_us = self.now_us()
        try:
            event = _parsed(raw)
            verified = self._verified(event)
            answer = await self._stored(entry_of(event, verified.verdict, verified.key_id, received_us))
        except (InvalidEventError, UntrustedEventError, UnavailableError) as refusal:
            self.metrics.refuse(_REASONS[type(refusal)])
            raise
        self.metrics.ingest.observe((self.now_us() - received_us) / 1_000_000)
        return answer

    async def take_all(self, events: Sequence[bytes]) -> list[Answer | HeadwaterError]:
        """Store many events, each for itself; gives for each, in order, its answer or why it was not stored."""
        taken: list[asyncio.Task[Answer]] = []
        for number, raw in enumerate(events, start=1):
            taken.append(asyncio.create_task(self.take(raw)))
            if number % _TOGETHER == 0:  # let the writer begin, and others have their turn
                await asyncio.sleep(0)
        outcomes = await asyncio.gather(*taken, return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, HeadwaterError):
                raise outcome
        return cast(list[Answer | HeadwaterError], outcomes)

    async def edit(self, entry: EditEntry) -> Answer:
        """Store what somebody said over the API; when this returns, it is on disk and in every answer.

        Raises:
            UntrustedEventError: signatures are required, and an edit has none.
            UnavailableError: it could not be stored now.
        """
        if self.trust.is_required:
            raise UntrustedEventError("unsigned: the service takes signed events only, so nothing can be edited here")
        return await self._stored(entry_of(entry, "unsigned", None, self.now_us()))

    def _verified(self, event: Event) -> Verification:
        is_signed = isinstance(event, RunEvent) and SIGNATURE in event.run_facets
        verified = verify_event(event.raw, self.trust.keys, event.body) if is_signed else _UNSIGNED
        if self.trust.is_required and verified.verdict != "ok":
            raise UntrustedEventError(f"{verified.verdict}: {verified.reason}")
        return verified

    async def _stored(self, entry: Entry) -> Answer:
        post = _Post(self._loop.create_future(), entry.verdict, entry.received_us)
        self._writer.submit(entry, post)
        return await post.answer

    # On the writer's thread

    def _add(self, entries: Sequence[Entry]) -> list[Stored]:
        self.metrics.group.observe(len(entries))
        return self.store.add(entries)

    def _hand_over(self, outcomes: Sequence[tuple[_Post, Outcome]]) -> None:
        self._loop.call_soon_threadsafe(self._settle, outcomes)

    # Back on the event loop's thread

    def _settle(self, outcomes: Sequence[tuple[_Post, Outcome]]) -> None:
        for post, outcome in outcomes:
            try:
                answer = self._learned(post, outcome)
            except Exception as fault:  # every post is answered, whatever happens to its neighbours
                if not post.answer.done():
                    post.answer.set_exception(fault)
            else:
                if not post.answer.done():
                    post.answer.set_result(answer)

    def _learned(self, post: _Post, outcome: Outcome) -> Answer:
        if isinstance(outcome, Exception):
            if self._last_failure is None:
                log.error("events cannot be stored", extra={"fault": str(outcome)})
            self._last_failure = str(outcome)
            raise outcome
        self._last_failure = None
        if outcome.is_new:
            self.learn(outcome)
        self.metrics.events.labels("stored" if outcome.is_new else "known", post.verdict).inc()
        return Answer(outcome.log_index, outcome.is_new)


_REASONS: Final[Mapping[type[Exception], str]] = {
    MalformedJsonError: "malformed",
    InvalidEventError: "invalid",
    UntrustedEventError: "untrusted",
    UnavailableError: "unavailable",
}


def _parsed(raw: bytes) -> Event:
    if not raw or raw.isspace():
        raise MalformedJsonError("event: the body is empty")
    return parse_event(raw)
