"""Work that somebody would wait for later, done while nobody asks, in slices that nobody notices."""

import asyncio
import logging
from collections.abc import Callable

log = logging.getLogger(__name__)


class Ahead:
    """Does slices of work on the event loop's thread, with everybody else's turn between any two.

    `work` does a slice of about a millisecond and says whether there is more.
    """

    def __init__(self, work: Callable[[], bool]) -> None:
        self._work = work
        self._news = asyncio.Event()
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
            try:
                while self._work():  # noqa: ASYNC110  it is the work that is waited for
                    await asyncio.sleep(0)
            except Exception:  # whoever asks for what is missing meets the fault, and is told
                log.warning("work ahead of time failed", exc_info=True)
