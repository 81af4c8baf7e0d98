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
class _Asked:
    """A request that awaits the answers to its events."""

    answered: "asyncio.Future[Sequence[Answered]]"
    answers: list[Answered | None]
    left: int
    why_not: WhyNot | None

    def answer(self, number: int, answer: Answered) -> None:
        """Set one answer; the future is done once all are set."""
        self.answers[number] = answer
        self.left -= 1
        if not self.left and not self.answered.done():
            self.answered.set_result(cast(list[Answered], self.answers))


class Tickets:
    """The open tickets."""

    def __init__(self) -> None:
        self._first_free: Ticket = 0
        self._asked: dict[Ticket, tuple[_Asked, int, tuple[Fact, ...]]] = {}
        """Per ticket: its request, the event's position in it, and the event's facts if it was read here."""

    def __len__(self) -> int:
        """The number of open tickets."""
        return len(self._asked)

    def hand_out(self, count: int, why_not: WhyNot | None, answered: "asyncio.Future[Sequence[Answered]]") -> Ticket:
        """Issue consecutive tickets and return the first; `answered` will get the answers to all of them."""
        first = self._first_free
        asked = _Asked(answered, [None] * count, count, why_not)
        self._asked.update((first + number, (asked, number, ())) for number in range(count))
        self._first_free += count
        return first

    def was_read(self, ticket: Ticket, said: tuple[Fact, ...]) -> None:
        """Keep the facts of an event that was read here."""
        asked, number, _ = self._asked[ticket]
        self._asked[ticket] = asked, number, said

    def why_not(self, ticket: Ticket, entry: Entry) -> Exception | None:
        """Why its sender may not post the event, or None if it may."""
        asked, _, _ = self._asked[ticket]
        try:
            return None if asked.why_not is None else asked.why_not(entry)
        except Exception as unexpected:  # must not affect other events
            return unexpected

    def answer(self, ticket: Ticket, answer: Answered) -> None:
        """Answer one ticket and close it."""
        asked, number, _ = self._asked.pop(ticket)
        asked.answer(number, answer)

    def group(self, became: Sequence[EventOutcome]) -> Group:
        """The events that reached the store, each with all its facts."""
        return [(verdict, self._whole(ticket, outcome)) for ticket, verdict, outcome in became if verdict is not None]

    def _whole(self, ticket: Ticket, outcome: Outcome) -> Outcome:
        """The outcome with the facts read here; the process returns only additional ones."""
        _, _, said = self._asked[ticket]
        if not said or isinstance(outcome, Exception) or not outcome.is_new:
            return outcome
        return outcome._replace(facts=said + outcome.facts)

    def settle(self, became: Sequence[EventOutcome], answers: Iterable[Answered]) -> None:
        """Answer all: those of `group` with these answers, refused events with their refusal."""
        of_group = iter(answers)
        for ticket, verdict, outcome in became:
            asked, number, _ = self._asked.pop(ticket)
            if verdict is not None:
                asked.answer(number, next(of_group))
            elif isinstance(outcome, Exception):
                asked.answer(number, outcome)

    def give_up(self, why: str) -> None:
        """Answer all open tickets with UnavailableError."""
        for asked, number, _ in self._asked.values():
            asked.answer(number, UnavailableError(why))
        self._asked.clear()
