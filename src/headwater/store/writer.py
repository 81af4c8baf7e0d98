"""Group commit: posts that arrive together share one transaction, hence one flush to the disk."""

import logging
import queue
import threading
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Generic, TypeVar

from headwater.errors import UnavailableError
from headwater.store.entries import Entry, Stored

log = logging.getLogger(__name__)

MAX_GROUP: Final = 256
"""Posts in one transaction at most."""

QUIET_S: Final = 0.02
"""How long nothing must have come before the facts of what was stored are brought up to date."""

MANY: Final = 128
"""Events whose facts are brought up to date at once; twice as many take a fifth less of the disk for each event."""

MAX_WAITING: Final = 8192
"""Posts that may wait; beyond it the caller is told to come back later."""

Ticket = TypeVar("Ticket")
Outcome = Stored | Exception
Add = Callable[[Sequence[Entry]], list[Stored]]
CatchUp = Callable[[Callable[[], bool], int], None]
Follow = Callable[[], None]
Deliver = Callable[[Sequence[tuple[Ticket, Outcome]]], None]


class _Sign(Enum):
    """What may stand in the queue between posts."""

    WOKEN = auto()
    END = auto()


class GroupCommit(Generic[Ticket]):
    """One thread that stores what is submitted, in order, in groups.

    `deliver` is called in that thread once a group, after the transaction is on disk or has failed, with the ticket and
    the outcome of each post. `catch_up` is called there between groups, and when nothing has come for a moment: it is
    given how to ask whether posts wait, and how much there must be to do. `follow` is called there when it was woken:
    so what other processes stored is told in the one order, too.
    """

    def __init__(self, add: Add, catch_up: CatchUp, deliver: "Deliver[Ticket]", follow: Follow = lambda: None) -> None:
        self._add = add
        self._catch_up = catch_up
        self._deliver = deliver
        self._follow = follow
        self._waiting: queue.SimpleQueue[tuple[Entry, Ticket] | _Sign] = queue.SimpleQueue()
        self._is_woken = threading.Event()
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

    def wake(self) -> None:
        """Have `follow` called soon; from any thread."""
        if not self._is_woken.is_set():
            self._is_woken.set()
            self._waiting.put(_Sign.WOKEN)

    def close(self) -> None:
        """Store what waits, then end the thread."""
        self._waiting.put(_Sign.END)
        self._thread.join()

    def _work(self) -> None:
        item = self._next()
        while item is not _Sign.END:
            if item is _Sign.WOKEN:
                self._follow_others()
                item = self._next()
            else:
                group, after = self._group(item)
                self._deliver(self._outcomes(group))
                item = after or self._next()

    def _next(self) -> "tuple[Entry, Ticket] | _Sign":
        self._bring_up(MANY)
        try:
            return self._waiting.get(timeout=QUIET_S)
        except queue.Empty:
            self._bring_up(1)
            return self._waiting.get()

    def _bring_up(self, at_least: int) -> None:
        try:
            self._catch_up(lambda: not self._waiting.empty(), at_least)
        except UnavailableError:
            pass  # whoever adds more than may be behind tries again, and is told
        except Exception:  # the thread must outlive any fault
            log.exception("facts of what was stored cannot be brought up to date")

    def _follow_others(self) -> None:
        self._is_woken.clear()
        try:
            self._follow()
        except UnavailableError:
            pass  # who woke us does so again
        except Exception:  # the thread must outlive any fault
            log.exception("what other processes stored cannot be taken in")

    def _group(self, first: tuple[Entry, Ticket]) -> "tuple[list[tuple[Entry, Ticket]], _Sign | None]":
        """Posts for one transaction, and the sign that stood behind them."""
        group = [first]
        while len(group) < MAX_GROUP:
            try:
                item = self._waiting.get_nowait()
            except queue.Empty:
                break
            if isinstance(item, _Sign):
                return group, item
            group.append(item)
        return group, None

    def _outcomes(self, group: list[tuple[Entry, Ticket]]) -> list[tuple[Ticket, Outcome]]:
        try:
            answers = self._add([entry for entry, _ in group])
        except Exception as fault:  # the thread must outlive any fault; its caller gets it
            if len(group) == 1 or isinstance(fault, UnavailableError):
                return [(ticket, fault) for _, ticket in group]
            # One event that cannot be stored must not take its neighbours with it.
            return [outcome for each in group for outcome in self._outcomes([each])]
        return [(ticket, answer) for (_, ticket), answer in zip(group, answers, strict=True)]
