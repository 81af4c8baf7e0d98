"""Background work takes turns with everything else on the event loop."""

import asyncio
from collections.abc import Awaitable, Iterator

import pytest

from headwater.errors import UnavailableError
from headwater.service.background import IdleWorker


def test_others_have_their_turn_between_two_slices() -> None:
    done: list[str] = []

    def slices() -> Iterator[None]:
        for number in range(3):
            done.append(f"slice {number}")
            yield

    async def others_beside() -> None:
        worker = IdleWorker(slices)
        worker.start()
        while len(done) < 8:
            done.append("others")
            await asyncio.sleep(0)
        await worker.stop()

    asyncio.run(others_beside())

    order = [each for each in done if each.startswith("slice")]
    assert order == ["slice 0", "slice 1", "slice 2"]
    assert all("others" in done[done.index(one) : done.index(next_one)] for one, next_one in zip(order, order[1:]))  # noqa: B905, RUF007


def test_what_a_step_gives_is_waited_for() -> None:
    done: list[str] = []

    async def what_another_thread_does() -> None:
        finished = asyncio.Event()

        async def read() -> None:
            await asyncio.to_thread(done.append, "read")

        def slices() -> Iterator[Awaitable[None] | None]:
            yield read()
            done.append("looked at")
            yield None
            finished.set()

        worker = IdleWorker(slices)
        worker.start()
        await finished.wait()
        await worker.stop()

    asyncio.run(what_another_thread_does())

    assert done == ["read", "looked at"]


def test_news_ends_work_that_waits_for_quiet_and_it_begins_anew() -> None:
    begun: list[int] = []

    async def news_while_it_works() -> None:
        finished = asyncio.Event()

        def slices() -> Iterator[None]:
            begun.append(0)
            yield
            if len(begun) == 1:
                worker.wake()
            yield
            if len(begun) == 1:
                raise AssertionError("went on")
            finished.set()

        worker = IdleWorker(slices, quiet_s=0.001)
        worker.start()
        await finished.wait()
        await worker.stop()

    asyncio.run(news_while_it_works())

    assert len(begun) == 2


def test_a_database_that_is_away_is_told_without_a_traceback_and_the_next_news_finds_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def away_at_first() -> int:
        finished, begun = asyncio.Event(), 0

        def slices() -> Iterator[None]:
            nonlocal begun
            begun += 1
            if begun == 1:
                worker.wake()
                raise UnavailableError("the database does not answer")
            finished.set()
            yield

        worker = IdleWorker(slices)
        worker.start()
        await finished.wait()
        await worker.stop()
        return begun

    assert asyncio.run(away_at_first()) == 2

    (told,) = caplog.records
    assert told.exc_info is None
    assert vars(told)["fault"] == "the database does not answer"
