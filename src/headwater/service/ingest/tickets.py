"""Who waits for what became of which event: each has a ticket, by which the process that stores it tells that."""

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


class Tickets:
    """Those that are out, until they are answered."""

    def __init__(self) -> None:
        self._first_free: Ticket = 0
        self._asked: dict[Ticket, tuple[_Asked, int, tuple[Fact, ...]]] = {}
        """Who waits for which of its events, and what that says as far as it was read here."""

    def __len__(self) -> int:
        """How many are out."""
        return len(self._asked)

    def hand_out(self, count: int, why_not: WhyNot | None, answered: "asyncio.Future[Sequence[Answered]]") -> Ticket:
        """Tickets for so many events, which follow on the first, which is given; `answered` gets all their answers."""
        first = self._first_free
        asked = _Asked(answered, [None] * count, count, why_not)
        self._asked.update((first + number, (asked, number, ())) for number in range(count))
        self._first_free += count
        return first

    def was_read(self, ticket: Ticket, said: tuple[Fact, ...]) -> None:
        """Note what the event says: it was read here."""
        asked, number, _ = self._asked[ticket]
        self._asked[ticket] = asked, number, said

    def why_not(self, ticket: Ticket, entry: Entry) -> Exception | None:
        """Why its sender may not bring the event that was read elsewhere; None: it may."""
        asked, _, _ = self._asked[ticket]
        try:
            return None if asked.why_not is None else asked.why_not(entry)
        except Exception as unexpected:  # its neighbours are not to suffer from it
            return unexpected

    def answer(self, ticket: Ticket, answer: Answered) -> None:
        """Answer for one event."""
        asked, number, _ = self._asked.pop(ticket)
        asked.answer(number, answer)

    def group(self, became: Sequence[EventOutcome]) -> Group:
        """Those of the events that came to the store, each with all that it says."""
        return [(verdict, self._whole(ticket, outcome)) for ticket, verdict, outcome in became if verdict is not None]

    def _whole(self, ticket: Ticket, outcome: Outcome) -> Outcome:
        """The outcome with what the event says that was read here; the process tells only what it found beside it."""
        _, _, said = self._asked[ticket]
        if not said or isinstance(outcome, Exception) or not outcome.is_new:
            return outcome
        return outcome._replace(facts=said + outcome.facts)

    def settle(self, became: Sequence[EventOutcome], answers: Iterable[Answered]) -> None:
        """Answer for all events: the `group` of them with these answers, the others with why they are refused."""
        of_group = iter(answers)
        for ticket, verdict, outcome in became:
            asked, number, _ = self._asked.pop(ticket)
            if verdict is not None:
                asked.answer(number, next(of_group))
            elif isinstance(outcome, Exception):
                asked.answer(number, outcome)

    def give_up(self, why: str) -> None:
        """Answer for all that are out that nothing became of them."""
        for asked, number, _ in self._asked.values():
            asked.answer(number, UnavailableError(why))
        self._asked.clear()
