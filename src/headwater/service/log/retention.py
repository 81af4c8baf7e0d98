"""Moves old raw events out of the database, while the service goes on."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Final

from headwater.errors import HeadwaterError
from headwater.store.opened import OpenStore
from headwater.store.retiring import retire

log = logging.getLogger(__name__)

_EVERY_S: Final = 3600.0
_DAY_US: Final = 86_400_000_000


class Retention:
    """Looks for old events at the start and, by default, every hour. For the event loop's thread."""

    def __init__(
        self, store: OpenStore, days: int | None, now_us: Callable[[], int], every_s: float = _EVERY_S
    ) -> None:
        self._store = store
        self._days = days
        self._now_us = now_us
        self._every_s = every_s
        self._is_over = threading.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start, if raw events are to be moved at all; called on the event loop's thread."""
        if self._days is not None:
            self._task = asyncio.create_task(self._go_on(self._days * _DAY_US))

    async def stop(self) -> None:
        """Finish the segment being written; the rest is moved another time."""
        self._is_over.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _go_on(self, age_us: int) -> None:
        while True:
            moving = asyncio.create_task(asyncio.to_thread(self._move, self._now_us() - age_us))
            try:
                await asyncio.shield(moving)
            except asyncio.CancelledError:
                await moving
                raise
            await asyncio.sleep(self._every_s)

    def _move(self, before_us: int) -> None:
        try:
            moved = retire(self._store, before_us, self._is_over.is_set)
        except HeadwaterError as fault:
            log.warning("cannot move old raw events to segments now", extra={"fault": str(fault)})
        except Exception:  # it is to look again, whatever happened
            log.exception("moving old raw events to segments failed")
        else:
            if moved:
                log.info("moved old raw events to segments", extra={"events": moved})
