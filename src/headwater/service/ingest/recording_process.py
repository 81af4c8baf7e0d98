"""A process that reads, verifies and stores events for a service.

`python -m headwater.service.ingest.recording_process 5 7`: the arguments are two inherited sockets. One carries events
and their outcomes, the other requests, for whose answers the service blocks. A single thread does everything, a group
of events at a time: two would wait for Python's lock more than for the disk. The process ends with the service.
"""

import gc
import logging
import os
import queue
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from headwater.errors import HeadwaterError, SetupError, UnavailableError
from headwater.service.ingest.reading import Posted, Refusal, Trust, read
from headwater.service.ingest.recording_messages import (
    EmptyRows,
    End,
    EventOutcome,
    MessageBuffer,
    OpenStore,
    ReadAndStore,
    Recorded,
    SetTrust,
    StoreFacts,
    StoreOrForget,
    StoreRead,
    Ticket,
    packed,
)
from headwater.service.ingest.recording_sockets import READ_BYTES, Sockets
from headwater.service.logs import log_to_stderr
from headwater.signing.verify import Verdict
from headwater.store.entries import Entry, Stored
from headwater.store.opening import open_as_writer
from headwater.store.store import Store
from headwater.store.writer import END, GroupCommit, Item, Outcome

log = logging.getLogger(__name__)

_MOST_TOGETHER: Final = 64
"""Limit on events in one transaction: reading so many takes some 15 ms, for which the first one waits."""


class Awaited(NamedTuple):
    """An event whose outcome is not sent yet."""

    ticket: Ticket
    verdict: Verdict
    known_facts: int
    """The number of its facts that the service knows already."""


_Read = tuple[Entry, Awaited]


class _Posted(NamedTuple):
    """An event to be read."""

    ticket: Ticket
    posted: Posted
    is_held: bool


class _Added(NamedTuple):
    """An event that the service has read."""

    ticket: Ticket
    entry: Entry


class Recording:
    """Executes what comes over the sockets, in order; serves as the inbox of the group commit."""

    def __init__(self, events: socket.socket, requests: socket.socket, store: Store) -> None:
        self._sockets = Sockets(events, requests, self)
        self._store = store
        self._trust = Trust({}, is_required=True)  # until the first `SetTrust`
        self._queue: deque[_Posted | SetTrust | StoreOrForget | _Added | Item[Awaited]] = deque()
        self._held: dict[Ticket, Entry] = {}
        self._refused: list[tuple[Ticket, None, Refusal]] = []
        self._read_held: list[tuple[Ticket, Entry]] = []
        self._news: list[Stored] = []
        self._sent_status: tuple[int, str | None] = (-1, None)
        self._begun_s = 0.0
        """When reading of the current group began."""
        self._group_left = 0
        """The number of events still to be added to the group."""
        self._storing_s = 0.0
        """The duration of storing the previous group."""
        self.is_abandoned = False
        """Whether the service is gone without `End`."""

    def work(self) -> None:
        """Work until the service sends `End`, or is gone."""
        self._store.watch(self._send_news, self._sockets.wake)
        self._send([])
        GroupCommit[Awaited](self, self._add, self._catch_up, self._deliver, _MOST_TOGETHER).work()
        while not self._sockets.is_all_sent and not self.is_abandoned:
            self._sockets.look(None)

    def get(self, *, timeout: float | None = None) -> Item[Awaited]:
        """As in `Inbox`."""
        while (item := self._next()) is None:
            if self._refused or self._read_held:
                self._send([])
            if not self._sockets.look(timeout):
                raise queue.Empty
        self._begun_s = time.monotonic()
        self._group_left = len(self._queue) // 2
        return item

    def get_nowait(self) -> Item[Awaited]:
        """As in `Inbox`; raises Empty at the end of a group, even if more is queued.

        A group is half of the queue, so that the service answers one half while the other is stored. But reading it
        takes at least as long as storing the previous group did, so that a slow disk gets few, large groups.
        """
        if self._group_left <= 0 and time.monotonic() - self._begun_s >= self._storing_s:
            raise queue.Empty
        self._group_left -= 1
        while (item := self._next()) is None:
            if not self._sockets.look(0):
                raise queue.Empty
        return item

    def empty(self) -> bool:
        """As in `Inbox`."""
        return not (self._queue or (self._sockets.look(0) and self._queue))

    def _next(self) -> Item[Awaited] | None:
        """The next item of the queue that is to be stored or executed."""
        while self._queue:
            item_or_message = self._queue.popleft()
            match item_or_message:
                case _Posted(ticket, posted, is_held):
                    item = self._read(ticket, posted, is_held=is_held)
                case SetTrust():
                    self._trust, item = item_or_message.trust, None
                case StoreOrForget(ticket, is_stored):
                    entry = self._held.pop(ticket)
                    item = (entry, Awaited(ticket, entry.verdict, 0)) if is_stored else None
                case _Added(ticket, entry):
                    item = (entry, Awaited(ticket, entry.verdict, len(entry.facts)))
                case _:
                    return item_or_message
            if item is not None:
                return item
        return None

    def _read(self, ticket: Ticket, posted: Posted, *, is_held: bool) -> _Read | None:
        entry = read(posted, self._trust)
        if not isinstance(entry, Entry):
            self._refused.append((ticket, None, entry))
        elif is_held:
            self._held[ticket] = entry
            self._read_held.append((ticket, entry._replace(frame=b"", seal=None)))
        else:
            return entry, Awaited(ticket, entry.verdict, 0)
        return None

    def handle(self, message: object) -> None:
        """As in `MessageHandler`."""
        match message:
            case ReadAndStore(first, events, is_held):
                self._queue += [_Posted(first + number, posted, is_held) for number, posted in enumerate(events)]
            case End():
                self._queue.append(END)
            case StoreFacts() | EmptyRows():  # ahead of all events, as the service blocks for the answer
                self._queue.appendleft(lambda: self._answer(message))
            case StoreRead(entries):
                self._queue += [_Added(*each) for each in entries]
            case SetTrust() | StoreOrForget():
                self._queue.append(message)

    def on_wake(self) -> None:
        """As in `MessageHandler`."""
        self._queue.append(self._follow)

    def on_disconnect(self) -> None:
        """As in `MessageHandler`."""
        self.is_abandoned = True
        self._queue.appendleft(END)

    def _send_news(self, news: Sequence[Stored]) -> None:
        """Pass on what other services stored at once, since taking in a lot of it takes long."""
        self._news += news
        self._send([])

    def _send(self, outcomes: Sequence[EventOutcome]) -> None:
        """Send the service everything it does not know yet."""
        self._sent_status = (self._store.facts_stored, self._store.fault)
        tree = self._store.growth, self._store.head
        message = Recorded([*self._refused, *outcomes], self._read_held, self._news, *tree, *self._sent_status)
        self._sockets.send(message)
        for unsent in (self._refused, self._read_held, self._news):
            unsent.clear()

    def _add(self, entries: Sequence[Entry]) -> list[Stored]:
        begin_s = time.monotonic()
        stored = self._store.add(entries)
        self._storing_s = time.monotonic() - begin_s
        return stored

    def _deliver(self, outcomes: Sequence[tuple[Awaited, Outcome]]) -> None:
        self._send([(awaited.ticket, awaited.verdict, _news_of(awaited, outcome)) for awaited, outcome in outcomes])

    def _catch_up(self, should_yield: Callable[[], bool], at_least: int) -> None:
        self._store.catch_up(should_yield, at_least)
        self._send_if_changed()

    def _follow(self) -> None:
        try:
            self._store.follow()
        finally:
            self._send_if_changed()

    def _send_if_changed(self) -> None:
        if self._news or self._sent_status != (self._store.facts_stored, self._store.fault):
            self._send([])

    def _answer(self, request: StoreFacts | EmptyRows) -> None:
        try:
            answer = self._fulfilled(request)
        except HeadwaterError as fault:
            answer = fault
        except Exception:
            log.exception("a request from the service failed")
            answer = UnavailableError("the store failed to handle the request; see the service's log")
        self._sockets.answer(answer)
        self._send_if_changed()

    def _fulfilled(self, request: StoreFacts | EmptyRows) -> object:
        if isinstance(request, EmptyRows):
            self._store.empty(request.log_indexes)
            return None
        self._store.see_to_facts()
        self._store.catch_up()
        return self._store.facts_stored


def _news_of(awaited: Awaited, outcome: Outcome) -> Outcome:
    """The outcome without the facts that the service knows."""
    if not awaited.known_facts or isinstance(outcome, Exception):
        return outcome
    return outcome._replace(facts=outcome.facts[awaited.known_facts :])


def main() -> None:
    """Open the store, then record events until the service ends."""
    log_to_stderr()
    # The service ends this process, once nothing is queued.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    events, requests = (socket.socket(fileno=int(number)) for number in sys.argv[1:])
    try:
        store = _opened(requests)
    except ConnectionError:  # the service has ended meanwhile
        return
    if store is None:
        return
    gc.freeze()
    gc.set_threshold(50_000)  # events are read and gone; looking for cycles among them costs a third of the reading
    recording = Recording(events, requests, store)
    recording.work()
    if recording.is_abandoned:
        os._exit(0)  # at once: the next service takes over the store, and folds what is missing
    store.close()


def _opened(requests: socket.socket) -> Store | None:
    """Open the store as the service says, and report the result."""
    unread = MessageBuffer()
    while received := requests.recv(READ_BYTES):
        for message in unread.messages(received):
            if isinstance(message, OpenStore):
                try:
                    store = open_as_writer(*message)
                except SetupError as fault:
                    requests.sendall(packed(fault))
                    return None
                requests.sendall(packed(store.known))
                return store
    return None


if __name__ == "__main__":
    main()
