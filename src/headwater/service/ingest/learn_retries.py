"""Retries of events that are in the log but not in the graph: the database failed while the graph learned them."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from headwater.errors import UnavailableError
from headwater.store.entries import Stored

log = logging.getLogger(__name__)

_AGAIN_AFTER_S: Final = 5.0
"""A query to a database that does not answer may block for nearly as long."""


class LearnRetries:
    """Learns events in order, and retries one that fails; later ones queue behind it. For the event loop's thread.

    No event is acknowledged before it is learned.
    """

    def __init__(
        self, learn: Callable[[Stored], None], reset: Callable[[], None], again_after_s: float = _AGAIN_AFTER_S
    ) -> None:
        """`learn` may raise UnavailableError half-way, and accepts the same event again.

        `reset` is called when the queue is empty again: derived state may have missed half-learned events.
        """
        self._learn = learn
        self._reset = reset
        self._again_after_s = again_after_s
        self._waiting: dict[int, Stored] = {}
        """By log index."""

    @property
    def fault(self) -> str | None:
        """The error for the first event that is not learned, or None if all are."""
        return str(self._refusal()) if self._waiting else None

    def check(self, log_index: int) -> None:
        """Check that an event that was stored before is learned.

        Raises:
            UnavailableError: it is still waiting.
        """
        if log_index in self._waiting:
            raise self._refusal()

    def learn(self, stored: Stored) -> None:
        """Learn an event.

        Raises:
            UnavailableError: it cannot be learned now, and is queued.
        """
        if self._waiting:
            self._waiting[stored.log_index] = stored
            raise self._refusal()
        try:
            self._learn(stored)
        except UnavailableError as fault:
            log.error("the graph cannot learn an event now", extra={"log_index": stored.log_index, "fault": str(fault)})
            self._waiting[stored.log_index] = stored
            self._try_later()
            raise

    def _refusal(self) -> UnavailableError:
        log_index = next(iter(self._waiting))
        return UnavailableError(
            f"entry {log_index} of the log is not in answers yet: the database did not answer; try again"
        )

    def _try_later(self) -> None:
        asyncio.get_running_loop().call_later(self._again_after_s, self._try_again)

    def _try_again(self) -> None:
        while self._waiting:
            log_index, stored = next(iter(self._waiting.items()))
            if not self._is_settled(stored):
                self._try_later()
                return
            del self._waiting[log_index]
        log.info("the graph has learned all events that had to be retried")
        self._reset()

    def _is_settled(self, stored: Stored) -> bool:
        """Learn it; True also after an unexpected error, which must not block the others."""
        try:
            self._learn(stored)
        except UnavailableError:
            return False
        except Exception:
            log.exception("the graph cannot learn an event: internal error", extra={"log_index": stored.log_index})
        return True
