"""Work in slices that nobody notices: done while nobody asks, or for one who asks much, while others ask too."""

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

_STRETCH_S: Final = 0.005
"""How long somebody may go on who looks at everything, before others have their turn."""

_TRY_AGAIN_S: Final = 2.0
"""How long work waits that found the store away, where there is no news."""


def groups(things: Iterable[ThingT], size: int) -> Iterator[list[ThingT]]:
    """The things in their order, so many together; fewer in the last group."""
    waiting = iter(things)
    while group := list(islice(waiting, size)):
        yield group


async def in_turns(steps: Iterable[ThingT]) -> list[ThingT]:
    """What the steps give, each of them a little work; between stretches of them others have their turn."""
    done: list[ThingT] = []
    begin = time.perf_counter()
    for step in steps:
        done.append(step)
        if time.perf_counter() - begin > _STRETCH_S:
            await asyncio.sleep(0)
            begin = time.perf_counter()
    return done


async def outcome_in_turns(steps: Generator[object, None, ThingT]) -> ThingT:
    """What the steps come to in the end; between stretches of them others have their turn."""
    begin = time.perf_counter()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            outcome: ThingT = end.value
            return outcome
        if time.perf_counter() - begin > _STRETCH_S:
            await asyncio.sleep(0)
            begin = time.perf_counter()


class Ahead:
    """Does slices of work on the event loop's thread, with everybody else's turn between any two.

    `slices` begins the work anew and does a millisecond's worth of it with each step, until there is none left; what a
    step gives is waited for, as for what another thread does. It begins when there was news, and then none for
    `quiet_s` seconds; further news ends it.
    """

    def __init__(self, slices: Callable[[], Iterator[Awaitable[None] | None]], quiet_s: float = 0.0) -> None:
        self._slices = slices
        self._quiet_s = quiet_s
        self._news = asyncio.Event()
        self._is_waiting_told = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; called on the event loop's thread."""
        self._task = asyncio.create_task(self._go_on())
        self.wake()

    def wake(self) -> None:
        """There may be work."""
        self._news.set()

    async def stop(self) -> None:
        """Leave the rest undone."""
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
                self._is_waiting_told = False
            except UnavailableError as fault:
                await self._wait_for_store(fault)
            except Exception:  # whoever asks for what is missing meets the fault, and is told
                log.warning("work ahead of time failed", exc_info=True)

    async def _work(self) -> None:
        for step in self._slices():
            await (asyncio.sleep(0) if step is None else step)
            if self._quiet_s and self._news.is_set():
                break

    async def _wait_for_store(self, fault: UnavailableError) -> None:
        """Wait for news, or for a while, then see to it that the work begins anew."""
        if not self._is_waiting_told:  # told once, however long it lasts
            log.warning("work ahead of time waits", extra={"fault": str(fault)})
        self._is_waiting_told = True
        with suppress(TimeoutError):
            async with asyncio.timeout(_TRY_AGAIN_S):
                await self._news.wait()
        self._news.set()
