"""What a process that records events hears from the service and says to it, without waiting for either."""

import os
import select
import socket
from contextlib import suppress
from typing import Final, Protocol

from headwater.service.ingest.recording_messages import MessageBuffer, packed

READ_BYTES: Final = 1 << 18
"""That are read from a socket in one go."""


class MessageHandler(Protocol):
    """Who is told what comes."""

    def handle(self, message: object) -> None:
        """The service says this."""

    def on_wake(self) -> None:
        """Another thread called `wake`."""

    def on_disconnect(self) -> None:
        """The service ended without a word."""


class Sockets:
    """Two sockets, of which one is for questions that are answered at once, and a pipe for other threads."""

    def __init__(self, events: socket.socket, questions: socket.socket, handler: MessageHandler) -> None:
        self._events = events
        self._questions = questions
        self._handler = handler
        self._unsent = bytearray()
        self._woken, self._wakes = os.pipe()
        self._unread = {events.fileno(): MessageBuffer(), questions.fileno(): MessageBuffer()}
        self._poll = select.poll()
        for each in (events.fileno(), questions.fileno(), self._woken):
            os.set_blocking(each, False)
            self._poll.register(each, select.POLLIN)
        os.set_blocking(self._wakes, False)

    @property
    def is_all_sent(self) -> bool:
        """Whether the service has taken all that was said."""
        return not self._unsent

    def look(self, timeout: float | None) -> bool:
        """Wait for something to come, or to be taken; False if nothing did for so many seconds."""
        wanted = select.POLLIN | (select.POLLOUT if self._unsent else 0)
        self._poll.modify(self._events.fileno(), wanted)
        ready = self._poll.poll(None if timeout is None else timeout * 1000)
        for number, what in ready:
            if what & select.POLLOUT:
                self._send()
            if what & ~select.POLLOUT:
                self._receive(number)
        return bool(ready)

    def _receive(self, number: int) -> None:
        try:
            came = os.read(number, READ_BYTES)
        except ConnectionError:
            came = b""
        if number == self._woken:
            self._handler.on_wake()
        elif came:
            for message in self._unread[number].messages(came):
                self._handler.handle(message)
        else:
            self._poll.unregister(number)
            self._handler.on_disconnect()

    def say(self, message: object) -> None:
        """Say it as soon as the service takes it."""
        self._unsent += packed(message)
        self._send()

    def _send(self) -> None:
        try:
            del self._unsent[: self._events.send(self._unsent)]
        except BlockingIOError:
            pass
        except ConnectionError:  # nobody waits any more, as reading tells, too
            self._unsent.clear()

    def answer(self, answer: object) -> None:
        """Answer a question; the service waits for it."""
        self._questions.setblocking(True)
        with suppress(ConnectionError):  # nobody waits any more, as reading tells, too
            self._questions.sendall(packed(answer))
        self._questions.setblocking(False)

    def wake(self) -> None:
        """Have `on_wake` called by whoever looks; on any thread."""
        with suppress(BlockingIOError):  # it was woken so often that one time more says nothing
            os.write(self._wakes, b"\0")
