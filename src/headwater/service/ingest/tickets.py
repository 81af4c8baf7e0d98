"""Requests that await the outcome of their events: each event has a ticket, which the recorder process returns."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from headwater.errors import UnavailableError
from headwater.model.facts import Fact
from headwater.service.ingest.recording import Answered, Group, WhyNot
from headwater.service.ingest.recording_messages import EventOutcome, Ticket
from headwater.store.entries import Entry
from headwater.store.writer import Outcome


@dataclass(slots=True)
class _Request:
    """A request that awaits the answers to its events."""

    answered: "asyncio.Future[Sequence[Answered]]"
    answers: list[Answered | None]
    unanswered: int
    why_not: WhyNot | None

    def answer(self, number: int, answer: Answered) -> None:
        """Set one answer; the future is done once all are set."""
        self.answers[number] = answer
        self.unanswered -= 1
        if not self.unanswered and not self.answered.done():
            self.answered.set_result(cast(list[Answered], self.answers))


class Tickets:
    """The open tickets."""

    def __init__(self) -> None:
        self._first_free: Ticket = 0
        self._requests: dict[Ticket, tuple[_Request, int, tuple[Fact, ...]]] = {}
        """Per ticket: its request, the event's position in it, and the event's facts if it was read here."""

    def __len__(self) -> int:
        """The number of open tickets."""
        return len(self._requests)

    def hand_out(self, count: int, why_not: WhyNot | None, answered: "asyncio.Future[Sequence[Answered]]") -> Ticket:
        """Issue consecutive tickets and return the first; `answered` will get the answers to all of them."""
        first = self._first_free
        request = _Request(answered, [None] * count, count, why_not)
        self._requests.update((first + number, (request, number, ())) for number in range(count))
        self._first_free += count
        return first

    def was_read(self, ticket: Ticket, event_facts: tuple[Fact, ...]) -> None:
        """Keep the facts of an event that was read here."""
        request, number, _ = self._requests[ticket]
        self._requests[ticket] = request, number, event_facts

    def why_not(self, ticket: Ticket, entry: Entry) -> Exception | None:
        """Why its sender may not post the event, or None if it may."""
        request, _, _ = self._requests[ticket]
        try:
            return None if request.why_not is None else request.why_not(entry)
        except Exception as unexpected:  # must not affect other events
            return unexpected

    def answer(self, ticket: Ticket, answer: Answered) -> None:
        """Answer one ticket and close it."""
        request, number, _ = self._requests.pop(ticket)
        request.answer(number, answer)

    def group(self, outcomes: Sequence[EventOutcome]) -> Group:
        """The events that reached the store, each with all its facts."""
        return [
            (verdict, self._with_all_facts(ticket, outcome))
            for ticket, verdict, outcome in outcomes
            if verdict is not None
        ]

    def _with_all_facts(self, ticket: Ticket, outcome: Outcome) -> Outcome:
        """The outcome with the facts read here; the process returns only additional ones."""
        _, _, event_facts = self._requests[ticket]
        if not event_facts or isinstance(outcome, Exception) or not outcome.is_new:
            return outcome
        return outcome._replace(facts=event_facts + outcome.facts)

    def settle(self, outcomes: Sequence[EventOutcome], answers: Iterable[Answered]) -> None:
        """Answer all: those of `group` with these answers, refused events with their refusal."""
        of_group = iter(answers)
        for ticket, verdict, outcome in outcomes:
            request, number, _ = self._requests.pop(ticket)
            if verdict is not None:
                request.answer(number, next(of_group))
            elif isinstance(outcome, Exception):
                request.answer(number, outcome)

    def give_up(self, why: str) -> None:
        """Answer all open tickets with UnavailableError."""
        for request, number, _ in self._requests.values():
            request.answer(number, UnavailableError(why))
        self._requests.clear()
