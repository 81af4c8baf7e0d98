"""Events that are in the log and not in the graph, since the database did not answer while the graph learned them."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from headwater.errors import UnavailableError
from headwater.store.entries import Stored

log = logging.getLogger(__name__)

_AGAIN_AFTER_S: Final = 5.0
"""A database that does not answer may keep whoever asks waiting for nearly as long."""


class LearnRetries:
    """Learns each event once it can be; lives on the event loop's thread.

    None of them is acknowledged before, and those that come behind one wait for it.
    """

    def __init__(
        self, learn: Callable[[Stored], None], reset: Callable[[], None], again_after_s: float = _AGAIN_AFTER_S
    ) -> None:
        """Learn by `learn`, which may raise UnavailableError half-way and takes the same event again.

        `reset` is called once all are learned of which some were not at once.
        """
        self._learn = learn
        self._reset = reset
        self._again_after_s = again_after_s
        self._waiting: dict[int, Stored] = {}
        """By their places in the log."""

    @property
    def fault(self) -> str | None:
        """What is not learned, or None where all is."""
        return str(self._refusal()) if self._waiting else None

    def check(self, log_index: int) -> None:
        """See that an event is learned which was stored before.

        Raises:
            UnavailableError: it waits.
        """
        if log_index in self._waiting:
            raise self._refusal()

    def learn(self, stored: Stored) -> None:
        """Learn an event.

        Raises:
            UnavailableError: it cannot be learned now, and waits for that.
        """
        if self._waiting:
            self._waiting[stored.log_index] = stored
            raise self._refusal()
        try:
            self._learn(stored)
        except UnavailableError as fault:
            log.error("an event cannot be learned now", extra={"log_index": stored.log_index, "fault": str(fault)})
            self._waiting[stored.log_index] = stored
            self._try_later()
            raise

    def _refusal(self) -> UnavailableError:
        place = next(iter(self._waiting))
        return UnavailableError(f"entry {place} of the log is in no answer yet: the database did not answer; try again")

    def _try_later(self) -> None:
        asyncio.get_running_loop().call_later(self._again_after_s, self._try_again)

    def _try_again(self) -> None:
        while self._waiting:
            place, stored = next(iter(self._waiting.items()))
            if not self._is_done_with(stored):
                self._try_later()
                return
            del self._waiting[place]
        log.info("all events are learned that could not be at once")
        self._reset()

    def _is_done_with(self, stored: Stored) -> bool:
        """Learn it; one that an error comes of which nobody expects keeps no others waiting."""
        try:
            self._learn(stored)
        except UnavailableError:
            return False
        except Exception:
            log.exception("an event cannot be learned: the service has a fault", extra={"log_index": stored.log_index})
        return True
