"""Sends listeners what each stored event touched (server-sent events). For the event loop's thread.

Each listener has a bounded queue: a slow one is disconnected, and can resume from the number of the last change it saw.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import orjson

from headwater.service.feed.news import Edge, News
from headwater.service.knowledge.touched import Touched

_KEPT: Final = 1_000
"""Changes kept for listeners that resume."""
_UNREAD: Final = 1_000
"""Changes queued for one listener at most."""
_ALIVE_EVERY_S: Final = 15.0
_ALIVE: Final = b": alive\n\n"


@dataclass
class _Change:
    """What an event touched; serialised lazily, as without listeners that would be most of the work."""

    number: int
    touched: Touched
    news: News | None

    @cached_property
    def text(self) -> bytes:
        """The server-sent event."""
        return _event(self.number, self.touched, self.news)


_Listener = asyncio.Queue[_Change | None]


class Feed:
    """Changes in the order in which they were learned, numbered by log index."""

    def __init__(self) -> None:
        self._recent: deque[_Change] = deque(maxlen=_KEPT)
        self._listeners: set[_Listener] = set()
        self.has_had_listeners = False
        """Whether anybody ever listened; until then no news is computed, which takes a quarter of learning an event."""

    def publish(self, log_index: int, touched: Touched, news: News | None = None) -> None:
        """Send a change to every listener; `news` is None if it was not computed."""
        change = _Change(log_index, touched, news)
        self._recent.append(change)
        for listener in [*self._listeners]:
            try:
                listener.put_nowait(change)
            except asyncio.QueueFull:
                self._cut_off(listener)

    async def listen(self, after: int | None, log_size: int = 0) -> AsyncGenerator[bytes, None]:
        """Server-sent events: the recent changes after number `after`, then each change as it comes.

        If changes after `after` are no longer kept, a `missed` event with their range comes first. If `after` is beyond
        the end of the log, the listener has read another log, and the whole log counts as missed.

        Source: https://html.spec.whatwg.org/multipage/server-sent-events.html
        """
        self.has_had_listeners = True
        listener: _Listener = asyncio.Queue(_UNREAD)
        missed = [change for change in self._recent if after is not None and change.number > after]
        self._listeners.add(listener)
        try:
            missed_event = b"" if after is None else self._missed(after + 1, log_size)
            yield b"retry: 1000\n\n" + missed_event + b"".join(change.text for change in missed)
            while (news := await _news(listener)) is not None:
                yield news
        finally:
            self._listeners.discard(listener)

    def _missed(self, first: int, log_size: int) -> bytes:
        end = self._recent[0].number if self._recent else log_size
        if first > log_size:
            first, end = 0, log_size
        return b"event: missed\ndata: %b\n\n" % orjson.dumps({"first": first, "last": end - 1}) if first < end else b""

    def close(self) -> None:
        """End every listener's stream, once it has read what is queued."""
        for listener in [*self._listeners]:
            if listener.full():
                self._cut_off(listener)
            else:
                listener.put_nowait(None)

    def _cut_off(self, listener: _Listener) -> None:
        self._listeners.discard(listener)
        while not listener.empty():
            listener.get_nowait()
        listener.put_nowait(None)


async def _news(listener: _Listener) -> bytes | None:
    """All queued changes, a keep-alive comment after a while, or None at the end."""
    try:
        async with asyncio.timeout(_ALIVE_EVERY_S):
            change = await listener.get()
    except TimeoutError:
        return _ALIVE
    if change is None:
        return None
    texts = [change.text]
    while not listener.empty():
        if (change := listener.get_nowait()) is None:
            listener.put_nowait(None)  # ends the stream when these are sent
            break
        texts.append(change.text)
    return b"".join(texts)


def _event(log_index: int, touched: Touched, news: News | None) -> bytes:
    data = {
        "index": log_index,
        "jobs": sorted(job.node_id for job in touched.jobs),
        "datasets": sorted(name.node_id for name in touched.datasets),
        "run": touched.run,
        "state": news and news.state,
        "edges": news and [_edge(edge) for edge in news.edges],
        "schemas": news and [name.node_id for name in news.schemas],
    }
    return b"event: change\nid: %d\ndata: %b\n\n" % (log_index, orjson.dumps(data))


def _edge(edge: Edge) -> dict[str, str]:
    job, direction, end = edge
    origin, destination = (end, job) if direction == "input" else (job, end)
    return {"origin": origin.node_id, "destination": destination.node_id}
