"""The feed: its listeners, the changes that they receive, and its end."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from headwater.model.names import DatasetId, JobId
from headwater.service.feed.feed import Feed
from headwater.service.knowledge.touched import Touched

TOUCHED = Touched(frozenset({JobId("etl", "b"), JobId("etl", "a")}), frozenset({DatasetId("lake", "t")}), "run-1")


def changes(text: bytes) -> list[dict[str, Any]]:
    """The data of each change in a piece of the stream."""
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith(b"data: ")]


async def first(stream: AsyncIterator[bytes]) -> bytes:
    return await asyncio.wait_for(anext(stream), 5)


def test_a_listener_receives_changes_after_it_began() -> None:
    async def scene() -> list[bytes]:
        feed = Feed()
        feed.publish(0, TOUCHED)
        stream = feed.listen(None)
        greeting = await first(stream)
        feed.publish(1, TOUCHED)
        piece = await first(stream)
        await stream.aclose()
        return [greeting, piece]

    greeting, piece = asyncio.run(scene())

    assert changes(greeting) == []
    assert piece == (
        b'event: change\nid: 1\ndata: {"index":1,"jobs":["job:etl:a","job:etl:b"],"datasets":["dataset:lake:t"],'
        b'"run":"run-1","state":null,"edges":null,"schemas":null}\n\n'
    )


def test_a_listener_that_reconnects_receives_what_it_missed() -> None:
    async def scene() -> bytes:
        feed = Feed()
        for number in range(5):
            feed.publish(number, TOUCHED)
        stream = feed.listen(after=2, log_size=5)
        greeting = await first(stream)
        await stream.aclose()
        return greeting

    assert [change["index"] for change in changes(asyncio.run(scene()))] == [3, 4]


def test_a_listener_that_reconnects_late_is_notified_of_changes_that_are_no_longer_available() -> None:
    async def greeting(kept: int, after: int, log_size: int) -> bytes:
        feed = Feed()
        for number in range(log_size - kept, log_size):
            feed.publish(number, TOUCHED)
        stream = feed.listen(after, log_size)
        text = await first(stream)
        await stream.aclose()
        return text

    assert b'event: missed\ndata: {"first":3,"last":5}\n\n' in asyncio.run(greeting(kept=2, after=2, log_size=8))
    assert b'event: missed\ndata: {"first":3,"last":7}\n\n' in asyncio.run(greeting(kept=0, after=2, log_size=8))
    assert b"missed" not in asyncio.run(greeting(kept=2, after=5, log_size=8))
    assert b"missed" not in asyncio.run(greeting(kept=0, after=7, log_size=8))

    # beyond the end: the listener read another log, as before a backup was restored
    assert b'event: missed\ndata: {"first":0,"last":7}\n\n' in asyncio.run(greeting(kept=2, after=8, log_size=8))


def test_changes_that_arrive_together_are_sent_together() -> None:
    async def scene() -> bytes:
        feed = Feed()
        stream = feed.listen(None)
        await first(stream)
        for number in range(3):
            feed.publish(number, TOUCHED)
        piece = await first(stream)
        await stream.aclose()
        return piece

    assert [change["index"] for change in changes(asyncio.run(scene()))] == [0, 1, 2]


@pytest.mark.parametrize("way", ["closed", "does not read"])
def test_a_stream_ends_when_the_feed_closes_or_its_listener_does_not_read(way: str) -> None:
    async def scene() -> list[bytes]:
        feed = Feed()
        stream = feed.listen(None)
        await first(stream)
        if way == "closed":
            feed.close()
        else:
            for number in range(5_000):
                feed.publish(number, TOUCHED)
        return [piece async for piece in stream]

    assert asyncio.run(asyncio.wait_for(scene(), 5)) == []


def test_changes_before_the_end_are_still_sent() -> None:
    async def scene() -> list[bytes]:
        feed = Feed()
        stream = feed.listen(None)
        await first(stream)
        reading = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        feed.publish(7, TOUCHED)
        feed.close()
        return [await reading, *[piece async for piece in stream]]

    pieces = asyncio.run(asyncio.wait_for(scene(), 5))

    assert [change["index"] for piece in pieces for change in changes(piece)] == [7]
