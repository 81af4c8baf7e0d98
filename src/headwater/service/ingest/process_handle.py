"""The handle of the process that reads and stores events: start it, send to it, query it, end it.

Events and their outcomes go over one socket; requests and their answers over another.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, cast

from headwater.errors import HeadwaterError, UnavailableError
from headwater.service.ingest.recording_messages import MessageBuffer, OpenStore, Recorded, packed
from headwater.store.opened import FACTS_WITHIN_S
from headwater.store.store import Known

SILENT: Final = "the process that stores events does not answer; try again in a second"
PATIENCE_S: Final = 60.0
"""How long the process may take to open the store, or to end; both write to the disk."""
_UNREAD_BYTES: Final = 1 << 20
"""The send buffer of each socket."""
_READ_BYTES: Final = 1 << 16
_KEEPS_MEMORY: Final = {"MALLOC_TRIM_THRESHOLD_": f"{64 << 20}", "MALLOC_MMAP_THRESHOLD_": f"{16 << 20}"}
"""Makes glibc keep freed memory for the next event instead of returning it to the system: saves 3 % of the time."""


class ProcessHandle(asyncio.Protocol):
    """Starts the process, which opens the store as `begin` says."""

    def __init__(self, begin: OpenStore) -> None:
        self._events, theirs = _pair()
        self._requests, its_requests = _pair()
        self._answers = MessageBuffer()
        self.owes_answer = False
        """Whether a request has not been answered yet."""
        self._known: Known | None = None
        self._transport: asyncio.Transport | None = None
        with theirs, its_requests:
            inherited = [theirs.fileno(), its_requests.fileno()]
            command = [sys.executable, "-m", "headwater.service.ingest.recording_process", *map(str, inherited)]
            pass_fds = inherited if begin.handover.lock is None else [*inherited, begin.handover.lock]
            self._child = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={**os.environ, **_KEEPS_MEMORY},
                pass_fds=pass_fds,
                start_new_session=True,
            )
        self._requests.sendall(packed(begin))

    @property
    def pid(self) -> int:
        """The process id."""
        return self._child.pid

    def begun(self) -> Known:
        """Wait until it has opened the store; returns what it knew of the log then.

        Raises:
            SetupError: it cannot open the store.
            UnavailableError: it does not answer, and was killed.
        """
        if self._known is None:
            try:
                self._known = cast(Known, self._checked(self._answered(wait_s=PATIENCE_S)))
            except HeadwaterError:
                self.kill()
                self.close()
                self.reap()
                raise
        return self._known

    async def attach(self, on_recorded: Callable[[Recorded], None]) -> None:
        """Call `on_recorded` with outcomes, on the event loop's thread; `ended` is done when the process ends."""
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self._on_recorded = on_recorded
        self._unread = MessageBuffer()
        self._events.setblocking(False)
        self._transport, _ = await loop.create_unix_connection(lambda: self, sock=self._events)

    def send(self, messages: Sequence[object]) -> None:
        """Send messages; call `attach` first. Ignored once the process has ended."""
        if self._transport is not None and not self.ended.done():
            self._transport.write(b"".join(map(packed, messages)))

    def data_received(self, data: bytes) -> None:
        """Handle the messages received."""
        for message in self._unread.messages(data):
            self._on_recorded(cast(Recorded, message))

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the process ended."""
        if not self.ended.done():
            self.ended.set_result(None)

    def answer(self, request: object) -> object:
        """Send a request and wait briefly for the answer; while an answer is late, further requests fail at once.

        Raises:
            SetupError: it cannot open the store.
            UnavailableError: it does not answer in time, or has ended.
        """
        self.begun()
        self.look_for_answer()
        with suppress(OSError):  # it has ended, which receiving reports
            self._requests.sendall(packed(request))
        self.owes_answer = True
        return self._checked(self._answered(wait_s=FACTS_WITHIN_S))

    def look_for_answer(self) -> None:
        """Receive a late answer, if there is one.

        Raises:
            UnavailableError: it has not come yet.
        """
        if self.owes_answer:
            self._answered(wait_s=0.0)

    def _answered(self, wait_s: float) -> object:
        """The pending answer, if it comes in that time."""
        self._requests.settimeout(wait_s)
        try:
            answer = self._received()
        except (TimeoutError, BlockingIOError):
            raise UnavailableError(SILENT) from None
        self.owes_answer = False
        return answer

    def _received(self) -> object:
        """The answer; the process is killed if the connection is lost."""
        with suppress(ConnectionError):
            while received := self._requests.recv(_READ_BYTES):
                if messages := self._answers.messages(received):
                    return messages[0]
        self.kill()
        return UnavailableError(SILENT)

    def _checked(self, answer: object) -> object:
        if isinstance(answer, HeadwaterError):
            raise answer
        return answer

    def close(self) -> None:
        """Close the sockets, upon which the process ends."""
        self._requests.close()
        (self._events if self._transport is None else self._transport).close()

    def kill(self) -> None:
        """Kill it; a thread that waits for its answer gets an error."""
        self._child.kill()

    def reap(self) -> None:
        """Wait until it has ended; kill it if it takes too long."""
        try:
            self._child.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            self._child.wait()


def _pair() -> tuple[socket.socket, socket.socket]:
    pair = socket.socketpair()
    for end in pair:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNREAD_BYTES)
    return pair
