"""Non-blocking sockets of the recorder process to the service."""

import os
import select
import socket
from contextlib import suppress
from typing import Final, Protocol

from headwater.service.ingest.recording_messages import MessageBuffer, packed

READ_BYTES: Final = 1 << 18
"""Bytes read from a socket at once."""


class MessageHandler(Protocol):
    """Handles what comes in."""

    def handle(self, message: object) -> None:
        """The service sent this message."""

    def on_wake(self) -> None:
        """Another thread called `wake`."""

    def on_disconnect(self) -> None:
        """The service closed the connection without `End`."""


class Sockets:
    """A socket for events, one for requests that are answered at once, and a pipe to be woken by other threads."""

    def __init__(self, events: socket.socket, requests: socket.socket, handler: MessageHandler) -> None:
        self._events = events
        self._requests = requests
        self._handler = handler
        self._unsent = bytearray()
        self._woken, self._wakes = os.pipe()
        self._unread = {events.fileno(): MessageBuffer(), requests.fileno(): MessageBuffer()}
        self._poll = select.poll()
        for each in (events.fileno(), requests.fileno(), self._woken):
            os.set_blocking(each, False)
            self._poll.register(each, select.POLLIN)
        os.set_blocking(self._wakes, False)

    @property
    def is_all_sent(self) -> bool:
        """Whether all messages were sent."""
        return not self._unsent

    def look(self, timeout: float | None) -> bool:
        """Wait until something can be received or sent, and do it; returns False on time-out (seconds)."""
        awaited = select.POLLIN | (select.POLLOUT if self._unsent else 0)
        self._poll.modify(self._events.fileno(), awaited)
        ready = self._poll.poll(None if timeout is None else timeout * 1000)
        for number, events in ready:
            if events & select.POLLOUT:
                self._send()
            if events & ~select.POLLOUT:
                self._receive(number)
        return bool(ready)

    def _receive(self, number: int) -> None:
        try:
            received = os.read(number, READ_BYTES)
        except ConnectionError:
            received = b""
        if number == self._woken:
            self._handler.on_wake()
        elif received:
            for message in self._unread[number].messages(received):
                self._handler.handle(message)
        else:
            self._poll.unregister(number)
            self._handler.on_disconnect()

    def send(self, message: object) -> None:
        """Send a message as soon as the socket takes it."""
        self._unsent += packed(message)
        self._send()

    def _send(self) -> None:
        try:
            del self._unsent[: self._events.send(self._unsent)]
        except BlockingIOError:
            pass
        except ConnectionError:  # the service is gone, which reading reports too
            self._unsent.clear()

    def answer(self, answer: object) -> None:
        """Answer a request; blocks, as the service waits for it."""
        self._requests.setblocking(True)
        with suppress(ConnectionError):  # the service is gone, which reading reports too
            self._requests.sendall(packed(answer))
        self._requests.setblocking(False)

    def wake(self) -> None:
        """Have `look` call `on_wake`; from any thread."""
        with suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._wakes, b"\0")
