"""Cooperative scheduling on the event loop: long work in time slices, for one request or while the service is idle."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final, TypeVar

from headwater.errors import UnavailableError

log = logging.getLogger(__name__)

ThingT = TypeVar("ThingT")

_SLICE_S: Final = 0.005
"""How long one piece of work may run before it yields to the event loop."""

_RETRY_S: Final = 2.0
"""How long work waits after it found the store unavailable, unless it is woken before."""


def groups(things: Iterable[ThingT], size: int) -> Iterator[list[ThingT]]:
    """Split the things into lists of `size`, in order; the last one may be shorter."""
    waiting = iter(things)
    while group := list(islice(waiting, size)):
        yield group


async def collect_in_slices(steps: Iterable[ThingT]) -> list[ThingT]:
    """Run the steps and return what they yield; yields to the event loop after each time slice."""
    results: list[ThingT] = []
    begin = time.perf_counter()
    for step in steps:
        results.append(step)
        if time.perf_counter() - begin > _SLICE_S:
            await asyncio.sleep(0)
            begin = time.perf_counter()
    return results


async def result_in_slices(steps: Generator[object, None, ThingT]) -> ThingT:
    """Run the steps and return the generator's return value; yields to the event loop after each time slice."""
    begin = time.perf_counter()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: ThingT = end.value
            return outcome
        if time.perf_counter() - begin > _SLICE_S:
            await asyncio.sleep(0)
            begin = time.perf_counter()


class IdleWorker:
    """Runs background work on the event loop's thread, and yields to the loop between any two slices.

    `slices` starts the work over and does about a millisecond of it per step, until none is left. An awaitable that a
    step yields, such as the result of another thread, is awaited. Work starts after `wake`, once `quiet_s` seconds have
    passed without another `wake`; a `wake` while it runs interrupts it.
    """

    def __init__(self, slices: Callable[[], Iterator[Awaitable[None] | None]], quiet_s: float = 0.0) -> None:
        self._slices = slices
        self._quiet_s = quiet_s
        self._news = asyncio.Event()
        self._has_logged_wait = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the task; called on the event loop's thread."""
        self._task = asyncio.create_task(self._go_on())
        self.wake()

    def wake(self) -> None:
        """Signal that there may be work."""
        self._news.set()

    async def stop(self) -> None:
        """Cancel the task; unfinished work is dropped."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _go_on(self) -> None:
        while await self._news.wait():
            self._news.clear()
            await asyncio.sleep(self._quiet_s)
            if self._quiet_s and self._news.is_set():
                continue
            try:
                await self._work()
                self._has_logged_wait = False
            except UnavailableError as fault:
                await self._wait_for_store(fault)
            except Exception:  # a request that needs the result does the work itself, and reports the fault
                log.warning("precomputing answers failed", exc_info=True)

    async def _work(self) -> None:
        for step in self._slices():
            await (asyncio.sleep(0) if step is None else step)
            if self._quiet_s and self._news.is_set():
                break

    async def _wait_for_store(self, fault: UnavailableError) -> None:
        """Wait for `wake` or for `_RETRY_S`, then have the work start over."""
        if not self._has_logged_wait:  # logged once, however long it lasts
            log.warning("precomputing answers is waiting for the store", extra={"fault": str(fault)})
        self._has_logged_wait = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_RETRY_S):
                await self._news.wait()
        self._news.set()
