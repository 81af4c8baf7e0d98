"""Background work yields to everything else on the event loop."""

import asyncio
from collections.abc import Awaitable, Iterator

import pytest

from headwater.errors import UnavailableError
from headwater.service.background import IdleWorker


def test_other_tasks_run_between_two_slices() -> None:
    done: list[str] = []

    def slices() -> Iterator[None]:
        for number in range(3):
            done.append(f"slice {number}")
            yield

    async def others_meanwhile() -> None:
        worker = IdleWorker(slices)
        worker.start()
        while len(done) < 8:
            done.append("others")
            await asyncio.sleep(0)
        await worker.stop()

    asyncio.run(others_meanwhile())

    order = [each for each in done if each.startswith("slice")]
    assert order == ["slice 0", "slice 1", "slice 2"]
    assert all("others" in done[done.index(first) : done.index(second)] for first, second in zip(order, order[1:]))  # noqa: B905, RUF007


def test_an_awaitable_of_a_step_is_awaited() -> None:
    done: list[str] = []

    async def what_another_thread_does() -> None:
        finished = asyncio.Event()

        async def read() -> None:
            await asyncio.to_thread(done.append, "read")

        def slices() -> Iterator[Awaitable[None] | None]:
            yield read()
            done.append("used")
            yield None
            finished.set()

        worker = IdleWorker(slices)
        worker.start()
        await finished.wait()
        await worker.stop()

    asyncio.run(what_another_thread_does())

    assert done == ["read", "used"]


def test_waking_restarts_work_that_waits_for_quiet() -> None:
    starts: list[int] = []

    async def news_while_it_works() -> None:
        finished = asyncio.Event()

        def slices() -> Iterator[None]:
            starts.append(0)
            yield
            if len(starts) == 1:
                worker.wake()
            yield
            if len(starts) == 1:
                raise AssertionError("went on")
            finished.set()

        worker = IdleWorker(slices, quiet_s=0.001)
        worker.start()
        await finished.wait()
        await worker.stop()

    asyncio.run(news_while_it_works())

    assert len(starts) == 2


def test_an_unavailable_database_is_logged_without_a_traceback_and_retried_when_woken(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def away_at_first() -> int:
        finished, starts = asyncio.Event(), 0

        def slices() -> Iterator[None]:
            nonlocal starts
            starts += 1
            if starts == 1:
                worker.wake()
                raise UnavailableError("the database does not answer")
            finished.set()
            yield

        worker = IdleWorker(slices)
        worker.start()
        await finished.wait()
        await worker.stop()
        return starts

    assert asyncio.run(away_at_first()) == 2

    (record,) = caplog.records
    assert record.exc_info is None
    assert vars(record)["fault"] == "the database does not answer"
