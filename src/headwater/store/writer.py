"""Group commit: posts that arrive together share one transaction, hence one flush to the disk."""

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Generic, Literal, Protocol, TypeVar

from headwater.errors import UnavailableError
from headwater.store.entries import Entry, Stored

log = logging.getLogger(__name__)

MAX_GROUP: Final = 256
"""Posts in one transaction at most."""

_MANY_FACTS: Final = 10_000
"""Limit on facts in one transaction; the graph learns all of them before other requests run."""

QUIET_S: Final = 0.02
"""How long the inbox must be empty before the backlog of facts is stored."""

MANY: Final = 256
"""Backlog, in events, that is stored without waiting for a pause; twice as many need a fifth less disk per event."""

_STRETCH_S: Final = 0.005
"""Least time slice for storing facts while posts wait; each slice is a transaction of its own."""

MAX_WAITING: Final = 8192
"""Back-pressure: limit on queued posts; further ones are refused with a retriable error."""


class _Sign(Enum):
    END = auto()


END: Final = _Sign.END
"""The last item of an inbox."""

Ticket = TypeVar("Ticket")
TicketThere = TypeVar("TicketThere", covariant=True)
Outcome = Stored | Exception
Errand = Callable[[], None]
"""A task to run between two groups."""
Item = tuple[Entry, Ticket] | Errand | Literal[_Sign.END]
Add = Callable[[Sequence[Entry]], list[Stored]]
CatchUp = Callable[[Callable[[], bool], int], None]
Deliver = Callable[[Sequence[tuple[Ticket, Outcome]]], None]


class Inbox(Protocol[TicketThere]):
    """The writer's work, in order; a subset of `queue.Queue`."""

    def get(self, *, timeout: float | None = None) -> Item[TicketThere]:
        """Wait for the next item; raises `queue.Empty` after `timeout` seconds."""

    def get_nowait(self) -> Item[TicketThere]:
        """The next item; raises `queue.Empty` if there is none."""

    def empty(self) -> bool:
        """Whether there is no item."""


class GroupCommit(Generic[Ticket]):
    """Stores the entries of an inbox, in order, a group per transaction.

    `deliver` is called once per group, after the transaction is on disk or has failed, with the ticket and outcome of
    each post. `catch_up` is called between groups and when the inbox is idle, with a function that says whether to
    yield to waiting posts, and the least backlog to act on.
    """

    def __init__(
        self,
        inbox: Inbox[Ticket],
        add: Add,
        catch_up: CatchUp,
        deliver: Deliver[Ticket],
        most: int = MAX_GROUP,
    ) -> None:
        self._inbox = inbox
        self._add = add
        self._catch_up = catch_up
        self._deliver = deliver
        self._most = most

    def work(self) -> None:
        """Work until the inbox ends."""
        item = self._next()
        while item is not END:
            after = None
            if isinstance(item, tuple):
                group, after = self._group(item)
                self._deliver(self._outcomes(group))
            else:
                self._run(item)
            item = after or self._next()

    def _next(self) -> Item[Ticket]:
        self._bring_up(MANY)
        try:
            return self._inbox.get(timeout=QUIET_S)
        except queue.Empty:
            self._bring_up(1)
            return self._inbox.get()

    def _bring_up(self, at_least: int) -> None:
        until_s = time.monotonic() + _STRETCH_S
        try:
            self._catch_up(lambda: time.monotonic() > until_s and not self._inbox.empty(), at_least)
        except UnavailableError:
            pass  # `add` tries again once the backlog is full, and reports the error
        except Exception:  # the writer must outlive any fault
            log.exception("cannot store the facts of stored events")

    def _run(self, errand: Errand) -> None:
        try:
            errand()
        except UnavailableError:
            pass  # its sender repeats it
        except Exception:  # the writer must outlive any fault
            log.exception("a task of the writer thread failed")

    def _group(self, first: tuple[Entry, Ticket]) -> tuple[list[tuple[Entry, Ticket]], Item[Ticket] | None]:
        """Posts for one transaction, and the item after them if it is no post."""
        group, facts = [first], len(first[0].facts)
        while len(group) < self._most and facts < _MANY_FACTS:
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                break
            if not isinstance(item, tuple):
                return group, item
            group.append(item)
            facts += len(item[0].facts)
        return group, None

    def _outcomes(self, group: list[tuple[Entry, Ticket]]) -> list[tuple[Ticket, Outcome]]:
        try:
            answers = self._add([entry for entry, _ in group])
        except Exception as fault:  # the writer must outlive any fault; the sender gets it
            if len(group) == 1 or isinstance(fault, UnavailableError):
                return [(ticket, fault) for _, ticket in group]
            # One event that cannot be stored must not fail the others of its group.
            return [outcome for each in group for outcome in self._outcomes([each])]
        return [(ticket, answer) for (_, ticket), answer in zip(group, answers, strict=True)]


class WriterThread(Generic[Ticket]):
    """A thread that stores submitted entries by group commit; all callbacks are called on it.

    `follow` is called after `wake`, in line with the groups, so that what other processes stored keeps its order.
    """

    def __init__(self, add: Add, catch_up: CatchUp, deliver: Deliver[Ticket], follow: Errand = lambda: None) -> None:
        self._follow = follow
        self._is_woken = threading.Event()
        self._waiting: queue.SimpleQueue[Item[Ticket]] = queue.SimpleQueue()
        commit = GroupCommit[Ticket](self._waiting, add, catch_up, deliver)
        self._thread = threading.Thread(target=commit.work, name="headwater-writer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether the thread still works."""
        return self._thread.is_alive()

    def submit(self, entry: Entry, ticket: Ticket) -> None:
        """Queue an event for storing.

        Raises:
            UnavailableError: the queue is full.
        """
        if self._waiting.qsize() >= MAX_WAITING:
            raise too_many_wait()
        self._waiting.put((entry, ticket))

    def wake(self) -> None:
        """Have `follow` called soon; from any thread."""
        if not self._is_woken.is_set():
            self._is_woken.set()
            self._waiting.put(self._follow_others)

    def close(self) -> None:
        """Store what is queued, then end the thread."""
        self._waiting.put(END)
        self._thread.join()

    def _follow_others(self) -> None:
        self._is_woken.clear()
        self._follow()


def too_many_wait() -> UnavailableError:
    """The error for a post that finds the queue full."""
    return UnavailableError("too many events are waiting to be stored; try again in a second")
