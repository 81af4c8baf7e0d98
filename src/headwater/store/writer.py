"""Group commit: posts that arrive together share one transaction, hence one flush to the disk."""

import queue
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Generic, TypeVar

from headwater.errors import UnavailableError
from headwater.store.entries import Entry, Stored

MAX_GROUP: Final = 256
"""Posts in one transaction at most."""

QUIET_S: Final = 0.02
"""How long nothing must have come before the facts of what was stored are brought up to date."""

MAX_WAITING: Final = 8192
"""Posts that may wait; beyond it the caller is told to come back later."""

Ticket = TypeVar("Ticket")
Outcome = Stored | Exception
Add = Callable[[Sequence[Entry]], list[Stored]]
CatchUp = Callable[[], None]
Deliver = Callable[[Sequence[tuple[Ticket, Outcome]]], None]


class GroupCommit(Generic[Ticket]):
    """One thread that stores what is submitted, in order, in groups.

    `deliver` is called in that thread once a group, after the transaction is on disk or has failed, with the ticket and
    the outcome of each post. `catch_up` is called there when nothing has come for a moment.
    """

    def __init__(self, add: Add, catch_up: CatchUp, deliver: "Deliver[Ticket]") -> None:
        self._add = add
        self._catch_up = catch_up
        self._deliver = deliver
        self._waiting: queue.SimpleQueue[tuple[Entry, Ticket] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="headwater-writer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread still works."""
        return self._thread.is_alive()

    def submit(self, entry: Entry, ticket: Ticket) -> None:
        """Queue an event for storing.

        Raises:
            UnavailableError: too many wait already.
        """
        if self._waiting.qsize() >= MAX_WAITING:
            raise UnavailableError("too many events wait to be stored, try again in a second")
        self._waiting.put((entry, ticket))

    def close(self) -> None:
        """Store what waits, then end the thread."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (first := self._next()) is not None:
            group, is_last = self._group(first)
            self._deliver(self._outcomes(group))
            if is_last:
                return

    def _next(self) -> tuple[Entry, Ticket] | None:
        try:
            return self._waiting.get(timeout=QUIET_S)
        except queue.Empty:
            with suppress(UnavailableError):  # the next event to be stored tries again, and is told
                self._catch_up()
            return self._waiting.get()

    def _group(self, first: tuple[Entry, Ticket]) -> tuple[list[tuple[Entry, Ticket]], bool]:
        group = [first]
        while len(group) < MAX_GROUP:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if item is None:
                return group, True
            group.append(item)
        return group, False

    def _outcomes(self, group: list[tuple[Entry, Ticket]]) -> list[tuple[Ticket, Outcome]]:
        try:
            answers = self._add([entry for entry, _ in group])
        except Exception as fault:  # the thread must outlive any fault; its caller gets it
            if len(group) == 1 or isinstance(fault, UnavailableError):
                return [(ticket, fault) for _, ticket in group]
            # One event that cannot be stored must not take its neighbours with it.
            return [outcome for each in group for outcome in self._outcomes([each])]
        return [(ticket, answer) for (_, ticket), answer in zip(group, answers, strict=True)]
