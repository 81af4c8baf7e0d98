"""Events read beside the service's own thread, in processes of their own, and given back in the order they came.

To read, verify and pack an event takes longer than all the rest of its way, and Python does one thing at a time in a
process. Where there is one core only, or no process can be had, events are read here.
"""

import asyncio
import logging
import pickle
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from typing import Final

from headwater.errors import UnavailableError
from headwater.service.reading import Posted, Trust, read
from headwater.service.reading_process import LENGTH, Read, packed, packed_trust

log = logging.getLogger(__name__)

MAX_WAITING: Final = 8192
"""Events that may wait to be read; beyond it the caller is told to come back later."""

_TOGETHER: Final = 32
"""Events in one message at most."""
_ON_THE_WAY: Final = 2
"""Messages that a process may have before it: one to work on, one to go on with."""
_UNREAD_BYTES: Final = 1 << 20
"""What one side may have written and the other not have read: with less than a message, each waits for the other."""
_PAUSE_S: Final = 1.0
"""How long to wait before a process that ended is started again."""

_GRACE_S: Final = 5.0
"""How long a process may take to end once its input has ended."""


@dataclass(slots=True)
class _Wanted:
    """Events that somebody waits for."""

    events: Sequence[Posted]
    read: "asyncio.Future[Read]"
    is_quiet: bool


@dataclass(slots=True)
class _Group:
    """What goes to a process in one message, and what came back."""

    wanted: Sequence[_Wanted]
    outcomes: Read | None = None

    @property
    def events(self) -> list[Posted]:
        """Of all who wait."""
        return [event for each in self.wanted for event in each.events]

    def settle(self, outcomes: Read) -> None:
        """Give each who waits its part."""
        begin = 0
        for each in self.wanted:
            end = begin + len(each.events)
            if not each.read.done():
                each.read.set_result(outcomes[begin:end])
            begin = end


@dataclass(slots=True)
class Readers:
    """Reads events in `count` processes, or here if that is 0. Lives on the event loop's thread."""

    trust: Trust
    count: int
    processes: list["Reader"] = field(default_factory=list)
    _waiting: deque[_Wanted] = field(default_factory=deque)
    _waiting_events: int = 0
    _in_order: deque[_Group] = field(default_factory=deque)
    _free: list["Reader"] = field(default_factory=list)
    _is_called: bool = False

    def start(self) -> None:
        """Start the processes; until they are there, events are read here."""
        self.processes = [Reader(self) for _ in range(self.count)]

    async def stop(self) -> None:
        """End the processes; nothing waits any more."""
        await asyncio.gather(*(reader.stop() for reader in self.processes))

    def rely_on(self, trust: Trust) -> None:
        """Trust these from the next event on."""
        self.trust = trust
        for reader in self.processes:
            reader.hear(trust)

    async def read(self, events: Sequence[Posted], *, is_quiet: bool = False) -> Read:
        """Read events; what was asked for first is answered first.

        `is_quiet` says that nothing else is to be done meanwhile: an event alone is then read here, which is sooner.

        Raises:
            UnavailableError: too many wait already.
        """
        if self._waiting_events >= MAX_WAITING:
            raise UnavailableError("too many events wait to be read, try again in a second")
        loop = asyncio.get_running_loop()
        wanted = _Wanted(events, loop.create_future(), is_quiet and len(events) == 1)
        self._waiting.append(wanted)
        self._waiting_events += len(events)
        if not self._is_called:  # what comes in the same turn of the loop goes the same way
            self._is_called = True
            loop.call_soon(self._hand_out)
        return await wanted.read

    def free(self, reader: "Reader") -> None:
        """Note that a process can take another message."""
        self._free.append(reader)
        self._hand_out()

    def ended(self, reader: "Reader", left: Sequence[_Group]) -> None:
        """Read here what a process that ended was given and has not read."""
        self._free = [other for other in self._free if other is not reader]
        for group in left:
            self._do_here(group)
        self._hand_out()

    def done(self, group: _Group, outcomes: Read) -> None:
        """Answer whoever waits for the group, once all before it are answered."""
        group.outcomes = outcomes
        while self._in_order and (outcomes_of_first := self._in_order[0].outcomes) is not None:
            self._in_order.popleft().settle(outcomes_of_first)

    def _hand_out(self) -> None:
        self._is_called = False
        while self._waiting:
            is_alone = self._waiting[0].is_quiet and len(self._waiting) == 1 and not self._in_order
            if is_alone or not any(reader.is_alive for reader in self.processes):
                self._do_here(self._next_group())
            elif self._free:
                group = self._next_group()
                self._free.pop(0).send(group)
            else:
                return

    def _next_group(self) -> _Group:
        wanted = [self._waiting.popleft()]
        events = len(wanted[0].events)
        while self._waiting and events + len(self._waiting[0].events) <= _TOGETHER:
            wanted.append(self._waiting.popleft())
            events += len(wanted[-1].events)
        self._waiting_events -= events
        group = _Group(wanted)
        self._in_order.append(group)
        return group

    def _do_here(self, group: _Group) -> None:
        self.done(group, [read(posted, self.trust) for posted in group.events])


class Reader:
    """One process, started again when it ends."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._input: asyncio.StreamWriter | None = None
        self._before_it: deque[_Group] = deque()
        self._is_stopping = False
        self._work = asyncio.create_task(self._keep_going())

    @property
    def is_alive(self) -> bool:
        """Whether there is a process to send to."""
        return self._input is not None

    def send(self, group: _Group) -> None:
        """Give the process a message; it `is_alive`."""
        if self._input is None:
            raise AssertionError("sent to no process")
        self._before_it.append(group)
        self._input.write(packed(group.events))

    def hear(self, trust: Trust) -> None:
        """Tell the process whom to trust, if it is there; one that starts is told then."""
        if self._input is not None:
            self._input.write(packed_trust(trust))

    async def stop(self) -> None:
        """End the process."""
        # The flag too: `asyncio.wait_for` of Python 3.11 may lose a cancellation at the moment when the process ends.
        self._is_stopping = True
        self._work.cancel()
        await asyncio.gather(self._work, return_exceptions=True)

    async def _keep_going(self) -> None:
        while not self._is_stopping:
            try:
                await self._run()
            except (OSError, EOFError) as fault:  # a message that ends too early is an EOFError
                log.warning("a process that reads events ended; another is started", extra={"fault": repr(fault)})
            await asyncio.sleep(_PAUSE_S)

    async def _run(self) -> None:
        async with _process() as (to_it, from_it):
            to_it.write(packed_trust(self._readers.trust))
            to_it.write(packed([]))  # it answers once it is ready
            await _message(from_it)
            self._input = to_it
            try:
                self.hear(self._readers.trust)  # it may have changed meanwhile
                for _ in range(_ON_THE_WAY):
                    self._readers.free(self)
                while True:
                    outcomes = await _message(from_it)
                    self._readers.done(self._before_it.popleft(), outcomes)
                    self._readers.free(self)
            finally:
                self._input, left = None, [*self._before_it]
                self._before_it.clear()
                self._readers.ended(self, left)


@asynccontextmanager
async def _process() -> AsyncIterator[tuple[asyncio.StreamWriter, asyncio.StreamReader]]:
    command = (sys.executable, "-m", "headwater.service.reading_process")
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
    from_it, to_it = await asyncio.open_unix_connection(sock=ours, limit=_UNREAD_BYTES)
    with closing(to_it):
        with theirs:
            its_end = theirs.fileno()
            process = await asyncio.create_subprocess_exec(
                *command, stdin=its_end, stdout=its_end, start_new_session=True
            )
        try:
            yield to_it, from_it
        finally:
            to_it.close()
            try:
                await asyncio.wait_for(process.wait(), _GRACE_S)
            except TimeoutError:
                process.kill()
                await process.wait()


async def _message(stream: asyncio.StreamReader) -> Read:
    length = int.from_bytes(await stream.readexactly(LENGTH), "big")
    outcomes: Read = pickle.loads(await stream.readexactly(length))  # noqa: S301  a process of our own wrote it
    return outcomes
