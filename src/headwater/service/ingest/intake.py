"""Event intake: an event is parsed, verified, stored and learned by the graph before it is acknowledged."""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from headwater.errors import (
    ForbiddenError,
    HeadwaterError,
    InvalidEventError,
    MalformedJsonError,
    UnavailableError,
    UntrustedEventError,
)
from headwater.model.edits import EditEntry
from headwater.service.ingest.learn_retries import LearnRetries
from headwater.service.ingest.recording import Answer, Answered, Group, Recorder, WhyNot
from headwater.service.metrics import Metrics
from headwater.signing.leaf import SALT_BYTES
from headwater.signing.merkle import Growth
from headwater.signing.verify import Verdict
from headwater.store.entries import Stored, entry_of
from headwater.store.writer import Outcome

log = logging.getLogger(__name__)

_FAILED_FOR_US: Final = 30_000_000
"""How long a failed post makes the service report a fault: a load balancer that then leaves it out sends none that
succeeds and would clear it."""
_TOGETHER: Final = 16
"""Events of a batch that are recorded together."""
_UNDER_WAY: Final = 64
"""Groups of one batch in flight at once: back-pressure, so that one batch does not fill the queue by itself."""
_SALTS_TOGETHER: Final = 256


@dataclass(slots=True)
class Intake:
    """Takes events, and is the recorder's `Learner`. For the event loop's thread.

    The graph learns each new event after it is on disk and before it is acknowledged; it also learns events that
    another service stored in the same database.
    """

    recorder: Recorder
    learn_retries: LearnRetries
    metrics: Metrics
    now_us: Callable[[], int]
    _last_failure: tuple[str, int] | None = field(init=False, default=None)
    """If the last event could not be stored: why, and when."""
    _salts: Iterator[bytes] = field(init=False, default_factory=lambda: _random_salts())

    @property
    def fault(self) -> str | None:
        """Why events cannot be stored now, or None if no fault is known."""
        return self.recorder.fault or self.learn_retries.fault or self._newest_failure()

    def _newest_failure(self) -> str | None:
        if self._last_failure is None or abs(self.now_us() - self._last_failure[1]) >= _FAILED_FOR_US:
            return None
        return self._last_failure[0]

    async def take(self, raw: bytes, why_not: WhyNot | None = None) -> Answer:
        """Store an event; when this returns, it is on disk, and every later answer includes it.

        `why_not` decides whether the sender may post it.

        Raises:
            MalformedJsonError: not JSON.
            InvalidEventError: not a valid event; the message gives the path of the first bad field.
            UntrustedEventError: signatures are required, and it has no good one.
            ForbiddenError: the sender may not post it.
            UnavailableError: it could not be stored now.
        """
        (outcome,) = await self._take_some([raw], why_not)
        if isinstance(outcome, HeadwaterError):
            raise outcome
        return outcome

    async def take_all(self, events: Sequence[bytes], why_not: WhyNot | None = None) -> list[Answer | HeadwaterError]:
        """Store many events independently; returns for each, in order, its answer or why it was not stored."""
        tasks: list[asyncio.Task[list[Answer | HeadwaterError]]] = []
        for number, begin in enumerate(range(0, len(events), _TOGETHER)):
            if number >= _UNDER_WAY:
                await asyncio.wait([tasks[number - _UNDER_WAY]])
            tasks.append(asyncio.create_task(self._take_some(events[begin : begin + _TOGETHER], why_not)))
            await asyncio.sleep(0)  # starts the task, and lets other requests run
        return [outcome for some in await asyncio.gather(*tasks) for outcome in some]

    async def _take_some(self, events: Sequence[bytes], why_not: WhyNot | None) -> list[Answer | HeadwaterError]:
        received_us = self.now_us()
        posted = [(raw, received_us, next(self._salts)) for raw in events]
        answers = await self.recorder.record(posted, why_not)
        took_s = (self.now_us() - received_us) / 1_000_000
        return [self._counted_answer(answer, took_s) for answer in answers]

    def _counted_answer(self, answer: Answered, took_s: float) -> Answer | HeadwaterError:
        if isinstance(answer, Answer):
            self.metrics.ingest.observe(took_s)
        elif isinstance(answer, HeadwaterError):
            self.metrics.refuse(_REASONS[type(answer)])
        else:
            raise answer
        return answer

    async def edit(self, entry: EditEntry, *, is_proved: bool = False) -> Answer:
        """Store an edit made over the API; when this returns, it is on disk, and every later answer includes it.

        `is_proved`: the edit carries its own proof, so no signature is needed.

        Raises:
            UntrustedEventError: signatures are required, and an edit has none.
            UnavailableError: it could not be stored now.
        """
        if self.recorder.trust.is_required and not is_proved:
            raise UntrustedEventError("unsigned: the service accepts signed events only, so edits are disabled")
        (answer,) = await self.recorder.add(entry_of(entry, "unsigned", None, self.now_us(), next(self._salts)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def learn_news(self, news: Sequence[Stored]) -> None:
        """As in `Learner`."""
        for stored in news:
            with suppress(UnavailableError):  # it will be retried
                self.learn_retries.learn(stored)

    def learn_group(self, group: Group, growth: Growth) -> list[Answered]:
        """As in `Learner`."""
        self.metrics.group.observe(len(group))
        return [self._learned(verdict, outcome, growth) for verdict, outcome in group]

    def _learned(self, verdict: Verdict, outcome: Outcome, growth: Growth) -> Answered:
        if isinstance(outcome, Exception):
            if self._newest_failure() is None:
                log.error("cannot store events", extra={"fault": str(outcome)})
            self._last_failure = str(outcome), self.now_us()
            return outcome
        if self._last_failure is not None:
            log.warning("events are stored again")
            self._last_failure = None
        try:
            if outcome.is_new:
                self.learn_retries.learn(outcome)
            else:
                self.learn_retries.check(outcome.log_index)
        except Exception as fault:  # every post is answered, whatever happens to the others in the group
            return fault
        self.metrics.events.labels("stored" if outcome.is_new else "known", verdict).inc()
        return Answer(outcome.log_index, outcome.is_new, growth)


def _random_salts() -> Iterator[bytes]:
    """A random salt per leaf, drawn in bulk: that takes a tenth of the time of one system call each."""
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
